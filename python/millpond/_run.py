"""Finished runs."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING

from millpond import _core
from millpond._tables import Distribution, SeriesTable, Table, distributions
from millpond._theory import Explanation

if TYPE_CHECKING:
    import pandas
    import xarray

    from millpond.charts import RunCharts
    from millpond.documents import Summary
    from millpond.plot import RunPlots


#: A message names at most this many runs.
MOST_NAMES = 6


class Run:
    """A finished run: its numbers, its quantities over time and its distributions.

    `Scenario.run` makes it, `load_run` reads it from a directory that the command or `save` has written. It
    can be pickled.
    """

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    @property
    def label(self) -> str:
        """Protocol of the run in a comparison, else the title of the scenario."""
        return self._core.label

    @property
    def command(self) -> str:
        """The call or the command that reproduces the run."""
        return self._core.command

    @property
    def scenario_toml(self) -> str:
        """The scenario with all defaults, as TOML that can be run again."""
        return self._core.scenario_toml

    @cached_property
    def summary(self) -> Summary:
        """The numbers of the run: the document ``summary.json``."""
        from millpond.documents import Summary

        return Summary.from_json(json.loads(self._core.summary_json()))

    def summary_json(self) -> str:
        """The text of ``summary.json``."""
        return self._core.summary_json()

    @cached_property
    def series(self) -> SeriesTable:
        """Quantities over time, one row per sample: ``series.parquet``.

        Columns: ``time`` [s], ``entity``, ``quantity``, ``value`` [in the unit of the row], ``unit``, ``kind``.
        """
        return SeriesTable(self._core)

    @cached_property
    def flows(self) -> Table:
        """One row for each declared flow, with its numbers of the summary; delays of nothing are NaN."""
        return Table(self._core.flows())

    @cached_property
    def links(self) -> Table:
        """One row for each direction of each link, with its numbers of the summary; delays of nothing are NaN."""
        return Table(self._core.links())

    @cached_property
    def transfers(self) -> Table:
        """One row for each transfer, the declared flows first: ``flows.parquet``."""
        return Table(self._core.transfers())

    @cached_property
    def distributions(self) -> tuple[Distribution, ...]:
        """Distributions of queueing delay: of each link direction, of each group, and of all flows (``"all"``)."""
        return distributions(self._core)

    @property
    def cpu_s(self) -> float | None:
        """Processor time of the run, in seconds; None if the run was loaded or the system does not report it."""
        timing = self._core.timing_s
        return None if timing is None else timing[1]

    def to_pandas(self) -> pandas.DataFrame:
        """The series as a data frame with the columns of `series`."""
        return self.series.to_pandas()

    def to_xarray(self, *, kind: str | None = None) -> xarray.Dataset:
        """The series as a data set.

        Parameters
        ----------
        kind : {"flow", "link", "relay", "group"}, optional
            The kind of the series. Default: all kinds.

        Returns
        -------
        xarray.Dataset
            A variable for each quantity with dimensions ``(time, flow)``, ``(time, link)``, ``(time, relay)`` or
            ``(time, group)``. A quantity of several kinds or units is several variables, whose names have kind and
            unit: ``"queueing delay (link, ms)"`` and ``"queueing delay (flow, ms)"``; among the series of one kind it
            is ``"queueing delay"``. ``time`` is in seconds; the attribute ``units`` of a variable is its unit. Samples
            without a value are not a number.

        Raises
        ------
        Error
            The run has no series of this kind.
        """
        return self.series.to_xarray(kind=kind)

    def explain(self, *, at: str | None = None) -> Explanation:
        """Whether and why the run oscillates.

        Parameters
        ----------
        at : str, optional
            The interval without a change of the network that contains this time, such as ``"20s"``. Default: the
            longest.

        Raises
        ------
        Error
            The run is too short, has gaps, or its scenario has no linear model.
        """
        return Explanation(*_core.explain(self._core, at))

    def save(self, directory: str | os.PathLike[str], *, replace: bool = False, csv: bool = False) -> None:
        """Writes the files of the run, as ``millpond run --out`` does.

        Parameters
        ----------
        directory : path
            A directory that does not exist. It appears when all files are complete.
        replace : bool
            Whether a run in the directory is replaced.
        csv : bool
            Whether each table is also written as a ``.csv`` file.

        Raises
        ------
        Error
            The directory exists already or cannot be written.
        """
        self._core.save(directory, replace, csv)

    @cached_property
    def plot(self) -> RunPlots:
        """Figures with Matplotlib."""
        from millpond.plot import RunPlots

        return RunPlots(self)

    @cached_property
    def chart(self) -> RunCharts:
        """Interactive charts with Altair."""
        from millpond.charts import RunCharts

        return RunCharts(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (_restored, (self._core.parts(),))

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<Run {self.label!r}: {self.summary.world}, seed {self.summary.seed}>"

    def _repr_html_(self) -> str:
        from millpond._html import run

        return run(self)

    def _svg(self, kind: str) -> str | None:
        """A figure of the report."""
        return self._core.svg(kind, 2)


def _restored(parts: tuple[object, ...]) -> Run:
    """The run of a pickle."""
    return Run(_core.Run.restore(parts))


def load_run(directory: str | os.PathLike[str]) -> Run:
    """The only run in a directory that ``millpond run --out`` or `Run.save` has written.

    Raises
    ------
    Error
        The directory has no run or several, or a file cannot be read.
    """
    runs = load_runs(directory)
    if len(runs) != 1:
        names = [f"{run.label} (seed {run.summary.seed})" for run in runs[:MOST_NAMES]]
        others = [f"{len(runs) - MOST_NAMES} more"] if len(runs) > MOST_NAMES else []
        found = ", ".join(names + others)
        raise _core.Error(f"{directory}: there are {len(runs)} runs in it; load_runs reads all of them: {found}")
    return runs[0]


def load_runs(directory: str | os.PathLike[str]) -> list[Run]:
    """The run in a directory, or all runs below it in the order of their paths.

    Raises
    ------
    Error
        The directory has no run, or a file cannot be read.
    """
    return [Run(run) for run in _core.load_runs(directory)]
