//! How a series is recognised: by its colour, its dashes and the shape of its markers. Each of the three suffices for
//! eight series, for colour-blind readers and for grey paper. The style sheet defines the colours.

use crate::decimate::Point;
use maud::{Markup, Render, html};

/// How many colours the style sheet has (classes `c0` to `c7`, the palette of Okabe and Ito).
pub(crate) const COLOURS: usize = 8;
/// How many dash patterns the style sheet has (classes `d0` to `d5`; `d0` is a solid line).
const DASHES: usize = 6;

/// The outlines of markers, each about 9 pixels wide around the origin; the first is a circle.
const SHAPES: [&[Point]; 8] = [
    &[],
    &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
    &[(0.0, -5.2), (5.0, 3.8), (-5.0, 3.8)],
    &[(0.0, -5.6), (5.6, 0.0), (0.0, 5.6), (-5.6, 0.0)],
    &[(0.0, 5.2), (5.0, -3.8), (-5.0, -3.8)],
    &[
        (-1.6, -5.0),
        (1.6, -5.0),
        (1.6, -1.6),
        (5.0, -1.6),
        (5.0, 1.6),
        (1.6, 1.6),
        (1.6, 5.0),
        (-1.6, 5.0),
        (-1.6, 1.6),
        (-5.0, 1.6),
        (-5.0, -1.6),
        (-1.6, -1.6),
    ],
    &[
        (-4.7, -2.5),
        (-2.5, -4.7),
        (0.0, -2.2),
        (2.5, -4.7),
        (4.7, -2.5),
        (2.2, 0.0),
        (4.7, 2.5),
        (2.5, 4.7),
        (0.0, 2.2),
        (-2.5, 4.7),
        (-4.7, 2.5),
        (-2.2, 0.0),
    ],
    &[(0.0, -5.2), (5.0, -1.6), (3.1, 4.2), (-3.1, 4.2), (-5.0, -1.6)],
];
/// The radius of the circle, in pixels.
const RADIUS: f64 = 4.5;
/// The shape of a value that was not measured.
pub(crate) const OPEN_SHAPE: usize = 3;

/// The outline of a shape, in pixels from its centre.
pub(crate) fn outline(shape: usize) -> Vec<Point> {
    match SHAPES[shape % SHAPES.len()] {
        [] => circle(RADIUS),
        corners => corners.to_vec(),
    }
}

/// A circle around the origin, as a polygon of many sides.
pub(crate) fn circle(radius: f64) -> Vec<Point> {
    const SIDES: u32 = 24;
    let corner = |side: u32| {
        let angle = f64::from(side) / f64::from(SIDES) * core::f64::consts::TAU;
        (radius * libm::cos(angle), radius * libm::sin(angle))
    };
    (0..SIDES).map(corner).collect()
}

/// The style of the series with this index: colour, dashes and marker.
#[derive(Clone, Copy)]
pub struct SeriesStyle(pub usize);

impl SeriesStyle {
    /// The class that sets the colour.
    pub fn colour(self) -> String {
        format!("c{}", self.colour_index())
    }

    /// The class that sets the dashes. A colour that is used a second time has other dashes.
    pub fn dashes(self) -> String {
        format!("d{}", (self.0 + self.0 / COLOURS) % DASHES)
    }

    /// The classes of a curve of this series.
    pub fn line(self) -> String {
        format!("line {} {}", self.colour(), self.dashes())
    }

    /// The marker with its centre at `x`, `y`, each a number of pixels or a percentage.
    pub fn marker(self, x: impl Render, y: impl Render) -> Markup {
        html! { use class={ "mark " (self.colour()) } href={ "#shape" (self.shape()) } x=(x) y=(y) {} }
    }

    /// The index of the colour in the palette.
    pub(crate) const fn colour_index(self) -> usize {
        self.0 % COLOURS
    }

    /// The index of the shape of the marker.
    pub(crate) const fn shape(self) -> usize {
        (self.0 + 2 * (self.0 / COLOURS)) % SHAPES.len()
    }

    /// The marker alone, to stand before a name.
    pub fn badge(self) -> Markup {
        html! { svg.badge width="14" height="14" aria-hidden="true" { (self.marker(7, 7)) } }
    }
}

/// How a curve is recognised: as a series, or by a tone of the colour of a series, which has its own dashes.
#[derive(Clone)]
pub struct CurveStyle {
    /// The series, or the one of whose colour it is a tone.
    pub series: SeriesStyle,
    /// The class of the tone after a space, from ` f0` to ` f11`; empty for the series itself.
    pub tone: String,
}

impl From<SeriesStyle> for CurveStyle {
    fn from(series: SeriesStyle) -> Self {
        Self { series, tone: String::new() }
    }
}

impl CurveStyle {
    /// The classes that set the colour.
    pub fn colour(&self) -> String {
        format!("{}{}", self.series.colour(), self.tone)
    }

    /// The classes of the curve.
    pub fn line(&self) -> String {
        if self.is_tone() { format!("line {}", self.colour()) } else { self.series.line() }
    }

    pub(crate) fn is_tone(&self) -> bool {
        !self.tone.is_empty()
    }
}

/// The shapes that markers refer to. A page includes them once.
pub fn definitions() -> Markup {
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" {
            defs {
                @for (index, corners) in SHAPES.iter().enumerate() {
                    g id={ "shape" (index) } {
                        @if corners.is_empty() { circle r=(RADIUS) {} } @else { polygon points=(list(corners)) {} }
                    }
                }
            }
        }
    }
}

/// Points as SVG lists them.
fn list(points: &[Point]) -> String {
    points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_of_two_dozen_series_share_colour_dashes_and_marker() {
        let style = |index| {
            let style = SeriesStyle(index);
            (style.colour(), style.dashes(), style.marker(0, 0).into_string())
        };
        let distinct: BTreeSet<_> = (0..24).map(style).collect();
        assert_eq!(distinct.len(), 24);
    }

    #[test]
    fn a_tone_has_the_classes_of_its_colour_and_no_dashes_of_the_series() {
        let series = CurveStyle::from(SeriesStyle(1));
        assert_eq!([series.colour(), series.line()], ["c1", "line c1 d1"]);
        let tone = CurveStyle { tone: " f4".into(), ..series };
        assert_eq!([tone.colour(), tone.line()], ["c1 f4", "line c1 f4"]);
    }

    #[test]
    fn six_series_differ_in_their_dashes() {
        let distinct: BTreeSet<_> = (0..6).map(|index| SeriesStyle(index).dashes()).collect();
        assert_eq!(distinct.len(), 6);
    }
}
