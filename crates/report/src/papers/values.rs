//! Measured values beside those of the paper: over a parameter, or as boxes side by side.

use super::paper_mark;
use super::picture::{PictureAxis, ValueCurve, ValuePanel, ValuePicture, ValuePoint};
use maud::html;
use millpond_chart::{
    Axis, AxisSpacing, Figure, LabelPosition, Legend, Panel, Plot, Scale, SeriesStyle, elide,
};
use millpond_papers::RowVerdict;

/// The height of a plot over a parameter, in pixels.
const HEIGHT: u16 = 220;
/// The height of one of several plots over a parameter, in pixels.
const LOW_HEIGHT: u16 = 130;
/// The height of a box with its name, in pixels.
const ROW: u16 = 34;
/// Names beside boxes are cut to this many characters.
const NAME_LENGTH: usize = 44;
/// A logarithmic axis spans at most this many powers of ten.
const DECADES: f64 = 8.0;

/// The figure of a picture; none if it has no value.
pub(super) fn figure(picture: &ValuePicture) -> Option<Figure> {
    let panels: Vec<Panel> = match &picture.parameter {
        Some(parameter) => over_parameter(parameter, &picture.panels),
        None => picture.panels.iter().map(side_by_side).collect(),
    };
    (!panels.is_empty()).then(|| Figure {
        id: String::new(),
        title: html! {
            @if picture.title.is_empty() { "Measured values and those of the paper" } @else { (picture.title) }
        },
        class: if picture.parameter.is_some() { "curves-over-parameter" } else { "boxes" },
        panels,
        caption: String::new(),
    })
}

/// The panels one above the other, with one axis of the parameter.
fn over_parameter(parameter: &PictureAxis, panels: &[ValuePanel]) -> Vec<Panel> {
    let xs = || panels.iter().flat_map(points).map(|point| point.x);
    let x = if parameter.log { Scale::log(xs(), DECADES) } else { with_room(Scale::around(xs())) };
    let last = panels.len().saturating_sub(1);
    let panel = |(index, panel): (usize, &ValuePanel)| {
        let axis = Axis::numbered(x, with_unit(&parameter.label, &parameter.unit), 6);
        let axis = if index == last { axis } else { axis.without_text() };
        let y = Axis::numbered(value_scale(panel), "", 4);
        let label = format!("{} over {}", panel.axis.label, parameter.label);
        let mut plot = Plot::new(label, axis, y, if panels.len() == 1 { HEIGHT } else { LOW_HEIGHT });
        for point in points(panel) {
            draw_paper(&mut plot, point, |value| (point.x, value));
        }
        for (index, curve) in panel.curves.iter().enumerate() {
            draw_curve(&mut plot, SeriesStyle(index), curve);
        }
        framed(panel, plot)
    };
    panels.iter().enumerate().map(panel).collect()
}

fn draw_curve(plot: &mut Plot, style: SeriesStyle, curve: &ValueCurve) {
    let measured = || curve.points.iter().filter_map(|point| Some((point.x, point.measured?)));
    let middle: Vec<_> = measured().map(|(x, numbers)| (x, numbers[2])).collect();
    let name = if curve.name.is_empty() { "measured" } else { &curve.name };
    for (x, numbers) in measured().filter(|(_, numbers)| numbers[0] < numbers[4]) {
        plot.unnamed_curve(&format!("line {} range", style.colour()), &[(x, numbers[0]), (x, numbers[4])]);
        plot.unnamed_curve(
            &format!("line {} quartiles", style.colour()),
            &[(x, numbers[1]), (x, numbers[3])],
        );
    }
    plot.curve(name, &style.line(), &middle);
    for point in middle {
        plot.mark(style, point);
    }
}

/// The range of theory, and the paper's value above it; `at` gives the place of a value.
fn draw_paper(plot: &mut Plot, point: &ValuePoint, at: impl Fn(f64) -> (f64, f64)) {
    if let Some((low, high)) = point.theory {
        plot.unnamed_curve("theory-range", &[at(low), at(high)]);
    }
    if let Some((low, high)) = point.paper {
        paper_mark::draw(plot, at(low), at(high));
    }
}

fn side_by_side(panel: &ValuePanel) -> Panel {
    let rows: Vec<(usize, &ValuePoint)> = panel
        .curves
        .iter()
        .enumerate()
        .flat_map(|(index, curve)| curve.points.iter().map(move |point| (index, point)))
        .collect();
    let scale = value_scale(panel);
    let axis = Axis::numbered(scale, with_unit(&panel.axis.label, &panel.axis.unit), 6);
    let y = Axis {
        scale: Scale::linear(0.5 - rows.len() as f64, 0.5),
        title: String::new(),
        ticks: Vec::new(),
        is_named: true,
    };
    let mut plot = Plot::new(panel.axis.label.clone(), axis, y, ROW * rows.len() as u16);
    for (row, (index, point)) in rows.into_iter().enumerate() {
        let y = -(row as f64) - 0.2;
        draw_paper(&mut plot, point, |value| (value, y));
        if let Some(numbers) = point.measured {
            draw_box(&mut plot, SeriesStyle(index), y, numbers);
        }
        let position = LabelPosition { dx: 2.0, dy: 0.0, is_left: false };
        plot.text("name", (scale.low, y + 0.42), position, &row_name(point));
    }
    framed(panel, plot)
}

fn row_name(point: &ValuePoint) -> String {
    let name = elide(&point.category, NAME_LENGTH);
    match point.verdict {
        Some(verdict) if verdict != RowVerdict::Matches => format!("{name} · {}", verdict.name()),
        _ => name,
    }
}

fn draw_box(
    plot: &mut Plot,
    style: SeriesStyle,
    row: f64,
    [least, lower, middle, upper, greatest]: [f64; 5],
) {
    if least < greatest {
        let colour = style.colour();
        plot.bar(&format!("whisker {colour}"), least..greatest, row, 2.0);
        plot.bar(&format!("box {colour}"), lower..upper, row, 10.0);
        plot.vertical_stroke("median", (middle, row), 14.0);
    } else {
        plot.mark(style, (middle, row));
    }
}

fn framed(panel: &ValuePanel, plot: Plot) -> Panel {
    Panel { title: panel.axis.label.clone(), unit: panel.axis.unit.clone(), legend: legend(panel), plot }
}

fn legend(panel: &ValuePanel) -> Legend {
    let is_named = panel.curves.len() > 1 || panel.curves.iter().any(|curve| !curve.name.is_empty());
    let add = |legend: Legend, (index, curve): (usize, &ValueCurve)| {
        let name = if curve.name.is_empty() { "first reading" } else { &curve.name };
        legend.series(SeriesStyle(index), name)
    };
    let curves = panel.curves.iter().enumerate().fold(Legend::new(), add).when(is_named);
    let has_paper = points(panel).any(|point| point.paper.is_some());
    let has_theory = points(panel).any(|point| point.theory.is_some());
    curves
        .and(paper_mark::legend().when(has_paper))
        .and(paper_mark::theory_legend().when(has_theory))
        .and(Legend::new().text(&format!("Bars: {}", panel.spread)).when(!panel.spread.is_empty()))
}

fn points(panel: &ValuePanel) -> impl Iterator<Item = &ValuePoint> {
    panel.curves.iter().flat_map(|curve| &curve.points)
}

/// The axis of all measured values, those of the paper and those of theory. An end that is infinite is at the edge.
fn value_scale(panel: &ValuePanel) -> Scale {
    let ranges = points(panel).flat_map(|point| point.paper.into_iter().chain(point.theory));
    let ends = ranges.flat_map(|(low, high)| [low, high]);
    let measured = points(panel).filter_map(|point| point.measured).flatten();
    let values: Vec<f64> = measured.chain(ends).filter(|value| value.is_finite()).collect();
    if panel.axis.log { with_room(Scale::log(values, DECADES)) } else { with_room(Scale::around(values)) }
}

/// The scale with room at both ends, so that no marker is on the edge.
fn with_room(scale: Scale) -> Scale {
    match scale.spacing {
        AxisSpacing::Log => Scale { low: scale.low / 1.2, high: scale.high * 1.2, ..scale },
        AxisSpacing::Linear => {
            let room = 0.06 * (scale.high - scale.low);
            let low = if scale.low == 0.0 { 0.0 } else { scale.low - room };
            Scale { low, high: scale.high + room, ..scale }
        }
    }
}

fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
}
