//! Goodput, queue and queueing delay over time, a figure for each run. All runs have the same axes; only the rate axes
//! differ if the rates of runs are of different orders.

use super::super::curve_set::{CurveSet, GroupValue, decimated, sum};
use super::super::rate_unit::RateUnit;
use super::super::run_view::RunView;
use super::{FINE, coloured, run_title, time_axis};
use maud::{Markup, html};
use millpond_chart::{
    Axis, AxisSpacing, Figure, Panel, Plot, Point, Scale, are_of_one_order, area_entry, line_entry,
};
use millpond_results::{EntityKind, quantity};
use millpond_units::format::{fixed, number};

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
    queue: Vec<Point>,
    backlog: Vec<Point>,
    queueing: Vec<Point>,
}

impl RunCurves {
    fn of(view: &RunView, rate_unit: RateUnit) -> Self {
        let at_bottleneck = |quantity, factor| {
            view.at_bottleneck(quantity).map_or_else(Vec::new, |series| decimated(series, factor, FINE))
        };
        let backlogs: Vec<_> = view.series(EntityKind::Relay, quantity::BACKLOG).collect();
        Self {
            capacity: at_bottleneck(quantity::CAPACITY, rate_unit.factor),
            throughput: at_bottleneck(quantity::THROUGHPUT, rate_unit.factor),
            goodputs: CurveSet::new(&view.goodputs(), GroupValue::Sum, rate_unit.factor, FINE),
            queue: at_bottleneck(quantity::QUEUE, 1.0),
            backlog: sum(&backlogs, FINE),
            queueing: at_bottleneck(quantity::QUEUEING, 1.0),
            rate_unit,
        }
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        values(&self.capacity).chain(self.goodputs.values())
    }

    /// Whether the throughput of the bottleneck is drawn, because the flows are not drawn one by one.
    fn shows_throughput(&self) -> bool {
        self.goodputs.is_condensed() && !self.throughput.is_empty()
    }

    fn packets(&self) -> impl Iterator<Item = f64> {
        values(&self.queue).chain(values(&self.backlog))
    }
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
        let peak_of = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let packet_peaks: Vec<f64> = curves.iter().map(|run| peak_of(&mut run.packets())).collect();
        let delay_peaks: Vec<f64> = curves.iter().map(|run| peak_of(&mut values(&run.queueing))).collect();
        Self {
            rate: Scale::from_zero(curves.iter().flat_map(RunCurves::rates)),
            packets: Scale::for_peaks(&packet_peaks, curves.iter().flat_map(RunCurves::packets)),
            queueing: Scale::for_peaks(&delay_peaks, curves.iter().flat_map(|run| values(&run.queueing))),
        }
    }
}

fn panels(all: &[RunView], view: &RunView, curves: &RunCurves, scales: &Scales) -> Vec<Panel> {
    let plot = |what: &str, scale: Scale, height: u16| {
        let label = format!("{what} over time, {}", view.run.label);
        let y = Axis::numbered(scale, "", if height > 100 { 4 } else { 3 });
        let time = time_axis(all);
        Plot::new(label, if what == DELAY { time } else { time.without_text() }, y, height).over_time()
    };
    let panel = |title: &str, unit: &str, legend: Markup, plot: Plot| Panel {
        title: title.into(),
        unit: unit.into(),
        legend: coloured(view.style, &legend),
        plot: plot.coloured(view.style),
    };
    let mut rate = plot("Goodput of each flow and capacity", scales.rate, 170);
    draw_rates(&mut rate, curves);
    let mut queue = plot("Queue", scales.packets, 80);
    queue.curve("relays", BACKLOG, &curves.backlog);
    queue.curve("bottleneck", "line", &curves.queue);
    let mut queueing = plot(DELAY, scales.queueing, 80);
    if scales.queueing.spacing == AxisSpacing::Linear {
        queueing.area("fill", &curves.queueing);
    }
    queueing.curve("delay", "line", &curves.queueing);
    vec![
        panel("Goodput", curves.rate_unit.label, rate_legend(curves), rate),
        panel("Queue", "packets", queue_legend(curves), queue),
        panel(DELAY, "ms", html! {}, queueing),
    ]
}

fn draw_rates(plot: &mut Plot, curves: &RunCurves) {
    plot.area("area", &curves.capacity);
    plot.curve("capacity", "area-edge", &curves.capacity);
    curves.goodputs.draw(plot);
    if curves.shows_throughput() {
        plot.curve("throughput", THROUGHPUT, &curves.throughput);
    }
}

/// The delay of the bottleneck's queue only; the queue plot shows the backlog of relays.
const DELAY: &str = "Queueing delay at the bottleneck";

/// Throughput of the bottleneck.
const THROUGHPUT: &str = "line throughput";

fn rate_legend(curves: &RunCurves) -> Markup {
    html! {
        (curves.goodputs.legend())
        @if curves.shows_throughput() { (line_entry(THROUGHPUT, "throughput")) }
        (area_entry("", "capacity"))
    }
}

/// The sum of the backlogs of all relays.
const BACKLOG: &str = "line backlog";

fn queue_legend(curves: &RunCurves) -> Markup {
    html! {
        @if !curves.backlog.is_empty() {
            (line_entry("line", "bottleneck")) (line_entry(BACKLOG, "all relays"))
        }
    }
}

/// The run's name, its utilization and its 95th percentile of queueing delay.
fn title(view: &RunView) -> Markup {
    let headline = &view.headline;
    html! {
        (run_title(view))
        span.summary {
            "utilization " (fixed(100.0 * headline.utilization, 1)) " % · 95 % of packets queue at most "
            (number(headline.queueing_ms.p95)) " ms"
        }
    }
}

fn peak_rate(view: &RunView) -> f64 {
    let capacity = view.at_bottleneck(quantity::CAPACITY).into_iter();
    let values = capacity.chain(view.goodputs()).flat_map(|series| &series.values);
    values.copied().fold(0.0, f64::max)
}
