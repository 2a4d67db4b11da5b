//! How style classes look on paper.

use super::drawing::{BLACK, Fill, GREY, Ink, Rgb};
use crate::style::{COLOURS, SeriesStyle};

/// The palette of Okabe and Ito on white, as in the style sheet.
pub(super) const PALETTE: [Rgb; COLOURS] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xb8, 0x57, 0x8f],
    [0xd9, 0x8c, 0x00],
    [0x3a, 0x9f, 0xdc],
    [0x2b, 0x2b, 0x2b],
    [0x9a, 0x8c, 0x00],
];
const AREA: Rgb = [0xdf, 0xe3, 0xe2];
const AREA_EDGE: Rgb = [0x9b, 0xa4, 0xa3];

/// A colour on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaperColour {
    /// That of the series.
    Series,
    /// Red, green and blue.
    Fixed([u8; 3]),
}

impl PaperColour {
    /// Almost black: that of text.
    pub const INK: Self = Self::Fixed(BLACK);
    /// Grey.
    const SOFT: Self = Self::Fixed(GREY);
}

/// What a style class does on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PaperPaint {
    /// Draws a line of this width in points.
    Stroke(PaperColour, f64),
    /// Fills with this opacity.
    Fill(PaperColour, f64),
    /// Sets dashes and gaps in points.
    Dashes(&'static [f64]),
    /// Sets the opacity of the line.
    StrokeOpacity(f64),
    /// Sets the width of the line in points.
    Width(f64),
}

/// A style class with one of its effects on paper.
pub type PaperRule = (&'static str, PaperPaint);

/// The classes of the style sheet of charts.
const RULES: &[PaperRule] = {
    use PaperPaint::{Dashes, Fill, Stroke, StrokeOpacity, Width};
    &[
        ("line", Stroke(PaperColour::Series, 0.9)),
        ("edge", StrokeOpacity(0.35)),
        ("edge", Width(0.5)),
        ("hatch", Stroke(PaperColour::SOFT, 0.4)),
        ("confidence", Width(0.7)),
        ("area", Fill(PaperColour::Fixed(AREA), 1.0)),
        ("area-edge", Stroke(PaperColour::Fixed(AREA_EDGE), 0.6)),
        ("fill", Fill(PaperColour::Series, 0.18)),
        ("band", Fill(PaperColour::Series, 0.18)),
        ("guide", Stroke(PaperColour::SOFT, 0.6)),
        ("guide", Dashes(&[1.2, 1.8])),
        ("whisker", Fill(PaperColour::Series, 1.0)),
        ("box", Fill(PaperColour::Series, 0.35)),
        ("box", Stroke(PaperColour::Series, 0.8)),
        ("median", Fill(PaperColour::INK, 1.0)),
        ("arrow", Fill(PaperColour::Series, 1.0)),
        ("point", Fill(PaperColour::Series, 1.0)),
        ("d1", Dashes(&[5.0, 2.0])),
        ("d2", Dashes(&[1.3, 2.0])),
        ("d3", Dashes(&[5.0, 2.0, 1.3, 2.0])),
        ("d4", Dashes(&[9.0, 2.6])),
        ("d5", Dashes(&[2.6, 1.3])),
    ]
};

/// Dashes of tones. Tones of two series that have one colour on paper differ by them.
const TONE_DASHES: [&[f64]; 4] = [&[], &[4.0, 2.0], &[1.3, 2.0], &[5.0, 2.0, 1.3, 2.0]];

/// The ink of these classes; `colour` is that of what has no colour of its own.
pub(super) fn ink(classes: &str, colour: Option<SeriesStyle>, rules: &[PaperRule]) -> Ink {
    let base = colour.map(SeriesStyle::colour_index);
    let (rgb, tone_dashes) = colour_of(classes, base);
    let mut ink = Ink::default();
    for class in classes.split_whitespace() {
        for (_, paint) in RULES.iter().chain(rules).filter(|(name, _)| *name == class) {
            apply(&mut ink, *paint, rgb);
        }
    }
    if let (Some(stroke), Some(dashes)) = (&mut ink.stroke, tone_dashes) {
        stroke.dashes = dashes.to_vec();
    }
    ink
}

fn apply(ink: &mut Ink, paint: PaperPaint, series: Rgb) {
    let rgb = |colour| match colour {
        PaperColour::Series => series,
        PaperColour::Fixed(rgb) => rgb,
    };
    match (paint, &mut ink.stroke) {
        (PaperPaint::Stroke(colour, width), Some(stroke)) => {
            (stroke.colour, stroke.width) = (rgb(colour), width)
        }
        (PaperPaint::Stroke(colour, width), None) => ink.stroke = Ink::line(rgb(colour), width).stroke,
        (PaperPaint::Fill(colour, opacity), _) => ink.fill = Some(Fill { colour: rgb(colour), opacity }),
        (PaperPaint::Dashes(dashes), Some(stroke)) => stroke.dashes = dashes.to_vec(),
        (PaperPaint::StrokeOpacity(opacity), Some(stroke)) => stroke.opacity = opacity,
        (PaperPaint::Width(width), Some(stroke)) => stroke.width = width,
        (PaperPaint::Dashes(_) | PaperPaint::StrokeOpacity(_) | PaperPaint::Width(_), None) => {}
    }
}

/// The colour of the series, from the class of a colour (`c2`) or of a tone (`f4`). On paper, tones are the colours of
/// the palette from that of the plot on, and have dashes.
fn colour_of(classes: &str, base: Option<usize>) -> (Rgb, Option<&'static [f64]>) {
    let index = |class: &str, prefix: char| class.strip_prefix(prefix)?.parse::<usize>().ok();
    let own = classes.split_whitespace().find_map(|class| index(class, 'c')).or(base);
    let tone = classes.split_whitespace().find_map(|class| index(class, 'f'));
    match (own, tone) {
        (own, Some(tone)) => {
            let dashes = TONE_DASHES[(tone + tone / COLOURS) % TONE_DASHES.len()];
            (PALETTE[(own.unwrap_or_default() + tone) % COLOURS], Some(dashes))
        }
        (Some(own), None) => (PALETTE[own % COLOURS], None),
        (None, None) => (GREY, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colour and dashes of a tone.
    fn of(series: usize, tone: usize) -> (Rgb, Option<&'static [f64]>) {
        colour_of(&format!("line c{series} f{tone}"), None)
    }

    #[test]
    fn tones_of_one_series_and_the_first_ones_of_several_differ() {
        let of_one: Vec<_> = (0..12).map(|tone| of(0, tone)).collect();
        let of_several: Vec<_> =
            (0..COLOURS).flat_map(|series| (0..4).map(move |tone| of(series, tone))).collect();
        for all in [of_one, of_several] {
            let twice = all.iter().enumerate().find(|(index, one)| all[..*index].contains(one));
            assert_eq!(twice, None);
        }
    }
}
