//! Shapes with their colours, in points of 1/72 inch from the upper left corner.

use crate::decimate::Point;

/// Red, green and blue from 0 to 255.
pub(super) type Rgb = [u8; 3];

pub(super) const BLACK: Rgb = [0x1d, 0x25, 0x28];
pub(super) const WHITE: Rgb = [0xff, 0xff, 0xff];
pub(super) const GREY: Rgb = [0x5c, 0x68, 0x6c];
pub(super) const LIGHT_GREY: Rgb = [0xe2, 0xe5, 0xe2];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) colour: Rgb,
    pub(super) width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub(super) dashes: Vec<f64>,
    pub(super) opacity: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fill {
    pub(super) colour: Rgb,
    pub(super) opacity: f64,
}

/// How a path is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ink {
    pub(super) fill: Option<Fill>,
    pub(super) stroke: Option<Stroke>,
}

impl Ink {
    pub(super) fn line(colour: Rgb, width: f64) -> Self {
        Self { fill: None, stroke: Some(Stroke { colour, width, dashes: Vec::new(), opacity: 1.0 }) }
    }
}

/// Which point of a text is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

pub(super) enum DrawnShape {
    /// Lines through points; closed if `closed`.
    Path { pieces: Vec<Vec<Point>>, closed: bool, ink: Ink },
    /// `at` is on the baseline.
    Text { at: Point, text: String, size: f64, anchor: Anchor, upwards: bool, colour: Rgb },
}

pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<DrawnShape>,
}
