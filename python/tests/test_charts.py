"""Interactive charts are valid Vega-Lite, with units on their axes and the values of the runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import altair as alt
import jsonschema
import millpond
import numpy as np
import pytest
from altair.vegalite import v6 as vegalite
from conftest import ROOT
from millpond import _figures, charts

Spec: TypeAlias = dict[str, Any]

#: A title that ends with a unit in brackets.
WITH_UNIT = re.compile(r".+ \[(s|ms|packets|%|1|°|rad/s|[kMG]?bit/s)\]$")

SCHEMA = vegalite.schema.core.load_schema()


@pytest.fixture(scope="module")
def all_charts(
    run: millpond.Run, comparison: millpond.Comparison, margin: millpond.Scenario
) -> dict[str, alt.TopLevelMixin]:
    return {
        "rates": run.chart.rates(),
        "queue": run.chart.queue(),
        "ccdf": run.chart.ccdf(),
        "frontier": comparison.chart.frontier(),
        "ccdfs": comparison.chart.ccdf(),
        "nyquist": margin.stability().chart.nyquist(),
        "pareto": charts.pareto([{"a": 1.0, "b": 2.0, "p": "x"}], [0], {"a": "A [ms]", "b": "B [%]", "p": "p"}),
    }


def within(spec: Any, key: str) -> Iterator[Any]:
    """The values of this key at any depth."""
    if isinstance(spec, dict):
        yield from (value for name, value in spec.items() if name == key)
        for value in spec.values():
            yield from within(value, key)
    elif isinstance(spec, list):
        for value in spec:
            yield from within(value, key)


def rows(spec: Spec, **wanted: str) -> list[dict[str, Any]]:
    """The rows of all data of a chart with these values."""
    datasets = [*within(spec, "values"), *spec.get("datasets", {}).values()]
    every = [row for data in datasets for row in data]
    return [row for row in every if all(row.get(name) == value for name, value in wanted.items())]


def test_charts_are_valid_by_the_schema_that_altair_brings(all_charts: dict[str, alt.TopLevelMixin]) -> None:
    validator = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
    for name, chart in all_charts.items():
        spec = json.loads(json.dumps(chart.to_dict(), allow_nan=False))
        assert [error.message for error in validator.iter_errors(spec)] == [], name
        assert rows(spec), name


def test_axes_have_units_and_can_be_moved(all_charts: dict[str, alt.TopLevelMixin]) -> None:
    for name, chart in all_charts.items():
        spec = chart.to_dict()
        encodings = list(within(spec, "encoding"))
        titles = [one[axis]["title"] for one in encodings for axis in ("x", "y") if axis in one]
        assert titles, name
        assert all(WITH_UNIT.match(title) for title in titles), (name, titles)
        numbers = [one for one in within(spec, "tooltip") for one in one if one["type"] == "quantitative"]
        assert all(WITH_UNIT.match(one["title"]) for one in numbers), name
        assert [param for param in within(spec, "params") if any(one.get("bind") == "scales" for one in param)], name


def test_curves_have_the_values_of_the_run_and_the_colours_of_the_report(run: millpond.Run) -> None:
    spec = run.chart.rates().to_dict()
    for series in run.series.select(quantity="goodput"):
        drawn = rows(spec, flow=series.entity)
        assert [row["value"] for row in drawn] == pytest.approx(series.value / 1e6, rel=1e-5)
        assert [row["time"] for row in drawn] == pytest.approx(series.time, rel=1e-5)
    (scale,) = [one["scale"] for one in within(spec, "color") if isinstance(one, dict)]
    assert scale["domain"] == ["download.0", "download.1", "capacity"]
    assert scale["range"] == [*palette()[:2], _figures.AREA]


def test_the_area_of_the_capacity_begins_with_the_run(run: millpond.Run) -> None:
    spec = run.chart.rates().to_dict()
    area = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert area[0]["time"] == 0.0


def palette() -> list[str]:
    """The colours of the report, in the order of its series."""
    sheet = (ROOT / "crates/chart/src/chart.css").read_text()
    colours = dict(re.findall(r"--(\w+): light-dark\((#[0-9a-f]{6}),", sheet))
    return [colours[name] for name in re.findall(r"\.c\d+ \{ --c: var\(--(\w+)\) \}", sheet)]


def test_figures_have_the_colours_of_the_report() -> None:
    assert list(_figures.COLOURS) == palette()


def test_markers_of_the_frontier_have_intervals_over_the_seeds(comparison: millpond.Comparison) -> None:
    spec = comparison.chart.frontier().to_dict()
    for row in comparison.result.rows:
        (drawn,) = rows(spec, curve=row.run)
        assert row.queueing_ms is not None
        assert row.utilization is not None
        assert row.utilization.half_width is not None
        assert drawn["delay"] == row.queueing_ms.p95.mean
        width = drawn["utilization_high"] - drawn["utilization_low"]
        assert width == pytest.approx(200 * row.utilization.half_width)
        assert "±" in drawn["delay_text"]


def test_the_area_of_a_mean_is_its_interval(comparison: millpond.Comparison) -> None:
    spec = comparison.chart.ccdf().to_dict()
    for curve in _figures.mean_ccdfs(comparison, "all"):
        assert curve.half_width is not None
        drawn = rows(spec, curve=curve.label)
        at = np.searchsorted(curve.delay, [row["delay"] * (1 + 1e-5) for row in drawn], side="right") - 1
        assert [row["share"] for row in drawn] == pytest.approx(curve.mean[at], rel=1e-5)
        assert [row["high"] for row in drawn] == pytest.approx((curve.mean + curve.half_width)[at], rel=1e-5)
        assert all(0.0 < row["low"] <= row["share"] for row in drawn)


def test_loci_have_their_frequencies(margin: millpond.Scenario) -> None:
    stability = margin.stability()
    (locus,) = stability.loci
    (phase,) = [one for one in [_figures.margins(stability)[1]] if one is not None]
    spec = stability.chart.nyquist().to_dict()
    upper = rows(spec, curve="ω > 0")
    # The gain is one where the phase is the margin above -180 degrees.
    nearest = min(upper, key=lambda row: abs(row["gain"] - 1.0))
    assert nearest["phase"] == pytest.approx(np.degrees(phase) - 180.0, abs=3.0)
    assert {row["frequency"] for row in upper} <= {float(f"{one:.6g}") for one in locus.frequency}
    names = next(one["scale"]["domain"] for one in within(spec, "color") if isinstance(one, dict))
    assert f"phase margin {np.degrees(phase):.3g}°" in names


def test_a_long_series_keeps_its_extremes(scenario: millpond.Scenario) -> None:
    # 50000 samples of each series.
    run = scenario.set("measure.every", "100us").run()
    spec = run.chart.queue().to_dict()
    (queue,) = run.series.select(quantity="queue", entity="access ->")
    drawn = spec["datasets"][spec["vconcat"][0]["data"]["name"]]
    assert len(queue.value) == 50_000
    assert len(drawn) <= charts.MOST_POINTS
    assert max(row["value"] for row in drawn) == pytest.approx(queue.value.max(), rel=1e-5)
    for number in np.random.default_rng(1).integers(0, 50_000, 20):
        peak = np.zeros(50_000)
        peak[number] = 1.0
        assert number in charts._extremes(peak, 1000)
        assert number in charts._extremes(-peak, 1000)
    times = [row["time"] for row in drawn]
    assert times == sorted(times)


def test_charts_are_combined_and_move_on_their_own(run: millpond.Run, comparison: millpond.Comparison) -> None:
    spec = (run.chart.ccdf() & run.chart.rates() & comparison.chart.ccdf()).to_dict()
    zooms = [one for one in spec["params"] if one.get("bind") == "scales"]
    assert [len(one["views"]) for one in zooms] == [1, 1, 1]


def test_a_chart_without_its_data_is_refused(run: millpond.Run) -> None:
    with pytest.raises(millpond.Error, match="it has series of"):
        run.chart.rates(flows=["nobody"])
    with pytest.raises(millpond.Error, match="no distribution of 'nobody'"):
        run.chart.ccdf(entities=["nobody"])
