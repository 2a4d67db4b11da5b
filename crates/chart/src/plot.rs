//! One pair of axes as inline SVG. Curves are in a nested drawing that stretches with the page and zooms by its `viewBox`.
//! Texts and markers are placed in per cent, so they keep their size on a phone and on paper. Colours come from style
//! classes.

use crate::axis::Axis;
use crate::decimate::Point;
use crate::element::{Element, GRID, PLANE, Percent};
use crate::label::LabelPosition;
use crate::scale::Scale;
use crate::style::{CurveStyle, SeriesStyle};
use maud::{Markup, Render, html};
use std::ops::Range;

/// What the axes mean to the script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlotKind {
    /// A quantity over another one.
    Plain,
    /// The horizontal axis is time. All plots of this kind on a page share it when one of them is zoomed.
    OverTime,
    /// A plane in which a curve may pass a place more than once. The pointer shows its own coordinates.
    Plane,
}

impl PlotKind {
    /// The class by which the script and the style sheet know it.
    fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::OverTime => Some("over-time"),
            Self::Plane => Some("plane"),
        }
    }
}

/// A pair of axes with what is drawn between them.
pub struct Plot {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// In pixels.
    pub(crate) height: u16,
    /// For screen readers.
    label: String,
    /// In the order of drawing.
    pub(crate) elements: Vec<Element>,
    kind: PlotKind,
    pub(crate) colour: Option<SeriesStyle>,
}

impl Plot {
    /// An empty plot of `height` pixels; `label` is for screen readers.
    pub fn new(label: impl Into<String>, x: Axis, y: Axis, height: u16) -> Self {
        Self { x, y, height, label: label.into(), elements: Vec::new(), kind: PlotKind::Plain, colour: None }
    }

    /// Sets the colour of everything that has no colour of its own.
    #[must_use]
    pub fn coloured(mut self, style: SeriesStyle) -> Self {
        self.colour = Some(style);
        self
    }

    /// Declares that the horizontal axis is time. All such plots of a page share it when one of them is zoomed.
    #[must_use]
    pub fn over_time(mut self) -> Self {
        self.kind = PlotKind::OverTime;
        self
    }

    /// Declares a plane in which a curve may pass a place more than once. The plot has the proportions of [`PLANE`], and
    /// the pointer shows its own coordinates.
    #[must_use]
    pub fn plane(mut self) -> Self {
        self.kind = PlotKind::Plane;
        self
    }

    /// Whether it has the proportions of [`PLANE`].
    pub(crate) fn is_plane(&self) -> bool {
        self.kind == PlotKind::Plane
    }

    /// Draws a curve, broken where a value is not a number. The script shows its value under the pointer with `name`.
    pub fn curve(&mut self, name: &str, class: &str, points: &[Point]) {
        self.add_curve(Some(name), class, points);
    }

    /// Draws a curve whose values the script does not show.
    pub fn unnamed_curve(&mut self, class: &str, points: &[Point]) {
        self.add_curve(None, class, points);
    }

    fn add_curve(&mut self, name: Option<&str>, class: &str, points: &[Point]) {
        let (name, class, points) = (name.map(str::to_owned), class.into(), points.to_vec());
        self.elements.push(Element::Curve { name, class, points });
    }

    /// Fills the area between a curve and the lower end of the axis.
    pub fn area(&mut self, class: &str, points: &[Point]) {
        let floor: Vec<Point> = points.iter().map(|&(x, _)| (x, self.y.scale.low)).collect();
        self.band(class, &floor, points);
    }

    /// Fills the area between two curves over the same values of x, broken where one of them is not a number.
    pub fn band(&mut self, class: &str, low: &[Point], high: &[Point]) {
        let both: Vec<(Point, Point)> = low.iter().copied().zip(high.iter().copied()).collect();
        let pieces = both.split(|(low, high)| !(low.1.is_finite() && high.1.is_finite()));
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let lower = piece.iter().map(|(low, _)| *low);
            let upper = piece.iter().rev().map(|(_, high)| *high);
            self.elements.push(Element::Fill { class: class.into(), outline: lower.chain(upper).collect() });
        }
    }

    /// Hatches the whole height over `x` with lines of the class `hatch`.
    pub fn hatch(&mut self, x: Range<f64>) {
        /// Between two lines, and from the lower to the upper end of a line: shares of the width of the plot.
        const STEP: f64 = 0.008;
        const SLANT: f64 = 0.024;
        let (across, upwards) = (self.x.scale, self.y.scale);
        let (left, right) = (across.fraction(x.start), across.fraction(x.end));
        let first = libm::floor((left - SLANT) / STEP) as i64 + 1;
        let last = libm::ceil(right / STEP) as i64;
        let mut lines = Vec::new();
        for foot in (first..last).map(|line| line as f64 * STEP) {
            let ends = [foot.max(left), (foot + SLANT).min(right)];
            lines.extend(ends.map(|end| (across.at(end), upwards.at((end - foot) / SLANT))));
            lines.push((across.at(right), f64::NAN));
        }
        self.unnamed_curve("hatch", &lines);
    }

    /// Draws the marker of a series.
    pub fn mark(&mut self, style: SeriesStyle, at: Point) {
        self.elements.push(Element::Marker { style, at });
    }

    /// Draws the marker of a series, or a dot in a tone.
    pub fn mark_curve(&mut self, style: &CurveStyle, at: Point) {
        if style.is_tone() {
            self.dot(&format!("point {}", style.colour()), at, 4.0);
        } else {
            self.mark(style.series, at);
        }
    }

    /// Draws an open diamond: a value that was not measured here.
    pub fn open_mark(&mut self, at: Point) {
        self.elements.push(Element::OpenMarker { at });
    }

    /// Draws a dot with this radius in pixels.
    pub fn dot(&mut self, class: &str, at: Point, radius: f64) {
        self.elements.push(Element::Dot { class: class.into(), at, radius });
    }

    /// Draws the head of an arrow that comes from `from` at `to`, among the curves of a plane.
    pub fn arrow(&mut self, class: &str, from: Point, to: Point) {
        self.elements.push(Element::Arrow { class: class.into(), from, to });
    }

    /// Fills a rectangle.
    pub fn cell(&mut self, class: &str, x: Range<f64>, y: Range<f64>) {
        self.elements.push(Element::Cell { class: class.into(), x, y });
    }

    /// Draws a horizontal bar over `x` at the height of `y`, `thickness` pixels thick.
    pub fn bar(&mut self, class: &str, x: Range<f64>, y: f64, thickness: f64) {
        self.elements.push(Element::Bar { class: class.into(), x, y, thickness });
    }

    /// Draws the 5th, 25th, 50th, 75th and 95th percentile at the height of `y`, in the colour of these classes: a box with
    /// whiskers and a stroke at the median.
    pub fn quantile_box(&mut self, colour: &str, y: f64, [p5, p25, p50, p75, p95]: [f64; 5]) {
        self.bar(&format!("whisker {colour}"), p5..p95, y, 2.0);
        self.bar(&format!("box {colour}"), p25..p75, y, 12.0);
        for end in [p5, p95] {
            self.vertical_stroke(&format!("whisker {colour}"), (end, y), 8.0);
        }
        self.vertical_stroke("median", (p50, y), 16.0);
    }

    /// Draws a vertical stroke of `height` pixels, two pixels wide.
    pub fn vertical_stroke(&mut self, class: &str, at: Point, height: f64) {
        self.elements.push(Element::VerticalStroke { class: class.into(), at, height });
    }

    /// Writes a text beside a point.
    pub fn text(&mut self, class: &str, at: Point, position: LabelPosition, text: &str) {
        self.elements.push(Element::Text { class: class.into(), at, position, text: text.into() });
    }

    /// The elements that stretch with the page, or the others.
    fn markup(&self, stretches: bool) -> Markup {
        let chosen = self.elements.iter().filter(|element| element.stretches() == stretches);
        html! { @for element in chosen { (element.markup(&self.x, &self.y)) } }
    }

    /// The title of the horizontal axis with its spacing. Time is linear on every page.
    fn horizontal_title(&self) -> String {
        match self.x.spacing_text() {
            Some(spacing) if !self.x.title.is_empty() && self.kind != PlotKind::OverTime => {
                format!("{}, {spacing}", self.x.title)
            }
            _ => self.x.title.clone(),
        }
    }

    fn axes(&self) -> Markup {
        let (vertical, horizontal) = (&self.y, &self.x);
        html! {
            @for (value, label) in &vertical.ticks {
                @let top = Percent::of(1.0 - vertical.scale.fraction(*value));
                line.grid x2="100%" y1=(top) y2=(top) {}
                text.tick-y x="-8" y=(top) { (label) }
            }
            g.ticks-x {
                @for (value, label) in &horizontal.ticks {
                    @let left = Percent::of(horizontal.scale.fraction(*value));
                    line.grid x1=(left) x2=(left) y2="100%" {}
                    text.tick-x x=(left) y="100%" { (label) }
                }
            }
            text.axis-title x="100%" y="100%" { (self.horizontal_title()) }
        }
    }
}

impl Render for Plot {
    fn render(&self) -> Markup {
        let colour = self.colour.map(SeriesStyle::colour);
        let classes = [Some("plot"), self.kind.class(), colour.as_deref()];
        let classes: Vec<&str> = classes.into_iter().flatten().collect();
        let height = if self.kind == PlotKind::Plane { PLANE.1 } else { f64::from(self.height) };
        html! {
            svg class=(classes.join(" ")) height=(height) role="img" aria-label=(self.label) tabindex="0"
                data-x=(attribute(self.x.scale)) data-y=(attribute(self.y.scale)) {
                (self.axes())
                svg.curves viewBox={ "0 0 " (GRID.0) " " (GRID.1) } preserveAspectRatio="none" {
                    (self.markup(true))
                }
                (self.markup(false))
            }
        }
    }
}

/// A scale as the script reads it: spacing, low end, high end.
fn attribute(scale: Scale) -> String {
    format!("{} {} {}", scale.spacing.name(), scale.low, scale.high)
}
