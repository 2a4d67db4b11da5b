"""Tuning searches parameters of a protocol, repeats exactly, and returns a Pareto front."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import millpond
import numpy as np
import pytest
from guest_laws import Fixed, Reno
from millpond import Objective
from test_guest_laws import network

SHORT = {"duration": "4s", "measure.from": "2s"}


@pytest.fixture(scope="module")
def tuned() -> millpond.Tuning:
    scenario = network("cubic").set({**SHORT, "links.L.rate": "10Mbps"})
    return millpond.tune(scenario, Fixed, {"window": "2..90"}, objectives=["queueing_mean", "utilization"], trials=24)


def test_a_fixed_window_below_the_bandwidth_delay_product_trades_nothing(tuned: millpond.Tuning) -> None:
    # 10 Mbit/s and 40.9 ms (with the services of a packet and of its acknowledgement) are 51 packets of 8 kbit.
    for trial in tuned.trials:
        # The endpoint sends whole packets.
        window, (delay, utilization) = math.floor(float(trial.parameters["window"])), trial.values
        assert utilization == pytest.approx(min(100, 100 * window / 51), rel=0.03)
        assert delay == pytest.approx(max(0, (window - 51) * 0.8), abs=1.0)
    assert len(tuned.trials) == 24


def test_the_front_is_the_set_of_trials_that_no_other_one_beats(tuned: millpond.Tuning) -> None:
    front = tuned.front
    assert 1 <= len(front) < 24
    for one, other in pairwise(front):
        assert one.values[0] <= other.values[0]
        assert one.values[1] < other.values[1] or one.values == other.values
    for trial in tuned.trials:
        beaten = any(
            best.values[0] <= trial.values[0] and best.values[1] >= trial.values[1] and best.values != trial.values
            for best in front
        )
        assert beaten != (trial in front)
    frame = tuned.to_pandas()
    assert frame["front"].sum() == len(front)
    assert "utilization [%]" in frame
    assert tuned.plot().axes[0].get_xlabel() == "Queueing delay, mean [ms]"


def test_a_chart_shows_the_parameters_of_each_trial(tuned: millpond.Tuning) -> None:
    spec = tuned.chart().to_dict()
    every, best = (spec["datasets"][layer["data"]["name"]] for layer in spec["layer"])
    assert [(row["objective0"], row["objective1"]) for row in every] == [trial.values for trial in tuned.trials]
    assert [row["parameter0"] for row in best] == [str(trial.parameters["window"]) for trial in tuned.front]
    titles = [one["title"] for one in spec["layer"][0]["encoding"]["tooltip"]]
    assert titles == ["Queueing delay, mean [ms]", "Utilization [%]", "window"]


def test_the_search_finds_an_optimum_and_repeats() -> None:
    scenario = network("cubic").set({**SHORT, "links.L.rate": "10Mbps"})
    distance = Objective("distance from 70 % utilization", "%", "minimize", distance_from_70)
    runs = [
        millpond.tune(scenario, Fixed, {"window": "2..90"}, objectives=[distance], trials=25, seed=3) for _ in range(2)
    ]
    assert runs[0].trials == runs[1].trials
    (best,) = {trial.values for trial in runs[0].front}
    assert best[0] < 4
    with pytest.raises(millpond.Error, match="two objectives"):
        runs[0].plot()


def distance_from_70(run: millpond.Run) -> float:
    return abs(100 * run.summary.links[0].utilization - 70)


def test_quantities_words_and_refusals() -> None:
    scenario = network("cubic").set(SHORT)
    vegas = millpond.tune(scenario, "vegas", {"alpha": "1..3", "beta": [4.0, 6.0]}, trials=3)
    assert {trial.parameters["beta"] for trial in vegas.trials} <= {4.0, 6.0}
    refused = millpond.tune(scenario, Reno, {"factor": "-1..1"}, trials=6)
    assert refused.refused == sum(1 for trial in refused.study.trials if trial.user_attrs["parameters"]["factor"] < 0)
    assert refused.refused + len(refused.trials) == 6
    with pytest.raises(millpond.Error, match="expected a number from 0 to 1"):
        millpond.tune(scenario, Reno, {"factor": "2..3"}, trials=2)


def test_wrong_ranges_and_objectives_are_refused() -> None:
    scenario = network("cubic")
    for values, message in [("1ms..5s", "expected a list, or a range"), ("5..1", "not a range"), ("0..1:log", "range")]:
        with pytest.raises(millpond.Error, match=message):
            millpond.tune(scenario, Fixed, {"window": values})
    with pytest.raises(millpond.Error, match="there is no objective 'delay'; there are: utilization"):
        millpond.tune(scenario, Fixed, {"window": "2..9"}, objectives=["delay"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"objectives": "utilization"}, r"objectives is 'utilization': expected a list, such as \['utilization'\]"),
        ({"objectives": []}, "objectives is empty: expected at least one of utilization"),
        ({"trials": 0}, "trials is 0: expected a whole number from 1"),
        ({"seeds": -1}, "seeds is -1: expected"),
        ({"seeds": 10_001}, "seeds is 10001: expected a whole number from 1 to 10000"),
        ({"seed": 2**32}, "seed is 4294967296: expected a whole number from 0 to 4294967295"),
        ({"space": {"window": 3.0}}, "window is 3.0: expected a list"),
        ({"space": {"window": []}}, "window is empty: expected at least one value"),
        ({"space": ["window"]}, "expected a mapping"),
    ],
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"space": {"window": "2..9"}, "trials": 1} | wrong
    with pytest.raises(millpond.Error, match=message):
        millpond.tune(network("cubic"), Fixed, **arguments)


def test_an_objective_that_is_not_a_number_is_told() -> None:
    scenario = network("cubic").set(SHORT)
    never = Objective("never", "1", "minimize", lambda run: math.nan)
    with pytest.raises(millpond.Error, match="the objective 'never' is nan: expected a number"):
        millpond.tune(scenario, Fixed, {"window": [3.0, 9.0]}, objectives=[never], trials=2)
    seldom = Objective("seldom", "1", "minimize", lambda run: math.nan if used(run) > 10 else 1.0)
    tuned = millpond.tune(scenario, Fixed, {"window": np.array([3.0, 90.0])}, objectives=[seldom], trials=6)
    assert {trial.parameters["window"] for trial in tuned.trials} == {3.0}
    assert len(tuned.trials) + tuned.refused == 6


def used(run: millpond.Run) -> float:
    return 100 * run.summary.links[0].utilization
