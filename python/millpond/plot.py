"""Figures with Matplotlib, in the widths of journals and with the colours of the report.

Every function returns a `PaperFigure`, which notebooks show and ``figure.savefig`` writes. Axes are labelled with
quantity and unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from millpond import _figures
from millpond._core import Error
from millpond._figures import AREA, COLOURS, GREY, GRID, LEAST_RANGE, PLANE, SOFT, colour, pattern
from millpond._tables import Series

if TYPE_CHECKING:
    from millpond._comparison import Comparison
    from millpond._run import Run
    from millpond._theory import Stability

__all__ = ["COLOURS", "STYLE", "ComparisonPlots", "PaperFigure", "RunPlots", "StabilityPlots", "pareto"]

#: The number of columns of a page that a figure fills.
Columns: TypeAlias = Literal[1, 2]

#: Widths of one and of two columns, in inches, as journals of two columns set them.
WIDTHS: dict[int, float] = {1: 3.5, 2: 7.16}

#: Markers, so that a point is also recognised without its colour.
MARKERS = "os^DvPX*"

#: The greatest number of columns of a legend.
MOST_COLUMNS = 8

#: The greatest width of a legend of several columns, as a part of that of the figure.
WIDEST = 0.96

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
    "grid.color": GRID,
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


def dashes(number: int) -> Any:  # noqa: ANN401
    """The dashes of the curve with this number, as Matplotlib writes them."""
    lengths = _figures.dashes(number)
    return (0, lengths) if lengths else "-"


def width(columns: Columns) -> float:
    """The width of a figure, in inches.

    Raises
    ------
    Error
        There is no such number of columns.
    """
    if columns not in WIDTHS:
        raise Error(f"columns is {columns!r}: expected 1 or 2")
    return WIDTHS[columns]


def panels(columns: Columns, heights: Sequence[float], **options: Any) -> tuple[PaperFigure, list[Axes]]:  # noqa: ANN401
    """A figure with panels below each other.

    Parameters
    ----------
    columns : {1, 2}
        The width: 3.5 or 7.16 inches.
    heights : sequence of float
        Height of each panel, in inches.
    """
    figure = PaperFigure(figsize=(width(columns), sum(heights)), layout="constrained")
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
        goodput, capacity, divisor, unit = _figures.rates(self.run, flows)
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.2])
            for one in capacity:
                axes.fill_between(one.time, one.value / divisor, color=AREA, step="pre", label="capacity", lw=0)
            _curves(axes, goodput, divisor)
            _finish(axes, "Time [s]", f"Goodput [{unit}]")
            axes.set_xlim(right=self.run.summary.simulated_s)
            _legend(figure, axes)
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
        entity = link or _figures.bottleneck(self.run)
        queue, delay = _figures.queue(self.run, entity)
        with mpl.rc_context(STYLE):
            figure, (above, below) = panels(columns, [1.5, 1.5], sharex=True)
            for axes, series in ((above, queue), (below, delay)):
                for one in series:
                    axes.plot(one.time, one.value, color=colour(0), label=entity)
            _finish(above, "", "Queue [packets]")
            _finish(below, "Time [s]", "Queueing delay [ms]")
            below.set_xlim(right=self.run.summary.simulated_s)
            _legend(figure, above)
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
        chosen = _figures.distributions(self.run, entities)
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.4])
            for number, one in enumerate(chosen):
                delay, share = _figures.ccdf_points(one)
                axes.step(delay, share, where="post", color=colour(number), ls=dashes(number), label=one.entity)
            axes.set_yscale("log")
            _finish(axes, "Queueing delay [ms]", "Share of packets with more [1]", from_zero=False)
            _legend(figure, axes)
        return figure


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
        points = _figures.frontier(self.comparison)
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [2.6])
            for number, (label, delay, utilization) in enumerate(points):
                axes.errorbar(
                    delay.mean,
                    100 * utilization.mean,
                    xerr=delay.half_width,
                    yerr=None if utilization.half_width is None else 100 * utilization.half_width,
                    marker=MARKERS[pattern(number, len(MARKERS))],
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
            _legend(figure, axes)
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
            for number, (label, delay, mean, half_width) in enumerate(_figures.mean_ccdfs(self.comparison, entity)):
                axes.step(delay, mean, where="post", color=colour(number), ls=dashes(number), label=label)
                if half_width is not None:
                    low = np.clip(mean - half_width, 0.0, None)
                    axes.fill_between(delay, low, mean + half_width, step="post", color=colour(number), alpha=0.2, lw=0)
            axes.set_yscale("log")
            _finish(axes, "Queueing delay [ms]", "Share of packets with more [1]", from_zero=False)
            _legend(figure, axes)
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
        _figures.require_loci(self.stability)
        with mpl.rc_context(STYLE):
            figure, (axes,) = panels(columns, [width(columns) * 0.85])
            circle = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200))
            axes.plot(circle.real, circle.imag, color=SOFT, lw=0.7, ls=(0, (3, 2)), label="$|L| = 1$")
            for number, locus in enumerate(self.stability.loci):
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
            axes.set(xlim=PLANE[0], ylim=PLANE[1])
            axes.set_aspect("equal")
            _finish(axes, "Real part of $L(i\\omega)$ [1]", "Imaginary part of $L(i\\omega)$ [1]", from_zero=False)
            _legend(figure, axes)
        return figure

    def _margins(self, axes: Axes) -> None:
        """The margins of a stable network."""
        gain, phase = _figures.margins(self.stability)
        if gain is not None:
            ends = [-1.0, -1.0 / gain]
            axes.plot(ends, [0.0, 0.0], color=colour(1), lw=2, label=f"gain margin ×{gain:.3g}")
        if phase is not None:
            angles = np.pi + np.linspace(0.0, phase, 50)
            label = f"phase margin {np.degrees(phase):.3g}°"
            axes.plot(np.cos(angles), np.sin(angles), color=colour(2), lw=2, label=label)


def _curves(axes: Axes, series: list[Series], divisor: float) -> None:
    """One curve for each series; the first one of each name has an entry in the legend."""
    names = _figures.curve_names(one.entity for one in series)
    styles = list(dict.fromkeys(names))
    unnamed = set(names)
    for name, one in zip(names, series, strict=True):
        number = styles.index(name)
        label = name if name in unnamed else None
        unnamed.discard(name)
        axes.plot(one.time, one.value / divisor, color=colour(number), ls=dashes(number), label=label)


def _finish(axes: Axes, x: str, y: str, *, from_zero: bool = True) -> None:
    """Labels and limits."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if from_zero:
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)


def _legend(figure: PaperFigure, axes: Axes) -> None:
    """The legend of a panel, above all panels in as many columns as fit. The figure grows by its height."""
    handles, labels = axes.get_legend_handles_labels()
    for columns in range(min(len(handles), MOST_COLUMNS), 0, -1):
        legend = figure.legend(handles, labels, loc="outside upper center", ncols=columns)
        extent = legend.get_window_extent()
        if columns == 1 or extent.width <= WIDEST * figure.bbox.width:
            break
        legend.remove()
    figure.set_figheight(figure.get_figheight() + extent.height / figure.dpi)


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
        axes.plot([one[0] for one in trials], [one[1] for one in trials], "o", color=GREY, label="trials")
        axes.plot([one[0] for one in front], [one[1] for one in front], "o-", color=colour(0), label="Pareto front")
        _finish(axes, labels[0], labels[1], from_zero=False)
        _legend(figure, axes)
    return figure
