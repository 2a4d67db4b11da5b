//! What is drawn between the axes of a plot, and its markup on a page.

use crate::axis::Axis;
use crate::decimate::Point;
use crate::label::{LabelPosition, NEAR, leader_ends};
use crate::style::{OPEN_SHAPE, SeriesStyle};
use maud::{Markup, Render, html};
use std::fmt::Write;
use std::ops::Range;

/// Width and height of the grid of whole numbers on which curves are drawn.
pub(crate) const GRID: (f64, f64) = (20_000.0, 4_000.0);
/// Width and height of a plot of a plane in pixels where there is room; elsewhere it keeps their ratio.
pub const PLANE: (f64, f64) = (690.0, 480.0);

/// One shape in the coordinates of the axes, with the style class that draws it. Sizes are in pixels.
pub(crate) enum Element {
    /// A curve, broken where a value is not a number. The script shows its value if it has a name.
    Curve {
        name: Option<String>,
        class: String,
        points: Vec<Point>,
    },
    /// A closed and filled outline.
    Fill {
        class: String,
        outline: Vec<Point>,
    },
    /// The head of an arrow that comes from `from` at `to`.
    Arrow {
        class: String,
        from: Point,
        to: Point,
    },
    /// The marker of a series.
    Marker {
        style: SeriesStyle,
        at: Point,
    },
    /// An open diamond.
    OpenMarker {
        at: Point,
    },
    Dot {
        class: String,
        at: Point,
        radius: f64,
    },
    Cell {
        class: String,
        x: Range<f64>,
        y: Range<f64>,
    },
    Bar {
        class: String,
        x: Range<f64>,
        y: f64,
        thickness: f64,
    },
    VerticalStroke {
        class: String,
        at: Point,
        height: f64,
    },
    Text {
        class: String,
        at: Point,
        position: LabelPosition,
        text: String,
    },
}

impl Element {
    /// Whether it belongs into the drawing that stretches with the page, below all other elements.
    pub(crate) const fn stretches(&self) -> bool {
        matches!(self, Self::Curve { .. } | Self::Fill { .. } | Self::Arrow { .. })
    }

    /// The markup between these axes; empty if there is nothing to draw.
    pub(crate) fn markup(&self, x: &Axis, y: &Axis) -> Markup {
        let frame = ElementFrame { x, y };
        match self {
            Self::Curve { name, class, points } => frame.curve(name.as_deref(), class, points),
            Self::Fill { class, outline } => {
                html! { path class=(class) d={ (frame.path(outline)) "z" } {} }
            }
            Self::Arrow { class, from, to } => frame.arrow(class, *from, *to),
            Self::Marker { style, at } => {
                let PlotPosition { left, top } = frame.place(*at);
                style.marker(left, top)
            }
            Self::OpenMarker { at } => {
                let PlotPosition { left, top } = frame.place(*at);
                html! { use class="mark open" href={ "#shape" (OPEN_SHAPE) } x=(left) y=(top) {} }
            }
            Self::Dot { class, at, radius } => {
                let PlotPosition { left, top } = frame.place(*at);
                html! { circle class=(class) cx=(left) cy=(top) r=(radius) {} }
            }
            Self::Cell { class, x, y } => frame.cell(class, x, y),
            Self::Bar { class, x, y, thickness } => frame.bar(class, x, *y, *thickness),
            Self::VerticalStroke { class, at, height } => {
                let (PlotPosition { left, top }, half) = (frame.place(*at), height / 2.0);
                html! {
                    rect class=(class) x=(left) y=(top) width="2" height=(height)
                        transform={ "translate(-1 -" (half) ")" } {}
                }
            }
            Self::Text { class, at, position, text } => frame.text(class, *at, *position, text),
        }
    }
}

/// The head of an arrow as three corners, in pixels: `to_pixels` places a point; none without a direction.
pub(crate) fn arrow_head(from: Point, to: Point, to_pixels: impl Fn(Point) -> Point) -> Option<[Point; 3]> {
    const LENGTH: f64 = 8.0;
    const HALF_WIDTH: f64 = 3.2;
    let ((x0, y0), (x1, y1)) = (to_pixels(from), to_pixels(to));
    let length = libm::hypot(x1 - x0, y1 - y0);
    if length == 0.0 {
        return None;
    }
    let (dx, dy) = ((x1 - x0) / length, (y1 - y0) / length);
    let corner = |along: f64, aside: f64| (x1 - along * dx - aside * dy, y1 - along * dy + aside * dx);
    Some([corner(-LENGTH / 2.0, 0.0), corner(LENGTH / 2.0, HALF_WIDTH), corner(LENGTH / 2.0, -HALF_WIDTH)])
}

/// The axes between which elements are placed.
struct ElementFrame<'a> {
    x: &'a Axis,
    y: &'a Axis,
}

impl ElementFrame<'_> {
    fn curve(&self, name: Option<&str>, class: &str, points: &[Point]) -> Markup {
        let path = self.path(points);
        // A line through one point has no length.
        let single =
            if points.iter().filter(|point| point.1.is_finite()).count() == 1 { "single " } else { "" };
        html! {
            @if !path.is_empty() { path class={ "curve " (single) (class) } data-name=[name] d=(path) {} }
        }
    }

    fn arrow(&self, class: &str, from: Point, to: Point) -> Markup {
        let pixels =
            |(x, y): Point| (self.x.scale.fraction(x) * PLANE.0, (1.0 - self.y.scale.fraction(y)) * PLANE.1);
        let on_grid = |(x, y): Point| {
            format!("{} {}", libm::round(x / PLANE.0 * GRID.0), libm::round(y / PLANE.1 * GRID.1))
        };
        let Some(corners) = arrow_head(from, to, pixels) else { return html! {} };
        let [tip, left, right] = corners.map(on_grid);
        html! { path class=(class) d={ "M" (tip) "L" (left) "L" (right) "z" } {} }
    }

    fn cell(&self, class: &str, x: &Range<f64>, y: &Range<f64>) -> Markup {
        let (from, to) = (self.place((x.start, y.end)), self.place((x.end, y.start)));
        let (width, height) = (Percent::between(from.left, to.left), Percent::between(from.top, to.top));
        html! {
            rect class={ "cell " (class) } x=(from.left) y=(from.top) width=(width) height=(height) {}
        }
    }

    fn bar(&self, class: &str, x: &Range<f64>, y: f64, thickness: f64) -> Markup {
        let (from, to) = (self.place((x.start, y)), self.place((x.end, y)));
        let (width, half) = (Percent::between(from.left, to.left), thickness / 2.0);
        html! {
            rect class=(class) x=(from.left) y=(from.top) width=(width) height=(thickness)
                transform={ "translate(0 -" (half) ")" } {}
        }
    }

    fn text(&self, class: &str, at: Point, position: LabelPosition, text: &str) -> Markup {
        let (PlotPosition { left, top }, LabelPosition { dx, dy, is_left }) = (self.place(at), position);
        let anchor = if is_left { "end" } else { "start" };
        let [from, to] = leader_ends(dx, dy);
        html! {
            // A line leads from the point to a text that does not stand beside it.
            @if dy.abs() > NEAR {
                svg class={ "leader" @if class.contains("wide-only") { " wide-only" } } x=(left) y=(top) { line x1=(from.0) y1=(from.1) x2=(to.0) y2=(to.1) {} }
            }
            text class=(class) x=(left) y=(top) dx=(dx) dy=(dy) text-anchor=(anchor) { (text) }
        }
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
}

/// A place from the left and from the top.
#[derive(Clone, Copy)]
struct PlotPosition {
    left: Percent,
    top: Percent,
}

/// Per cent of a plot's width or height, with two decimals.
#[derive(Clone, Copy)]
pub(crate) struct Percent(f64);

impl Percent {
    pub(crate) fn of(share: f64) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Scale;

    #[test]
    fn a_curve_with_one_value_is_a_dot() {
        let axis = || Axis::numbered(Scale::linear(0.0, 1.0), "", 4);
        let class = |points: Vec<Point>| {
            let curve = Element::Curve { name: None, class: "line".into(), points };
            let markup = curve.markup(&axis(), &axis()).into_string();
            markup.split('"').nth(1).unwrap_or_default().to_owned()
        };
        assert_eq!(class(vec![(0.5, f64::NAN), (1.0, 0.5)]), "curve single line");
        assert_eq!(class(vec![(0.5, 0.2), (1.0, 0.5)]), "curve line");
    }
}
