"""Comparisons of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from millpond import _core
from millpond._run import Run

if TYPE_CHECKING:
    from millpond.charts import ComparisonCharts
    from millpond.documents import ComparisonResult
    from millpond.plot import ComparisonPlots


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
