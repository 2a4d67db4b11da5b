//! The distribution of queueing delay over all packets of each run, that of completion time over all transfers, and five
//! quantiles of each.

use super::super::run_view::{RunView, delays as of_packets};
use super::run_legend;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Point, Scale};
use millpond_results::{Run, Transfer};
use millpond_stats::quantile_of_curve;

/// What is distributed, and the texts of its figure.
struct DistributionTexts {
    /// Of the figure.
    id: &'static str,
    title: &'static str,
    /// The times.
    quantity: &'static str,
    /// What has these times.
    items: &'static str,
    /// The caption before the sentences that all these figures have in common.
    caption: &'static str,
    /// Shares and times in ms of a run; empty if it has none.
    points: fn(&Run) -> Vec<Point>,
}

/// The queueing delay of all packets.
pub(crate) fn delays(views: &[RunView]) -> Option<Figure> {
    let subject = DistributionTexts {
        id: "delays",
        title: "Queueing delay of packets",
        quantity: "queueing delay",
        items: "packets",
        caption: "The delay of each packet in all queues on its path, relays included.",
        points: |run| of_packets(run).to_vec(),
    };
    figure(views, &subject)
}

/// The completion time of all transfers with a size.
pub(crate) fn completions(views: &[RunView]) -> Option<Figure> {
    let subject = DistributionTexts {
        id: "completions",
        title: "Completion time of transfers",
        quantity: "completion time",
        items: "transfers",
        caption: "The time from the start of each transfer to the delivery of its last byte. Transfers that are not \
                  complete when the run ends are left out.",
        points: |run| distribution(run.transfers.iter().filter_map(Transfer::completion_ms).collect()),
    };
    figure(views, &subject)
}

/// The distribution function of these times; empty without a time.
fn distribution(mut times: Vec<f64>) -> Vec<Point> {
    times.sort_by(f64::total_cmp);
    let count = times.len() as f64;
    let first = times.first().map(|time| (0.0, *time));
    let steps = times.iter().enumerate().map(|(index, time)| ((index + 1) as f64 / count, *time));
    first.into_iter().chain(steps).collect()
}

/// The distribution functions, their complements, and the quantiles below, on the same axis of times.
fn figure(views: &[RunView], subject: &DistributionTexts) -> Option<Figure> {
    let runs: Vec<RunTimes<'_>> = views.iter().filter_map(|view| RunTimes::of(view, subject)).collect();
    if runs.is_empty() {
        return None;
    }
    let DistributionTexts { quantity, items, .. } = subject;
    let legend = || run_legend(runs.iter().map(|one| one.view));
    let panel =
        |title: String, unit: &str, legend: Legend, plot| Panel { title, unit: unit.into(), legend, plot };
    let axis = times_axis(&runs, quantity);
    Some(Figure {
        id: subject.id.into(),
        title: html! { (subject.title) },
        class: "named-rows",
        panels: vec![
            panel(
                format!("Share of {items} with at most this {quantity}"),
                "%",
                legend(),
                distributions(&runs, &axis),
            ),
            panel(format!("Share of {items} with a greater {quantity}"), "%", legend(), tails(&runs, &axis)),
            panel(
                "5th, 25th, 50th, 75th and 95th percentile".into(),
                "",
                Legend::new(),
                quantiles(&runs, axis),
            ),
        ],
        caption: format!(
            "{} A curve further to the left is a shorter time. The second plot has the same curves from the upper end: it \
             shows the {items} with the longest times. Markers are at the median and at the 95th percentile, in the \
             second plot at the 99th and at the 99.9th. With several seeds the curve is the mean of their quantiles, \
             between the least and the greatest of a seed. Shorter times than the left end of the axis are drawn \
             there.",
            subject.caption
        ),
    })
}

/// The axis of times spans at most this many powers of ten.
const DECADES: f64 = 4.0;

/// The times of a run at [`shares`]: of all seeds together, and the least and the greatest of a seed.
struct RunTimes<'a> {
    view: &'a RunView<'a>,
    /// `(share, time in ms)`, the mean over the seeds.
    mean: Vec<Point>,
    /// `(time in ms, share)`; empty for a single seed.
    least: Vec<Point>,
    greatest: Vec<Point>,
}

impl<'a> RunTimes<'a> {
    /// None without a distribution.
    fn of(view: &'a RunView<'a>, subject: &DistributionTexts) -> Option<Self> {
        let curves: Vec<Vec<Point>> =
            view.seeds.iter().map(|run| (subject.points)(run)).filter(|curve| !curve.is_empty()).collect();
        let (mut least, mut greatest) = (Vec::new(), Vec::new());
        let mean = match curves.as_slice() {
            [] => return None,
            [only] => only.clone(),
            several => {
                let at = |share: f64| several.iter().filter_map(move |curve| quantile_of_curve(curve, share));
                let end = |share: f64, keep: fn(f64, f64) -> f64| {
                    (at(share).reduce(keep).unwrap_or(f64::NAN), share)
                };
                least = shares().map(|share| end(share, f64::min)).collect();
                greatest = shares().map(|share| end(share, f64::max)).collect();
                shares().map(|share| (share, at(share).sum::<f64>() / several.len() as f64)).collect()
            }
        };
        Some(Self { view, mean, least, greatest })
    }
}

/// From 0 to 1 in steps of half a per cent; the last per cent in steps that become finer towards 1.
fn shares() -> impl Iterator<Item = f64> {
    const PER_DECADE: i32 = 10;
    let even = (0..198).map(|step| f64::from(step) / 200.0);
    let tail =
        (0..=2 * PER_DECADE).map(|step| 1.0 - 0.01 * 0.1_f64.powf(f64::from(step) / f64::from(PER_DECADE)));
    even.chain(tail).chain([1.0])
}

fn times_axis(runs: &[RunTimes<'_>], quantity: &str) -> Axis {
    let ends =
        |run: &RunTimes<'_>| run.least.iter().chain(&run.greatest).map(|end| end.0).collect::<Vec<_>>();
    let times = runs.iter().flat_map(|run| run.mean.iter().map(|point| point.1).chain(ends(run)));
    Axis::numbered(Scale::log(times, DECADES), format!("{quantity}, ms"), 8)
}

fn distributions(runs: &[RunTimes<'_>], times: &Axis) -> Plot {
    let percent = Axis::numbered(Scale::linear(0.0, 100.0), "", 4);
    let label = format!("Cumulative distribution of {}", times.title);
    let height = |share| Some(100.0 * share);
    curves(runs, label, times, percent, height, [0.5, 0.95])
}

/// The complements of the distribution functions on a logarithmic axis.
fn tails(runs: &[RunTimes<'_>], times: &Axis) -> Plot {
    let percent = Axis::numbered(Scale::decades(100.0 * LEAST_TAIL, 100.0), "", 5);
    let label = format!("Complementary cumulative distribution of {}", times.title);
    let height =
        |share: f64| Some(100.0 * (1.0 - share)).filter(|height| *height >= 100.0 * LEAST_TAIL * 0.999);
    curves(runs, label, times, percent, height, [0.99, 0.999])
}

/// The axis of tails ends at this share, and so do the curves.
const LEAST_TAIL: f64 = 1e-4;

/// A curve of each run, where `height` is the place of a share on the axis, with markers at two shares.
fn curves(
    runs: &[RunTimes<'_>],
    label: String,
    times: &Axis,
    shares: Axis,
    height: fn(f64) -> Option<f64>,
    marked: [f64; 2],
) -> Plot {
    let shortest = times.scale.low;
    let mut plot = Plot::new(label, times.clone().without_text(), shares, 280);
    for RunTimes { view, mean, least, greatest } in runs {
        let raised = |ends: &[Point]| {
            let ends = ends.iter().map(|end| Some((end.0.max(shortest), height(end.1)?)));
            ends.flatten().collect::<Vec<_>>()
        };
        plot.band(&format!("band {}", view.style.colour()), &raised(least), &raised(greatest));
        let mean = with_marks(mean, &marked);
        let before = mean.partition_point(|point| point.1 < shortest).saturating_sub(1);
        let points = mean[before..].iter().map(|&(share, time)| Some((time, height(share)?)));
        let points: Vec<Point> = points.flatten().collect();
        plot.curve(&view.run.label, &view.style.line(), &points);
        for share in marked {
            let time = quantile_of_curve(&mean, share).filter(|time| *time >= shortest);
            if let Some(at) = time.zip(height(share)) {
                plot.mark(view.style, at);
            }
        }
    }
    plot
}

/// A distribution with points at these shares, so that its curve passes through the markers at them.
fn with_marks(curve: &[Point], shares: &[f64]) -> Vec<Point> {
    let marks = shares.iter().filter_map(|share| Some((*share, quantile_of_curve(curve, *share)?)));
    let mut points: Vec<Point> = curve.iter().copied().chain(marks).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    points
}

fn quantiles(runs: &[RunTimes<'_>], times: Axis) -> Plot {
    let names = Axis::named(runs.iter().map(|run| run.view.run.label.as_str()));
    let height = 26 * runs.len() as u16 + 8;
    let mut plot = Plot::new(format!("Quantiles of {}", times.title), times, names, height);
    for (row, run) in runs.iter().enumerate() {
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| quantile_of_curve(&run.mean, share));
        if let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] = quantiles {
            plot.quantile_box(run.view.style, -(row as f64), [p5, p25, p50, p75, p95]);
        }
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half way between shares of .98 and 1 and times of 10 and 30 ms.
    #[test]
    fn a_curve_passes_through_its_markers() {
        let curve = [(0.0, 1.0), (0.98, 10.0), (1.0, 30.0)];
        let marked = with_marks(&curve, &[0.99]);
        let [start, below, (share, time), end] = marked[..] else { panic!("{marked:?}") };
        assert_eq!([start, below, end], curve);
        assert!((share - 0.99).abs() < 1e-12 && (time - 20.0).abs() < 1e-9, "{marked:?}");
    }

    #[test]
    fn a_distribution_rises_by_the_same_share_at_each_time() {
        assert_eq!(distribution(vec![30.0, 10.0]), [(0.0, 10.0), (0.5, 10.0), (1.0, 30.0)]);
        assert!(distribution(Vec::new()).is_empty());
    }
}
