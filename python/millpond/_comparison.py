"""Comparisons of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from millpond import _core
from millpond._run import Run

if TYPE_CHECKING:
    import pandas

    from millpond.charts import ComparisonCharts
    from millpond.documents import ComparisonResult, ComparisonRow, Estimate
    from millpond.plot import ComparisonPlots

#: Quantities of a row that are means over the seeds, with their units.
ESTIMATES = {
    "utilization": "1",
    "total_goodput_bps": "bit/s",
    "flow_goodput_bps": "bit/s",
    "least_goodput_bps": "bit/s",
    "jain": "1",
    "loss": "1",
    "starving": "flows",
}

#: Quantities of a row with several statistics, each a mean over the seeds: their unit and the statistics.
DISTRIBUTIONS = {
    "queueing_ms": ("ms", ("mean", "p50", "p95", "p99", "p999")),
    "completion_ms": ("ms", ("mean", "p50", "p95", "p99", "p999")),
    "slowdown": ("1", ("mean", "p50", "p95", "p99")),
}


class Comparison(Sequence[Run]):
    """Runs of one scenario under several protocols, in several worlds or with several seeds.

    A sequence of runs: protocol after protocol, world after world, seed after seed.
    """

    def __init__(self, core: _core.Comparison) -> None:
        self._core = core
        self._runs = tuple(Run(run) for run in core.runs)

    @cached_property
    def result(self) -> ComparisonResult:
        """The rows of the comparison: the document that ``millpond compare --json`` prints."""
        from millpond.documents import ComparisonResult

        return ComparisonResult.from_json(json.loads(self._core.json()))

    def to_json(self) -> str:
        """The document that ``millpond compare --json`` prints."""
        return self._core.json()

    def to_pandas(self) -> pandas.DataFrame:
        """The rows of `result` as a data frame: for each run the row of all its flows, then those of its groups.

        Returns
        -------
        pandas.DataFrame
            ``run``, ``group`` (None for all flows), ``world``, ``protocols``, ``flows`` and ``seeds`` (their numbers);
            then the mean over the seeds of each quantity, and with the ending ``_half_width`` half the width of its
            95 % confidence interval. A missing value is not a number. ``attrs["units"]`` holds the units.
        """
        import pandas

        frame = pandas.DataFrame([_flat(row) for row in self.result.rows])
        frame.attrs["units"] = dict(_units())
        return frame

    @property
    def labels(self) -> list[str]:
        """Labels of the runs, each once."""
        return list(dict.fromkeys(run.label for run in self))

    def of(self, label: str) -> list[Run]:
        """The runs with this label, one for each seed.

        Raises
        ------
        KeyError
            No run has the label.
        """
        runs = [run for run in self if run.label == label]
        if not runs:
            raise KeyError(f"no run has the label {label!r}; labels: {', '.join(self.labels)}")
        return runs

    @cached_property
    def plot(self) -> ComparisonPlots:
        """Figures with Matplotlib."""
        from millpond.plot import ComparisonPlots

        return ComparisonPlots(self)

    @cached_property
    def chart(self) -> ComparisonCharts:
        """Interactive charts with Altair."""
        from millpond.charts import ComparisonCharts

        return ComparisonCharts(self)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __reduce__(self) -> tuple[object, ...]:
        return (_restored, (self._runs, *self._core.parts()))

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<Comparison of {len(self)} runs: {', '.join(self.labels)}>"

    def _repr_html_(self) -> str:
        from millpond._html import comparison

        return comparison(self)

    def _svg(self, kind: str) -> str | None:
        """A figure of the report."""
        return self._core.svg(kind, 2)


def _restored(runs: Sequence[Run], document: str, agreements: str) -> Comparison:
    """The comparison of a pickle."""
    return Comparison(_core.Comparison.restore([run._core for run in runs], document, agreements))


def _flat(row: ComparisonRow) -> dict[str, str | float | None]:
    """A row with a column for each mean and for each half width."""
    flat: dict[str, str | float | None] = {
        "run": row.run,
        "group": row.group,
        "world": row.world,
        "protocols": ", ".join(row.protocols),
        "flows": row.flows,
        "seeds": len(row.seeds),
    }
    for name in ESTIMATES:
        flat |= _columns(name, getattr(row, name))
    for name, (_, statistics) in DISTRIBUTIONS.items():
        for statistic in statistics:
            flat |= _columns(f"{name}_{statistic}", getattr(getattr(row, name), statistic, None))
    return flat


def _columns(name: str, one: Estimate | None) -> dict[str, float]:
    """The columns of a mean; not a number if it is missing."""
    mean, half_width = (None, None) if one is None else (one.mean, one.half_width)
    return {name: _number(mean), f"{name}_half_width": _number(half_width)}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _units() -> Iterator[tuple[str, str]]:
    """The units of all columns of means."""
    of_statistics = {
        f"{name}_{statistic}": unit for name, (unit, statistics) in DISTRIBUTIONS.items() for statistic in statistics
    }
    for name, unit in (ESTIMATES | of_statistics).items():
        yield from ((name, unit), (f"{name}_half_width", unit))
