//! The distribution of queueing delay over all packets of each run, and five of its quantiles.

use super::super::run_view::{RunView, delays as of_run};
use super::run_legend;
use maud::html;
use millpond_chart::{Axis, Figure, Legend, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_stats::quantile_of_curve;

/// The distribution functions, and the quantiles below on the same axis of delay.
pub(crate) fn delays(views: &[RunView]) -> Option<Figure> {
    let views: Vec<RunDelays<'_>> = views.iter().filter_map(RunDelays::of).collect();
    if views.is_empty() {
        return None;
    }
    let panel = |title: &str, unit: &str, legend: Legend, plot| Panel {
        title: title.into(),
        unit: unit.into(),
        legend,
        plot,
    };
    Some(Figure {
        id: "delays".into(),
        title: html! { "Queueing delay of packets" },
        class: "named-rows",
        panels: vec![
            panel(
                "Share of packets with at most this queueing delay",
                "%",
                run_legend(views.iter().map(|one| one.view)),
                distributions(&views),
            ),
            panel("5th, 25th, 50th, 75th and 95th percentile", "", Legend::new(), quantiles(&views)),
        ],
        caption: "The delay of each packet in all queues on its path, relays included. A curve further to the left is a \
                  shorter delay; its upper end shows the packets with the longest delay. Markers are at the median and at \
                  the 95th percentile. With several seeds the curve is the mean of their quantiles, between the least and the \
                  greatest of a seed. The axis of delay is logarithmic; shorter delays than its left end are drawn there."
            .into(),
    })
}

/// The axis of delay spans at most this many powers of ten.
const DECADES: f64 = 4.0;

/// The delays of a run at [`shares`]: of all seeds together, and the least and the greatest of a seed.
struct RunDelays<'a> {
    view: &'a RunView<'a>,
    /// `(share, delay in ms)`, the mean over the seeds.
    mean: Vec<Point>,
    /// `(delay in ms, share in per cent)`; empty for a single seed.
    least: Vec<Point>,
    greatest: Vec<Point>,
}

impl<'a> RunDelays<'a> {
    /// None without a distribution.
    fn of(view: &'a RunView<'a>) -> Option<Self> {
        let curves: Vec<&[Point]> =
            view.seeds.iter().map(|run| of_run(run)).filter(|curve| !curve.is_empty()).collect();
        let (mut least, mut greatest) = (Vec::new(), Vec::new());
        let mean = match curves.as_slice() {
            [] => return None,
            [only] => only.to_vec(),
            several => {
                let at = |share: f64| several.iter().filter_map(move |curve| quantile_of_curve(curve, share));
                let end = |share: f64, keep: fn(f64, f64) -> f64| {
                    (at(share).reduce(keep).unwrap_or(f64::NAN), 100.0 * share)
                };
                least = shares().map(|share| end(share, f64::min)).collect();
                greatest = shares().map(|share| end(share, f64::max)).collect();
                shares().map(|share| (share, at(share).sum::<f64>() / several.len() as f64)).collect()
            }
        };
        Some(Self { view, mean, least, greatest })
    }
}

/// From 0 to 1 in steps of half a per cent, and the last per cent in finer steps.
fn shares() -> impl Iterator<Item = f64> {
    (0..198).map(|step| f64::from(step) / 200.0).chain((0..=20).map(|step| 0.99 + 0.0005 * f64::from(step)))
}

fn delay_axis(runs: &[RunDelays<'_>]) -> Axis {
    let ends =
        |run: &RunDelays<'_>| run.least.iter().chain(&run.greatest).map(|end| end.0).collect::<Vec<_>>();
    let delays = runs.iter().flat_map(|run| run.mean.iter().map(|point| point.1).chain(ends(run)));
    Axis::numbered(Scale::log(delays, DECADES), "queueing delay, ms", 8)
}

fn distributions(runs: &[RunDelays<'_>]) -> Plot {
    let percent = Axis::numbered(Scale::linear(0.0, 100.0), "", 4);
    let delay = delay_axis(runs);
    let shortest = delay.scale.low;
    let mut plot = Plot::new("Cumulative distribution of queueing delay", delay.without_text(), percent, 280);
    for RunDelays { view, mean, least, greatest } in runs {
        let raised = |ends: &[Point]| ends.iter().map(|end| (end.0.max(shortest), end.1)).collect::<Vec<_>>();
        plot.band(&format!("band {}", view.style.colour()), &raised(least), &raised(greatest));
        let before = mean.partition_point(|point| point.1 < shortest).saturating_sub(1);
        let points: Vec<Point> =
            mean[before..].iter().map(|&(share, delay)| (delay, 100.0 * share)).collect();
        plot.curve(&view.run.label, &view.style.line(), &points);
        for share in [0.5, 0.95] {
            if let Some(delay) = quantile_of_curve(mean, share).filter(|delay| *delay >= shortest) {
                plot.mark(view.style, (delay, 100.0 * share));
            }
        }
    }
    plot
}

fn quantiles(runs: &[RunDelays<'_>]) -> Plot {
    let names = Axis::named(runs.iter().map(|run| run.view.run.label.as_str()));
    let height = 26 * runs.len() as u16 + 8;
    let mut plot = Plot::new("Quantiles of queueing delay", delay_axis(runs), names, height);
    for (row, run) in runs.iter().enumerate() {
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| quantile_of_curve(&run.mean, share));
        if let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] = quantiles {
            draw_box(&mut plot, run.view.style, -(row as f64), [p5, p25, p50, p75, p95]);
        }
    }
    plot
}

fn draw_box(plot: &mut Plot, style: SeriesStyle, row: f64, [p5, p25, p50, p75, p95]: [f64; 5]) {
    let colour = style.colour();
    plot.bar(&format!("whisker {colour}"), p5..p95, row, 2.0);
    plot.bar(&format!("box {colour}"), p25..p75, row, 12.0);
    for end in [p5, p95] {
        plot.vertical_stroke(&format!("whisker {colour}"), (end, row), 8.0);
    }
    plot.vertical_stroke("median", (p50, row), 16.0);
}
