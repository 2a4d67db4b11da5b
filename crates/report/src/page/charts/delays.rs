//! How long packets waited, over all packets of a run: the whole distribution, and below it its five numbers.

use super::super::subject::Subject;
use crate::chart::decimate::Point;
use crate::chart::figure::{Figure, Panel};
use crate::chart::plot::{Axis, Plot};
use crate::chart::scale::Scale;
use crate::chart::theme::Look;
use millpond_stats::quantile_of_curve;

/// The curves and the boxes over one axis of delay.
pub(crate) fn delays(subjects: &[Subject]) -> Option<Figure> {
    let seen: Vec<&Subject> = subjects.iter().filter(|subject| !subject.delays().is_empty()).collect();
    if seen.is_empty() {
        return None;
    }
    let legend = seen.iter().map(|subject| subject.look.legend_entry(&subject.run.label)).collect();
    let panel = |title: &str, unit: &str, legend: String, plot| Panel {
        title: title.into(),
        unit: unit.into(),
        legend,
        plot,
    };
    Some(Figure {
        id: "delays".into(),
        title: "How long packets queue".into(),
        class: "named-rows",
        panels: vec![
            panel("Share of packets that queue at most so long", "%", legend, shares(&seen)),
            panel("5, 25, 50, 75 and 95 % of the packets queue at most so long", "", String::new(), boxes(&seen)),
        ],
        caption: "Delay of each packet in all queues on its way, relays included. \
                  A curve further to the left is a shorter wait; where it leaves the top shows the worst packets. \
                  Marks stand at one half and at 95 %. The delay axis is logarithmic; \
                  what is shorter than its left end stands at that end."
            .into(),
    })
}

/// Shorter delays than the longest by this many powers of ten are no longer told apart.
const DECADES: f64 = 4.0;

fn delay_axis(subjects: &[&Subject]) -> Axis {
    let delays = subjects.iter().flat_map(|subject| subject.delays()).map(|point| point.1);
    Axis::numbered(Scale::log(delays, DECADES), "queueing delay, ms", 8)
}

fn shares(subjects: &[&Subject]) -> Plot {
    let percent = Axis::numbered(Scale::linear(0.0, 100.0), "", 4);
    let delay = delay_axis(subjects);
    let shortest = delay.scale.low;
    let mut plot = Plot::new("Cumulative distribution of queueing delay", delay.silent(), percent, 280);
    for subject in subjects {
        let delays = subject.delays();
        let before = delays.partition_point(|point| point.1 < shortest).saturating_sub(1);
        let points: Vec<Point> =
            delays[before..].iter().map(|&(share, delay)| (delay, 100.0 * share)).collect();
        let class = format!("line {} {}", subject.look.colour(), subject.look.dashes());
        plot.curve(&subject.run.label, &class, &points);
        for share in [0.5, 0.95] {
            if let Some(delay) = quantile_of_curve(delays, share).filter(|delay| *delay >= shortest) {
                plot.mark(subject.look, (delay, 100.0 * share));
            }
        }
    }
    plot
}

fn boxes(subjects: &[&Subject]) -> Plot {
    let names = Axis::named(subjects.iter().map(|subject| subject.run.label.as_str()));
    let height = 26 * subjects.len() as u16 + 8;
    let mut plot = Plot::new("Quantiles of queueing delay", delay_axis(subjects), names, height);
    for (row, subject) in subjects.iter().enumerate() {
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| quantile_of_curve(subject.delays(), share));
        if let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] = quantiles {
            draw_box(&mut plot, subject.look, -(row as f64), [p5, p25, p50, p75, p95]);
        }
    }
    plot
}

fn draw_box(plot: &mut Plot, look: Look, row: f64, [p5, p25, p50, p75, p95]: [f64; 5]) {
    let colour = look.colour();
    plot.bar(&format!("whisker {colour}"), (p5, p95), row, 2.0);
    plot.bar(&format!("box {colour}"), (p25, p75), row, 12.0);
    for end in [p5, p95] {
        plot.stroke(&format!("whisker {colour}"), (end, row), 8.0);
    }
    plot.stroke("median", (p50, row), 16.0);
}
