"""Sweeps: one scenario for many values of some keys, into a dataset."""

from __future__ import annotations

import functools
import json
import math
import os
import pickle
import time
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from millpond import _core, _toml
from millpond._law import Law, fingerprint, name_of, register, registered
from millpond._progress import Progress, shown
from millpond._scenario import Scenario, World
from millpond._theory import Analysis
from millpond._toml import Value

if TYPE_CHECKING:
    import pandas

    from millpond.documents import SweepResult

#: The least time that the runs of one task of an executor take, in seconds.
CHUNK_TIME = 1.0
#: The most runs of one task.
MOST_RUNS = 1000


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


class Sweep(Analysis):
    """A finished sweep.

    Parameters
    ----------
    directory : Path
        The dataset.
    text : str
        The document in JSON.
    tables : str
        The tables.
    """

    def __init__(self, directory: Path, text: str, tables: str) -> None:
        super().__init__(text, tables)
        self.directory = directory

    @cached_property
    def result(self) -> SweepResult:
        """A row for each combination of settings and protocol: the document that ``millpond sweep --json`` prints."""
        from millpond.documents import SweepResult

        return SweepResult.from_json(json.loads(self._json))

    def runs(self) -> pandas.DataFrame:
        """One row for each run: ``runs.parquet``."""
        import pandas

        return pandas.read_parquet(self.directory / "runs.parquet")

    def groups(self) -> pandas.DataFrame:
        """One row for each group of flows of each run: ``groups.parquet``."""
        import pandas

        return pandas.read_parquet(self.directory / "groups.parquet")

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
    out : path
        Directory of the dataset.
    protocols : iterable of str or type
        Protocols of the flows that are not ``pinned``: names, or subclasses of `Law`. Default: those of the scenario.
        The code of a law is a part of the key of its runs; workers import the law from its module.
    seeds : int
        Number of seeds for each combination, from the scenario's seed upwards.
    samples : int, optional
        Number of samples of a Sobol sequence with Owen scrambling, in place of all combinations.
    world : {"packets", "fluid"}
        The world.
    executor : concurrent.futures.Executor, optional
        Executes the runs, in tasks of at least a second. Its workers need the package and the files of the traces.
        Default: threads of this process, which need no Python.
    in_flight : int, optional
        Number of tasks that the executor holds at the same time. Default: twice its number of workers, or of the cores.
    threads : int
        Number of threads without an executor; 0 for one per core.
    replace : bool
        Whether the dataset of another sweep in the directory is replaced.
    progress : bool or callable, optional
        As for `Scenario.run`.

    Raises
    ------
    Error
        A value or a protocol is invalid, the directory holds another dataset, or the executor has lost a worker; the
        dataset then has all runs that had ended.
    """
    varied = [_varied(key, values) for key, values in vary.items()]
    names = [name_of(one) for one in protocols]
    used = {*names, *scenario._inner.protocols()}
    laws = tuple(law for law in registered() if law.name in used)
    task = Task(scenario, varied, samples, names, seeds, world, laws)
    dataset = _core.Dataset(out, task.plan(), replace)
    with shown(scenario.title, progress) as show:
        if executor is None:
            dataset.run(threads, show)
        else:
            workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
            _distribute(dataset, pickle.dumps(task), executor, in_flight or 2 * workers, show)
    return Sweep(Path(out), *dataset.finish())


def _varied(key: str, values: str | Iterable[Value]) -> str:
    """A varied key as the command reads it."""
    if not isinstance(values, str):
        values = ",".join(value if isinstance(value, str) else _toml.inline(value) for value in values)
    return f"{key}={values}"


@functools.lru_cache(maxsize=1)
def _plan_of(task: bytes) -> _core.SweepPlan:
    """The plan of a sweep in a worker, which makes it once."""
    loaded: Task = pickle.loads(task)
    return loaded.plan()


def run_chunk(task: bytes, numbers: list[int]) -> tuple[list[str], float]:
    """Executes some runs in a worker.

    Returns
    -------
    lines : list of str
        A line of ``runs.jsonl`` for each run.
    elapsed : float
        The time that they took, in seconds.
    """
    plan = _plan_of(task)
    begin = time.perf_counter()
    lines = plan.run(numbers)
    return lines, time.perf_counter() - begin


def _distribute(dataset: _core.Dataset, task: bytes, executor: Executor, in_flight: int, show: Progress | None) -> None:
    """Executes the missing runs, and adds each to the dataset as soon as its task has ended."""
    missing = deque(dataset.missing())
    runs, ended, elapsed = len(missing), 0, 0.0
    pending: set[Future[tuple[list[str], float]]] = set()
    try:
        while missing or pending:
            size = 1 if ended == 0 else min(math.ceil(CHUNK_TIME * ended / max(elapsed, 1e-9)), MOST_RUNS)
            while missing and len(pending) < in_flight:
                chunk = [missing.popleft() for _ in range(min(size, len(missing)))]
                pending.add(executor.submit(run_chunk, task, chunk))
            done, pending = wait(pending, timeout=CHUNK_TIME, return_when=FIRST_COMPLETED)
            for future in done:
                lines, seconds = future.result()
                for line in lines:
                    dataset.append(line)
                ended, elapsed = ended + len(lines), elapsed + seconds
            if show is not None:
                show(ended / runs)
    except BrokenExecutor as error:
        raise _core.Error(
            f"the executor has lost a worker: {ended} of {runs} missing runs had ended and are in the dataset; "
            "the same call with another executor runs the others"
        ) from error
    finally:
        for future in pending:
            future.cancel()
