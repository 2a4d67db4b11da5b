//! DejaVu Sans: widths of texts, and the outlines of their characters.

use super::drawing::Anchor;
use crate::decimate::Point;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// One command of an outline, in points from the start of the text on its baseline, upwards positive.
pub(super) enum OutlineStep {
    Move(Point),
    Line(Point),
    Curve(Point, Point, Point),
    Close,
}

/// None if the font cannot be read, which a test excludes.
fn face() -> Option<Face<'static>> {
    Face::parse(dejavu::sans::regular(), 0).ok()
}

/// The width of a text in points.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let Some(face) = face() else { return 0.0 };
    let scale = size / f64::from(face.units_per_em());
    glyphs(&face, text).map(|glyph| advance(&face, glyph)).sum::<f64>() * scale
}

/// How far the start of a text is to the left of its position.
pub(super) fn offset(text: &str, size: f64, anchor: Anchor) -> f64 {
    match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width(text, size) / 2.0,
        Anchor::End => width(text, size),
    }
}

/// The outlines of all characters of a text.
pub(super) fn outline(text: &str, size: f64) -> Vec<OutlineStep> {
    let Some(face) = face() else { return Vec::new() };
    let scale = size / f64::from(face.units_per_em());
    let mut outline = GlyphOutline { steps: Vec::new(), pen: (0.0, 0.0), left: 0.0, scale };
    for glyph in glyphs(&face, text) {
        face.outline_glyph(glyph, &mut outline);
        outline.left += advance(&face, glyph) * scale;
    }
    outline.steps
}

/// Characters that the font lacks are its box for missing characters.
fn glyphs(face: &Face<'_>, text: &str) -> impl Iterator<Item = GlyphId> {
    text.chars().map(|character| face.glyph_index(character).unwrap_or_default())
}

fn advance(face: &Face<'_>, glyph: GlyphId) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or_default())
}

struct GlyphOutline {
    steps: Vec<OutlineStep>,
    pen: Point,
    /// Where the current character begins.
    left: f64,
    scale: f64,
}

impl GlyphOutline {
    fn point(&self, x: f32, y: f32) -> Point {
        (self.left + f64::from(x) * self.scale, f64::from(y) * self.scale)
    }
}

impl OutlineBuilder for GlyphOutline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.pen = self.point(x, y);
        self.steps.push(OutlineStep::Move(self.pen));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.pen = self.point(x, y);
        self.steps.push(OutlineStep::Line(self.pen));
    }

    /// A quadratic curve is the cubic one whose control points are two thirds of the way to its own.
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, end) = (self.point(x1, y1), self.point(x, y));
        let toward = |from: Point| {
            (from.0 + 2.0 / 3.0 * (control.0 - from.0), from.1 + 2.0 / 3.0 * (control.1 - from.1))
        };
        self.steps.push(OutlineStep::Curve(toward(self.pen), toward(end), end));
        self.pen = end;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let end = self.point(x, y);
        self.steps.push(OutlineStep::Curve(self.point(x1, y1), self.point(x2, y2), end));
        self.pen = end;
    }

    fn close(&mut self) {
        self.steps.push(OutlineStep::Close);
    }
}
