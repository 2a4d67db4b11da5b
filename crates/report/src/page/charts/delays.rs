//! The distribution of queueing delay over all packets of each run, and five of its quantiles.

use super::super::run_view::RunView;
use super::run_legend;
use maud::{Markup, html};
use millpond_chart::{Axis, Figure, Panel, Plot, Point, Scale, SeriesStyle};
use millpond_stats::quantile_of_curve;

/// The distribution functions, and the quantiles below on the same axis of delay.
pub(crate) fn delays(views: &[RunView]) -> Option<Figure> {
    let views: Vec<&RunView> = views.iter().filter(|view| !view.delays().is_empty()).collect();
    if views.is_empty() {
        return None;
    }
    let panel = |title: &str, unit: &str, legend: Markup, plot| Panel {
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
                run_legend(views.iter().copied()),
                distributions(&views),
            ),
            panel("5th, 25th, 50th, 75th and 95th percentile", "", html! {}, quantiles(&views)),
        ],
        caption: "The delay of each packet in all queues on its path, relays included. A curve further to the left is a \
                  shorter delay; its upper end shows the packets with the longest delay. Markers are at the median and at \
                  the 95th percentile. The axis of delay is logarithmic; shorter delays than its left end are drawn there."
            .into(),
    })
}

/// The axis of delay spans at most this many powers of ten.
const DECADES: f64 = 4.0;

fn delay_axis(views: &[&RunView]) -> Axis {
    let delays = views.iter().flat_map(|view| view.delays()).map(|point| point.1);
    Axis::numbered(Scale::log(delays, DECADES), "queueing delay, ms", 8)
}

fn distributions(views: &[&RunView]) -> Plot {
    let percent = Axis::numbered(Scale::linear(0.0, 100.0), "", 4);
    let delay = delay_axis(views);
    let shortest = delay.scale.low;
    let mut plot = Plot::new("Cumulative distribution of queueing delay", delay.without_text(), percent, 280);
    for view in views {
        let delays = view.delays();
        let before = delays.partition_point(|point| point.1 < shortest).saturating_sub(1);
        let points: Vec<Point> =
            delays[before..].iter().map(|&(share, delay)| (delay, 100.0 * share)).collect();
        plot.curve(&view.run.label, &view.style.line(), &points);
        for share in [0.5, 0.95] {
            if let Some(delay) = quantile_of_curve(delays, share).filter(|delay| *delay >= shortest) {
                plot.mark(view.style, (delay, 100.0 * share));
            }
        }
    }
    plot
}

fn quantiles(views: &[&RunView]) -> Plot {
    let names = Axis::named(views.iter().map(|view| view.run.label.as_str()));
    let height = 26 * views.len() as u16 + 8;
    let mut plot = Plot::new("Quantiles of queueing delay", delay_axis(views), names, height);
    for (row, view) in views.iter().enumerate() {
        let quantiles = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| quantile_of_curve(view.delays(), share));
        if let [Some(p5), Some(p25), Some(p50), Some(p75), Some(p95)] = quantiles {
            draw_box(&mut plot, view.style, -(row as f64), [p5, p25, p50, p75, p95]);
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
