//! Two numbers of each run, one on each axis, with the values of the paper as bands.

use super::charted::case_name;
use super::paper_mark;
use super::picture::{PictureAxis, ScatterPicture};
use maud::html;
use millpond_chart::{
    Axis, AxisSpacing, Figure, LabelPosition, MarkedName, Panel, PlacedNames, Plot, Point, Scale,
    SeriesStyle, elide, label_positions, name_classes,
};
use millpond_papers::CheckedRecipe;

const HEIGHT: f64 = 320.0;
/// Names have room at each of these widths in pixels: on a phone and on a wide page.
const WIDTHS: [f64; 2] = [310.0, 690.0];
/// Names are cut to this many characters.
const NAME_LENGTH: usize = 22;

/// The figure; none without points.
pub(super) fn figure(picture: &ScatterPicture, checked: &CheckedRecipe) -> Option<Figure> {
    let (x, y) = (&picture.x, &picture.y);
    let x_scale = scale(x, picture.points.iter().map(|(_, point)| point.0), &picture.paper_x);
    let y_scale = scale(y, picture.points.iter().map(|(_, point)| point.1), &picture.paper_y);
    let title = if x.unit.is_empty() { x.label.clone() } else { format!("{}, {}", x.label, x.unit) };
    let label = format!("{} over {}", y.label, x.label);
    let mut plot =
        Plot::new(label, Axis::numbered(x_scale, title, 8), Axis::numbered(y_scale, "", 5), HEIGHT as u16);
    for &(low, high) in &picture.paper_x {
        draw_band(&mut plot, (low, y_scale.low), (high, y_scale.high));
    }
    for &(low, high) in &picture.paper_y {
        draw_band(&mut plot, (x_scale.low, low), (x_scale.high, high));
    }
    let named = picture.points.iter().filter_map(|(run, point)| Some((checked.runs.get(*run)?, *point)));
    let named: Vec<(String, Point)> =
        named.map(|(charted, point)| (elide(&case_name(charted), NAME_LENGTH), point)).collect();
    draw_points(&mut plot, &named, x_scale, y_scale);
    let has_paper = !picture.paper_x.is_empty() || !picture.paper_y.is_empty();
    (!named.is_empty()).then(|| Figure {
        id: String::new(),
        title: html! {
            @if picture.title.is_empty() { (y.label) " and " (x.label) " of each run" } @else { (picture.title) }
        },
        class: "scatter",
        panels: vec![Panel {
            title: y.label.clone(),
            unit: y.unit.clone(),
            legend: paper_mark::legend().when(has_paper),
            plot,
        }],
        caption: String::new(),
    })
}

fn draw_points(plot: &mut Plot, named: &[(String, Point)], x: Scale, y: Scale) {
    let places = |width: f64| -> Vec<MarkedName<'_>> {
        let at = |point: &Point| (width * x.fraction(point.0), HEIGHT * (1.0 - y.fraction(point.1)));
        named.iter().map(|(name, point)| MarkedName { at: at(point), name }).collect()
    };
    let plots = WIDTHS.map(|width| PlacedNames { width, names: places(width), lines: Vec::new() });
    let positions = label_positions(&plots);
    let classes = name_classes(&plots, &positions);
    for (((index, (name, point)), position), class) in named.iter().enumerate().zip(positions).zip(classes) {
        plot.mark(SeriesStyle(index), *point);
        plot.text(class, *point, LabelPosition { dy: position.dy + 4.0, ..position }, name);
    }
}

/// A band of the whole width or height; a bar if it is a number.
fn draw_band(plot: &mut Plot, from: Point, to: Point) {
    if from.0 == to.0 || from.1 == to.1 {
        paper_mark::draw(plot, from, to);
    } else {
        plot.band("paper-band", &[(from.0, from.1), (to.0, from.1)], &[(from.0, to.1), (to.0, to.1)]);
    }
}

/// The axis of all values and those of the paper, with room so that no marker is on the edge.
fn scale(axis: &PictureAxis, values: impl Iterator<Item = f64>, paper: &[(f64, f64)]) -> Scale {
    let values: Vec<f64> = values.chain(paper.iter().flat_map(|(low, high)| [*low, *high])).collect();
    let scale = if axis.log { Scale::log(values, 6.0) } else { Scale::around(values) };
    match scale.spacing {
        AxisSpacing::Log => Scale { low: scale.low / 1.6, high: scale.high * 1.6, ..scale },
        AxisSpacing::Linear => {
            let room = 0.05 * (scale.high - scale.low);
            Scale {
                low: if scale.low == 0.0 { 0.0 } else { scale.low - room },
                high: scale.high + room,
                ..scale
            }
        }
    }
}
