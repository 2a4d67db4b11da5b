"""Runs of a sweep on the workers of an executor."""

from __future__ import annotations

import functools
import math
import os
import pickle
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import TYPE_CHECKING, TypeAlias

from millpond import _core
from millpond._journal import execute

if TYPE_CHECKING:
    from millpond._sweep import Task

#: A worker begins no further run of a task after this time, in seconds.
TASK_TIME = 1.0
#: A task has runs for this multiple of the time; the worker leaves those that it does not begin.
SURPLUS = 2.0
#: The most runs of one task.
MOST_RUNS = 1000
#: A run that was lost with its worker in this many tasks ends the sweep.
MOST_LOSSES = 3
#: The time between two questions about the number of workers, in seconds.
BETWEEN_COUNTS = 2.0
#: How long an executor that accepts no tasks may take to end those that it has, in seconds.
PATIENCE = 5.0

#: Lines of ``runs.jsonl``, the time that they took in seconds, and why the worker executed no more.
Outcome: TypeAlias = "tuple[list[str], float, _core.Error | None]"


@functools.lru_cache(maxsize=1)
def _plan_of(task: bytes) -> _core.SweepPlan:
    """The plan of a sweep in a worker, which makes it once."""
    loaded: Task = pickle.loads(task)
    return loaded.plan()


def run_chunk(task: bytes, numbers: list[int], attempt: int) -> Outcome:
    """Executes runs in a worker, the first of them and others for about a second.

    An exception is a part of the result, so that those of a future are faults of the executor.

    Parameters
    ----------
    task : bytes
        The sweep.
    numbers : list of int
        The runs.
    attempt : int
        Differs between tasks with equal runs: some executors return the result of an earlier task with equal arguments.
    """
    lines: list[str] = []
    begin = time.perf_counter()
    error = None
    try:
        plan = _plan_of(task)
        begin = time.perf_counter()
        for number in numbers:
            lines.append(execute(plan, number))
            if time.perf_counter() - begin >= TASK_TIME:
                break
    except Exception as raised:
        error = _as_error(raised)
    return lines, time.perf_counter() - begin, error


def _as_error(raised: Exception) -> _core.Error:
    """The exception for the process that has called the sweep, with the traceback as a note."""
    error = raised if isinstance(raised, _core.Error) else None
    if error is None or error.__cause__ is not None:
        error = error or _core.Error(f"a worker cannot execute the runs of the sweep: {_told(raised)}")
        error.add_note("In the worker:\n" + "".join(traceback.format_exception(raised)))
    return error


def _told(error: BaseException) -> str:
    """An exception in one line, without the period at its end: a sentence goes on after it."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")


def capacity(executor: Executor) -> int:
    """The number of tasks that an executor executes at the same time."""
    client = getattr(executor, "_client", None)
    if client is not None:  # The executor of a client of Dask.
        return sum(client.nthreads().values())
    return getattr(executor, "_max_workers", None) or os.cpu_count() or 1


class Distribution:
    """The missing runs of a dataset, executed by an executor.

    Each is added to the dataset as soon as its task has ended.

    Parameters
    ----------
    dataset : Dataset
        Where runs are added.
    plan : SweepPlan
        The runs.
    task : bytes
        What workers receive.
    executor : Executor
        The executor.
    in_flight : int, optional
        Number of tasks that the executor holds at the same time. Default: twice its capacity.
    """

    def __init__(
        self, dataset: _core.Dataset, plan: _core.SweepPlan, task: bytes, executor: Executor, in_flight: int | None
    ) -> None:
        self.dataset, self.plan, self.task, self.executor = dataset, plan, task, executor
        self.missing = dataset.missing()
        # Runs of similar settings take similar times: in a random order the mean time of some is that of the others.
        random.Random(0).shuffle(self.missing)
        self.runs, self.ended, self.elapsed = len(self.missing), 0, 0.0
        self.pending: dict[Future[Outcome], list[int]] = {}
        #: For each run the number of tasks with it that were lost.
        self.losses: Counter[int] = Counter()
        #: Why the executor accepts no further task.
        self.end: BaseException | None = None
        self.chosen_in_flight, self.in_flight = in_flight, 0
        self.next_count = 0.0

    def run(self, tick: Callable[[float], None]) -> None:
        """Executes all runs; calls `tick` at least once a second with the share that has ended."""
        try:
            while (self.missing or self.pending) and self.end is None:
                self._submit()
                done, _ = wait(self.pending, timeout=TASK_TIME, return_when=FIRST_COMPLETED)
                self._collect(done)
                tick(self.ended / self.runs)
            if self.end is not None:
                wait([future for future in self.pending if not future.done()], timeout=PATIENCE)
                self._collect({future for future in self.pending if future.done()})
                raise self._without_executor() from self.end
        finally:
            for future in self.pending:
                future.cancel()

    def _submit(self) -> None:
        """Fills the executor."""
        try:
            self._count()
            while self.missing and len(self.pending) < self.in_flight:
                numbers = self._next()
                attempt = self.losses[numbers[0]]
                try:
                    future = self.executor.submit(run_chunk, self.task, numbers, attempt)
                except BaseException:
                    self.missing += numbers
                    raise
                self.pending[future] = numbers
        except Exception as error:
            self.end = error

    def _count(self) -> None:
        """Looks from time to time how many tasks the executor executes: clusters grow and shrink."""
        now = time.monotonic()
        if now >= self.next_count:
            self.in_flight = self.chosen_in_flight or max(2 * capacity(self.executor), 2)
            self.next_count = now + BETWEEN_COUNTS

    def _next(self) -> list[int]:
        """The runs of the next task. A run that was lost is sent alone, to find the one that ends its worker."""
        if self.ended == 0 or self.missing[-1] in self.losses:
            return [self.missing.pop()]
        wanted = math.ceil(SURPLUS * TASK_TIME * self.ended / max(self.elapsed, 1e-9))
        # All workers have work until the end.
        size = min(wanted, MOST_RUNS, math.ceil(len(self.missing) / self.in_flight))
        numbers = self.missing[-size:]
        del self.missing[-size:]
        return numbers

    def _collect(self, done: set[Future[Outcome]]) -> None:
        """Adds the runs of tasks that have ended.

        Raises
        ------
        Error
            A worker has refused the sweep, or a run was lost too often.
        """
        first_error = None
        for future in done:
            numbers = self.pending.pop(future)
            try:
                lines, elapsed, error = future.result()
            except (BrokenExecutor, CancelledError) as fault:
                self.end, error = fault, None
                self.missing += numbers
            except Exception as fault:
                error = self._lost(numbers, fault)
            else:
                for number, line in zip(numbers, lines, strict=False):
                    self.dataset.append(number, line)
                self.missing += numbers[len(lines) :]
                self.ended, self.elapsed = self.ended + len(lines), self.elapsed + elapsed
            first_error = first_error or error
        if first_error is not None:
            raise first_error

    def _lost(self, numbers: list[int], fault: Exception) -> _core.Error | None:
        """Repeats runs of a task whose worker was lost; returns the error if one of them was lost too often."""
        self.losses.update(numbers)
        self.missing += numbers
        worst = max(numbers, key=self.losses.__getitem__)
        if self.losses[worst] < MOST_LOSSES:
            return None
        error = _core.Error(
            f"a run was lost with its worker in each of {MOST_LOSSES} tasks: {self.plan.describe(worst)}. The executor "
            f"says: {_told(fault)}. Look at the logs of the workers: each needs this version of the package, the laws "
            f"of the sweep, and memory for the run. {self._kept()}"
        )
        error.__cause__ = fault
        return error

    def _without_executor(self) -> _core.Error:
        return _core.Error(
            f"the executor has ended or lost a worker: {_told(self.end) if self.end else ''}. {self._kept()}"
        )

    def _kept(self) -> str:
        return (
            f"{self.ended} of {self.runs} missing runs had ended and are in the dataset; the same call with another "
            "executor runs the others"
        )
