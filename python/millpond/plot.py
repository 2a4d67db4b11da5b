"""Figures with Matplotlib, in the widths of journals and with the colours of the report.

Every function returns a `PaperFigure`, which notebooks show and ``figure.savefig`` writes. Axes are labelled with
quantity and unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from millpond._core import Error
from millpond._tables import Distribution, Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from millpond._comparison import Comparison
    from millpond._run import Run
    from millpond._theory import Stability
    from millpond.documents import ComparisonRow, Estimate

__all__ = ["COLOURS", "STYLE", "ComparisonPlots", "PaperFigure", "RunPlots", "StabilityPlots", "pareto"]

#: The number of columns of a page that a figure fills.
Columns: TypeAlias = Literal[1, 2]

#: Widths of one and of two columns, in inches, as journals of two columns set them.
WIDTHS: dict[int, float] = {1: 3.5, 2: 7.16}

#: The colours of the report: the palette of Okabe and Ito, which colour-blind readers distinguish.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8578f", "#d98c00", "#3a9fdc", "#2b2b2b", "#9a8c00")

#: Dashes and markers, so that a curve is also recognised without its colour.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (5, 2, 1, 2)),
    (0, (8, 3)),
    (0, (3, 1, 1, 1, 1, 1)),
)
MARKERS = "os^DvPX*"

#: The settings of every figure.
STYLE: Any = {
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "axes.titlesize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "axes.grid": True,
    "grid.color": "#ebedea",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}

#: The area of a link's capacity and of an interval.
AREA = "#dfe3e2"

#: Prefixes of bit/s, largest first.
RATE_UNITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))

#: Real parts that a Nyquist plot shows: the surroundings of -1 and of the unit circle.
PLANE = (-2.6, 1.4)

#: The smallest range of an axis of percentages.
LEAST_RANGE = 4.0

#: More curves than this share one legend entry for each group.
MOST_NAMES = 8


#: Resolution of figures in notebooks, in pixels per inch.
SCREEN_DPI = 144


class PaperFigure(Figure):
    """A figure in the style of this module, also when it is written."""

    def savefig(self, fname: Any, **options: Any) -> None:  # noqa: ANN401
        """Writes a file; the arguments are those of `matplotlib.figure.Figure.savefig`."""
        with mpl.rc_context(STYLE):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=SCREEN_DPI)
        return picture.getvalue()


def colour(number: int) -> str:
    """The colour of the curve with this number."""
    return COLOURS[number % len(COLOURS)]


def dashes(number: int) -> Any:  # noqa: ANN401
    """The dashes of the curve with this number: a colour that is used again has other dashes."""
    return DASHES[(number + number // len(COLOURS)) % len(DASHES)]


def rate_unit(peak: float) -> tuple[float, str]:
    """The divisor and the name of the unit for rates up to ``peak`` bit/s."""
    return next((unit for unit in RATE_UNITS if peak >= unit[0]), RATE_UNITS[-1])


def panels(columns: Columns, heights: Sequence[float], **options: Any) -> tuple[PaperFigure, list[Axes]]:  # noqa: ANN401
    """A figure with panels below each other.

    Parameters
    ----------
    columns : {1, 2}
        The width: 3.5 or 7.16 inches.
    heights : sequence of float
        Height of each panel, in inches.
    """
    figure = PaperFigure(figsize=(WIDTHS[columns], sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=list(heights), **options)
    return figure, list(axes[:, 0])


@dataclass(frozen=True, slots=True)
class RunPlots:
    """Figures of one run."""

    run: Run

    def rates(self, *, columns: Columns = 2, flows: Iterable[str] | None = None) -> PaperFigure:
        """Goodput of each flow over time, over the capacity of the bottleneck.

        Parameters
        ----------
        columns : {1, 2}
            The width in columns.
        flows : iterable of str, optional
            Names of the flows. Default: all.

        Raises
        ------
        Error
            The run has no such flow.
        """
        chosen = None if flows is None else set(flows)
        series = [s for s in self.run.series.select(quantity="goodput") if chosen is None or s.entity in chosen]
        _require(series, "goodput", self.run)
        capacity = self._of_bottleneck("capacity")
        peak = max(_peak(one) for one in [*series, *capacity])
        divisor, unit = rate_unit(peak)
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.2])
            for one in capacity:
                axes.fill_between(one.time, one.value / divisor, color=AREA, step="pre", label="capacity", lw=0)
            _curves(axes, series, divisor)
            _finish(axes, "Time [s]", f"Goodput [{unit}]", legend=False)
            axes.set_xlim(right=self.run.summary.simulated_s)
            figure.legend(loc="outside upper center", ncols=2 * columns + 1)
        return figure

    def queue(self, *, columns: Columns = 2, link: str | None = None) -> PaperFigure:
        """Queue and queueing delay of a link direction over time.

        Parameters
        ----------
        columns : {1, 2}
            The width in columns.
        link : str, optional
            Name of the link with its direction, such as ``"L1 ->"``. Default: the bottleneck, the direction with the
            greatest utilization.

        Raises
        ------
        Error
            The run has no such link.
        """
        entity = link or self.bottleneck()
        queue = self.run.series.select(quantity="queue", entity=entity, kind="link")
        delay = self.run.series.select(quantity="queueing delay", entity=entity, kind="link")
        _require([*queue, *delay], f"queue of the link {entity}", self.run)
        with mpl.rc_context(STYLE):
            figure, (above, below) = panels(columns, [1.5, 1.5], sharex=True)
            for axes, series in ((above, queue), (below, delay)):
                for one in series:
                    axes.plot(one.time, one.value, color=colour(0), label=entity)
            _finish(above, "", "Queue [packets]")
            _finish(below, "Time [s]", "Queueing delay [ms]", legend=False)
            below.set_xlim(right=self.run.summary.simulated_s)
        return figure

    def ccdf(self, *, columns: Columns = 1, entities: Iterable[str] | None = None) -> PaperFigure:
        """Share of packets with a longer queueing delay, end to end.

        Parameters
        ----------
        columns : {1, 2}
            The width in columns.
        entities : iterable of str, optional
            Names of groups, of link directions, or ``"all"``. Default: each group, or all flows.

        Raises
        ------
        Error
            The run has no such distribution.
        """
        chosen = _distributions(self.run, entities)
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.4])
            for number, one in enumerate(chosen):
                delay, share = ccdf_points(one)
                axes.step(delay, share, where="post", color=colour(number), ls=dashes(number), label=one.entity)
            axes.set_yscale("log")
            _finish(axes, "Queueing delay [ms]", "Share of packets with more [1]", from_zero=False)
        return figure

    def bottleneck(self) -> str:
        """Name of the link direction with the greatest utilization, of equal ones that with the least capacity."""
        links = self.run.summary.links
        if not links:
            raise Error(f"the run {self.run.label!r} has no link")
        number = max(range(len(links)), key=lambda i: (links[i].utilization, -links[i].capacity_bps))
        name = links[number].name
        is_reverse = any(link.name == name for link in links[:number])
        return f"{name} {'<-' if is_reverse else '->'}"

    def _of_bottleneck(self, quantity: str) -> list[Series]:
        """A quantity of the bottleneck; none without links."""
        if not self.run.summary.links:
            return []
        return self.run.series.select(quantity=quantity, entity=self.bottleneck(), kind="link")


@dataclass(frozen=True, slots=True)
class ComparisonPlots:
    """Figures of several runs."""

    comparison: Comparison

    def frontier(self, *, columns: Columns = 1) -> PaperFigure:
        """Utilization of the bottleneck against the 95th percentile of the queueing delay, one marker for each label.

        With several seeds each marker has 95 % confidence intervals (Student's t) in both directions. Better is to the
        left and up.

        Raises
        ------
        Error
            No run has a link and delivers packets.
        """
        rows = [row for row in self.comparison.result.rows if row.group is None]
        points = [point for row in rows for point in _frontier_point(row)]
        if not points:
            raise Error("the frontier needs runs that have a link and deliver packets")
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.6])
            for number, (label, delay, utilization) in enumerate(points):
                axes.errorbar(
                    delay.mean,
                    100 * utilization.mean,
                    xerr=delay.half_width,
                    yerr=None if utilization.half_width is None else 100 * utilization.half_width,
                    marker=MARKERS[number % len(MARKERS)],
                    color=colour(number),
                    ls="none",
                    elinewidth=0.9,
                    capsize=2,
                    label=label,
                )
            axes.set_xlim(left=0)
            low, high = axes.get_ylim()
            if high - low < LEAST_RANGE:
                axes.set_ylim(high - 0.9 * LEAST_RANGE, high + 0.1 * LEAST_RANGE)
            _finish(axes, "Queueing delay, 95th percentile [ms]", "Utilization [%]", from_zero=False)
        return figure

    def ccdf(self, *, columns: Columns = 1, entity: str = "all") -> PaperFigure:
        """Share of packets with a longer queueing delay, one curve for each label.

        With several seeds the curve is the mean of the shares, and the area is their 95 % confidence interval
        (Student's t).

        Parameters
        ----------
        columns : {1, 2}
            The width in columns.
        entity : str
            Name of a group, of a link direction, or ``"all"`` for all flows.

        Raises
        ------
        Error
            A run has no such distribution.
        """
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.4])
            for number, label in enumerate(self.comparison.labels):
                chosen = [one for run in self.comparison.of(label) for one in _distributions(run, [entity])]
                delay = np.unique(np.concatenate([one.value for one in chosen]))
                shares = np.array([_shares_above(one, delay) for one in chosen])
                mean, half_width = _interval(shares)
                axes.step(delay, mean, where="post", color=colour(number), ls=dashes(number), label=label)
                if half_width is not None:
                    low = np.clip(mean - half_width, 0.0, None)
                    axes.fill_between(delay, low, mean + half_width, step="post", color=colour(number), alpha=0.2, lw=0)
            axes.set_yscale("log")
            _finish(axes, "Queueing delay [ms]", "Share of packets with more [1]", from_zero=False)
        return figure


@dataclass(frozen=True, slots=True)
class StabilityPlots:
    """Figures of a stability analysis."""

    stability: Stability

    def nyquist(self, *, columns: Columns = 1) -> PaperFigure:
        """Nyquist loci of the return ratio around -1, with the unit circle and the gain and phase margins.

        Raises
        ------
        Error
            The network oscillates: it has no loci.
        """
        loci = self.stability.loci
        if not loci:
            raise Error(f"there are no loci: the scenario {self.stability.verdict}")
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [WIDTHS[columns] * 0.85])
            circle = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200))
            axes.plot(circle.real, circle.imag, color="#5c686c", lw=0.7, ls=(0, (3, 2)), label="$|L| = 1$")
            for number, locus in enumerate(loci):
                names = ("$\\omega > 0$", "$\\omega < 0$") if number == 0 else (None, None)
                axes.plot(locus.value.real, locus.value.imag, color=colour(0), label=names[0])
                axes.plot(
                    locus.value.real,
                    -locus.value.imag,
                    color=colour(0),
                    lw=0.7,
                    ls=(0, (4, 2)),
                    label=names[1],
                )
            axes.plot([-1.0], [0.0], marker="+", color="black", ls="none", ms=7)
            self._margins(axes)
            axes.set_xlim(*PLANE)
            axes.set_ylim(-2.0, 2.0)
            axes.set_aspect("equal")
            _finish(axes, "Real part of $L(i\\omega)$ [1]", "Imaginary part of $L(i\\omega)$ [1]", from_zero=False)
        return figure

    def _margins(self, axes: Axes) -> None:
        """The margins of a stable network."""
        document = self.stability.result
        gain = getattr(document, "gain_margin", None)
        phase = getattr(document, "phase_margin_rad", None)
        if not document.stable:
            return
        if gain is not None:
            axes.plot(
                [-1.0, -1.0 / gain.margin],
                [0.0, 0.0],
                color=colour(1),
                lw=2,
                label=f"gain margin ×{gain.margin:.3g}",
            )
        if phase is not None:
            angles = np.pi + np.linspace(0.0, phase.margin, 50)
            degrees = np.degrees(phase.margin)
            axes.plot(np.cos(angles), np.sin(angles), color=colour(2), lw=2, label=f"phase margin {degrees:.3g}°")


def ccdf_points(one: Distribution) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values in ascending order, and the share of packets above each.

    Returns
    -------
    value : ndarray, shape (n,)
        Values, in the unit of the distribution.
    share : ndarray, shape (n,)
        Shares from 1 to 0.
    """
    return one.value, 1.0 - one.share


def _shares_above(one: Distribution, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of packets above each value."""
    below = np.searchsorted(one.value, values, side="right")
    shares = np.concatenate([[0.0], one.share])
    return 1.0 - shares[below]


def _interval(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Mean over the rows and half the width of its 95 % confidence interval; none for a single row."""
    mean = rows.mean(axis=0)
    if len(rows) == 1:
        return mean, None
    deviation = rows.std(axis=0, ddof=1)
    return mean, student_t(len(rows) - 1) * deviation / np.sqrt(len(rows))


#: 97.5 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
T_QUANTILES = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def student_t(degrees: int) -> float:
    """The 97.5 % quantile of Student's t distribution.

    Beyond 30 degrees of freedom it is the expansion of Abramowitz and Stegun, 26.7.5, to the second order.
    """
    if degrees <= len(T_QUANTILES):
        return T_QUANTILES[degrees - 1]
    x = 1.959963985
    first = (x**3 + x) / 4.0
    second = (5.0 * x**5 + 16.0 * x**3 + 3.0 * x) / 96.0
    return x + first / degrees + second / degrees**2


def _frontier_point(row: ComparisonRow) -> Iterator[tuple[str, Estimate, Estimate]]:
    """Label, delay and utilization of a row that has both."""
    if row.queueing_ms is not None and row.utilization is not None:
        yield row.run, row.queueing_ms.p95, row.utilization


def _distributions(run: Run, entities: Iterable[str] | None) -> list[Distribution]:
    """The end-to-end distributions of these entities; by default of each group, or of all flows."""
    groups = [group.name for group in run.summary.groups]
    names = list(entities) if entities is not None else (groups if len(groups) > 1 else ["all"])
    known = {one.entity: one for one in run.distributions}
    missing = [name for name in names if name not in known]
    if missing:
        raise Error(f"the run {run.label!r} has no distribution of {missing[0]!r}; there are: {', '.join(known)}")
    return [known[name] for name in names]


def _curves(axes: Axes, series: list[Series], divisor: float) -> None:
    """One curve for each series; of many flows only the first of each group has a name."""
    groups = list(dict.fromkeys(_group(one.entity) for one in series))
    named: set[str] = set()
    for number, one in enumerate(series):
        group = _group(one.entity)
        is_many = len(series) > MOST_NAMES
        name = group if is_many else one.entity
        style = groups.index(group) if is_many else number
        label = None if name in named else name
        named.add(name)
        axes.plot(one.time, one.value / divisor, color=colour(style), ls=dashes(style), label=label)


def _group(flow: str) -> str:
    """The group of a flow: ``user`` of ``user.3``."""
    stem, dot, number = flow.rpartition(".")
    return stem if dot and number.isdigit() else flow


def _peak(series: Series) -> float:
    """The greatest value; 0 without values."""
    values = series.value[np.isfinite(series.value)]
    return float(values.max()) if len(values) else 0.0


def _require(series: list[Series], what: str, run: Run) -> None:
    """Refuses an empty figure."""
    if not series:
        entities = dict.fromkeys(entity for _, entity, _, _ in run.series.contents)
        raise Error(f"the run {run.label!r} has no {what}; it has series of: {', '.join(entities)}")


def _finish(axes: Axes, x: str, y: str, *, from_zero: bool = True, legend: bool = True) -> None:
    """Labels, limits and legend."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if from_zero:
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
    if legend:
        axes.legend(loc="best")


def pareto(
    trials: Sequence[Sequence[float]], front: Sequence[Sequence[float]], labels: Sequence[str], columns: Columns
) -> PaperFigure:
    """Trials over two objectives, with their Pareto front.

    Parameters
    ----------
    trials, front : sequence of sequences of float
        The objectives of each trial, and of those on the front in the order of the first objective.
    labels : sequence of str
        Labels of the axes.
    columns : {1, 2}
        The width.
    """
    with mpl.rc_context(STYLE):
        figure, (axes,) = panels(columns, [2.6])
        axes.plot([one[0] for one in trials], [one[1] for one in trials], "o", color="#a9b2b0", label="trials")
        axes.plot([one[0] for one in front], [one[1] for one in front], "o-", color=colour(0), label="Pareto front")
        _finish(axes, labels[0], labels[1], from_zero=False)
    return figure
