"""Equations in Python have the equilibrium, the stability and the trajectories of the same equations built in."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import millpond
import millpond.testing
import pytest
from conftest import ROOT
from guest_laws import Fixed
from millpond import dual
from millpond.dual import Dual, Number

SLOPE = 0.7


class Misra(Fixed):
    """Reno over marks: `W' = 1 / R - W / 2 * W(t - R) p / R(t - R)`."""

    name = "misra"
    title = "Misra, Gong, Towsley"
    source = "SIGCOMM 2000, Eq. (1)"
    ecn = "ect0"

    class Fluid(millpond.Fluid):
        left_out = ("slow start", "timeouts")

        def states(self) -> list[millpond.State]:
            packet = self.facts.packet_bits
            # RFC 9002, section 7.2, in bits.
            initial = min(10 * packet, max(2 * packet, 8 * 14720))
            return [millpond.State("window", "bit", initial, lower=packet)]

        def derivative(self, x: Sequence[Any], inputs: millpond.FluidInput) -> list[Any]:
            packet = self.facts.packet_bits
            signal = inputs.lost + inputs.marked - inputs.lost * inputs.marked
            return [packet / inputs.rtt_s - x[0] * inputs.acked_bps * signal / packet * 0.5]

        def rate(self, x: Sequence[Any], inputs: millpond.FluidInput) -> Any:
            return x[0] / inputs.rtt_s


class Jacobian(Misra):
    """The same with its Jacobian."""

    name = "misra-jacobian"

    class Fluid(Misra.Fluid):
        def jacobian(self, x: Sequence[float], inputs: millpond.FluidInput) -> list[list[float]]:
            packet, (window,), rtt = self.facts.packet_bits, x, inputs.rtt_s
            signal = inputs.lost + inputs.marked - inputs.lost * inputs.marked
            acked = inputs.acked_bps
            by_window = -0.5 * acked * signal / packet
            by_marked = -0.5 * window * acked * (1 - inputs.lost) / packet
            by_lost = -0.5 * window * acked * (1 - inputs.marked) / packet
            by_acked = -0.5 * window * signal / packet
            # Columns: window, queueing delay, its slope, marks, losses, acknowledged rate.
            return [
                [by_window, -packet / rtt**2, 0.0, by_marked, by_lost, by_acked],
                [1 / rtt, -window / rtt**2, 0.0, 0.0, 0.0, 0.0],
            ]


@pytest.fixture(scope="module")
def over_red() -> millpond.Scenario:
    return millpond.Scenario.load(ROOT / "scenarios/reno-over-red.toml")


def under(scenario: millpond.Scenario, law: type[millpond.Law]) -> millpond.Scenario:
    return scenario.set("flows.reno.protocol", millpond.register(law).name)


@pytest.mark.parametrize("law", [Misra, Jacobian])
def test_the_equilibrium_is_that_of_the_built_in_equations(
    over_red: millpond.Scenario, law: type[millpond.Law]
) -> None:
    guest, built_in = (scenario.equilibrium().result for scenario in (under(over_red, law), over_red))
    assert guest.steady_state.kind == built_in.steady_state.kind
    flow, link = guest.flows[0], guest.links[0]
    # W^2 p = 2 and W = R C / N, with C = 3750 packets/s and N = 60.
    assert flow.rate_bps is not None
    assert flow.rtt_ms is not None
    assert link.marked is not None
    assert flow.rate_bps == pytest.approx(15e6 / 60, rel=1e-6)
    window = flow.rate_bps / 4000 * flow.rtt_ms / 1000
    assert window**2 * link.marked == pytest.approx(2, rel=1e-6)
    assert flow.rtt_ms == pytest.approx(built_in.flows[0].rtt_ms, rel=1e-9)


@pytest.mark.parametrize("law", [Misra, Jacobian])
def test_the_stability_is_that_of_the_built_in_equations(over_red: millpond.Scenario, law: type[millpond.Law]) -> None:
    guest, built_in = (scenario.stability() for scenario in (under(over_red, law), over_red))
    assert guest.verdict == built_in.verdict
    assert guest.loci[0].value == pytest.approx(built_in.loci[0].value, rel=1e-9)


def test_trajectories_are_those_of_the_built_in_equations(over_red: millpond.Scenario) -> None:
    short = over_red.set({"duration": "20s", "measure.from": "5s", "flows.reno.count": 3})
    guest, built_in = (scenario.run(world="fluid") for scenario in (under(short, Misra), short))
    for quantity in ("queue", "goodput"):
        pairs = zip(guest.series.select(quantity=quantity), built_in.series.select(quantity=quantity), strict=True)
        for one, other in pairs:
            assert one.value == pytest.approx(other.value, rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("law", [Misra, Jacobian])
def test_the_equations_pass_the_battery(law: type[millpond.Law]) -> None:
    millpond.testing.conformance(law)


def test_the_battery_finds_a_wrong_jacobian() -> None:
    class Wrong(Misra):
        """A Jacobian with a wrong sign."""

        name = "misra-wrong"

        class Fluid(Jacobian.Fluid):
            def jacobian(self, x: Sequence[float], inputs: millpond.FluidInput) -> list[list[float]]:
                rows = super().jacobian(x, inputs)
                rows[1][1] = -rows[1][1]
                return rows

    with pytest.raises(AssertionError, match=r"misra-wrong.*output 1 by 1"):
        millpond.testing.conformance(Wrong)


def test_failures_of_equations_are_errors(over_red: millpond.Scenario) -> None:
    class Raises(Misra):
        """Equations that divide by zero."""

        name = "misra-raises"

        class Fluid(Misra.Fluid):
            def rate(self, x: Sequence[Any], inputs: millpond.FluidInput) -> Any:
                return x[0] / 0

    class Short(Misra):
        """Equations without a derivative."""

        name = "misra-short"

        class Fluid(Misra.Fluid):
            def derivative(self, x: Sequence[Any], inputs: millpond.FluidInput) -> list[Any]:
                return []

    class Lost(Misra):
        """Equations that lose a derivative."""

        name = "misra-lost"

        class Fluid(Misra.Fluid):
            def rate(self, x: Sequence[Any], inputs: millpond.FluidInput) -> Any:
                return math.sqrt(x[0]) / inputs.rtt_s

    for law, message in [
        (Raises, r'law "misra-raises", fluid model .*ZeroDivisionError'),
        (Short, r"derivative returns 0 numbers: expected 1"),
        (Lost, r"use the functions of millpond\.dual"),
    ]:
        with pytest.raises(millpond.GuestError, match=message):
            under(over_red, law).equilibrium()
    with pytest.raises(millpond.Error, match="fluid"):
        under(over_red, Fixed).equilibrium()


def spoilt(**functions: Any) -> tuple[type[millpond.Law], int]:
    """A law with these functions as its equations, and the line of the function."""

    equations = type("Fluid", (Misra.Fluid,), functions)
    law = type("Spoilt", (Misra,), {"name": "misra-spoilt", "Fluid": equations, "__doc__": "Spoilt equations."})
    (function,) = functions.values()
    return law, function.__code__.co_firstlineno


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"rate": lambda _self, _x, _inputs: math.nan}, "rate is nan: expected a finite number"),
    ({"rate": lambda _self, _x, _inputs: None}, "rate is None: expected a number"),
    ({"rate": lambda _self, _x, _inputs: -1e6}, "rate is -1e+06 bit/s: expected at least zero"),
    ({"derivative": lambda _self, _x, _inputs: 1.0}, "derivative returns 1.0: expected a list"),
    ({"derivative": lambda _self, _x, _inputs: [1.0] * 2}, "derivative returns 2 numbers: expected 1"),
    ({"derivative": lambda _self, _x, _inputs: [math.inf]}, "derivative is inf: expected a finite number"),
    ({"jacobian": lambda _self, _x, _inputs: [[1.0]]}, "jacobian has 2 rows"),
    ({"rate": lambda _self, x, _inputs: math.sqrt(x[0])}, "a dual number has a derivative that float() loses"),
    ({"rate": lambda _self, x, _inputs: dual.log(x[0] * -1)}, "math domain error"),
    ({"states": lambda _self: [("w", "bit", 1.0)]}, "states has ('w', 'bit', 1.0): expected a millpond.State"),
    ({"states": lambda _self: [millpond.State("w", "bit", math.nan)]}, "the state 'w' begins at nan"),
    (
        {"states": lambda _self: [millpond.State("w", "bit", 1e3, lower=1e4)]},
        "the state 'w' begins at 1000: expected a number from 10000 to inf",
    ),
]


@pytest.mark.parametrize(("functions", "message"), REFUSED)
def test_a_failure_of_equations_names_the_line_of_the_law(
    over_red: millpond.Scenario, functions: dict[str, Any], message: str
) -> None:
    law, line = spoilt(**functions)
    (function,) = functions.values()
    with pytest.raises(millpond.GuestError) as caught:
        under(over_red, law).stability()
    assert message in str(caught.value)
    assert str(caught.value).endswith(f"({__file__}:{line})")
    cause = caught.value.__cause__
    assert cause is not None
    frames = [frame for frame, _ in traceback.walk_tb(cause.__traceback__)]
    assert frames[-1].f_code.co_filename == __file__
    assert frames[-1].f_code.co_name == function.__code__.co_name


def test_a_failure_on_dual_numbers_is_one_of_the_linearization(over_red: millpond.Scenario) -> None:
    law, _ = spoilt(rate=lambda _self, x, _inputs: math.sqrt(x[0]))
    with pytest.raises(millpond.GuestError, match="linearization") as caught:
        under(over_red, law).stability()
    assert caught.value.event == "linearization"


def test_a_rate_may_be_below_zero_by_rounding(over_red: millpond.Scenario) -> None:
    law, _ = spoilt(rate=lambda _self, x, inputs: x[0] / inputs.rtt_s * 0.0 - 1e-4)
    run = under(over_red.set({"duration": "5s", "measure.from": "1s"}), law).run(world="fluid")
    assert {flow.goodput_bps for flow in run.summary.flows} == {0.0}


FUNCTIONS: list[tuple[Callable[[Any], Number], float]] = [
    (lambda x: 3 * x + 1 - x * x, SLOPE),
    (lambda x: (1 - x) / (2 + x), SLOPE),
    (lambda x: 1 / x, SLOPE),
    (lambda x: x**3 + x**0.5 + x**-1, SLOPE),
    (lambda x: 2**x + x**x, SLOPE),
    (lambda x: -abs(x - 2) + +x, SLOPE),
    (lambda x: dual.exp(x) * dual.log(x) - dual.sqrt(x), SLOPE),
    (lambda x: dual.sin(x) * dual.cos(2 * x) / dual.tanh(x), SLOPE),
    (lambda x: dual.minimum(x, x * x) + dual.maximum(3.0, 4 * x), SLOPE),
]


@pytest.mark.parametrize(("function", "slope"), FUNCTIONS)
def test_dual_numbers_have_the_derivatives_of_difference_quotients(
    function: Callable[[Any], Number], slope: float
) -> None:
    step = 1e-6
    for x in (0.3, 0.9, 1.7):
        found = function(Dual(x, slope))
        quotient = (dual.parts(function(x + step))[0] - dual.parts(function(x - step))[0]) / (2 * step)
        assert dual.parts(found) == pytest.approx((dual.parts(function(x))[0], slope * quotient), rel=1e-7)


def test_dual_numbers_are_compared_by_value_and_never_lose_a_derivative() -> None:
    one = Dual(1.0, 2.0)
    assert one < 2
    assert one <= 1.0
    assert one >= Dual(1.0)
    assert one > 0.5
    assert one == 1.0
    assert one != "1"
    assert hash(one) == hash(1.0)
    with pytest.raises(TypeError, match=r"millpond\.dual"):
        float(one)
