"""Sweeps: one scenario for many values of some keys, into a dataset."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from millpond import _core, _toml
from millpond._distribute import Distribution
from millpond._law import Law, fingerprint, name_of, register, registered
from millpond._place import Folder, place_of
from millpond._progress import Progress, shown
from millpond._scenario import Scenario, World
from millpond._toml import Value

if TYPE_CHECKING:
    import pandas

    from millpond.documents import SweepResult

#: The descriptors of the journals of running sweeps.
_journals: set[int] = set()


def _leave_journals() -> None:
    """Closes the journals of sweeps in a forked process, which would keep their datasets locked."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in _journals:
        os.dup2(nothing, descriptor)
    os.close(nothing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_journals)


class Task(NamedTuple):
    """What the workers of an executor receive of a sweep."""

    scenario: Scenario
    #: Varied keys as the command reads them.
    vary: list[str]
    samples: int | None
    protocols: list[str]
    seeds: int
    world: str
    #: The laws in Python that it uses, which workers register too.
    laws: tuple[type[Law], ...]

    def plan(self) -> _core.SweepPlan:
        """The runs of the sweep."""
        guests = "".join(f" {fingerprint(register(law))}" for law in self.laws)
        return _core.SweepPlan(self.scenario._inner, *self[1:-1], guests)


class Sweep:
    """A finished sweep.

    Parameters
    ----------
    place : Folder
        Where the dataset is.
    means : SweepMeans
        The means over the seeds.
    """

    def __init__(self, place: Folder, means: _core.SweepMeans) -> None:
        #: The folder of the dataset, or its address.
        self.directory: Path | str = place.shown
        self._options = place.options
        self._means = means

    def to_json(self) -> str:
        """The document that ``millpond sweep --json`` prints."""
        return self._means.json()

    def __str__(self) -> str:
        return self._means.table()

    def _repr_html_(self) -> str:
        from millpond._html import text

        return text(str(self))

    @cached_property
    def result(self) -> SweepResult:
        """A row for each combination of settings and protocol: the document that ``millpond sweep --json`` prints."""
        from millpond.documents import SweepResult

        return SweepResult.from_json(json.loads(self.to_json()))

    def runs(self) -> pandas.DataFrame:
        """One row for each run: ``runs.parquet``."""
        return self._table("runs.parquet")

    def groups(self) -> pandas.DataFrame:
        """One row for each group of flows of each run: ``groups.parquet``."""
        return self._table("groups.parquet")

    def _table(self, name: str) -> pandas.DataFrame:
        import pandas

        return pandas.read_parquet(f"{self.directory}/{name}", storage_options=self._options)

    def __repr__(self) -> str:
        return f"<Sweep in {self.directory}>"


def sweep(
    scenario: Scenario,
    vary: Mapping[str, str | Iterable[Value]],
    *,
    out: str | os.PathLike[str],
    protocols: Iterable[str | type[Law]] = (),
    seeds: int = 1,
    samples: int | None = None,
    world: World = "packets",
    executor: Executor | None = None,
    in_flight: int | None = None,
    storage_options: Mapping[str, object] | None = None,
    threads: int = 0,
    replace: bool = False,
    progress: bool | Progress | None = None,
) -> Sweep:
    """Runs a scenario for all combinations of values, or for samples of them.

    The dataset has the bytes of the one that ``millpond sweep`` writes. The same call continues an interrupted sweep;
    more values or seeds run only what is missing. A run that fails is a row with its message.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    vary : Mapping
        For each key its values: a list, or a text as the command reads it, such as ``"10Mbps..1Gbps:log:5"``.
    out : path or str
        Directory of the dataset, or an address that `fsspec` writes to, such as ``"s3://bucket/folder"``.
    protocols : iterable of str or type
        Protocols of the flows that are not ``pinned``: names, variants such as ``"lgcc:cellular"``, or subclasses of
        `Law`. Default: those of the scenario.
        The code of a law is a part of the key of its runs; workers import the law from its module.
    seeds : int
        Number of seeds for each combination, from the scenario's seed upwards.
    samples : int, optional
        Number of samples of a Sobol sequence with Owen scrambling, in place of all combinations.
    world : {"packets", "fluid"}
        The world.
    executor : concurrent.futures.Executor, optional
        Executes the runs, in tasks of about a second. Its workers need the package and the files of the traces.
        Default: threads of this process, which need no Python.
    in_flight : int, optional
        Number of tasks that the executor holds at the same time. Default: twice the number that it executes at the same
        time, which pools, Dask and `millpond.executors.RayExecutor` tell; for others twice the number of cores.
    storage_options : Mapping, optional
        Options of the file system of an address, as for ``fsspec.filesystem``.
    threads : int
        Number of threads without an executor, at most one per core; 0 for `RAYON_NUM_THREADS`, else one per core.
    replace : bool
        Whether the dataset of another sweep in the directory is replaced.
    progress : bool or callable, optional
        As for `Scenario.run`.

    Raises
    ------
    Error
        A value or a protocol is invalid, the directory holds another dataset or cannot be written, or the executor has
        ended; the dataset then has all runs that had ended.
    """
    varied = [_varied(key, values) for key, values in vary.items()]
    names = [name_of(one) for one in protocols]
    used = {*names, *scenario._inner.protocols()}
    laws = tuple(law for law in registered() if law.name in used)
    task = Task(scenario, varied, samples, names, seeds, world, laws)
    plan = task.plan()
    place = place_of(out, storage_options)
    with place.opened(replace), shown(scenario.title, progress) as show:

        def tick(share: float) -> None:
            place.keep()
            if show is not None:
                show(share)

        with _opened(place.path, plan, replace) as dataset:
            place.begin()
            if executor is None:
                dataset.run(threads, tick)
            else:
                Distribution(dataset, plan, pickle.dumps(task), executor, in_flight).run(tick)
            means = dataset.finish()
        place.finish()
    return Sweep(place, means)


@contextmanager
def _opened(path: Path, plan: _core.SweepPlan, replace: bool) -> Iterator[_core.Dataset]:
    """A dataset that no other sweep uses at the same time."""
    dataset = _core.Dataset(path, plan, replace)
    descriptor = dataset.descriptor() if hasattr(dataset, "descriptor") else None
    with closing(dataset):
        if descriptor is not None:
            _journals.add(descriptor)
        try:
            yield dataset
        finally:
            _journals.discard(descriptor or -1)


def _varied(key: str, values: str | Iterable[Value]) -> str:
    """A varied key as the command reads it."""
    if not isinstance(values, str):
        values = ",".join(value if isinstance(value, str) else _toml.inline(value) for value in values)
    return f"{key}={values}"
