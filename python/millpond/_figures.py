"""What figures show, whichever library draws them: colours, units, and the numbers of their curves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from millpond._arguments import listed
from millpond._core import Error, student_t
from millpond._tables import Distribution, Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from millpond._comparison import Comparison
    from millpond._run import Run
    from millpond._theory import Stability
    from millpond.documents import Estimate

#: The colours of the report: the palette of Okabe and Ito, which colour-blind readers distinguish.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8578f", "#d98c00", "#3a9fdc", "#2b2b2b", "#9a8c00")

#: Lengths of dashes and gaps, so that a curve is also recognised without its colour.
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (5, 2),
    (1, 1.5),
    (5, 2, 1, 2),
    (8, 3),
    (3, 1, 1, 1, 1, 1),
)

#: The area of a link's capacity.
AREA = "#dfe3e2"
#: Lines of a grid.
GRID = "#ebedea"
#: Points that are not on a front.
GREY = "#a9b2b0"
#: The unit circle.
SOFT = "#5c686c"

#: Prefixes of bit/s, largest first.
RATE_UNITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))

#: Real and imaginary parts that a Nyquist plot shows: the surroundings of -1 and of the unit circle.
PLANE = ((-2.6, 1.4), (-2.0, 2.0))

#: The smallest range of an axis of percentages.
LEAST_RANGE = 4.0

#: More curves than this share one legend entry for each group.
MOST_NAMES = 8


def colour(number: int) -> str:
    """The colour of the curve with this number."""
    return COLOURS[number % len(COLOURS)]


def pattern(number: int, count: int) -> int:
    """Which of ``count`` markers or dashes the curve with this number has.

    A colour that is used again has another one: its pairs with the colours repeat after ``count`` times the number of
    colours.
    """
    return (number % len(COLOURS) + number // len(COLOURS)) % count


def dashes(number: int) -> tuple[float, ...]:
    """The dashes of the curve with this number."""
    return DASHES[pattern(number, len(DASHES))]


def rate_unit(peak: float) -> tuple[float, str]:
    """The divisor and the name of the unit for rates up to ``peak`` bit/s."""
    return next((unit for unit in RATE_UNITS if peak >= unit[0]), RATE_UNITS[-1])


def group_of(flow: str) -> str:
    """The group of a flow: ``user`` of ``user.3``."""
    stem, dot, number = flow.rpartition(".")
    return stem if dot and number.isdigit() else flow


def peak(series: Iterable[Series]) -> float:
    """The greatest value; 0 without values."""
    finite = [one.value[np.isfinite(one.value)] for one in series]
    return max((float(values.max()) for values in finite if len(values)), default=0.0)


def curve_names(entities: Iterable[str]) -> list[str]:
    """The name of the curve of each flow; of many flows that of its group."""
    names = list(entities)
    return [group_of(name) for name in names] if len(names) > MOST_NAMES else names


class Rates(NamedTuple):
    """Goodput of flows over time, and the capacity of the bottleneck."""

    goodput: list[Series]
    #: Of the bottleneck; empty without links.
    capacity: list[Series]
    #: What rates are divided by, in bit/s.
    divisor: float
    #: The unit of the quotient.
    unit: str


def rates(run: Run, flows: Iterable[str] | None) -> Rates:
    """The curves of the rates of these flows; by default of all.

    Raises
    ------
    Error
        The run has no such flow.
    """
    chosen = None if flows is None else set(listed("flows", flows))
    goodput = [one for one in run.series.matching(quantity="goodput") if chosen is None or one.entity in chosen]
    require(goodput, "goodput", run)
    links = run.summary.links
    sampled = run.series.matching(quantity="capacity", entity=bottleneck(run), kind="link") if links else []
    capacity = [from_zero(one) for one in sampled]
    return Rates(goodput, capacity, *rate_unit(peak([*goodput, *capacity])))


def from_zero(series: Series) -> Series:
    """The series with its first value at time zero: it is that of the interval which the first sample ends."""
    if len(series.time) == 0 or series.time[0] <= 0.0:
        return series
    time, value = np.append(0.0, series.time), np.append(series.value[0], series.value)
    return replace(series, time=time, value=value)


def queue(run: Run, link: str) -> tuple[list[Series], list[Series]]:
    """Queue and queueing delay of a link direction, at most one series of each.

    Raises
    ------
    Error
        The run has no such link.
    """
    packets = run.series.matching(quantity="queue", entity=link, kind="link")
    delay = run.series.matching(quantity="queueing delay", entity=link, kind="link")
    require([*packets, *delay], f"queue of the link {link}", run)
    return packets, delay


def bottleneck(run: Run) -> str:
    """Name of the link direction with the greatest utilization, of equal ones that with the least capacity.

    Raises
    ------
    Error
        The run has no link.
    """
    links = run.summary.links
    if not links:
        raise Error(f"the run {run.label!r} has no link")
    number = max(range(len(links)), key=lambda i: (links[i].utilization, -links[i].capacity_bps))
    name = links[number].name
    is_reverse = any(link.name == name for link in links[:number])
    return f"{name} {'<-' if is_reverse else '->'}"


def require(series: list[Series], what: str, run: Run) -> None:
    """Refuses an empty figure."""
    if not series:
        entities = dict.fromkeys(entity for _, entity, _, _ in run.series.contents)
        raise Error(f"the run {run.label!r} has no {what}; it has series of: {', '.join(entities)}")


def distributions(run: Run, entities: Iterable[str] | None) -> list[Distribution]:
    """The end-to-end distributions of these entities; by default of each group, or of all flows.

    Raises
    ------
    Error
        The run has no such distribution.
    """
    groups = [group.name for group in run.summary.groups]
    names = listed("entities", entities) if entities is not None else (groups if len(groups) > 1 else ["all"])
    known = {one.entity: one for one in run.distributions}
    missing = [name for name in names if name not in known]
    if missing:
        raise Error(f"the run {run.label!r} has no distribution of {missing[0]!r}; there are: {', '.join(known)}")
    return [known[name] for name in names]


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


class MeanCcdf(NamedTuple):
    """The mean over the seeds of the share of packets with a longer queueing delay."""

    label: str
    #: Queueing delays, in ms, ascending, shape (n,).
    delay: NDArray[np.float64]
    #: Mean share of the packets with a longer one, shape (n,).
    mean: NDArray[np.float64]
    #: Half the width of its 95 % confidence interval, shape (n,); None for a single seed.
    half_width: NDArray[np.float64] | None


def mean_ccdfs(comparison: Comparison, entity: str) -> list[MeanCcdf]:
    """The mean distribution of each label.

    Raises
    ------
    Error
        A run has no such distribution.
    """
    found = []
    for label in comparison.labels:
        chosen = [one for run in comparison.of(label) for one in distributions(run, [entity])]
        delay = np.unique(np.concatenate([one.value for one in chosen]))
        found.append(MeanCcdf(label, delay, *interval(np.array([_shares_above(one, delay) for one in chosen]))))
    return found


def interval(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Mean over the rows and half the width of its 95 % confidence interval; none for a single row."""
    mean = rows.mean(axis=0)
    if len(rows) == 1:
        return mean, None
    deviation = rows.std(axis=0, ddof=1)
    return mean, student_t(len(rows) - 1) * deviation / np.sqrt(len(rows))


class FrontierPoint(NamedTuple):
    """What the frontier shows of a label."""

    label: str
    #: 95th percentile of the queueing delay, in ms.
    delay: Estimate
    #: Utilization of the bottleneck, from 0 to 1.
    utilization: Estimate


def frontier(comparison: Comparison) -> list[FrontierPoint]:
    """The point of each label that has both quantities.

    Raises
    ------
    Error
        No run has a link and delivers packets.
    """
    points = [
        FrontierPoint(row.run, row.queueing_ms.p95, row.utilization)
        for row in comparison.result.rows
        if row.group is None and row.queueing_ms is not None and row.utilization is not None
    ]
    if not points:
        raise Error("the frontier needs runs that have a link and deliver packets")
    return points


def require_loci(stability: Stability) -> None:
    """Refuses a Nyquist plot of a network that oscillates.

    Raises
    ------
    Error
        The network has no loci.
    """
    if not stability.loci:
        raise Error(f"there are no loci: the scenario {stability.verdict}")


def margins(stability: Stability) -> tuple[float | None, float | None]:
    """The gain margin as a factor, and the phase margin in radians, of a stable network."""
    document = stability.result
    if not document.stable:
        return None, None
    gain, phase = (getattr(document, name, None) for name in ("gain_margin", "phase_margin_rad"))
    return gain and gain.margin, phase and phase.margin
