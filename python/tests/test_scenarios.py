"""Scenarios are built, changed and passed to other processes."""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import millpond
import numpy as np
import pytest
from conftest import SCENARIO
from millpond import _toml


def test_a_scenario_of_values_resolves_as_its_text(scenario: millpond.Scenario) -> None:
    built = millpond.Scenario(tomllib.loads(SCENARIO))
    assert built.to_toml() == scenario.to_toml()
    assert (built.title, built.groups, built.links, built.duration_s) == (
        "Two downloads",
        ["download"],
        ["access"],
        5.0,
    )


@pytest.mark.parametrize(
    "values",
    [
        {"a": 'quotes " and \\ and\nlines\tand \x1b and é'},
        {"a": [1, 2.5, True, ["x"]], "b": {"c d": {"e": 1e-9}}},
        {"list": [{"x": 1}, {"x": 2}], "empty": [], "n": -3},
    ],
)
def test_values_are_written_as_toml(values: dict[str, _toml.Value]) -> None:
    assert tomllib.loads(_toml.document(values)) == values


def test_a_value_without_a_toml_form_is_refused(scenario: millpond.Scenario) -> None:
    with pytest.raises(TypeError, match="has no TOML form"):
        scenario.set("seed", object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a value"):
        scenario.set("seed")


def test_changes_make_another_scenario(scenario: millpond.Scenario) -> None:
    changed = scenario.set("links.access.rate", "50Mbps").set({"duration": "8s", "measure.from": "2s"})
    assert (scenario.duration_s, changed.duration_s) == (5.0, 8.0)
    assert 'rate = "50Mbps"' in changed.to_toml()
    assert 'rate = "20Mbps"' in scenario.to_toml()
    assert scenario.with_seed(9).set("duration", "6s").seed == 9
    queue = scenario.set("links.access.queue", {"codel": {"target": "5ms"}})
    assert "codel" in queue.to_toml()


def test_scenarios_with_equal_values_are_equal(scenario: millpond.Scenario) -> None:
    written_in_full = millpond.Scenario.parse(scenario.to_toml())
    assert scenario == written_in_full
    assert hash(scenario) == hash(written_in_full)
    assert scenario == scenario.set("duration", "5000ms")
    assert scenario != scenario.with_seed(scenario.seed + 1)
    assert scenario != scenario.set("duration", "1.5s")
    assert scenario != scenario.to_toml()
    assert len({scenario, written_in_full, scenario.with_seed(99)}) == 2


def test_scenarios_with_other_rates_in_a_trace_of_the_same_name_differ(
    scenario: millpond.Scenario, tmp_path: Path
) -> None:
    def traced(rate: int) -> millpond.Scenario:
        path = tmp_path / "trace.csv"
        path.write_text(f"time_s,mbps\n0,{rate}\n10,{rate}\n")
        return scenario.set(f"links.{scenario.links[0]}.rate", {"trace": {"file": path}})

    assert traced(5) == traced(5)
    assert traced(5) != traced(6)


def test_random_numbers_depend_on_the_seed_alone(scenario: millpond.Scenario) -> None:
    first, again, other = (scenario.run(seed=seed).summary_json() for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_scenario_is_pickled(scenario: millpond.Scenario) -> None:
    copy = pickle.loads(pickle.dumps(scenario.with_seed(3)))
    assert copy.run().summary_json() == scenario.run(seed=3).summary_json()


def test_a_pickled_scenario_finds_its_files_from_another_directory(
    scenario: millpond.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    millpond.Trace.generate("5g-static", duration="5s").save("link.csv")
    text = scenario.to_toml().replace('rate = "20Mbps"', 'rate = { trace = { file = "link.csv" } }')
    data = pickle.dumps(millpond.Scenario.parse(text))
    monkeypatch.chdir(tmp_path / "here")
    assert pickle.loads(data).run().summary.traces[0].name == "link.csv"


def test_unpinned_flows_get_the_protocol(scenario: millpond.Scenario) -> None:
    run = scenario.run(protocol="dctcp")
    assert {flow.protocol for flow in run.summary.flows} == {"dctcp"}
    assert run.label == "dctcp"
    assert scenario.run().label == "Two downloads"


def test_a_trace_is_generated_saved_and_followed(scenario: millpond.Scenario, tmp_path: Path) -> None:
    path = f"{tmp_path}/link.csv"
    trace = millpond.Trace.generate("5g-static", duration="5s", seed=3, mean="20Mbps", peak="60Mbps")
    trace.save(path)
    loaded = millpond.Trace.load(path)
    assert loaded.time_s[0] == 0.0
    assert loaded.rate_bps == pytest.approx(trace.rate_bps, rel=1e-3)
    run = scenario.set("links.access.rate", {"trace": {"file": path}}).run()
    lasting = [*loaded.time_s[1:], loaded.duration_s] - loaded.time_s
    measured = loaded.time_s >= 1.0
    capacity = (loaded.rate_bps * lasting)[measured].sum() / lasting[measured].sum()
    assert run.summary.links[0].capacity_bps == pytest.approx(capacity, rel=0.05)
    with pytest.raises(millpond.Error, match="did you mean"):
        millpond.Trace.generate("5g-statik")


def test_each_protocol_meets_each_queue(scenario: millpond.Scenario) -> None:
    compared = scenario.compare(["cubic", "newreno"], queues=["droptail", "codel"])
    labels = ["cubic+droptail", "cubic+codel", "newreno+droptail", "newreno+codel"]
    assert compared.labels == labels
    assert "queues=['droptail', 'codel']" in compared[0].command
    [deep], [short] = compared.of("cubic+droptail"), compared.of("cubic+codel")
    assert short.summary.queueing_ms.mean < deep.summary.queueing_ms.mean


def test_settings_of_one_protocol_are_compared_side_by_side(scenario: millpond.Scenario) -> None:
    labels = ["lgcc", "lgcc:cellular", "lgcc:follow=share,drain=4"]
    compared = scenario.compare(labels)
    assert compared.labels == labels
    published, cellular, _ = [run.summary.queueing_ms.mean for run in compared]
    assert published != cellular
    with pytest.raises(millpond.Error, match="did you mean"):
        scenario.compare(["lgcc:celular"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: one.run(seed=-1), r"seed is -1: expected a whole number from 0 to 2\^64 - 1"),
        (lambda one: one.run(seed=1.5), "seed is 1.5: expected a whole number"),
        (lambda one: one.compare("cubic"), r"protocols is 'cubic': expected a list, such as \['cubic'\]"),
        (lambda one: one.compare(["cubic"], worlds="fluid"), "worlds is 'fluid': expected a list"),
        (lambda one: one.compare(["cubic"], worlds=[]), "worlds is empty"),
        (lambda one: one.compare(queues="codel"), r"queues is 'codel': expected a list"),
        (lambda one: one.compare(queues=["codle"]), 'did you mean "codel"'),
        (lambda one: one.compare(["cubic"], seeds=0), "seeds is 0: expected a whole number from 1"),
        (
            lambda one: one.compare(["cubic"], seeds=10**12),
            "seeds is 1000000000000: expected a whole number from 1 to 10000",
        ),
        (lambda one: one.stability(critical="rtt"), "critical is 'rtt': expected a list"),
        (lambda one: one.run().plot.rates(columns=3), "columns is 3: expected 1 or 2"),
        (lambda one: one.run().plot.rates(flows="download.0"), "flows is 'download.0': expected a list"),
    ],
)
def test_an_argument_without_meaning_is_refused(
    scenario: millpond.Scenario, call: Callable[[millpond.Scenario], object], message: str
) -> None:
    with pytest.raises(millpond.Error, match=message):
        call(scenario)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.float64(0.25), "0.25"),
        (np.float32(0.25), "0.25"),
        (np.int64(3), "3"),
        (Fraction(1, 4), "0.25"),
        (np.bool_(True), "true"),
        (np.array([1, 2]), "[1, 2]"),
        (Path("a/b.csv"), '"a/b.csv"'),
        (np.str_("x"), '"x"'),
    ],
)
def test_numbers_of_numpy_and_paths_have_a_form_in_toml(value: Any, written: str) -> None:
    assert _toml.inline(value) == written
    assert _toml.inline({"x": [value]}) == f"{{ x = [{written}] }}"


def test_times_that_are_not_texts_are_refused(scenario: millpond.Scenario) -> None:
    wrong: Any = 5
    message = 'at is 5: expected a text with a unit, such as "20s"'
    for call in (scenario.equilibrium, scenario.stability, lambda at: scenario.allocation(alpha=1.0, at=at)):
        with pytest.raises(millpond.Error, match=message):
            call(at=wrong)
    with pytest.raises(millpond.Error, match="duration is 5: expected a text with a unit"):
        millpond.Trace.generate("lte-short", duration=wrong)
