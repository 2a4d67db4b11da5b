"""Equilibrium, stability and explained runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from millpond._tables import array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from millpond.charts import StabilityCharts
    from millpond.documents import (
        AllocationResult,
        EquilibriumResult,
        ExplanationResult,
        OscillationResult,
        StabilityResult,
    )
    from millpond.plot import StabilityPlots


class Analysis:
    """An analysis with the tables that the command prints.

    Parameters
    ----------
    text : str
        The document in JSON.
    tables : str
        The tables.
    """

    def __init__(self, text: str, tables: str) -> None:
        self._json = text
        self._tables = tables

    def to_json(self) -> str:
        """The document that the command prints with ``--json``."""
        return self._json

    def __str__(self) -> str:
        return self._tables

    def _repr_html_(self) -> str:
        from millpond._html import text

        return text(self._tables)


class Equilibrium(Analysis):
    """The equilibrium of a scenario: what its laws do in the steady state."""

    @cached_property
    def result(self) -> EquilibriumResult:
        """Steady state, flows and links: the document that ``millpond equilibrium --json`` prints."""
        from millpond.documents import EquilibriumResult

        return EquilibriumResult.from_json(json.loads(self._json))

    @property
    def sentence(self) -> str:
        """The steady state in a sentence."""
        return self.result.steady_state.sentence

    def __repr__(self) -> str:
        return f"<Equilibrium: {self.sentence}>"


class Allocation(Analysis):
    """Rates that maximize the sum of utilities."""

    @cached_property
    def result(self) -> AllocationResult:
        """Flows and links: the document that ``millpond equilibrium --utility --json`` prints."""
        from millpond.documents import AllocationResult

        return AllocationResult.from_json(json.loads(self._json))

    def __repr__(self) -> str:
        return f"<Allocation: {self.result.utility}>"


@dataclass(frozen=True, slots=True)
class Locus:
    """One eigenvalue of the return ratio along the imaginary axis.

    Attributes
    ----------
    frequency : ndarray, shape (n,)
        Angular frequencies, in rad/s.
    value : ndarray of complex, shape (n,)
        The eigenvalue.
    """

    frequency: NDArray[np.float64]
    value: NDArray[np.complex128]


class Stability(Analysis):
    """The stability of an equilibrium."""

    def __init__(self, text: str, tables: str, loci: list[tuple[bytes, bytes, bytes]]) -> None:
        super().__init__(text, tables)
        self._loci = loci

    @cached_property
    def result(self) -> StabilityResult | OscillationResult:
        """Roots, margins and critical values: the document that ``millpond stability --json`` prints.

        A network with a limit cycle or a sawtooth has neither roots nor margins: an `OscillationResult`.
        """
        from millpond.documents import OscillationResult, StabilityResult

        document = json.loads(self._json)
        kind = StabilityResult if "roots" in document else OscillationResult
        return kind.from_json(document)

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        return self.result.verdict

    @property
    def is_stable(self) -> bool:
        """Whether all roots have negative real parts."""
        return self.result.stable

    @cached_property
    def loci(self) -> tuple[Locus, ...]:
        """Nyquist loci for positive frequencies; none if the network oscillates."""
        columns = ([array(column) for column in locus] for locus in self._loci)
        return tuple(Locus(frequency, real + 1j * imaginary) for frequency, real, imaginary in columns)

    @cached_property
    def plot(self) -> StabilityPlots:
        """Figures with Matplotlib."""
        from millpond.plot import StabilityPlots

        return StabilityPlots(self)

    @cached_property
    def chart(self) -> StabilityCharts:
        """Interactive charts with Altair."""
        from millpond.charts import StabilityCharts

        return StabilityCharts(self)

    def __repr__(self) -> str:
        return f"<Stability: {self.verdict}>"


class Explanation(Analysis):
    """Whether and why a run oscillates."""

    @cached_property
    def result(self) -> ExplanationResult:
        """Spectra, linear model and noise: the document that ``millpond stability --explain --json`` prints."""
        from millpond.documents import ExplanationResult

        return ExplanationResult.from_json(json.loads(self._json))

    @property
    def sentence(self) -> str:
        """The explanation in a sentence."""
        return self.result.verdict

    def __repr__(self) -> str:
        return f"<Explanation: {self.sentence}>"
