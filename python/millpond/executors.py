"""Executors with the interface of `concurrent.futures` for clusters whose library has none."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class RayExecutor(Executor):
    """Executes calls as tasks of Ray.

    Ray has no executor of its own. `ray.init` connects to the cluster, or starts one on this machine, before the first
    task. A task whose worker dies is repeated as often as its option ``max_retries`` says (Ray's default: 3).

    Parameters
    ----------
    **options
        Options of the tasks, as for ``ray.remote``: ``num_cpus=1``, ``memory=2 * 2**30``, ``max_retries=3``.

    Examples
    --------
    >>> ray.init()
    >>> with RayExecutor() as executor:
    ...     millpond.sweep(scenario, vary, out="runs/rates", executor=executor)
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 The options of Ray.
        import ray

        self._ray = ray
        self._options = options
        self._references: dict[Future[Any], object] = {}
        self._is_shut_down = False

    @property
    def _max_workers(self) -> int:
        """The number of tasks that the cluster executes at the same time, as pools of `concurrent.futures` name it."""
        processors: float = self._ray.cluster_resources().get("CPU", 0.0)
        return max(int(processors / (self._options.get("num_cpus") or 1)), 1)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Executes a call in the cluster.

        Returns
        -------
        Future
            Its result; an exception of Ray (`ray.exceptions.RayError`) if its worker has died.
        """
        if self._is_shut_down:
            raise RuntimeError("cannot schedule new futures after shutdown")
        remote = self._ray.remote(_function(fn))
        reference = (remote.options(**self._options) if self._options else remote).remote(*args, **kwargs)
        future: Future[T] = reference.future()
        self._references[future] = reference
        future.add_done_callback(self._forget)
        return future

    def _forget(self, future: Future[Any]) -> None:
        """Ends the task of a cancelled future; Ray forgets a result without a reference."""
        reference = self._references.pop(future, None)
        if future.cancelled() and reference is not None:
            self._ray.cancel(reference)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accepts no further task, and waits for those that it has. The cluster goes on; `ray.shutdown` ends it."""
        self._is_shut_down = True
        futures = list(self._references)
        if cancel_futures:
            for future in futures:
                future.cancel()
        if wait:
            for future in futures:
                if not future.cancelled():
                    future.exception()


def _function(fn: Callable[P, T]) -> Callable[P, T]:
    """The call as a function: Ray executes no other callables, such as `abs`."""
    if inspect.isfunction(fn):
        return fn

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return fn(*args, **kwargs)

    return call
