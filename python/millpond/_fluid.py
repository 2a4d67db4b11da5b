"""Equations of a sender in Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from millpond._traceback import end_at_law
from millpond.dual import Dual, Number, parts

#: The inputs by which equations are differentiated, in the order of the columns of a Jacobian after the states.
VARYING = ("queueing_s", "queueing_slope", "marked", "lost", "acked_bps")

#: A rate is below zero if it is so by more than this part of the capacity: differences of equal numbers are rounded.
ROUNDING = 1e-9


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
        Initial value, within the bounds.
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
        raise NotImplementedError(f"{type(self).__qualname__} needs derivative(x, inputs)")

    def rate(self, x: Sequence[Any], inputs: FluidInput) -> Any:  # noqa: ANN401
        """The sending rate, in bit/s, at least zero."""
        raise NotImplementedError(f"{type(self).__qualname__} needs rate(x, inputs)")

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
        try:
            return [_checked(one) for one in self.states()]
        except Exception as error:
            end_at_law(error, self.states)
            raise

    def _derivative(self, x: list[float], inputs: tuple[float, ...]) -> list[float]:
        return [value for value, _ in self._derivatives(x, FluidInput(*inputs))]

    def _rate(self, x: list[float], inputs: tuple[float, ...]) -> list[float]:
        given = FluidInput(*inputs)
        try:
            value, _ = _finite("rate", self.rate(x, given))
            if value < -ROUNDING * given.capacity_bps:
                hint = "a state needs a lower bound, or the rate dual.maximum"
                raise ValueError(f"rate is {value:g} bit/s: expected at least zero; {hint}")
        except Exception as error:
            end_at_law(error, self.rate)
            raise
        return [value]

    def _dual(
        self, x: list[float], x_slopes: list[float], inputs: tuple[float, ...], input_slopes: list[float]
    ) -> list[float]:
        """Value and derivative of each derivative of a state, then of the rate."""
        if type(self).jacobian is not Fluid.jacobian:
            return self._by_jacobian(x, [*x_slopes, *input_slopes], FluidInput(*inputs))
        fixed, varying = inputs[:2], inputs[2:]
        dual_inputs = FluidInput(*fixed, *map(Dual, varying, input_slopes))
        states = list(map(Dual, x, x_slopes))
        pairs = [*self._derivatives(states, dual_inputs), self._rate_of(states, dual_inputs)]
        return [part for pair in pairs for part in pair]

    def _by_jacobian(self, x: list[float], slopes: list[float], inputs: FluidInput) -> list[float]:
        pairs = [*self._derivatives(x, inputs), self._rate_of(x, inputs)]
        try:
            rows = [list(row) for row in self.jacobian(x, inputs)]
            if len(rows) != len(pairs) or any(len(row) != len(slopes) for row in rows):
                columns = ", ".join(["each state", *VARYING])
                raise ValueError(f"jacobian has {len(pairs)} rows with a column for {columns}")
            sums = [math.fsum(entry * slope for entry, slope in zip(row, slopes, strict=True)) for row in rows]
            found = [_finite("jacobian", one)[0] for one in sums]
        except Exception as error:
            end_at_law(error, self.jacobian)
            raise
        return [part for (value, _), slope in zip(pairs, found, strict=True) for part in (value, slope)]

    def _derivatives(self, x: Sequence[Number], inputs: FluidInput) -> list[tuple[float, float]]:
        """Value and derivative of the derivative of each state."""
        if not x:
            return []
        try:
            found = self.derivative(x, inputs)
            if not isinstance(found, Iterable):
                raise TypeError(f"derivative returns {found!r}: expected a list of {len(x)} numbers")
            pairs = [_finite("derivative", one) for one in found]
            if len(pairs) != len(x):
                raise ValueError(f"derivative returns {len(pairs)} numbers: expected {len(x)}")
        except Exception as error:
            end_at_law(error, self.derivative)
            raise
        return pairs

    def _rate_of(self, x: Sequence[Number], inputs: FluidInput) -> tuple[float, float]:
        """Value and derivative of the rate."""
        try:
            return _finite("rate", self.rate(x, inputs))
        except Exception as error:
            end_at_law(error, self.rate)
            raise


def _finite(what: str, number: Any) -> tuple[float, float]:  # noqa: ANN401
    """Value and derivative of a number, if both are finite."""
    try:
        value, slope = parts(number)
    except TypeError:
        raise TypeError(f"{what} is {number!r}: expected a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{what} is {value}: expected a finite number")
    if not math.isfinite(slope):
        raise ValueError(f"{what} is {value} with the slope {slope}: expected a finite one")
    return value, slope


def _checked(state: Any) -> tuple[str, str, float, float, float]:  # noqa: ANN401
    """The parts of a state that can begin."""
    if not isinstance(state, State):
        raise TypeError(f"states has {state!r}: expected a millpond.State")
    initial, lower, upper = float(state.initial), float(state.lower), float(state.upper)
    if not math.isfinite(initial):
        raise ValueError(f"the state {state.name!r} begins at {initial}: expected a finite number")
    if not lower <= initial <= upper:
        text = f"the state {state.name!r} begins at {initial:g}"
        raise ValueError(f"{text}: expected a number from {lower:g} to {upper:g}")
    return state.name, state.unit, initial, lower, upper
