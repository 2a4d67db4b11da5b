//! A drawing as an SVG file.

use super::drawing::{Anchor, Drawing, DrawnShape, Ink, Rgb};
use crate::decimate::Point;
use maud::{Markup, html};
use std::fmt::Write;

pub(super) fn write(drawing: &Drawing) -> String {
    let [width, height] = [drawing.width, drawing.height].map(number);
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width={ (width) "pt" } height={ (height) "pt" }
            viewBox={ "0 0 " (width) " " (height) } font-family="DejaVu Sans, Verdana, sans-serif" {
            @for shape in &drawing.shapes { (self::shape(shape)) }
        }
    };
    markup.into_string() + "\n"
}

fn shape(shape: &DrawnShape) -> Markup {
    match shape {
        DrawnShape::Path { pieces, closed, ink } => path(pieces, *closed, ink),
        DrawnShape::Text { at: (x, y), text, size, anchor, upwards, colour } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (number(*x), number(*y));
            let turned = upwards.then(|| format!("rotate(-90 {x} {y})"));
            html! {
                text x=(x) y=(y) font-size=(size) text-anchor=(anchor) fill=(hex(*colour)) transform=[turned] {
                    (text)
                }
            }
        }
    }
}

fn path(pieces: &[Vec<Point>], closed: bool, Ink { fill, stroke }: &Ink) -> Markup {
    let opacity = |opacity: f64| (opacity < 1.0).then_some(opacity);
    let dashes = stroke.as_ref().filter(|stroke| !stroke.dashes.is_empty());
    let dashes = dashes.map(|stroke| stroke.dashes.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    let (fill_colour, fill_opacity) =
        fill.as_ref().map_or(("none".into(), None), |fill| (hex(fill.colour), opacity(fill.opacity)));
    html! {
        path d=(commands(pieces, closed)) fill=(fill_colour) fill-opacity=[fill_opacity]
            stroke=[stroke.as_ref().map(|stroke| hex(stroke.colour))]
            stroke-width=[stroke.as_ref().map(|stroke| stroke.width)]
            stroke-opacity=[stroke.as_ref().and_then(|stroke| opacity(stroke.opacity))]
            stroke-dasharray=[dashes] stroke-linejoin=[stroke.as_ref().map(|_| "round")] {}
    }
}

fn commands(pieces: &[Vec<Point>], closed: bool) -> String {
    let mut text = String::new();
    for piece in pieces {
        for (index, (x, y)) in piece.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            // Writing to a String cannot fail.
            let _ = write!(text, "{command}{} {}", number(*x), number(*y));
        }
        if closed {
            text.push('Z');
        }
    }
    text
}

/// With two decimals, a hundredth of a point.
fn number(value: f64) -> f64 {
    libm::round(value * 100.0) / 100.0
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
