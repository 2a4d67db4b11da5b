"""Figures have the widths of journals, units on their axes, and the values of the runs."""

from __future__ import annotations

import math
import re
from pathlib import Path

import millpond
import numpy as np
import pytest
from matplotlib.figure import Figure
from millpond import _figures, charts, plot
from millpond.documents import StabilityResult

#: A label that ends with a unit in brackets.
WITH_UNIT = re.compile(r".+ \[(s|ms|packets|%|1|[kMG]?bit/s)\]$")


def figures(
    run: millpond.Run, comparison: millpond.Comparison, margin: millpond.Scenario, columns: plot.Columns
) -> dict[str, Figure]:
    return {
        "rates": run.plot.rates(columns=columns),
        "queue": run.plot.queue(columns=columns),
        "ccdf": run.plot.ccdf(columns=columns),
        "frontier": comparison.plot.frontier(columns=columns),
        "ccdfs": comparison.plot.ccdf(columns=columns),
        "nyquist": margin.stability().plot.nyquist(columns=columns),
    }


@pytest.mark.parametrize(("columns", "width"), [(1, 3.5), (2, 7.16)])
def test_figures_have_units_and_the_width_of_columns(
    run: millpond.Run,
    comparison: millpond.Comparison,
    margin: millpond.Scenario,
    columns: plot.Columns,
    width: float,
    tmp_path: Path,
) -> None:
    for name, figure in figures(run, comparison, margin, columns).items():
        assert figure.get_figwidth() == width
        for axes in figure.axes:
            labels = [axes.get_ylabel(), *([axes.get_xlabel()] if axes is figure.axes[-1] else [])]
            assert all(WITH_UNIT.match(label) for label in labels), (name, labels)
        figure.savefig(tmp_path / f"{name}.pdf")
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_curves_have_the_values_of_the_run(run: millpond.Run) -> None:
    axes = run.plot.rates().axes[0]
    curves = {line.get_label(): line for line in axes.lines}
    for series in run.series.select(quantity="goodput"):
        drawn = np.asarray(curves[series.entity].get_ydata(), dtype=float)
        assert drawn.tolist() == (series.value / 1e6).tolist()
    assert axes.get_ylabel() == "Goodput [Mbit/s]"


def test_the_ccdf_falls_to_the_share_beyond_the_95th_percentile(run: millpond.Run) -> None:
    (line,) = run.plot.ccdf().axes[0].lines
    delay, share = (np.asarray(data, dtype=float) for data in (line.get_xdata(), line.get_ydata()))
    beyond = share[np.searchsorted(delay, run.summary.queueing_ms.p95 * 1.0001, side="right") - 1]
    assert beyond == pytest.approx(0.05, abs=0.01)


def test_markers_of_the_frontier_have_intervals_over_the_seeds(comparison: millpond.Comparison) -> None:
    axes = comparison.plot.frontier().axes[0]
    for container, row in zip(axes.containers, comparison.result.rows, strict=True):
        line, _, bars = container.lines  # type: ignore[attr-defined]
        assert row.queueing_ms is not None
        assert row.queueing_ms.p95.half_width is not None
        assert line.get_xdata()[0] == row.queueing_ms.p95.mean
        low, high = bars[0].get_segments()[0][:, 0]
        assert (high - low) / 2 == pytest.approx(row.queueing_ms.p95.half_width)


@pytest.fixture(scope="module")
def ten(scenario: millpond.Scenario) -> millpond.Comparison:
    """A comparison with ten labels."""
    return scenario.compare(["cubic", "newreno"], queues=["droptail", "codel", "pie", "red", "fq-codel"])


def test_no_two_labels_have_the_same_colour_and_marker(ten: millpond.Comparison) -> None:
    drawn = [container.lines[0] for container in ten.plot.frontier().axes[0].containers]  # type: ignore[attr-defined]
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 10
    curves = ten.plot.ccdf().axes[0].lines
    assert len({(line.get_color(), str(line._dash_pattern)) for line in curves}) == 10  # type: ignore[attr-defined]
    for patterns in (len(plot.MARKERS), len(charts.SHAPES), len(_figures.DASHES)):
        most = len(_figures.COLOURS) * patterns
        styles = {(_figures.colour(number), _figures.pattern(number, patterns)) for number in range(most)}
        assert len(styles) == most


@pytest.mark.parametrize("columns", [1, 2])
def test_legends_lie_over_no_panel_and_take_no_room_from_it(
    run: millpond.Run,
    comparison: millpond.Comparison,
    margin: millpond.Scenario,
    ten: millpond.Comparison,
    columns: plot.Columns,
) -> None:
    heights = []
    pareto = plot.pareto([(1.0, 2.0), (3.0, 4.0)], [(1.0, 2.0)], ("A [1]", "B [1]"), columns)
    more = {"ten": ten.plot.ccdf(columns=columns), "pareto": pareto}
    for name, figure in (figures(run, comparison, margin, columns) | more).items():
        figure.draw_without_rendering()
        (legend,) = figure.legends
        extent = legend.get_window_extent()
        assert not any(axes.get_legend() for axes in figure.axes), name
        assert not any(extent.overlaps(axes.get_window_extent()) for axes in figure.axes), name
        assert figure.bbox.x0 <= extent.x0 < extent.x1 <= figure.bbox.x1, name
        if "ccdf" in name or name == "ten":
            heights.append(figure.axes[0].get_window_extent().height)
    assert heights == pytest.approx([heights[0]] * 3, abs=2.0)


def test_the_area_of_the_capacity_begins_with_the_run(run: millpond.Run) -> None:
    axes = run.plot.rates().axes[0]
    (area,) = axes.collections
    outline = area.get_paths()[0].get_extents()
    (capacity,) = run.series.select(quantity="capacity", entity="access ->")
    assert capacity.time[0] > 0.0
    assert (outline.x0, outline.x1) == (0.0, capacity.time[-1])


def test_the_interval_of_a_mean_curve_is_students() -> None:
    # Two degrees of freedom: P(|T| < t) = t / sqrt(2 + t^2) is 0.95 at t = 0.95 sqrt(2 / (1 - 0.95^2)).
    quantile = 0.95 * math.sqrt(2.0 / (1.0 - 0.95**2))
    mean, half_width = _figures.interval(np.array([[1.0], [2.0], [3.0]]))
    assert half_width is not None
    assert (mean[0], half_width[0]) == pytest.approx((2.0, quantile / math.sqrt(3.0)), rel=1e-9)


def test_the_locus_crosses_the_unit_circle_at_the_phase_margin(margin: millpond.Scenario) -> None:
    stability = margin.stability()
    (locus,) = stability.loci
    assert isinstance(stability.result, StabilityResult)
    margins = stability.result.phase_margin_rad
    assert margins is not None
    nearest = locus.value[np.argmin(np.abs(np.abs(locus.value) - 1.0))]
    assert np.angle(-nearest) == pytest.approx(margins.margin, abs=0.05)
    axes = stability.plot.nyquist().axes[0]
    assert any("phase margin" in str(line.get_label()) for line in axes.lines)


def test_a_figure_without_its_data_is_refused(run: millpond.Run, comparison: millpond.Comparison) -> None:
    with pytest.raises(millpond.Error, match="it has series of"):
        run.plot.rates(flows=["nobody"])
    with pytest.raises(millpond.Error, match="no distribution of 'nobody'"):
        run.plot.ccdf(entities=["nobody"])
    with pytest.raises(millpond.Error, match="it has series of"):
        run.plot.queue(link="nobody ->")
    with pytest.raises(KeyError, match="labels: cubic, dctcp"):
        comparison.of("nobody")


def test_notebooks_show_table_and_picture(run: millpond.Run, comparison: millpond.Comparison) -> None:
    for html in (run._repr_html_(), comparison._repr_html_()):
        assert "<table>" in html
        assert "data:image/svg+xml;base64," in html
    assert "download.1" in run._repr_html_()
    assert "±" in comparison._repr_html_()
