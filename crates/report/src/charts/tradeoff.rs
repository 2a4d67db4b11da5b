//! Utilization against queueing delay, a marker for each run.

use super::super::run_view::RunView;
use maud::html;
use millpond_chart::{
    Axis, AxisSpacing, Figure, LabelPosition, Legend, MarkedName, Panel, PlacedNames, Plot, Point, Scale,
    SeriesStyle, elide, label_positions, name_classes, name_width,
};

const HEIGHT: f64 = 300.0;
/// Names have room at each of these widths in pixels: on a phone, beside another figure and on a wide page.
const WIDTHS: [f64; 3] = [310.0, 480.0, 1050.0];
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
    let intervals: Vec<ConfidenceLine> = views.iter().flat_map(|view| intervals(view)).collect();
    let ends = || points.iter().chain(intervals.iter().flat_map(|interval| &interval.ends));
    let names: Vec<String> = views.iter().map(|view| elide(&view.run.label, NAME_LENGTH)).collect();
    let rightmost = points.iter().zip(&names).max_by(|one, other| one.0.0.total_cmp(&other.0.0));
    let room = rightmost.map_or(0.0, |(_, name)| name_width(name) / WIDTHS[0]).min(MOST_ROOM);
    let x = with_margins(Scale::log(ends().map(|point| point.0), 4.0), room);
    let y = utilization_scale(ends().map(|point| point.1));
    let label = "Utilization against the 95th percentile of queueing delay";
    let x_axis = Axis::numbered(x, "95th percentile of queueing delay, ms", 8);
    let mut plot = Plot::new(label, x_axis, Axis::numbered(y, "", 5), HEIGHT as u16);
    plot.text("hint", (x.low, y.high), LabelPosition { dx: 10.0, dy: 20.0, is_left: false }, "↖ better");
    let placed = |width: f64| {
        let at = |point: &Point| (width * x.fraction(point.0), HEIGHT * (1.0 - y.fraction(point.1)));
        let names =
            points.iter().zip(&names).map(|(point, name)| MarkedName { at: at(point), name }).collect();
        let lines = intervals.iter().map(|interval| interval.ends.each_ref().map(&at)).collect();
        PlacedNames { width, names, lines }
    };
    let plots = WIDTHS.map(placed);
    let positions = label_positions(&plots);
    let classes = name_classes(&plots, &positions);
    for ConfidenceLine { style, ends } in &intervals {
        plot.unnamed_curve(&format!("line confidence {}", style.colour()), ends);
    }
    for ((((view, point), name), position), class) in
        views.iter().zip(&points).zip(&names).zip(positions).zip(classes)
    {
        plot.mark(view.style, *point);
        plot.text(class, *point, LabelPosition { dy: position.dy + 4.0, ..position }, name);
    }
    plot
}

/// A 95 % confidence interval, as the ends of a line through the marker.
struct ConfidenceLine {
    style: SeriesStyle,
    ends: [Point; 2],
}

/// The intervals of both values of a run; none for a single seed.
fn intervals(view: &RunView) -> Vec<ConfidenceLine> {
    let (Some(utilization), Some(times)) = (view.row.utilization, view.row.queueing_ms) else {
        return Vec::new();
    };
    let (x, y) = (times.p95.mean, 100.0 * utilization.mean);
    let across = times.p95.half_width.map(|half| [(x - half, y), (x + half, y)]);
    let upwards = utilization.half_width.map(|half| [(x, y - 100.0 * half), (x, y + 100.0 * half)]);
    across.into_iter().chain(upwards).map(|ends| ConfidenceLine { style: view.style, ends }).collect()
}

/// The room for a name on the right is at most this share of the width.
const MOST_ROOM: f64 = 0.35;

/// A logarithmic scale with a little room on the left and, as a share of its length, this room on the right, so that no
/// marker is on the edge of the plot.
fn with_margins(scale: Scale, room: f64) -> Scale {
    match scale.spacing {
        AxisSpacing::Log => {
            let low = scale.low / 1.6;
            Scale { low, high: low * libm::pow(scale.high * 1.1 / low, 1.0 / (1.0 - room)), ..scale }
        }
        AxisSpacing::Linear => scale,
    }
}

/// From a little below the least value to a little above the greatest one, at least 100 %.
fn utilization_scale(values: impl Iterator<Item = f64>) -> Scale {
    let (least, greatest) = values
        .fold((100.0_f64, 100.0_f64), |(least, greatest), value| (least.min(value), greatest.max(value)));
    let room = (0.15 * (100.0 - least)).max(0.5);
    Scale::linear((least - room).max(0.0), greatest + 0.5 * room)
}
