//! One pair of axes as inline SVG. Curves live in a nested drawing that stretches with the page and zooms by its
//! `viewBox`; numbers and marks are placed in per cent, so they keep their size on a phone and on paper.
//! Colours come from style classes: light, dark and print are the style sheet's business.

use super::decimate::Point;
use super::markup::{Text, elide};
use super::scale::{Scale, tick_labels};
use super::theme::Look;

/// Curves are drawn on a whole-numbered grid this fine.
const GRID: (f64, f64) = (20_000.0, 4_000.0);
/// How large a plot of a plane is drawn where there is room, in pixels; it keeps its proportions where there is not.
pub(crate) const PLANE: (f64, f64) = (690.0, 480.0);
/// Names on a vertical axis are cut to this many characters.
const NAME_LENGTH: usize = 14;

/// What is written beside one axis.
pub(crate) struct Axis {
    pub scale: Scale,
    /// Quantity and unit: `time, s`.
    pub title: String,
    /// Values with what is written at them; none leaves the axis bare.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// With about `count` round numbers.
    pub(crate) fn numbered(scale: Scale, title: impl Into<String>, count: usize) -> Self {
        let values = scale.ticks(count);
        let labels = tick_labels(&values);
        Self { scale, title: title.into(), ticks: values.into_iter().zip(labels).collect() }
    }

    /// With names at 0, 1, 2 ... from the top down.
    pub(crate) fn named<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let scale = Scale::linear(0.5 - names.len() as f64, 0.5);
        let ticks = names.enumerate().map(|(row, name)| (-(row as f64), elide(name, NAME_LENGTH))).collect();
        Self { scale, title: String::new(), ticks }
    }

    /// The same axis without its numbers, for a plot that stands above another one.
    pub(crate) fn silent(mut self) -> Self {
        self.ticks.iter_mut().for_each(|tick| tick.1.clear());
        self.title.clear();
        self
    }
}

/// A pair of axes with what is drawn between them.
pub(crate) struct Plot {
    x: Axis,
    y: Axis,
    height: u16,
    /// What a screen reader says.
    label: String,
    curves: String,
    marks: String,
    over_time: bool,
    plane: bool,
    colour: String,
}

impl Plot {
    pub(crate) fn new(label: impl Into<String>, x: Axis, y: Axis, height: u16) -> Self {
        let [curves, marks, colour] = [(); 3].map(|()| String::new());
        Self { x, y, height, label: label.into(), curves, marks, over_time: false, plane: false, colour }
    }

    /// Everything in it that has no colour of its own takes the run's.
    pub(crate) fn coloured(mut self, look: Look) -> Self {
        self.colour = format!(" {}", look.colour());
        self
    }

    /// The horizontal axis is time, which all such plots of the page share when one zooms.
    pub(crate) fn over_time(mut self) -> Self {
        self.over_time = true;
        self
    }

    /// Both axes are quantities, and a curve may pass a place more than once: the pointer reads the place itself. It has the
    /// proportions of [`PLANE`].
    pub(crate) fn plane(mut self) -> Self {
        self.plane = true;
        self
    }

    /// A curve; it breaks where a value is not a number. Its `name` is what the pointer reads out; nothing if it has none.
    pub(crate) fn curve(&mut self, name: &str, class: &str, points: &[Point]) {
        let path = self.path(points);
        let name = if name.is_empty() { String::new() } else { format!(r#" data-name="{}""#, Text(name)) };
        if !path.is_empty() {
            self.curves += &format!(r#"<path class="curve {class}"{name} d="{path}"/>"#);
        }
    }

    /// The area between a curve and the lower end of the axis.
    pub(crate) fn area(&mut self, class: &str, points: &[Point]) {
        let floor: Vec<Point> = points.iter().map(|&(x, _)| (x, self.y.scale.low)).collect();
        self.band(class, &floor, points);
    }

    /// The area between two curves over the same places; broken where one of them is.
    pub(crate) fn band(&mut self, class: &str, low: &[Point], high: &[Point]) {
        let both: Vec<(Point, Point)> = low.iter().copied().zip(high.iter().copied()).collect();
        let pieces = both.split(|(low, high)| !(low.1.is_finite() && high.1.is_finite()));
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let there = piece.iter().map(|(low, _)| *low);
            let back = piece.iter().rev().map(|(_, high)| *high);
            let outline = self.path(&there.chain(back).collect::<Vec<_>>());
            self.curves += &format!(r#"<path class="{class}" d="{outline}z"/>"#);
        }
    }

    /// A mark of the run's shape.
    pub(crate) fn mark(&mut self, look: Look, at: Point) {
        let (left, top) = self.place(at);
        self.marks += &look.mark(&format!(r#"x="{left}%" y="{top}%""#));
    }

    /// A dot of so many pixels.
    pub(crate) fn dot(&mut self, class: &str, at: Point, radius: f64) {
        let (left, top) = self.place(at);
        self.marks += &format!(r#"<circle class="{class}" cx="{left}%" cy="{top}%" r="{radius}"/>"#);
    }

    /// The head of an arrow at `to` that comes from `from`, drawn among the curves of a plane.
    pub(crate) fn arrow(&mut self, class: &str, from: Point, to: Point) {
        const LONG: f64 = 8.0;
        const HALF: f64 = 3.2;
        let seen =
            |(x, y): Point| (self.x.scale.fraction(x) * PLANE.0, (1.0 - self.y.scale.fraction(y)) * PLANE.1);
        let ((x0, y0), (x1, y1)) = (seen(from), seen(to));
        let length = libm::hypot(x1 - x0, y1 - y0);
        if length == 0.0 {
            return;
        }
        let (dx, dy) = ((x1 - x0) / length, (y1 - y0) / length);
        let corner = |along: f64, aside: f64| {
            let (x, y) = (x1 - along * dx - aside * dy, y1 - along * dy + aside * dx);
            format!("{} {}", libm::round(x / PLANE.0 * GRID.0), libm::round(y / PLANE.1 * GRID.1))
        };
        let (tip, left, right) =
            (corner(-LONG / 2.0, 0.0), corner(LONG / 2.0, HALF), corner(LONG / 2.0, -HALF));
        self.curves += &format!(r#"<path class="{class}" d="M{tip}L{left}L{right}z"/>"#);
    }

    /// A rectangle between two values on each axis.
    pub(crate) fn cell(&mut self, class: &str, (from, to): (f64, f64), (low, high): (f64, f64)) {
        let ((left, top), (right, bottom)) = (self.place((from, high)), self.place((to, low)));
        let (width, height) = (percent((right - left) / 100.0), percent((bottom - top) / 100.0));
        self.marks += &format!(
            r#"<rect class="cell {class}" x="{left}%" y="{top}%" width="{width}%" height="{height}%"/>"#
        );
    }

    /// A horizontal bar from `from` to `to` at the height of `at`, `thick` pixels thick.
    pub(crate) fn bar(&mut self, class: &str, (from, to): (f64, f64), at: f64, thick: f64) {
        let ((left, top), (right, _)) = (self.place((from, at)), self.place((to, at)));
        let (width, half) = (percent((right - left) / 100.0), thick / 2.0);
        self.marks += &format!(
            r#"<rect class="{class}" x="{left}%" y="{top}%" width="{width}%" height="{thick}" transform="translate(0 -{half})"/>"#
        );
    }

    /// A short upright stroke, `tall` pixels tall and two wide.
    pub(crate) fn stroke(&mut self, class: &str, at: Point, tall: f64) {
        let ((left, top), half) = (self.place(at), tall / 2.0);
        self.marks += &format!(
            r#"<rect class="{class}" x="{left}%" y="{top}%" width="2" height="{tall}" transform="translate(-1 -{half})"/>"#
        );
    }

    /// Words beside a place, shifted by pixels; to the left of it if `leftwards`.
    pub(crate) fn words(
        &mut self,
        class: &str,
        at: Point,
        (dx, dy): (f64, f64),
        leftwards: bool,
        words: &str,
    ) {
        let (left, top) = self.place(at);
        let anchor = if leftwards { "end" } else { "start" };
        self.marks += &format!(
            r#"<text class="{class}" x="{left}%" y="{top}%" dx="{dx}" dy="{dy}" text-anchor="{anchor}">{}</text>"#,
            Text(words)
        );
    }

    /// In per cent from the left and from the top.
    fn place(&self, (x, y): Point) -> (f64, f64) {
        (percent(self.x.scale.fraction(x)), percent(1.0 - self.y.scale.fraction(y)))
    }

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
            path += &match pen {
                None => format!("M{} {}l0 0", next.0, next.1),
                Some(last) => format!(" {} {}", next.0 - last.0, next.1 - last.1),
            };
            pen = Some(next);
        }
        path
    }

    /// The finished drawing.
    pub(crate) fn svg(&self) -> String {
        let (grid_x, grid_y) = GRID;
        format!(
            concat!(
                r#"<svg class="plot{time}{plane}{colour}" height="{height}" role="img" aria-label="{label}" tabindex="0" "#,
                r#"data-x="{x}" data-y="{y}">{axes}"#,
                r#"<svg class="curves" viewBox="0 0 {grid_x} {grid_y}" preserveAspectRatio="none">{curves}</svg>"#,
                r#"{marks}</svg>"#
            ),
            time = if self.over_time { " over-time" } else { "" },
            plane = if self.plane { " plane" } else { "" },
            colour = self.colour,
            height = if self.plane { PLANE.1 } else { f64::from(self.height) },
            label = Text(&self.label),
            x = self.x.scale.attribute(),
            y = self.y.scale.attribute(),
            axes = self.axes(),
            grid_x = grid_x,
            grid_y = grid_y,
            curves = self.curves,
            marks = self.marks,
        )
    }

    fn axes(&self) -> String {
        let mut axes = String::new();
        for (value, label) in &self.y.ticks {
            let top = percent(1.0 - self.y.scale.fraction(*value));
            axes += &format!(
                r#"<line class="grid" x2="100%" y1="{top}%" y2="{top}%"/><text class="tick-y" x="-8" y="{top}%">{}</text>"#,
                Text(label)
            );
        }
        axes += r#"<g class="ticks-x">"#;
        for (value, label) in &self.x.ticks {
            let left = percent(self.x.scale.fraction(*value));
            axes += &format!(
                r#"<line class="grid" x1="{left}%" x2="{left}%" y2="100%"/><text class="tick-x" x="{left}%" y="100%">{}</text>"#,
                Text(label)
            );
        }
        format!(r#"{axes}</g><text class="axis-title" x="100%" y="100%">{}</text>"#, Text(&self.x.title))
    }
}

/// Per cent with two decimals, all that a screen resolves.
fn percent(share: f64) -> f64 {
    libm::round(share * 10_000.0) / 100.0
}
