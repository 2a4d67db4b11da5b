//! Goodput, queue and queueing delay over time, a figure for each run. All runs have the same axes; only the rate axes
//! differ if the rates of runs are of different orders.

use super::super::curve_set::{Band, CurveSet, GroupValue, Stack, decimated, sum, weighted_mean};
use super::super::rate_unit::RateUnit;
use super::super::run_view::{RunView, of_flows};
use super::{FINE, run_title, time_axis};
use maud::{Markup, html};
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Point, Scale, are_of_one_order};
use millpond_results::{EntityKind, Run, Series, quantity};
use millpond_units::format::{fixed, two_digits};
use std::ops::Range;

/// One figure per run.
pub(crate) fn over_time(views: &[RunView]) -> Vec<Figure> {
    let peaks: Vec<f64> = views.iter().map(peak_rate).collect();
    let greatest = are_of_one_order(&peaks).then(|| peaks.iter().copied().fold(0.0, f64::max));
    let curves =
        |(view, peak): (&RunView, &f64)| RunCurves::of(view, RateUnit::for_peak(greatest.unwrap_or(*peak)));
    let curves: Vec<RunCurves> = views.iter().zip(&peaks).map(curves).collect();
    let common = Scales::common(&curves);
    let figure = |(view, curves): (&RunView, &RunCurves)| {
        let rate = if greatest.is_some() { common.rate } else { Scale::from_zero(curves.rates()) };
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
    throughput: Vec<Point>,
    goodputs: CurveSet,
    /// The goodputs one above the other, if there are several.
    stack: Option<Stack>,
    /// For each curve of `goodputs`, if these are of single flows, the range over the seeds.
    goodput_bands: Vec<Band>,
    queue: Vec<Point>,
    backlog: Vec<Point>,
    /// When the bottleneck had no capacity.
    outages: Vec<Range<f64>>,
    /// At the bottleneck.
    queueing: Vec<Point>,
    /// From end to end, mean over the flows weighted by goodput.
    end_to_end: Vec<Point>,
    /// The range of `end_to_end` over the seeds.
    end_to_end_band: Option<Band>,
}

impl RunCurves {
    fn of(view: &RunView, rate_unit: RateUnit) -> Self {
        let at_bottleneck = |quantity, factor| {
            view.at_bottleneck(quantity).map_or_else(Vec::new, |series| decimated(series, factor, FINE))
        };
        let backlogs: Vec<_> = view.series(EntityKind::Relay, quantity::BACKLOG).collect();
        let goodputs = CurveSet::new(&view.goodputs(), GroupValue::Sum, rate_unit.factor, FINE);
        let band = |one: &&Series| Band::of(&view.of_seeds(one), rate_unit.factor, FINE);
        let has_bands = view.seeds.len() > 1 && !goodputs.is_condensed();
        let goodput_bands = view.goodputs().iter().filter(|_| has_bands).filter_map(band).collect();
        let end_to_end: Vec<Series> = view.seeds.iter().map(|run| end_to_end_delay(run)).collect();
        Self {
            capacity: at_bottleneck(quantity::CAPACITY, rate_unit.factor),
            throughput: at_bottleneck(quantity::THROUGHPUT, rate_unit.factor),
            outages: view.at_bottleneck(quantity::CAPACITY).map_or_else(Vec::new, outages),
            stack: Stack::new(&view.goodputs(), rate_unit.factor, FINE),
            goodputs,
            goodput_bands,
            queue: at_bottleneck(quantity::QUEUE, 1.0),
            backlog: sum(&backlogs, FINE),
            queueing: at_bottleneck(quantity::QUEUEING, 1.0),
            end_to_end: end_to_end.first().map_or_else(Vec::new, |first| decimated(first, 1.0, FINE)),
            end_to_end_band: Band::of(&end_to_end.iter().collect::<Vec<_>>(), 1.0, FINE),
            rate_unit,
        }
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        let bands = self.goodput_bands.iter().flat_map(Band::values);
        let stacked = self.stack.iter().flat_map(Stack::values);
        values(&self.capacity).chain(self.goodputs.values()).chain(bands).chain(stacked)
    }

    fn delays(&self) -> impl Iterator<Item = f64> {
        let band = self.end_to_end_band.iter().flat_map(Band::values);
        values(&self.queueing).chain(values(&self.end_to_end)).chain(band)
    }

    /// Whether the throughput of the bottleneck is drawn, because the flows are not drawn one by one.
    fn shows_throughput(&self) -> bool {
        self.goodputs.is_condensed() && !self.throughput.is_empty()
    }

    fn packets(&self) -> impl Iterator<Item = f64> {
        values(&self.queue).chain(values(&self.backlog))
    }
}

/// The end-to-end queueing delay of packets over time: the mean over the flows, weighted by their goodputs.
fn end_to_end_delay(run: &Run) -> Series {
    weighted_mean(&of_flows(run, quantity::QUEUEING), &of_flows(run, quantity::GOODPUT))
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
    fn common(curves: &[RunCurves]) -> Self {
        Self {
            rate: Scale::from_zero(curves.iter().flat_map(RunCurves::rates)),
            packets: Scale::log(curves.iter().flat_map(RunCurves::packets), DECADES),
            queueing: Scale::log(curves.iter().flat_map(RunCurves::delays), DECADES),
        }
    }
}

fn panels(all: &[RunView], view: &RunView, curves: &RunCurves, scales: &Scales) -> Vec<Panel> {
    let plot = |what: &str, scale: Scale, height: u16| {
        let label = format!("{what} over time, {}", view.run.label);
        let y = Axis::numbered(scale, "", if height > 100 { 4 } else { 3 });
        let time = time_axis(all);
        Plot::new(label, if [DELAY, STACKED].contains(&what) { time } else { time.without_text() }, y, height)
            .over_time()
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
    queue.curve("relays", BACKLOG, &curves.backlog);
    queue.curve("bottleneck", "line", &curves.queue);
    let mut queueing = plot(DELAY, scales.queueing, 80);
    draw_delays(&mut queueing, curves);
    for (plot, scale) in
        [(&mut rate, scales.rate), (&mut queue, scales.packets), (&mut queueing, scales.queueing)]
    {
        curves.outages.iter().for_each(|outage| draw_outage(plot, outage, scale));
    }
    let mut panels = vec![
        panel("Goodput", curves.rate_unit.label, rate_legend(curves), rate),
        panel("Queue", "packets, log scale", queue_legend(curves), queue),
        panel(DELAY, "ms, log scale", delay_legend(curves), queueing),
    ];
    if let Some(stack) = curves.stack.as_ref().filter(|_| all.len() <= MOST_STACKS) {
        let mut plot = plot(STACKED, scales.rate, 120);
        plot.area("area", &curves.capacity);
        plot.curve("capacity", "area-edge", &curves.capacity);
        stack.draw(&mut plot);
        panels.push(panel(STACKED, curves.rate_unit.label, stack.legend().area("", "capacity"), plot));
    }
    panels
}

/// The goodputs of all flows one above the other, below the capacity that they share.
const STACKED: &str = "Goodput, stacked";

/// A page with more runs has no stacked goodputs, because it would be too long.
const MOST_STACKS: usize = 4;

fn draw_rates(plot: &mut Plot, curves: &RunCurves) {
    plot.area("area", &curves.capacity);
    plot.curve("capacity", "area-edge", &curves.capacity);
    for (index, band) in curves.goodput_bands.iter().enumerate() {
        band.draw(plot, &format!("band f{index}"));
    }
    curves.goodputs.draw(plot);
    if curves.shows_throughput() {
        plot.curve("throughput", THROUGHPUT, &curves.throughput);
    }
}

/// From end to end, with the part at the bottleneck below; the rest is in other queues and at relays.
fn draw_delays(plot: &mut Plot, curves: &RunCurves) {
    if let Some(band) = &curves.end_to_end_band {
        band.draw(plot, "band");
    }
    plot.curve("at the bottleneck", "line edge", &curves.queueing);
    plot.curve("end to end", "line", &curves.end_to_end);
}

fn delay_legend(curves: &RunCurves) -> Legend {
    let both = Legend::new().line("line", "end to end").line("line edge", "at the bottleneck");
    both.when(!curves.end_to_end.is_empty())
}

const DELAY: &str = "Queueing delay";

/// Logarithmic axes span at most this many powers of ten, so that one spike does not flatten a curve.
const DECADES: f64 = 4.0;

/// Shades a time without capacity over the whole height.
fn draw_outage(plot: &mut Plot, outage: &Range<f64>, scale: Scale) {
    let [low, high] = [scale.low, scale.high].map(|value| [(outage.start, value), (outage.end, value)]);
    plot.band("outage", &low, &high);
}

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
        .and(Legend::new().area("outage", "no capacity").when(!curves.outages.is_empty()))
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
            "utilization " (fixed(100.0 * view.utilization(), 1)) " % · 95 % of packets queue at most "
            (two_digits(view.queueing_p95())) " ms"
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

    #[test]
    fn an_outage_lasts_from_the_last_sample_with_capacity_to_the_last_without() {
        let capacity = Series {
            kind: EntityKind::Link,
            entity: "L ->".into(),
            quantity: quantity::CAPACITY.into(),
            unit: "bit/s".into(),
            times: vec![1.0, 2.0, 3.0, 4.0, 5.0],
            values: vec![0.0, 1e6, 0.0, 0.0, 1e6],
        };
        assert_eq!(outages(&capacity), [0.0..1.0, 2.0..4.0]);
    }
}
