//! A drawing as a PDF file of one page. Texts are outlines, so no font is needed to show or to print it.

use super::drawing::{Drawing, DrawnShape, Ink, Rgb};
use super::font::{self, OutlineStep};
use crate::decimate::Point;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref};
use std::collections::BTreeSet;

/// The compression that is usual for PDF files.
const LEVEL: u8 = 6;

pub(super) fn write(drawing: &Drawing) -> Vec<u8> {
    let [catalog, pages, page, content] = [1, 2, 3, 4].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut sheet = pdf.page(page);
    sheet.media_box(Rect::new(0.0, 0.0, drawing.width as f32, drawing.height as f32));
    sheet.parent(pages).contents(content);
    let mut resources = sheet.resources();
    let mut states = resources.ext_g_states();
    for opacity in opacities(drawing) {
        let alpha = f32::from(opacity) / 100.0;
        let mut state = states
            .insert(Name(state_name(opacity).as_bytes()))
            .start::<pdf_writer::writers::ExtGraphicsState<'_>>();
        state.stroking_alpha(alpha).non_stroking_alpha(alpha);
    }
    states.finish();
    resources.finish();
    sheet.finish();
    let compressed = compress_to_vec_zlib(&Page { height: drawing.height }.content(drawing), LEVEL);
    pdf.stream(content, &compressed).filter(Filter::FlateDecode);
    pdf.finish()
}

/// All opacities that occur, in per cent.
fn opacities(drawing: &Drawing) -> BTreeSet<u8> {
    let of = |shape: &DrawnShape| match shape {
        DrawnShape::Path { ink: Ink { fill, stroke }, .. } => {
            [fill.as_ref().map(|fill| fill.opacity), stroke.as_ref().map(|stroke| stroke.opacity)]
        }
        DrawnShape::Text { .. } => [None, None],
    };
    let all = drawing.shapes.iter().flat_map(of).flatten();
    all.map(percent).chain([100]).collect()
}

fn percent(opacity: f64) -> u8 {
    libm::round(opacity * 100.0) as u8
}

fn state_name(percent: u8) -> String {
    format!("A{percent}")
}

/// The page, whose origin is at the lower left corner.
struct Page {
    height: f64,
}

impl Page {
    fn content(&self, drawing: &Drawing) -> Vec<u8> {
        let mut content = Content::new();
        content.set_line_join(LineJoinStyle::RoundJoin);
        for shape in &drawing.shapes {
            match shape {
                DrawnShape::Path { pieces, closed, ink } => self.path(&mut content, pieces, *closed, ink),
                DrawnShape::Text { at, text, size, anchor, upwards, colour } => {
                    let start = font::offset(text, *size, *anchor);
                    let steps = font::outline(text, *size);
                    self.text(&mut content, *at, start, *upwards, *colour, &steps);
                }
            }
        }
        content.finish().into_vec()
    }

    fn point(&self, (x, y): Point) -> (f32, f32) {
        (x as f32, (self.height - y) as f32)
    }

    /// Fills, then strokes: they may have different opacities.
    fn path(&self, content: &mut Content, pieces: &[Vec<Point>], closed: bool, Ink { fill, stroke }: &Ink) {
        if let Some(fill) = fill {
            let [red, green, blue] = fill.colour.map(share);
            content.set_parameters(Name(state_name(percent(fill.opacity)).as_bytes()));
            content.set_fill_rgb(red, green, blue);
            self.trace(content, pieces, closed);
            content.fill_nonzero();
        }
        if let Some(stroke) = stroke {
            let [red, green, blue] = stroke.colour.map(share);
            content.set_parameters(Name(state_name(percent(stroke.opacity)).as_bytes()));
            content.set_stroke_rgb(red, green, blue).set_line_width(stroke.width as f32);
            content.set_dash_pattern(stroke.dashes.iter().map(|length| *length as f32), 0.0);
            self.trace(content, pieces, closed);
            content.stroke();
        }
    }

    fn trace(&self, content: &mut Content, pieces: &[Vec<Point>], closed: bool) {
        for piece in pieces {
            for (index, at) in piece.iter().enumerate() {
                let (x, y) = self.point(*at);
                if index == 0 {
                    content.move_to(x, y)
                } else {
                    content.line_to(x, y)
                };
            }
            if closed {
                content.close_path();
            }
        }
    }

    fn text(
        &self,
        content: &mut Content,
        at: Point,
        start: f64,
        upwards: bool,
        colour: Rgb,
        steps: &[OutlineStep],
    ) {
        let (x0, y0) = self.point(at);
        let place = |(x, y): Point| {
            let (along, above) = ((x - start) as f32, y as f32);
            if upwards { (x0 - above, y0 + along) } else { (x0 + along, y0 + above) }
        };
        let [red, green, blue] = colour.map(share);
        content.set_parameters(Name(state_name(100).as_bytes()));
        content.set_fill_rgb(red, green, blue);
        for step in steps {
            match step {
                OutlineStep::Move(to) => {
                    let (x, y) = place(*to);
                    content.move_to(x, y);
                }
                OutlineStep::Line(to) => {
                    let (x, y) = place(*to);
                    content.line_to(x, y);
                }
                OutlineStep::Curve(one, other, to) => {
                    let [(x1, y1), (x2, y2), (x, y)] = [*one, *other, *to].map(place);
                    content.cubic_to(x1, y1, x2, y2, x, y);
                }
                OutlineStep::Close => {
                    content.close_path();
                }
            }
        }
        content.fill_nonzero();
    }
}

fn share(component: u8) -> f32 {
    f32::from(component) / 255.0
}
