"""Sweeps: one scenario for many values of some keys, into a dataset."""

from __future__ import annotations

import json
import os
import pickle
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from millpond import _core, _toml
from millpond._arguments import listed, whole
from millpond._distribute import Distribution
from millpond._fingerprint import fingerprint
from millpond._journal import check_laws, execute, set_version
from millpond._law import Law, name_of, register, registered
from millpond._place import Folder, place_of
from millpond._progress import Progress, shown
from millpond._scenario import Scenario, World
from millpond._toml import Value

if TYPE_CHECKING:
    import pandas

    from millpond.documents import SweepResult

#: The most samples of a sweep.
MOST_SAMPLES = 1 << 16

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
    """The runs of a sweep that use the same laws in Python, as the workers of an executor receive them."""

    scenario: Scenario
    #: Varied keys as the command reads them.
    vary: list[str]
    samples: int | None
    protocols: list[str]
    seeds: int
    world: str
    #: The laws in Python that they use, which workers register too.
    laws: tuple[type[Law], ...]

    def codes(self) -> list[str]:
        """The names of the laws with their code."""
        return [fingerprint(register(law)) for law in self.laws]

    def plan(self, codes: Iterable[str] | None = None) -> _core.SweepPlan:
        """The runs, with the code of the laws, if it is known, in their keys."""
        guests = "".join(f" {code}" for code in (self.codes() if codes is None else codes))
        return _core.SweepPlan(self.scenario._inner, *self[1:-1], guests)


class Printed(NamedTuple):
    """The means over the seeds of a sweep from a pickle: their document and their table."""

    document: str
    tables: str

    def json(self) -> str:
        return self.document

    def table(self) -> str:
        return self.tables


class Sweep:
    """A finished sweep. It can be pickled; the dataset remains where it is.

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
        self._means: _core.SweepMeans | Printed = means

    def to_json(self) -> str:
        """The document that ``millpond sweep --json`` prints."""
        return self._means.json()

    def __getstate__(self) -> dict[str, object]:
        means = Printed(self._means.json(), self._means.table())
        return {"directory": self.directory, "_options": self._options, "_means": means}

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
    more values or seeds run only what is missing. A run that fails is a row with its message, also if a law in Python
    has ended it; the same call does not run it again.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    vary : Mapping
        For each key its values: a list, whose items are one value each, or a text as the command reads it, such as
        ``"10Mbps..1Gbps:log:5"``.
    out : path or str
        Directory of the dataset, or an address that `fsspec` writes to, such as ``"s3://bucket/folder"``.
    protocols : iterable of str or type
        Protocols of the flows that are not ``pinned``: names, variants such as ``"lgcc:cellular"``, or subclasses of
        `Law`. Default: those of the scenario.
        The code of a law is a part of the key of its runs; a dataset with runs of another code of a law that the sweep
        uses is refused. Workers import the law from its module.
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
        A value or a protocol is invalid, a law has changed or has a state that cannot be read, the directory holds
        another dataset or cannot be written, or the executor has ended; the dataset then has all runs that had ended.
    """
    if not isinstance(vary, Mapping):
        raise _core.Error(f'vary is {vary!r}: expected a mapping, such as {{"links.L1.rate": ["5Mbps", "20Mbps"]}}')
    varied = [_varied(key, values) for key, values in vary.items()]
    names = [name_of(one) for one in listed("protocols", protocols)]
    seeds, threads = whole("seeds", seeds, 1), whole("threads", threads, 0)
    samples = None if samples is None else whole("samples", samples, 1, MOST_SAMPLES)
    in_flight = None if in_flight is None else whole("in_flight", in_flight, 1)
    parts = [Part(task) for task in _tasks(Task(scenario, varied, samples, names, seeds, world, ()))]
    place = place_of(out, storage_options)
    with place.opened(replace), shown(scenario.title, progress) as show:
        codes = {code for part in parts for code in part.codes}
        if codes and not replace:
            check_laws(place.path, place.shown, codes)
        for number, part in enumerate(parts):

            def tick(share: float, before: int = number) -> None:
                place.keep()
                if show is not None:
                    show((before + share) / len(parts))

            workers = Workers(executor, in_flight, threads)
            means = part.execute(place, workers, tick, replace=replace and number == 0)
        place.finish()
    return Sweep(place, means)


class Workers(NamedTuple):
    """What executes the runs: an executor, or threads of this process."""

    executor: Executor | None
    in_flight: int | None
    threads: int


class Part:
    """The runs of one plan, which are added to a dataset.

    Parameters
    ----------
    task : Task
        The runs.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        # A run may change the state of its law: the code is that of the beginning.
        self.codes = task.codes()
        self.plan = task.plan(self.codes)

    def execute(
        self, place: Folder, workers: Workers, tick: Callable[[float], None], *, replace: bool
    ) -> _core.SweepMeans:
        """Executes the missing runs, and writes tables and report; calls `tick` with the share that has ended."""
        try:
            with self._opened(place.path, replace) as dataset:
                place.begin()
                if workers.executor is None:
                    dataset.run(workers.threads, tick)
                else:
                    task = pickle.dumps(self.task)
                    Distribution(dataset, self.plan, task, workers.executor, workers.in_flight).run(tick)
                return dataset.finish()
        except _core.GuestError:
            if workers.executor is not None:
                raise
        with self._opened(place.path, replace=False) as dataset:
            self._execute_singly(dataset, tick)
            return dataset.finish()

    def _execute_singly(self, dataset: _core.Dataset, tick: Callable[[float], None]) -> None:
        """Executes the runs after a law has ended one of those that were executed together."""
        missing = dataset.missing()
        before = 1 - len(missing) / len(self.plan)
        for ended, number in enumerate(missing):
            tick(before + ended / len(self.plan))
            dataset.append(number, execute(self.plan, number))
        tick(1.0)

    @contextmanager
    def _opened(self, path: Path, replace: bool) -> Iterator[_core.Dataset]:
        """A dataset that no other sweep uses at the same time, for runs with these laws."""
        set_version(path, " ".join([_core.VERSION, *self.codes]))
        try:
            with _opened(path, self.plan, replace) as dataset:
                yield dataset
        finally:
            set_version(path, _core.VERSION)


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


def _tasks(whole_sweep: Task) -> list[Task]:
    """The runs of a sweep by the laws in Python that they use, so that a law is a part of the keys of its own runs."""
    varied = " ".join(whole_sweep.vary)
    shared = set(whole_sweep.scenario._inner.protocols())
    groups: dict[tuple[type[Law], ...], list[str]] = {}
    for protocol in whole_sweep.protocols or [""]:
        used = {*shared, protocol.partition(":")[0]}
        laws = tuple(law for law in registered() if law.name in used or _is_named(law.name, varied))
        groups.setdefault(laws, []).append(protocol)
    return [
        whole_sweep._replace(protocols=protocols if whole_sweep.protocols else [], laws=laws)
        for laws, protocols in groups.items()
    ]


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _varied(key: str, values: str | Iterable[Value]) -> str:
    """A varied key as the command reads it, which separates the values of a list at commas."""
    if isinstance(values, str):
        return f"{key}={values}"
    texts = [_item(one) for one in listed(f"vary[{key!r}]", values)]
    if not texts:
        raise _core.Error(f"vary[{key!r}] is empty: expected at least one value")
    # Two dots mark a range, unless the text begins with a quote or a bracket, as each value with two dots does.
    texts.sort(key=lambda text: ".." not in text)
    return f"{key}={','.join(texts)}"


def _item(value: Value) -> str:
    """One value of a list: a text as ``--set`` reads it, in quotes where the command would not read it as one value."""
    if not isinstance(value, str):
        return _toml.inline(value)
    is_one = value == value.strip() != "" and ".." not in value and not re.search("[,\"'\\[\\]{}]", value)
    return value if is_one or (value[:1] in {"[", "{", '"', "'"} and _is_toml(value)) else _toml.text(value)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return False
    return "\n" not in text
