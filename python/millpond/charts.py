"""Interactive charts with Altair: the figures of `millpond.plot` for notebooks and pages.

Every function returns a chart of Altair, which notebooks show and ``chart.save`` writes as HTML or JSON. The wheel and
dragging scale and move the axes, a click on an entry of the legend selects a curve (with Shift several), and the values
under the pointer are shown with their units. Charts can be combined with ``|``, ``&`` and ``+``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import altair as alt
import numpy as np

from millpond import _figures
from millpond._figures import AREA, GREY, GRID, PLANE, SOFT, FrontierPoint, MeanCcdf, colour, dashes, pattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from millpond._comparison import Comparison
    from millpond._run import Run
    from millpond._tables import Series
    from millpond._theory import Stability

__all__ = ["ComparisonCharts", "RunCharts", "StabilityCharts", "pareto"]

#: Width of a chart, in pixels; ``chart.properties(width=...)`` sets another one.
WIDTH = 560

#: A page contains every point of its charts: a chart has about this number at most.
MOST_POINTS = 6_000
#: The least number of points of a curve.
LEAST_POINTS = 200

#: Shapes of markers, so that a point is also recognised without its colour.
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")

#: Opacity of curves that are not selected.
FAINT = 0.12

#: Points of a line, which show values and are not seen.
UNSEEN = alt.OverlayMarkDef(fillOpacity=0, strokeOpacity=0, size=50)

TIME, DELAY, SHARE = "Time [s]", "Queueing delay [ms]", "Share of packets with more [1]"
DELAY_P95, UTILIZATION = "Queueing delay, 95th percentile [ms]", "Utilization [%]"
REAL, IMAGINARY = "Real part of L(iω) [1]", "Imaginary part of L(iω) [1]"

LOGARITHMIC = alt.Scale(type="log")

#: A row of data: numbers and texts by their names.
Row: TypeAlias = Mapping[str, str | float]

Axis = TypeVar("Axis", alt.X, alt.Y)
Chart = TypeVar("Chart", alt.Chart, alt.LayerChart)


@dataclass(frozen=True, slots=True)
class RunCharts:
    """Charts of one run."""

    run: Run

    def rates(self, *, flows: Iterable[str] | None = None) -> alt.LayerChart:
        """Goodput of each flow over time, over the capacity of the bottleneck.

        Parameters
        ----------
        flows : iterable of str, optional
            Names of the flows. Default: all.

        Raises
        ------
        Error
            The run has no such flow.
        """
        goodput, capacity, divisor, unit = _figures.rates(self.run, flows)
        most = _most_of_each(len(goodput) + len(capacity))
        names = _figures.curve_names(one.entity for one in goodput)
        rows = [
            {"curve": name, "flow": one.entity, **row}
            for name, one in zip(names, goodput, strict=True)
            for row in _samples(one, most, divisor)
        ]
        title = f"Goodput [{unit}]"
        x, y = self._time(), _axis(alt.Y, "value", title)
        styles = _styles(names) | ({"capacity": Style(AREA, (), 6.0)} if capacity else {})
        samples = _data(row for one in capacity for row in _samples(one, most, divisor))
        area = (
            alt.Chart(samples)
            .mark_area(color=AREA, interpolate="step-before")
            .encode(x, y, tooltip=[_shown("time", TIME), _shown("value", f"Capacity [{unit}]")])
        )
        lines = _lines(rows, styles, interpolate="linear").encode(
            x, y, detail="flow:N", tooltip=[_text("flow", "Flow"), _shown("time", TIME), _shown("value", title)]
        )
        return _sized(_layered(area, _selectable(lines, "rates")), 220)

    def queue(self, *, link: str | None = None) -> alt.VConcatChart:
        """Queue and queueing delay of a link direction over time, in two panels that move together.

        Parameters
        ----------
        link : str, optional
            Name of the link with its direction, such as ``"L1 ->"``. Default: the bottleneck, the direction with the
            greatest utilization.

        Raises
        ------
        Error
            The run has no such link.
        """
        entity = link or _figures.bottleneck(self.run)
        queue, delay = _figures.queue(self.run, entity)
        zoom = _zoom("queue", "x")
        panels = [self._panel(queue, "Queue [packets]"), self._panel(delay, DELAY)]
        with warnings.catch_warnings():
            # The panels have one selection on purpose.
            warnings.filterwarnings("ignore", "Automatically deduplicated")
            return alt.vconcat(*(panel.add_params(zoom) for panel in panels), title=entity)

    def _panel(self, series: Sequence[Series], title: str) -> alt.Chart:
        rows = (row for one in series for row in _samples(one, _most_of_each(2), 1.0))
        chart: alt.Chart = alt.Chart(_data(rows), width=WIDTH, height=130).mark_line(
            color=colour(0), strokeWidth=1.3, point=UNSEEN, clip=True
        )
        tooltip = [_shown("time", TIME), _shown("value", title)]
        return chart.encode(self._time(), _axis(alt.Y, "value", title), tooltip=tooltip)

    def _time(self) -> alt.X:
        """The time of the whole run."""
        return _axis(alt.X, "time", TIME, alt.Scale(domain=[0.0, self.run.summary.simulated_s], nice=False))

    def ccdf(self, *, entities: Iterable[str] | None = None) -> alt.Chart:
        """Share of packets with a longer queueing delay, end to end.

        Parameters
        ----------
        entities : iterable of str, optional
            Names of groups, of link directions, or ``"all"``. Default: each group, or all flows.

        Raises
        ------
        Error
            The run has no such distribution.
        """
        chosen = _figures.distributions(self.run, entities)
        rows: list[Row] = [
            {"curve": one.entity, "delay": _short(delay), "share": _short(share)}
            for one in chosen
            for delay, share in _above_zero(*_figures.ccdf_points(one), most=_most_of_each(len(chosen)))
        ]
        return _sized(_selectable(_ccdf(rows, _styles(one.entity for one in chosen)), "ccdf"), 260)


@dataclass(frozen=True, slots=True)
class ComparisonCharts:
    """Charts of several runs."""

    comparison: Comparison

    def frontier(self) -> alt.LayerChart:
        """Utilization of the bottleneck against the 95th percentile of the queueing delay, one marker for each label.

        With several seeds each marker has 95 % confidence intervals (Student's t) in both directions. Better is to the
        left and up.

        Raises
        ------
        Error
            No run has a link and delivers packets.
        """
        points = _figures.frontier(self.comparison)
        styles = _styles(point.label for point in points)
        rows = [_frontier_row(point) for point in points]
        x, y = _axis(alt.X, "delay", DELAY_P95), _axis(alt.Y, "utilization", UTILIZATION, alt.Scale(zero=False))
        base = alt.Chart(_data(rows)).encode(color=_colours(styles))
        across = base.mark_rule(clip=True).encode(_axis(alt.X, "delay_low", DELAY_P95), y, x2="delay_high:Q")
        along = base.mark_rule(clip=True).encode(
            x, _axis(alt.Y, "utilization_low", UTILIZATION), y2="utilization_high:Q"
        )
        markers = base.mark_point(filled=True, size=70, opacity=1.0, clip=True).encode(
            x,
            y,
            shape=_by_curve(alt.Shape, list(styles), [SHAPES[pattern(i, len(SHAPES))] for i in range(len(styles))]),
            tooltip=[_text("curve", "Run"), _text("delay_text", DELAY_P95), _text("utilization_text", UTILIZATION)],
        )
        return _sized(_layered(across, along, markers.add_params(_zoom("frontier", "x", "y"))), 300)

    def ccdf(self, *, entity: str = "all") -> alt.LayerChart:
        """Share of packets with a longer queueing delay, one curve for each label.

        With several seeds the curve is the mean of the shares, and the area is their 95 % confidence interval
        (Student's t).

        Parameters
        ----------
        entity : str
            Name of a group, of a link direction, or ``"all"`` for all flows.

        Raises
        ------
        Error
            A run has no such distribution.
        """
        curves = _figures.mean_ccdfs(self.comparison, entity)
        least = min(float(curve.mean[curve.mean > 0.0].min()) for curve in curves)
        rows = [row for curve in curves for row in _mean_rows(curve, _most_of_each(len(curves)), least)]
        styles, picked = _styles(curve.label for curve in curves), _picked("ccdfs")
        area = (
            alt.Chart(_data(rows))
            .mark_area(interpolate="step-after", clip=True)
            .encode(
                _axis(alt.X, "delay", DELAY),
                _axis(alt.Y, "low", SHARE, LOGARITHMIC),
                y2="high:Q",
                color=_colours(styles),
                fillOpacity=_opacity(picked, 0.2),
            )
        )
        return _sized(_layered(area, _selectable(_ccdf(rows, styles), "ccdfs")), 260)


@dataclass(frozen=True, slots=True)
class StabilityCharts:
    """Charts of a stability analysis."""

    stability: Stability

    def nyquist(self) -> alt.LayerChart:
        """Nyquist loci of the return ratio around -1, with the unit circle and the gain and phase margins.

        Under the pointer: angular frequency, gain and phase.

        Raises
        ------
        Error
            The network oscillates: it has no loci.
        """
        _figures.require_loci(self.stability)
        around = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200))
        styles = {
            "|L| = 1": Style(SOFT, (3, 2), 1.0),
            "ω > 0": Style(colour(0), (), 1.6),
            "ω < 0": Style(colour(0), (4, 2), 1.0),
        }
        plain = [*_plane_rows("|L| = 1", around)]
        for number, (name, path) in enumerate(self._margins(), start=1):
            styles[name] = Style(colour(number), (), 3.0)
            plain += _plane_rows(name, path)
        loci = _in_plane(alt.Chart(_data(self._loci())).mark_line(point=UNSEEN, clip=True), styles).encode(
            detail="branch:N",
            tooltip=[
                _shown("frequency", "Angular frequency [rad/s]"),
                _shown("gain", "Gain [1]"),
                _shown("phase", "Phase [°]"),
            ],
        )
        critical = alt.Chart(_data([{"re": -1.0, "im": 0.0}])).mark_point(shape="cross", color="black", size=60)
        lines = _in_plane(alt.Chart(_data(plain)).mark_line(clip=True), styles)
        layers = _layered(lines, loci.add_params(_zoom("nyquist", "x", "y")), critical.encode(*_plane_axes()))
        return layers.properties(width=WIDTH - 120, height=WIDTH - 120)

    def _margins(self) -> Iterator[tuple[str, NDArray[np.complex128]]]:
        """Names and lines of the margins."""
        gain, phase = _figures.margins(self.stability)
        if gain is not None:
            yield f"gain margin ×{gain:.3g}", np.array([-1.0, -1.0 / gain], dtype=complex)
        if phase is not None:
            yield f"phase margin {np.degrees(phase):.3g}°", -np.exp(1j * np.linspace(0.0, phase, 50))

    def _loci(self) -> Iterator[Row]:
        """The loci, for positive and for negative frequencies."""
        loci = self.stability.loci
        for number, locus in enumerate(loci):
            chosen = _every(len(locus.value), _most_of_each(2 * len(loci)))
            for curve, sign in (("ω > 0", 1.0), ("ω < 0", -1.0)):
                value = locus.value if sign > 0 else locus.value.conj()
                branch = {"branch": f"{curve}, {number}"}
                for row, at in zip(_plane_rows(curve, value[chosen]), chosen, strict=True):
                    polar = {"gain": _short(abs(value[at])), "phase": _short(np.degrees(np.angle(value[at])))}
                    yield {**row, **branch, **polar, "frequency": _short(sign * locus.frequency[at])}


def pareto(trials: Sequence[Row], front: Sequence[int], titles: Mapping[str, str]) -> alt.LayerChart:
    """Trials over two objectives, with their Pareto front. Under the pointer: the values of the trial.

    Parameters
    ----------
    trials : sequence of mappings
        What is shown of each trial, by key; first the two objectives.
    front : sequence of int
        Numbers of the trials on the front, in the order of the first objective.
    titles : mapping
        The title of each key, with its unit.
    """
    keys = list(titles)
    scale = alt.Scale(zero=False)
    x, y = _axis(alt.X, keys[0], titles[keys[0]], scale), _axis(alt.Y, keys[1], titles[keys[1]], scale)
    shown = [(_text if isinstance(trials[0][key], str) else _shown)(key, titles[key]) for key in keys]
    every = alt.Chart(_data(trials)).mark_point(filled=True, color=GREY, size=40, opacity=1.0, clip=True)
    points = alt.OverlayMarkDef(color=colour(0), size=50)
    best = alt.Chart(_data(trials[number] for number in front)).mark_line(color=colour(0), point=points, clip=True)
    every, best = every.encode(x, y, tooltip=shown), best.encode(x, y, tooltip=shown)
    return _sized(_layered(every.add_params(_zoom("pareto", "x", "y")), best), 300)


@dataclass(frozen=True, slots=True)
class Style:
    """How a line is drawn."""

    colour: str
    #: Lengths of dashes and gaps, in pixels.
    dashes: Sequence[float]
    #: In pixels.
    width: float


def _short(value: float) -> float:
    """The value with six digits, which a page has room for."""
    return float(f"{value:.6g}")


def _data(rows: Iterable[Row]) -> alt.InlineData:
    return alt.InlineData(values=[dict(row) for row in rows])


def _axis(channel: type[Axis], field: str, title: str, scale: alt.Scale | None = None) -> Axis:
    """The encoding of a number by a position."""
    encoded = channel(f"{field}:Q", title=title, axis=alt.Axis(gridColor=GRID))
    return encoded if scale is None else encoded.scale(scale)


def _shown(field: str, title: str) -> alt.Tooltip:
    """A number under the pointer."""
    return alt.Tooltip(f"{field}:Q", title=title, format=".4~g")


def _text(field: str, title: str) -> alt.Tooltip:
    """A text under the pointer."""
    return alt.Tooltip(f"{field}:N", title=title)


def _styles(names: Iterable[str]) -> dict[str, Style]:
    """The lines of these names, each once."""
    return {name: Style(colour(i), dashes(i), 1.5) for i, name in enumerate(dict.fromkeys(names))}


def _by_curve(channel: Any, names: Sequence[str], values: Sequence[Any], **options: Any) -> Any:  # noqa: ANN401
    """The encoding of the name of a curve by a property, with a legend without a title."""
    return channel("curve:N", title=None, scale=alt.Scale(domain=list(names), range=list(values)), **options)


def _colours(styles: Mapping[str, Style], **options: Any) -> alt.Color:  # noqa: ANN401
    chosen: alt.Color = _by_curve(alt.Color, list(styles), [one.colour for one in styles.values()], **options)
    return chosen


def _styled(chart: alt.Chart, styles: Mapping[str, Style]) -> alt.Chart:
    """Lines with these styles, which the legend shows."""
    names, kinds = list(styles), list(styles.values())
    return chart.encode(
        color=_colours(styles, legend=alt.Legend(symbolType="stroke", symbolSize=400)),
        strokeDash=_by_curve(alt.StrokeDash, names, [list(one.dashes) or [1, 0] for one in kinds]),
        strokeWidth=_by_curve(alt.StrokeWidth, names, [one.width for one in kinds]),
    )


def _lines(rows: Iterable[Row], styles: Mapping[str, Style], *, interpolate: Any) -> alt.Chart:  # noqa: ANN401
    """A line for each curve."""
    return _styled(alt.Chart(_data(rows)).mark_line(point=UNSEEN, interpolate=interpolate, clip=True), styles)


def _ccdf(rows: Iterable[Row], styles: Mapping[str, Style]) -> alt.Chart:
    """Shares over queueing delays, as steps."""
    tooltip = [_text("curve", "Of"), _shown("delay", DELAY), _shown("share", SHARE)]
    x, y = _axis(alt.X, "delay", DELAY), _axis(alt.Y, "share", SHARE, LOGARITHMIC)
    return _lines(rows, styles, interpolate="step-after").encode(x, y, tooltip=tooltip)


def _picked(chart: str) -> alt.Parameter:
    """The curves that are selected in the legend of a chart; at first all."""
    return alt.selection_point(name=f"{chart}_picked", fields=["curve"], bind="legend")


def _opacity(picked: alt.Parameter, full: float) -> Any:  # noqa: ANN401
    """The opacity of curves that are selected, and of the others."""
    return alt.when(picked).then(alt.value(full)).otherwise(alt.value(FAINT * full))


def _zoom(chart: str, *axes: Literal["x", "y"]) -> alt.Parameter:
    """Scales and moves these axes of a chart."""
    return alt.selection_interval(name=f"{chart}_zoom", bind="scales", encodings=list(axes))


def _selectable(lines: alt.Chart, chart: str) -> alt.Chart:
    """Lines of which the legend selects some, on an axis that can be moved."""
    picked = _picked(chart)
    return lines.encode(strokeOpacity=_opacity(picked, 1.0)).add_params(picked, _zoom(chart, "x"))


def _layered(*charts: alt.Chart) -> alt.LayerChart:
    """Charts over each other, the first one below."""
    return alt.LayerChart(layer=list(charts))


def _sized(chart: Chart, height: int) -> Chart:
    return chart.properties(width=WIDTH, height=height)


def _most_of_each(curves: int) -> int:
    """How many points each of some curves has at most."""
    return max(MOST_POINTS // max(curves, 1), LEAST_POINTS)


def _samples(series: Series, most: int, divisor: float) -> Iterator[Row]:
    """Times and values; of a long series the least and the greatest value of equal parts."""
    exists = np.isfinite(series.value)
    time, value = series.time[exists], series.value[exists] / divisor
    for number in _extremes(value, most):
        yield {"time": _short(time[number]), "value": _short(value[number])}


def _extremes(value: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Numbers of the least and of the greatest value in each of equal parts; all if they are few."""
    if len(value) <= most:
        return np.arange(len(value))
    ends = np.linspace(0, len(value), most // 2 + 1).astype(int)
    parts = [(start, value[start:end]) for start, end in pairwise(ends)]
    return np.unique([start + number for start, part in parts for number in (part.argmin(), part.argmax())])


def _every(count: int, most: int) -> NDArray[np.intp]:
    """Numbers of points at equal distances, with the first and the last; all if they are few."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _above_zero(delay: NDArray[np.float64], share: NDArray[np.float64], *, most: int) -> Iterator[tuple[float, float]]:
    """The points of a curve whose share is above zero."""
    for number in _every(len(delay), most):
        if share[number] > 0.0:
            yield delay[number], share[number]


def _mean_rows(curve: MeanCcdf, most: int, least: float) -> Iterator[Row]:
    """Mean shares above zero, with the ends of their intervals as far as they are above ``least``."""
    half_width = np.zeros_like(curve.mean) if curve.half_width is None else curve.half_width
    for number in _every(len(curve.delay), most):
        mean, half = curve.mean[number], half_width[number]
        if mean > 0.0:
            ends = {"low": _short(max(mean - half, min(mean, least))), "high": _short(mean + half)}
            yield {"curve": curve.label, "delay": _short(curve.delay[number]), "share": _short(mean), **ends}


def _frontier_row(point: FrontierPoint) -> Row:
    """Means, ends of their intervals, and both as text."""
    row: dict[str, str | float] = {"curve": point.label}
    for name, one, factor in (("delay", point.delay, 1.0), ("utilization", point.utilization, 100.0)):
        mean, half = factor * one.mean, factor * (one.half_width or 0.0)
        text = f"{mean:.4g}" + (f" ± {half:.2g}" if one.half_width is not None else "")
        row |= {name: mean, f"{name}_low": mean - half, f"{name}_high": mean + half, f"{name}_text": text}
    return row


def _plane_axes() -> tuple[alt.X, alt.Y]:
    """The complex plane around -1."""
    (real, imaginary) = (alt.Scale(domain=list(ends), nice=False) for ends in PLANE)
    return _axis(alt.X, "re", REAL, real), _axis(alt.Y, "im", IMAGINARY, imaginary)


def _plane_rows(curve: str, path: NDArray[np.complex128]) -> Iterator[Row]:
    """The points of a path, in order."""
    for order, value in enumerate(path):
        yield {"curve": curve, "order": order, "re": _short(value.real), "im": _short(value.imag)}


def _in_plane(chart: alt.Chart, styles: Mapping[str, Style]) -> alt.Chart:
    """Paths in the complex plane."""
    return _styled(chart, styles).encode(*_plane_axes(), order="order:Q")
