//! One pair of axes as inline SVG. Curves are in a nested drawing that stretches with the page and zooms by its `viewBox`.
//! Texts and markers are placed in per cent, so they keep their size on a phone and on paper. Colours come from style
//! classes.

use crate::axis::Axis;
use crate::decimate::Point;
use crate::label::LabelPosition;
use crate::scale::Scale;
use crate::style::SeriesStyle;
use maud::{Markup, Render, html};
use std::fmt::Write;
use std::ops::Range;

/// Width and height of the grid of whole numbers on which curves are drawn.
const GRID: (f64, f64) = (20_000.0, 4_000.0);
/// Width and height of a plot of a plane in pixels where there is room; elsewhere it keeps their ratio.
pub const PLANE: (f64, f64) = (690.0, 480.0);

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
    x: Axis,
    y: Axis,
    /// In pixels.
    height: u16,
    /// For screen readers.
    label: String,
    curves: Vec<Markup>,
    marks: Vec<Markup>,
    kind: PlotKind,
    colour: Option<String>,
}

impl Plot {
    /// An empty plot of `height` pixels; `label` is for screen readers.
    pub fn new(label: impl Into<String>, x: Axis, y: Axis, height: u16) -> Self {
        let (curves, marks) = (Vec::new(), Vec::new());
        Self { x, y, height, label: label.into(), curves, marks, kind: PlotKind::Plain, colour: None }
    }

    /// Sets the colour of everything that has no colour of its own.
    #[must_use]
    pub fn coloured(mut self, style: SeriesStyle) -> Self {
        self.colour = Some(style.colour());
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

    /// Draws a curve, broken where a value is not a number. The script shows its value under the pointer with `name`.
    pub fn curve(&mut self, name: &str, class: &str, points: &[Point]) {
        self.add_curve(Some(name), class, points);
    }

    /// Draws a curve whose values the script does not show.
    pub fn unnamed_curve(&mut self, class: &str, points: &[Point]) {
        self.add_curve(None, class, points);
    }

    fn add_curve(&mut self, name: Option<&str>, class: &str, points: &[Point]) {
        let path = self.path(points);
        if !path.is_empty() {
            self.curves.push(html! { path class={ "curve " (class) } data-name=[name] d=(path) {} });
        }
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
            let outline = self.path(&lower.chain(upper).collect::<Vec<_>>());
            self.curves.push(html! { path class=(class) d={ (outline) "z" } {} });
        }
    }

    /// Draws the marker of a series.
    pub fn mark(&mut self, style: SeriesStyle, at: Point) {
        let PlotPosition { left, top } = self.place(at);
        self.marks.push(style.marker(left, top));
    }

    /// Draws an open diamond: a value that was not measured here.
    pub fn open_mark(&mut self, at: Point) {
        let PlotPosition { left, top } = self.place(at);
        self.marks.push(html! { use class="mark open" href="#shape3" x=(left) y=(top) {} });
    }

    /// Draws a dot with this radius in pixels.
    pub fn dot(&mut self, class: &str, at: Point, radius: f64) {
        let PlotPosition { left, top } = self.place(at);
        self.marks.push(html! { circle class=(class) cx=(left) cy=(top) r=(radius) {} });
    }

    /// Draws the head of an arrow that comes from `from` at `to`, among the curves of a plane.
    pub fn arrow(&mut self, class: &str, from: Point, to: Point) {
        const LENGTH: f64 = 8.0;
        const HALF_WIDTH: f64 = 3.2;
        let pixels =
            |(x, y): Point| (self.x.scale.fraction(x) * PLANE.0, (1.0 - self.y.scale.fraction(y)) * PLANE.1);
        let ((x0, y0), (x1, y1)) = (pixels(from), pixels(to));
        let length = libm::hypot(x1 - x0, y1 - y0);
        if length == 0.0 {
            return;
        }
        let (dx, dy) = ((x1 - x0) / length, (y1 - y0) / length);
        let corner = |along: f64, aside: f64| {
            let (x, y) = (x1 - along * dx - aside * dy, y1 - along * dy + aside * dx);
            format!("{} {}", libm::round(x / PLANE.0 * GRID.0), libm::round(y / PLANE.1 * GRID.1))
        };
        let tip = corner(-LENGTH / 2.0, 0.0);
        let [left, right] = [HALF_WIDTH, -HALF_WIDTH].map(|aside| corner(LENGTH / 2.0, aside));
        self.curves.push(html! { path class=(class) d={ "M" (tip) "L" (left) "L" (right) "z" } {} });
    }

    /// Fills a rectangle.
    pub fn cell(&mut self, class: &str, x: Range<f64>, y: Range<f64>) {
        let (from, to) = (self.place((x.start, y.end)), self.place((x.end, y.start)));
        let (width, height) = (Percent::between(from.left, to.left), Percent::between(from.top, to.top));
        self.marks.push(html! {
            rect class={ "cell " (class) } x=(from.left) y=(from.top) width=(width) height=(height) {}
        });
    }

    /// Draws a horizontal bar over `x` at the height of `y`, `thickness` pixels thick.
    pub fn bar(&mut self, class: &str, x: Range<f64>, y: f64, thickness: f64) {
        let (from, to) = (self.place((x.start, y)), self.place((x.end, y)));
        let (width, half) = (Percent::between(from.left, to.left), thickness / 2.0);
        self.marks.push(html! {
            rect class=(class) x=(from.left) y=(from.top) width=(width) height=(thickness)
                transform={ "translate(0 -" (half) ")" } {}
        });
    }

    /// Draws a vertical stroke of `height` pixels, two pixels wide.
    pub fn vertical_stroke(&mut self, class: &str, at: Point, height: f64) {
        let (PlotPosition { left, top }, half) = (self.place(at), height / 2.0);
        self.marks.push(html! {
            rect class=(class) x=(left) y=(top) width="2" height=(height) transform={ "translate(-1 -" (half) ")" } {}
        });
    }

    /// Writes a text beside a point.
    pub fn text(&mut self, class: &str, at: Point, position: LabelPosition, text: &str) {
        let (PlotPosition { left, top }, LabelPosition { dx, dy, is_left }) = (self.place(at), position);
        let anchor = if is_left { "end" } else { "start" };
        self.marks.push(html! {
            text class=(class) x=(left) y=(top) dx=(dx) dy=(dy) text-anchor=(anchor) { (text) }
        });
    }

    fn place(&self, (x, y): Point) -> PlotPosition {
        let (left, top) = (self.x.scale.fraction(x), 1.0 - self.y.scale.fraction(y));
        PlotPosition { left: Percent::of(left), top: Percent::of(top) }
    }

    /// The path through all points, as whole steps on the grid; each piece begins with `M`. The script reads it again.
    fn path(&self, points: &[Point]) -> String {
        let mut path = String::with_capacity(8 * points.len());
        let mut pen: Option<(i32, i32)> = None;
        for &(x, y) in points {
            if !y.is_finite() {
                pen = None;
                continue;
            }
            let next = (
                libm::round(self.x.scale.fraction(x) * GRID.0) as i32,
                libm::round((1.0 - self.y.scale.fraction(y)) * GRID.1) as i32,
            );
            // Writing to a String cannot fail.
            let _ = match pen {
                None => write!(path, "M{} {}l0 0", next.0, next.1),
                Some(last) => write!(path, " {} {}", next.0 - last.0, next.1 - last.1),
            };
            pen = Some(next);
        }
        path
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
            text.axis-title x="100%" y="100%" { (horizontal.title) }
        }
    }
}

impl Render for Plot {
    fn render(&self) -> Markup {
        let classes = [Some("plot"), self.kind.class(), self.colour.as_deref()];
        let classes: Vec<&str> = classes.into_iter().flatten().collect();
        let height = if self.kind == PlotKind::Plane { PLANE.1 } else { f64::from(self.height) };
        html! {
            svg class=(classes.join(" ")) height=(height) role="img" aria-label=(self.label) tabindex="0"
                data-x=(attribute(self.x.scale)) data-y=(attribute(self.y.scale)) {
                (self.axes())
                svg.curves viewBox={ "0 0 " (GRID.0) " " (GRID.1) } preserveAspectRatio="none" {
                    @for curve in &self.curves { (curve) }
                }
                @for mark in &self.marks { (mark) }
            }
        }
    }
}

/// A scale as the script reads it: spacing, low end, high end.
fn attribute(scale: Scale) -> String {
    format!("{} {} {}", scale.spacing.name(), scale.low, scale.high)
}

/// A place from the left and from the top.
#[derive(Clone, Copy)]
struct PlotPosition {
    left: Percent,
    top: Percent,
}

/// Per cent of a plot's width or height, with two decimals.
#[derive(Clone, Copy)]
struct Percent(f64);

impl Percent {
    fn of(share: f64) -> Self {
        Self(libm::round(share * 10_000.0) / 100.0)
    }

    /// How far it is from one percentage to another one.
    fn between(from: Self, to: Self) -> Self {
        Self::of((to.0 - from.0) / 100.0)
    }
}

impl Render for Percent {
    fn render_to(&self, buffer: &mut String) {
        // Writing to a String cannot fail.
        let _ = write!(buffer, "{}%", self.0);
    }
}
