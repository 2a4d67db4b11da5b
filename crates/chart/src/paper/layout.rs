//! Panels one above the other, with axes, titles and legends, as shapes.

use super::drawing::{Anchor, BLACK, Drawing, DrawnShape, Fill, GREY, Ink, LIGHT_GREY, WHITE};
use super::ink::{PALETTE, PaperRule, ink};
use super::{PaperWidth, font};
use crate::axis::Axis;
use crate::decimate::Point;
use crate::element::{Element, PLANE, arrow_head};
use crate::figure::{Figure, Panel};
use crate::legend::{LegendEntry, LegendSample};
use crate::plot::Plot;
use crate::scale::AxisSpacing;
use crate::style::{OPEN_SHAPE, SeriesStyle, circle, outline};

/// The size of all texts in points.
const TEXT: f64 = 7.0;
/// The height of a line of text.
const LINE: f64 = 9.0;
/// The length of a pixel of a page on paper.
const PIXEL: f64 = 0.6;
/// The least height of a plot with numbers on its axis.
const LEAST_HEIGHT: f64 = 62.0;
/// The height of a plot relative to that on a page.
const HEIGHT: f64 = 0.5;
/// The width of a sample in a legend.
const SAMPLE: f64 = 15.0;
/// Between things that do not belong together.
const GAP: f64 = 7.0;
const TICK: f64 = 2.5;

/// All panels of a figure.
pub(super) fn drawing(figure: &Figure, width: PaperWidth, rules: &[PaperRule]) -> Drawing {
    let width = width.points();
    let left = figure.panels.iter().map(left_margin).fold(0.0, f64::max);
    let mut drawing = Drawing { width, height: 1.0, shapes: Vec::new() };
    for panel in &figure.panels {
        let sheet = Sheet { rules, colour: panel.plot.colour };
        let top = drawing.height;
        drawing.height = sheet.panel(&mut drawing, panel, left, top);
    }
    drawing.height += 1.0;
    drawing
}

/// The room for the numbers of the vertical axis and its title.
fn left_margin(panel: &Panel) -> f64 {
    let numbers = panel.plot.y.ticks.iter().map(|(_, label)| font::width(label, TEXT)).fold(0.0, f64::max);
    let lines = title_lines(panel, plot_height(&panel.plot, f64::INFINITY)).len() as f64;
    numbers + TICK + 3.0 + lines * LINE
}

/// The width of a plot in a space of this width: a plane keeps its proportions, so that circles are round.
fn plot_width(plot: &Plot, space: f64) -> f64 {
    if plot.is_plane() { space.min(PLANE.0 * PIXEL) } else { space }
}

/// The height of a plot of this width.
fn plot_height(plot: &Plot, width: f64) -> f64 {
    let height = f64::from(plot.height) * HEIGHT;
    match () {
        () if plot.is_plane() => (width * PLANE.1 / PLANE.0).min(PLANE.1 * PIXEL),
        () if plot.y.is_named => height,
        () => height.max(LEAST_HEIGHT),
    }
}

/// Title and unit of the vertical axis, in lines that are not longer than the axis where words permit it.
fn title_lines(panel: &Panel, height: f64) -> Vec<String> {
    let unit = if panel.unit.is_empty() { String::new() } else { format!(", {}", panel.unit) };
    let log = log_suffix(&panel.plot.y);
    let mut lines: Vec<String> = Vec::new();
    for word in format!("{}{unit}{log}", panel.title).split_whitespace() {
        match lines.last_mut() {
            Some(line) if font::width(&format!("{line} {word}"), TEXT) <= height => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// What follows the title of an axis: papers name the spacing of logarithmic axes alone.
const fn log_suffix(axis: &Axis) -> &'static str {
    match axis.scale.spacing {
        AxisSpacing::Log if !axis.is_named => ", log scale",
        _ => "",
    }
}

/// What the shapes of one panel have in common.
struct Sheet<'a> {
    rules: &'a [PaperRule],
    /// That of everything without a colour of its own.
    colour: Option<SeriesStyle>,
}

/// Where a plot is.
struct PlotArea<'a> {
    plot: &'a Plot,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl PlotArea<'_> {
    fn place(&self, (x, y): Point) -> Point {
        (self.x(x), self.y(y))
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.plot.x.scale.fraction(value) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.plot.y.scale.fraction(value)) * self.height
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }
}

impl Sheet<'_> {
    /// Draws a panel below `top` and returns where the next one begins.
    fn panel(&self, drawing: &mut Drawing, panel: &Panel, left: f64, top: f64) -> f64 {
        let top = self.legend(drawing, panel, left, top) + 4.0;
        let width = plot_width(&panel.plot, drawing.width - left - GAP);
        let height = plot_height(&panel.plot, width);
        let frame = PlotArea { plot: &panel.plot, left, top, width, height };
        let shapes = &mut drawing.shapes;
        grid(shapes, &frame);
        for stretches in [true, false] {
            let elements = panel.plot.elements.iter().filter(|one| one.stretches() == stretches);
            elements.for_each(|element| self.element(shapes, &frame, element));
        }
        axes(shapes, &frame);
        y_title(shapes, &frame, &title_lines(panel, plot_height(&panel.plot, f64::INFINITY)));
        bottom_of(&frame) + GAP
    }

    /// Draws the entries in as many rows as they need, and returns where the rows end.
    fn legend(&self, drawing: &mut Drawing, panel: &Panel, left: f64, top: f64) -> f64 {
        let (mut x, mut y) = (left, top);
        for entry in &panel.legend.entries {
            let sample = if matches!(entry.sample, LegendSample::None) { 0.0 } else { SAMPLE + 3.0 };
            let width = sample + font::width(&entry.name, TEXT);
            if x > left && x + width > drawing.width {
                (x, y) = (left, y + LINE);
            }
            self.sample(&mut drawing.shapes, entry, (x, y + LINE / 2.0));
            text(
                &mut drawing.shapes,
                (x + sample, y + LINE / 2.0 + TEXT * 0.36),
                &entry.name,
                Anchor::Start,
                GREY,
            );
            x += width + GAP;
        }
        if panel.legend.is_empty() { top } else { y + LINE }
    }

    fn sample(&self, shapes: &mut Vec<DrawnShape>, entry: &LegendEntry, (x, y): Point) {
        let colour = entry.colour.or(self.colour);
        let line = [(x, y), (x + SAMPLE, y)];
        let middle = (x + SAMPLE / 2.0, y);
        match &entry.sample {
            LegendSample::None => {}
            LegendSample::Lines(classes) => {
                for class in classes {
                    path(shapes, vec![line.to_vec()], false, ink(class, colour, self.rules));
                }
            }
            LegendSample::Block(class) => {
                let class = if class.is_empty() { "area" } else { class };
                path(shapes, vec![rectangle(x, y - 2.5, SAMPLE, 5.0)], true, ink(class, colour, self.rules));
            }
            LegendSample::Series(style) => {
                path(shapes, vec![line.to_vec()], false, ink(&style.line(), Some(*style), self.rules));
                marker(shapes, *style, middle);
            }
            LegendSample::Marker(style) => marker(shapes, *style, middle),
            LegendSample::Dot(class) => self.dot(shapes, class, middle, 3.0, colour),
        }
    }

    fn element(&self, shapes: &mut Vec<DrawnShape>, frame: &PlotArea<'_>, element: &Element) {
        let ink = |class: &str| ink(class, self.colour, self.rules);
        match element {
            Element::Curve { class, points, .. } => {
                let pieces = points.split(|point| !point.1.is_finite()).filter(|piece| !piece.is_empty());
                let pieces = pieces.map(|piece| piece.iter().map(|point| frame.place(*point)).collect());
                path(shapes, pieces.collect(), false, ink(class));
            }
            Element::Fill { class, outline } => {
                let corners = outline.iter().map(|point| frame.place(*point)).collect();
                path(shapes, vec![corners], true, ink(class));
            }
            Element::Arrow { class, from, to } => {
                if let Some(corners) = arrow_head(*from, *to, |point| frame.place(point)) {
                    path(shapes, vec![corners.to_vec()], true, ink(class));
                }
            }
            Element::Marker { style, at } => marker(shapes, *style, frame.place(*at)),
            Element::OpenMarker { at } => {
                let ink = Ink { fill: white(), ..Ink::line(BLACK, 0.8) };
                path(shapes, vec![around(frame.place(*at), &outline(OPEN_SHAPE))], true, ink);
            }
            Element::Dot { class, at, radius } => {
                self.dot(shapes, class, frame.place(*at), *radius, self.colour);
            }
            Element::Cell { class, x, y } => {
                let ((left, top), (right, bottom)) =
                    (frame.place((x.start, y.end)), frame.place((x.end, y.start)));
                path(shapes, vec![rectangle(left, top, right - left, bottom - top)], true, ink(class));
            }
            Element::Bar { class, x, y, thickness } => {
                let (height, left) = (thickness * PIXEL, frame.x(x.start));
                let outline = rectangle(left, frame.y(*y) - height / 2.0, frame.x(x.end) - left, height);
                path(shapes, vec![outline], true, ink(class));
            }
            Element::VerticalStroke { class, at, height } => {
                let ((x, y), height) = (frame.place(*at), height * PIXEL);
                path(shapes, vec![rectangle(x - 0.5, y - height / 2.0, 1.0, height)], true, ink(class));
            }
            // A hint explains a page to its reader; in a paper the caption does.
            Element::Text { class, .. } if class == "hint" => {}
            Element::Text { at, position, text: name, .. } => {
                let (x, y) = frame.place(*at);
                let anchor = if position.is_left { Anchor::End } else { Anchor::Start };
                text(shapes, (x + position.dx * PIXEL, y + position.dy * PIXEL), name, anchor, BLACK);
            }
        }
    }

    fn dot(
        &self,
        shapes: &mut Vec<DrawnShape>,
        class: &str,
        at: Point,
        radius: f64,
        colour: Option<SeriesStyle>,
    ) {
        path(shapes, vec![around(at, &circle(radius))], true, ink(class, colour, self.rules));
    }
}

fn grid(shapes: &mut Vec<DrawnShape>, frame: &PlotArea<'_>) {
    for (value, _) in &frame.plot.y.ticks {
        let y = frame.y(*value);
        path(shapes, vec![vec![(frame.left, y), (frame.right(), y)]], false, Ink::line(LIGHT_GREY, 0.4));
    }
}

/// The lines on the left and at the bottom, with ticks, numbers and the title of the horizontal axis.
fn axes(shapes: &mut Vec<DrawnShape>, frame: &PlotArea<'_>) {
    let (left, bottom) = (frame.left, frame.bottom());
    let mut lines = vec![vec![(left, frame.top), (left, bottom), (frame.right(), bottom)]];
    for (value, label) in &frame.plot.y.ticks {
        let y = frame.y(*value);
        lines.push(vec![(left - TICK, y), (left, y)]);
        text(shapes, (left - TICK - 2.0, y + TEXT * 0.36), label, Anchor::End, BLACK);
    }
    for (value, label) in &frame.plot.x.ticks {
        let x = frame.x(*value);
        lines.push(vec![(x, bottom), (x, bottom + TICK)]);
        text(shapes, (x, bottom + TICK + LINE - 1.0), label, Anchor::Middle, BLACK);
    }
    path(shapes, lines, false, Ink::line(BLACK, 0.5));
    let title = (left + frame.width / 2.0, bottom + TICK + 2.0 * LINE);
    let axis = &frame.plot.x;
    if !axis.title.is_empty() {
        text(shapes, title, &format!("{}{}", axis.title, log_suffix(axis)), Anchor::Middle, BLACK);
    }
}

/// Where the texts of the horizontal axis end.
fn bottom_of(frame: &PlotArea<'_>) -> f64 {
    let Axis { ticks, title, .. } = &frame.plot.x;
    let numbers = if ticks.iter().any(|(_, label)| !label.is_empty()) { LINE } else { 0.0 };
    let title = if title.is_empty() { 0.0 } else { LINE + 2.0 };
    frame.bottom() + TICK + numbers + title
}

/// The title of the vertical axis, upwards.
fn y_title(shapes: &mut Vec<DrawnShape>, frame: &PlotArea<'_>, lines: &[String]) {
    let middle = frame.top + frame.height / 2.0;
    for (index, line) in lines.iter().enumerate() {
        let at = (LINE * (index as f64 + 0.8), middle);
        shapes.push(DrawnShape::Text {
            at,
            text: line.clone(),
            size: TEXT,
            anchor: Anchor::Middle,
            upwards: true,
            colour: BLACK,
        });
    }
}

fn marker(shapes: &mut Vec<DrawnShape>, style: SeriesStyle, at: Point) {
    let colour = PALETTE[style.colour_index()];
    let fill = Some(Fill { colour, opacity: 1.0 });
    path(shapes, vec![around(at, &outline(style.shape()))], true, Ink { fill, ..Ink::line(WHITE, 0.5) });
}

fn white() -> Option<Fill> {
    Some(Fill { colour: WHITE, opacity: 1.0 })
}

/// The outline of a shape around a point.
fn around((x, y): Point, outline: &[Point]) -> Vec<Point> {
    outline.iter().map(|(dx, dy)| (x + dx * PIXEL, y + dy * PIXEL)).collect()
}

fn rectangle(left: f64, top: f64, width: f64, height: f64) -> Vec<Point> {
    vec![(left, top), (left + width, top), (left + width, top + height), (left, top + height)]
}

fn path(shapes: &mut Vec<DrawnShape>, pieces: Vec<Vec<Point>>, closed: bool, ink: Ink) {
    if !pieces.is_empty() && ink != Ink::default() {
        shapes.push(DrawnShape::Path { pieces, closed, ink });
    }
}

fn text(shapes: &mut Vec<DrawnShape>, at: Point, text: &str, anchor: Anchor, colour: [u8; 3]) {
    if !text.is_empty() {
        shapes.push(DrawnShape::Text { at, text: text.into(), size: TEXT, anchor, upwards: false, colour });
    }
}
