//! Goodput, queue and queueing delay over time, a figure for each run. All runs have the same axes; only the rate axes
//! differ if the rates of runs are of different orders.

use super::super::curve_set::{Band, CurveSet, GroupValue, Stack, decimated, sum};
use super::super::rate_unit::RateUnit;
use super::super::run_view::RunView;
use super::delays_over_time::Delays;
use super::{run_title, time_axis};
use maud::{Markup, html};
use millpond_chart::{Axis, AxisSpacing, Figure, Legend, Panel, Plot, Point, Scale, are_of_one_order};
use millpond_results::{EntityKind, Series, quantity};
use millpond_units::format::{fixed, two_digits};
use std::ops::Range;

/// How runs over time are drawn.
#[derive(Clone, Copy)]
pub(crate) struct OverTimeStyle {
    /// Curves have at most two points per slice of time.
    pub(crate) slices: usize,
    /// The vertical axis of queues and delays.
    pub(crate) spacing: AxisSpacing,
    /// Whether there is a panel of stacked goodputs, which has the axis of the goodputs.
    pub(crate) has_stack: bool,
}

impl OverTimeStyle {
    /// Of reports.
    pub(crate) const REPORT: Self = Self { slices: super::FINE, spacing: AxisSpacing::Log, has_stack: true };
}

/// One figure per run.
pub(crate) fn over_time(views: &[RunView], style: OverTimeStyle) -> Vec<Figure> {
    let peaks: Vec<f64> = views.iter().map(peak_rate).collect();
    let greatest = are_of_one_order(&peaks).then(|| peaks.iter().copied().fold(0.0, f64::max));
    let curves = |(view, peak): (&RunView, &f64)| {
        let curves = RunCurves::of(view, RateUnit::for_peak(greatest.unwrap_or(*peak)), style.slices);
        RunCurves { stack: curves.stack.filter(|_| style.has_stack), ..curves }
    };
    let curves: Vec<RunCurves> = views.iter().zip(&peaks).map(curves).collect();
    let common = Scales::common(&curves, style.spacing);
    let figure = |(view, curves): (&RunView, &RunCurves)| {
        let rate = if greatest.is_some() { common.rate } else { rate_scale(curves.rates()) };
        Figure {
            id: format!("run-{}", view.style.0),
            title: title(view),
            class: "run",
            panels: panels(views, view, curves, &Scales { rate, ..common }),
            caption: String::new(),
        }
    };
    views.iter().zip(&curves).map(figure).collect()
}

/// What is drawn of one run, in the units of the page.
struct RunCurves {
    rate_unit: RateUnit,
    capacity: Vec<Point>,
    /// What the laws of the bottleneck are configured with, if that is not the actual capacity.
    configured: Vec<Point>,
    throughput: Vec<Point>,
    goodputs: CurveSet,
    /// The goodputs one above the other, if there are several.
    stack: Option<Stack>,
    /// Whether the flows received no more than the bottleneck served, so that they share its capacity.
    shares_capacity: bool,
    /// For each curve of `goodputs`, if these are of single flows, the range over the seeds.
    goodput_bands: Vec<Band>,
    queue: Vec<Point>,
    backlog: Vec<Point>,
    /// When the bottleneck had no capacity.
    outages: Vec<Range<f64>>,
    delays: Delays,
    /// The range of `queue` over the seeds.
    queue_band: Option<Band>,
}

impl RunCurves {
    fn of(view: &RunView, rate_unit: RateUnit, slices: usize) -> Self {
        let at_bottleneck = |quantity, factor| {
            view.at_bottleneck(quantity).map_or_else(Vec::new, |series| decimated(series, factor, slices))
        };
        let backlogs: Vec<_> = view.series(EntityKind::Relay, quantity::BACKLOG).collect();
        let goodputs = CurveSet::new(&view.goodputs(), GroupValue::Sum, rate_unit.factor, slices);
        let band = |one: &&Series| Band::of(&view.of_seeds(one), rate_unit.factor, slices);
        let has_bands = view.seeds.len() > 1 && !goodputs.is_condensed();
        let goodput_bands = view.goodputs().iter().filter(|_| has_bands).filter_map(band).collect();
        Self {
            capacity: at_bottleneck(quantity::CAPACITY, rate_unit.factor),
            configured: at_bottleneck(quantity::CONFIGURED_CAPACITY, rate_unit.factor),
            throughput: at_bottleneck(quantity::THROUGHPUT, rate_unit.factor),
            outages: view.at_bottleneck(quantity::CAPACITY).map_or_else(Vec::new, outages),
            shares_capacity: shares_capacity(view),
            stack: Stack::new(&view.goodputs(), rate_unit.factor, slices),
            goodputs,
            goodput_bands,
            queue: at_bottleneck(quantity::QUEUE, 1.0),
            queue_band: view
                .at_bottleneck(quantity::QUEUE)
                .and_then(|queue| Band::of(&view.of_seeds(queue), 1.0, slices)),
            backlog: sum(&backlogs, slices),
            delays: Delays::of(view, slices),
            rate_unit,
        }
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        let bands = self.goodput_bands.iter().flat_map(Band::values);
        let stacked = self.stack.iter().flat_map(Stack::values);
        let capacities = values(&self.capacity).chain(values(&self.configured));
        capacities.chain(self.goodputs.values()).chain(bands).chain(stacked)
    }

    /// Whether the throughput of the bottleneck is drawn, because the flows are not drawn one by one.
    fn shows_throughput(&self) -> bool {
        self.goodputs.is_condensed() && !self.throughput.is_empty()
    }

    fn packets(&self) -> impl Iterator<Item = f64> {
        let band = self.queue_band.iter().flat_map(Band::values);
        values(&self.queue).chain(values(&self.backlog)).chain(band)
    }
}

/// Whether the flows together received no more than the bottleneck served. Where they received more, some of them do not cross
/// it.
fn shares_capacity(view: &RunView) -> bool {
    /// Equations count no headers, and bytes under way when a run begins or ends.
    const ROUNDING: f64 = 1.02;
    let sum = |series: &Series| series.values.iter().filter(|value| value.is_finite()).sum::<f64>();
    let received: f64 = view.goodputs().into_iter().map(sum).sum();
    view.at_bottleneck(quantity::THROUGHPUT).is_none_or(|served| received <= ROUNDING * sum(served))
}

fn values(points: &[Point]) -> impl Iterator<Item = f64> {
    points.iter().map(|point| point.1)
}

/// The vertical axes that all runs have in common.
struct Scales {
    rate: Scale,
    packets: Scale,
    queueing: Scale,
}

impl Scales {
    fn common(curves: &[RunCurves], spacing: AxisSpacing) -> Self {
        let scale = |values: Vec<f64>| match spacing {
            AxisSpacing::Linear => Scale::from_zero(values),
            AxisSpacing::Log => Scale::log(values, DECADES),
        };
        Self {
            rate: rate_scale(curves.iter().flat_map(RunCurves::rates)),
            packets: scale(curves.iter().flat_map(RunCurves::packets).collect()),
            queueing: scale(curves.iter().flat_map(|curves| curves.delays.values()).collect()),
        }
    }
}

/// Linear from zero, without spikes.
fn rate_scale(rates: impl Iterator<Item = f64>) -> Scale {
    let rates: Vec<f64> = rates.collect();
    Scale::from_zero(rates.iter().copied()).without_spikes(rates)
}

fn panels(all: &[RunView], view: &RunView, curves: &RunCurves, scales: &Scales) -> Vec<Panel> {
    let stack = curves.stack.as_ref().filter(|_| all.len() <= MOST_STACKS);
    let last = if stack.is_some() { STACKED } else { DELAY };
    let plot = |what: &str, scale: Scale, height: u16| {
        let label = format!("{what} over time, {}", view.run.label);
        let y = Axis::numbered(scale, "", if height > 100 { 4 } else { 3 });
        let time = time_axis(all);
        let time = if what == last { time } else { time.without_text() };
        let mut plot = Plot::new(label, time, y, height).over_time();
        curves.outages.iter().for_each(|outage| plot.hatch(outage.clone()));
        plot
    };
    let panel = |title: &str, unit: &str, legend: Legend, plot: Plot| Panel {
        title: title.into(),
        unit: unit.into(),
        legend: legend.coloured(view.style),
        plot: plot.coloured(view.style),
    };
    let mut rate = plot("Goodput of each flow and capacity", scales.rate, 170);
    draw_rates(&mut rate, curves);
    let mut queue = plot("Queue", scales.packets, 80);
    draw_queues(&mut queue, curves);
    let mut queueing = plot(DELAY, scales.queueing, 80);
    curves.delays.draw(&mut queueing);
    let mut panels = vec![
        panel("Goodput", curves.rate_unit.label, rate_legend(curves), rate),
        panel("Queue", "packets", queue_legend(curves), queue),
        panel(DELAY, "ms", curves.delays.legend(), queueing),
    ];
    if let Some(stack) = stack {
        let mut plot = plot(STACKED, scales.rate, 120);
        let legend = if curves.shares_capacity {
            plot.area("area", &curves.capacity);
            plot.curve("capacity", "area-edge", &curves.capacity);
            stack.legend().area("", "capacity")
        } else {
            stack.legend().text("not all flows cross the bottleneck")
        };
        stack.draw(&mut plot);
        panels.push(panel(STACKED, curves.rate_unit.label, legend, plot));
    }
    panels
}

/// The goodputs of all flows one above the other, below the capacity if they share it.
const STACKED: &str = "Goodput, stacked";

/// A page with more runs has no stacked goodputs, because it would be too long.
const MOST_STACKS: usize = 4;

fn draw_rates(plot: &mut Plot, curves: &RunCurves) {
    plot.area("area", &curves.capacity);
    plot.curve("capacity", "area-edge", &curves.capacity);
    plot.curve("configured capacity", CONFIGURED, &curves.configured);
    for (index, band) in curves.goodput_bands.iter().enumerate() {
        band.draw(plot, &format!("band f{index}"));
    }
    curves.goodputs.draw(plot);
    if curves.shows_throughput() {
        plot.curve("throughput", THROUGHPUT, &curves.throughput);
    }
}

/// At the bottleneck, with the range over the seeds, and in all relays.
fn draw_queues(plot: &mut Plot, curves: &RunCurves) {
    if let Some(band) = &curves.queue_band {
        band.draw(plot, "band");
    }
    plot.curve("relays", BACKLOG, &curves.backlog);
    plot.curve("bottleneck", "line", &curves.queue);
}

/// The capacity with which laws are configured.
const CONFIGURED: &str = "line configured";

const DELAY: &str = "Queueing delay";

/// Logarithmic axes span at most this many powers of ten, so that one spike does not flatten a curve.
const DECADES: f64 = 4.0;

/// The times in which a link has no capacity, from the ends of sampling intervals.
fn outages(capacity: &Series) -> Vec<Range<f64>> {
    let begins = std::iter::once(0.0).chain(capacity.times.iter().copied());
    let samples: Vec<(f64, f64, f64)> = begins
        .zip(&capacity.times)
        .zip(&capacity.values)
        .map(|((from, to), value)| (from, *to, *value))
        .collect();
    let down = samples.chunk_by(|one, next| (one.2 == 0.0) == (next.2 == 0.0));
    down.filter(|run| run.iter().all(|sample| sample.2 == 0.0))
        .filter_map(|run| Some(run.first()?.0..run.last()?.1))
        .collect()
}

/// Throughput of the bottleneck.
const THROUGHPUT: &str = "line throughput";

fn rate_legend(curves: &RunCurves) -> Legend {
    curves
        .goodputs
        .legend()
        .and(Legend::new().line(THROUGHPUT, "throughput").when(curves.shows_throughput()))
        .area("", "capacity")
        .and(Legend::new().line(CONFIGURED, "configured capacity").when(!curves.configured.is_empty()))
        .and(Legend::new().area("hatched", "no capacity").when(!curves.outages.is_empty()))
}

/// The sum of the backlogs of all relays.
const BACKLOG: &str = "line backlog";

fn queue_legend(curves: &RunCurves) -> Legend {
    Legend::new().line("line", "bottleneck").line(BACKLOG, "all relays").when(!curves.backlog.is_empty())
}

/// The run's name, its utilization and its 95th percentile of queueing delay.
fn title(view: &RunView) -> Markup {
    html! {
        (run_title(view))
        span.summary {
            "utilization " (fixed(100.0 * view.utilization(), 1)) " % · "
            @if view.queueing_p95().is_finite() {
                "95 % of packets queue at most " (two_digits(view.queueing_p95())) " ms"
            } @else {
                "no packet was delivered"
            }
        }
    }
}

fn peak_rate(view: &RunView) -> f64 {
    let capacity = view.at_bottleneck(quantity::CAPACITY).into_iter();
    let values = capacity.chain(view.goodputs()).flat_map(|series| &series.values);
    values.copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_results::{Link, Run, Summary};

    #[test]
    fn an_outage_lasts_from_the_last_sample_with_capacity_to_the_last_without() {
        let capacity = Series {
            kind: EntityKind::Link,
            entity: "L ->".into(),
            quantity: quantity::CAPACITY.into(),
            unit: "bit/s".into(),
            times: vec![1.0, 2.0, 3.0, 4.0, 5.0].into(),
            values: vec![0.0, 1e6, 0.0, 0.0, 1e6],
        };
        assert_eq!(outages(&capacity), [0.0..1.0, 2.0..4.0]);
    }

    /// The bottleneck serves 1 Mbit/s and each flow receives as much: only one of them crosses it.
    #[test]
    fn flows_that_receive_more_than_the_bottleneck_serves_do_not_share_its_capacity() {
        let of = |kind, entity: &str, quantity: &str| Series {
            kind,
            entity: entity.into(),
            quantity: quantity.into(),
            unit: "bit/s".into(),
            times: vec![1.0, 2.0].into(),
            values: vec![1e6, 1e6],
        };
        let link = Link { name: "L".into(), direction: "A -> B".into(), ..Link::default() };
        let mut run = Run { summary: Summary { links: vec![link], ..Summary::default() }, ..Run::default() };
        run.series = vec![
            of(EntityKind::Link, &run.summary.link_entity(0), quantity::THROUGHPUT),
            of(EntityKind::Flow, "a", quantity::GOODPUT),
        ];
        assert!(shares_capacity(&RunView::all(std::slice::from_ref(&run))[0]));
        run.series.push(of(EntityKind::Flow, "b", quantity::GOODPUT));
        assert!(!shares_capacity(&RunView::all(std::slice::from_ref(&run))[0]));
    }
}
