"""Equations of a sender in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from millpond.dual import Dual, Number, parts

#: The inputs by which equations are differentiated, in the order of the columns of a Jacobian after the states.
VARYING = ("queueing_s", "queueing_slope", "marked", "lost", "acked_bps")


@dataclass(frozen=True)
class State:
    """A state of a fluid model.

    Parameters
    ----------
    name : str
        Name in plain words.
    unit : str
        Unit as printed: ``"bit"``, ``"bit/s"``, ``"s"``, ``"packets"``, ``"1"``.
    initial : float
        Initial value.
    lower, upper : float
        Bounds; the engine holds the state there while its derivative points outwards.
    """

    name: str
    unit: str
    initial: float
    lower: float = -math.inf
    upper: float = math.inf


class LoopFacts(NamedTuple):
    """What a sender may know about its loop when it is built."""

    #: Size of a full data packet, in bits.
    packet_bits: float
    #: Round-trip time without queues.
    base_rtt_s: float
    #: Smallest initial capacity of the loop's links.
    capacity_bps: float
    #: Number of links from the sender to the receiver.
    hops: int
    #: Weight of the flow.
    weight: float


class FluidInput(NamedTuple):
    """The inputs of a sender, delayed by the return path."""

    #: Round-trip time without queues.
    base_rtt_s: float
    #: Smallest present capacity of the loop's links.
    capacity_bps: float
    #: Queueing delay of the path.
    queueing_s: Any
    #: Time derivative of the queueing delay, in seconds per second.
    queueing_slope: Any
    #: Probability that a packet was marked.
    marked: Any
    #: Probability that a packet was lost.
    lost: Any
    #: This sender's own rate one round trip ago.
    acked_bps: Any

    @property
    def rtt_s(self) -> Any:  # noqa: ANN401
        """Round-trip time with queues."""
        return self.queueing_s + self.base_rtt_s


class Fluid:
    """The law at a sender as differential equations.

    A subclass is the attribute ``Fluid`` of a `millpond.Law`. It returns states, their derivatives and the rate, in
    bits, bit/s and seconds. The engine computes delays, queues, sums over flows, and linearizations by dual numbers:
    equations use the functions of `millpond.dual` in place of those of `math`. A class that defines `jacobian` is
    linearized by it.

    Attributes
    ----------
    law : Law
        The law with the parameters of this run.
    facts : LoopFacts
        Packet size, base round-trip time, capacity, number of links and weight.
    """

    #: Parts of the law that the equations do not contain, a few words each.
    left_out: ClassVar[Sequence[str]] = ()

    law: Any
    facts: LoopFacts

    def states(self) -> Sequence[State]:
        """The states; none for a static law."""
        return ()

    def derivative(self, x: Sequence[Any], inputs: FluidInput) -> Sequence[Any]:
        """The derivatives of the states, per second."""
        raise NotImplementedError(f"{type(self).__name__} needs derivative(x, inputs)")

    def rate(self, x: Sequence[Any], inputs: FluidInput) -> Any:  # noqa: ANN401
        """The sending rate, in bit/s."""
        raise NotImplementedError(f"{type(self).__name__} needs rate(x, inputs)")

    def jacobian(self, x: Sequence[float], inputs: FluidInput) -> Sequence[Sequence[float]]:
        """The derivatives of `derivative` and `rate`; by default the engine computes them by dual numbers.

        Returns
        -------
        sequence of sequences of float
            A row for each state and one for the rate; a column for each state, then for queueing delay, its slope,
            marks, losses and the acknowledged rate.
        """
        raise NotImplementedError

    @classmethod
    def _of(cls, law: object, facts: tuple[float, float, float, int, float]) -> Fluid:
        equations = cls()
        equations.law, equations.facts = law, LoopFacts(*facts)
        return equations

    def _states(self) -> list[tuple[str, str, float, float, float]]:
        return [(one.name, one.unit, one.initial, one.lower, one.upper) for one in self.states()]

    def _derivative(self, x: list[float], inputs: tuple[float, ...]) -> list[float]:
        return _finite("derivative", self.derivative(x, FluidInput(*inputs)), len(x))

    def _rate(self, x: list[float], inputs: tuple[float, ...]) -> list[float]:
        return _finite("rate", [self.rate(x, FluidInput(*inputs))], 1)

    def _dual(
        self, x: list[float], x_slopes: list[float], inputs: tuple[float, ...], input_slopes: list[float]
    ) -> list[float]:
        """Value and derivative of each derivative of a state, then of the rate."""
        if type(self).jacobian is not Fluid.jacobian:
            return self._by_jacobian(x, [*x_slopes, *input_slopes], FluidInput(*inputs))
        fixed, varying = inputs[:2], inputs[2:]
        dual_inputs = FluidInput(*fixed, *map(Dual, varying, input_slopes))
        states = list(map(Dual, x, x_slopes))
        derivatives = self.derivative(states, dual_inputs) if x else ()
        numbers: list[Number] = [*derivatives, self.rate(states, dual_inputs)]
        return _finite("derivative", [part for number in numbers for part in parts(number)], 2 * len(x) + 2)

    def _by_jacobian(self, x: list[float], slopes: list[float], inputs: FluidInput) -> list[float]:
        values = [*(self.derivative(x, inputs) if x else ()), self.rate(x, inputs)]
        rows = [list(row) for row in self.jacobian(x, inputs)]
        if len(rows) != len(values) or any(len(row) != len(slopes) for row in rows):
            columns = ", ".join(["each state", *VARYING])
            raise ValueError(f"a Jacobian has {len(values)} rows with a column for {columns}")
        pairs = [
            (value, math.fsum(entry * slope for entry, slope in zip(row, slopes, strict=True)))
            for value, row in zip(values, rows, strict=True)
        ]
        return _finite("jacobian", [part for pair in pairs for part in pair], 2 * len(values))


def _finite(what: str, values: Sequence[float], count: int) -> list[float]:
    """The values, if they are numbers and as many as expected."""
    if len(values) != count:
        raise ValueError(f"{what} returns {len(values)} numbers: expected {count}")
    numbers = [float(value) for value in values]
    for number in numbers:
        if not math.isfinite(number):
            raise ValueError(f"{what} is {number}: expected a finite number")
    return numbers
