//! What happened, run by run: who got which rate, and what queue that cost. All runs on the same axes, but for rates
//! that are too far apart to be read on one.

use super::super::bundle::{Bundle, Together, legend_entry, thinned, total};
use super::super::subject::Subject;
use super::super::units::RateUnit;
use super::{FINE, time_axis};
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::markup::{Text, short};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::{Scale, Spacing, are_of_one_order};
use millpond_results::{Kind, quantity};
use millpond_units::format::fixed;

/// One figure per run.
pub(crate) fn over_time(subjects: &[Subject]) -> Vec<Figure> {
    let peaks: Vec<f64> = subjects.iter().map(peak_rate).collect();
    let greatest = are_of_one_order(&peaks).then(|| peaks.iter().copied().fold(0.0, f64::max));
    let track =
        |(subject, own): (&Subject, &f64)| Tracks::of(subject, RateUnit::for_peak(greatest.unwrap_or(*own)));
    let tracks: Vec<Tracks> = subjects.iter().zip(&peaks).map(track).collect();
    let shared = Scales::shared_by(&tracks);
    let figure = |(subject, tracks): (&Subject, &Tracks)| {
        let rate = if greatest.is_some() { shared.rate } else { Scale::from_zero(tracks.rates()) };
        Figure {
            id: format!("run-{}", subject.look.0),
            title: title(subject),
            class: "run",
            panels: panels(subjects, subject, tracks, &Scales { rate, ..shared }),
            caption: String::new(),
        }
    };
    subjects.iter().zip(&tracks).map(figure).collect()
}

/// What one run draws, in the units of the page.
struct Tracks {
    rate_unit: RateUnit,
    capacity: Vec<Point>,
    throughput: Vec<Point>,
    goodputs: Bundle,
    queue: Vec<Point>,
    backlog: Vec<Point>,
    queueing: Vec<Point>,
}

impl Tracks {
    fn of(subject: &Subject, rate_unit: RateUnit) -> Self {
        let at_bottleneck = |quantity, factor| {
            subject.at_bottleneck(quantity).map_or_else(Vec::new, |series| thinned(series, factor, FINE))
        };
        let backlogs: Vec<_> = subject.series(Kind::Relay, quantity::BACKLOG).collect();
        Self {
            capacity: at_bottleneck(quantity::CAPACITY, rate_unit.factor),
            throughput: at_bottleneck(quantity::THROUGHPUT, rate_unit.factor),
            goodputs: Bundle::new(&subject.goodputs(), Together::Sum, rate_unit.factor, FINE),
            queue: at_bottleneck(quantity::QUEUE, 1.0),
            backlog: total(&backlogs, FINE),
            queueing: at_bottleneck(quantity::QUEUEING, 1.0),
            rate_unit,
        }
    }

    fn rates(&self) -> impl Iterator<Item = f64> {
        values(&self.capacity).chain(self.goodputs.values())
    }

    /// Beside many flows one sees little of their sum.
    fn shows_total(&self) -> bool {
        self.goodputs.is_condensed() && !self.throughput.is_empty()
    }

    fn packets(&self) -> impl Iterator<Item = f64> {
        values(&self.queue).chain(values(&self.backlog))
    }
}

fn values(points: &[Point]) -> impl Iterator<Item = f64> {
    points.iter().map(|point| point.1)
}

/// The vertical axes that all runs share, so that heights compare.
struct Scales {
    rate: Scale,
    packets: Scale,
    queueing: Scale,
}

impl Scales {
    fn shared_by(tracks: &[Tracks]) -> Self {
        let peaks_of = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let packet_peaks: Vec<f64> = tracks.iter().map(|one| peaks_of(&mut one.packets())).collect();
        let delay_peaks: Vec<f64> = tracks.iter().map(|one| peaks_of(&mut values(&one.queueing))).collect();
        Self {
            rate: Scale::from_zero(tracks.iter().flat_map(Tracks::rates)),
            packets: Scale::for_peaks(&packet_peaks, tracks.iter().flat_map(Tracks::packets)),
            queueing: Scale::for_peaks(&delay_peaks, tracks.iter().flat_map(|one| values(&one.queueing))),
        }
    }
}

fn panels(all: &[Subject], subject: &Subject, tracks: &Tracks, scales: &Scales) -> Vec<Panel> {
    let plot = |what: &str, scale: Scale, height: u16, last: bool| {
        let time = if last { time_axis(all) } else { time_axis(all).silent() };
        let label = format!("{what} over time, {}", subject.run.label);
        Plot::new(label, time, Axis::numbered(scale, "", if height > 100 { 4 } else { 3 }), height)
            .over_time()
    };
    let mut rate = plot("Goodput of each flow and capacity", scales.rate, 170, false);
    rate.area("capacity", &tracks.capacity);
    rate.curve("capacity", "capacity-edge", &tracks.capacity);
    tracks.goodputs.draw(&mut rate);
    if tracks.shows_total() {
        rate.curve("all together", TOTAL, &tracks.throughput);
    }
    let mut queue = plot("Queue", scales.packets, 80, false);
    queue.curve("relays", BACKLOG, &tracks.backlog);
    queue.curve("bottleneck", "line", &tracks.queue);
    let mut queueing = plot(DELAY_THERE, scales.queueing, 80, true);
    if scales.queueing.spacing == Spacing::Linear {
        queueing.area("fill", &tracks.queueing);
    }
    queueing.curve("delay", "line", &tracks.queueing);

    let colour = |legend: String| format!(r#"<span class="{}">{legend}</span>"#, subject.look.colour());
    let panel = |title: &str, unit: &str, legend: String, plot: Plot| Panel {
        title: title.into(),
        unit: unit.into(),
        legend: colour(legend),
        plot: plot.coloured(subject.look),
    };
    vec![
        panel("Goodput", tracks.rate_unit.label, rate_legend(tracks), rate),
        panel("Queue", "packets", queue_legend(tracks), queue),
        panel(DELAY_THERE, "ms", String::new(), queueing),
    ]
}

/// What waits in relays is not in this plot: it is in that of the queue, and in the delays of the whole path.
const DELAY_THERE: &str = "Queueing delay at the bottleneck";

/// What all flows together get.
const TOTAL: &str = "line total";

fn rate_legend(tracks: &Tracks) -> String {
    let total = if tracks.shows_total() { legend_entry(TOTAL, "all together") } else { String::new() };
    tracks.goodputs.legend() + &total + r#"<span class="key"><i class="block"></i>capacity</span>"#
}

/// What all relays together hold back: dashed, to be told from the queue of the link.
const BACKLOG: &str = "line backlog";

fn queue_legend(tracks: &Tracks) -> String {
    if tracks.backlog.is_empty() {
        return String::new();
    }
    legend_entry("line", "bottleneck") + &legend_entry(BACKLOG, "all relays")
}

/// The run's name and the two numbers that matter most.
fn title(subject: &Subject) -> String {
    let headline = &subject.headline;
    format!(
        r#"{}{}<span class="gist">{} % used · 95 % of packets queue at most {} ms</span>"#,
        subject.look.badge(),
        Text(&subject.run.label),
        fixed(100.0 * headline.utilization, 1),
        short(headline.queueing_ms.p95),
    )
}

fn peak_rate(subject: &Subject) -> f64 {
    let capacity = subject.at_bottleneck(quantity::CAPACITY).into_iter();
    let values = capacity.chain(subject.goodputs()).flat_map(|series| &series.values);
    values.copied().fold(0.0, f64::max)
}
