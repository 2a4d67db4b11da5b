//! Utilization against queueing delay, a marker for each run.

use super::super::run_view::RunView;
use maud::html;
use millpond_chart::{
    Axis, AxisSpacing, Figure, LabelPosition, Legend, MarkedName, Panel, Plot, Point, Scale, elide,
    label_positions,
};

const HEIGHT: f64 = 300.0;
/// Names are placed for this width in pixels; a wider page has more room for them.
const WIDTH: f64 = 420.0;
/// Names are cut to this many characters.
const NAME_LENGTH: usize = 18;

/// Delay to the right and utilization upwards; none for a single run.
pub(crate) fn tradeoff(views: &[RunView]) -> Option<Figure> {
    let has_both = |view: &&RunView| view.utilization().is_finite() && view.queueing_p95().is_finite();
    let views: Vec<&RunView> = views.iter().filter(has_both).collect();
    if views.len() < 2 {
        return None;
    }
    Some(Figure {
        id: "tradeoff".into(),
        title: html! { "Utilization against queueing delay" },
        class: "",
        panels: vec![Panel {
            title: "Utilization of the bottleneck".into(),
            unit: "%".into(),
            legend: Legend::new(),
            plot: draw(&views),
        }],
        caption: "Each marker is one run, or the mean over its seeds with lines as long as the 95 % confidence intervals. \
                  Higher is more of the capacity used, further left is a shorter delay: the best results are in the upper \
                  left corner."
            .into(),
    })
}

fn draw(views: &[&RunView]) -> Plot {
    let points: Vec<Point> =
        views.iter().map(|view| (view.queueing_p95(), 100.0 * view.utilization())).collect();
    let x = with_margins(Scale::log(points.iter().map(|point| point.0), 4.0));
    let y = utilization_scale(points.iter().map(|point| point.1));
    let label = "Utilization against the 95th percentile of queueing delay";
    let x_axis = Axis::numbered(x, "95th percentile of queueing delay, ms", 8);
    let mut plot = Plot::new(label, x_axis, Axis::numbered(y, "", 5), HEIGHT as u16);
    plot.text("hint", (x.low, y.high), LabelPosition { dx: 10.0, dy: 20.0, is_left: false }, "↖ better");
    let names: Vec<String> = views.iter().map(|view| elide(&view.run.label, NAME_LENGTH)).collect();
    let marked = |(point, name): (&Point, _)| {
        let at = (WIDTH * x.fraction(point.0), HEIGHT * (1.0 - y.fraction(point.1)));
        MarkedName { at, name }
    };
    let marked: Vec<MarkedName<'_>> =
        points.iter().zip(names.iter().map(String::as_str)).map(marked).collect();
    let positions = label_positions(&marked, WIDTH);
    views.iter().for_each(|view| draw_intervals(&mut plot, view));
    for (((view, point), name), position) in views.iter().zip(&points).zip(&names).zip(positions) {
        plot.mark(view.style, *point);
        plot.text("name", *point, LabelPosition { dy: position.dy + 4.0, ..position }, name);
    }
    plot
}

/// The 95 % confidence intervals of both values, as lines through the marker; nothing for a single seed.
fn draw_intervals(plot: &mut Plot, view: &RunView) {
    let (Some(utilization), Some(times)) = (view.row.utilization, view.row.queueing_ms) else { return };
    let class = format!("line edge {}", view.style.colour());
    let (x, y) = (times.p95.mean, 100.0 * utilization.mean);
    if let Some(half) = times.p95.half_width {
        plot.unnamed_curve(&class, &[(x - half, y), (x + half, y)]);
    }
    if let Some(half) = utilization.half_width {
        let half = 100.0 * half;
        plot.unnamed_curve(&class, &[(x, y - half), (x, y + half)]);
    }
}

/// A logarithmic scale with room on both sides, so that no marker is on the edge of the plot.
fn with_margins(scale: Scale) -> Scale {
    match scale.spacing {
        AxisSpacing::Log => Scale { low: scale.low / 1.6, high: scale.high * 1.6, ..scale },
        AxisSpacing::Linear => scale,
    }
}

/// From a little below the least value to a little above 100 %.
fn utilization_scale(values: impl Iterator<Item = f64>) -> Scale {
    let least = values.fold(100.0, f64::min);
    let room = (0.15 * (100.0 - least)).max(0.5);
    Scale::linear((least - room).max(0.0), 100.0 + 0.5 * room)
}
