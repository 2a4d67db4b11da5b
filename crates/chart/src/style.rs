//! How a series is recognised: by its colour, its dashes and the shape of its markers. Each of the three suffices for
//! eight series, for colour-blind readers and for grey paper. The style sheet defines the colours.

use maud::{Markup, PreEscaped, Render, html};

/// How many colours the style sheet has (classes `c0` to `c7`, the palette of Okabe and Ito).
const COLOURS: usize = 8;
/// How many dash patterns the style sheet has (classes `d0` to `d5`; `d0` is a solid line).
const DASHES: usize = 6;

/// The shapes of markers, each about 9 pixels wide around the origin.
const SHAPES: [&str; 8] = [
    r#"<circle r="4.5"/>"#,
    r#"<path d="M-4-4H4V4H-4z"/>"#,
    r#"<path d="M0-5.2L5 3.8H-5z"/>"#,
    r#"<path d="M0-5.6L5.6 0 0 5.6-5.6 0z"/>"#,
    r#"<path d="M0 5.2L5-3.8H-5z"/>"#,
    r#"<path d="M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6z"/>"#,
    r#"<path d="M-4.7-2.5-2.5-4.7 0-2.2 2.5-4.7 4.7-2.5 2.2 0 4.7 2.5 2.5 4.7 0 2.2-2.5 4.7-4.7 2.5-2.2 0z"/>"#,
    r#"<path d="M0-5.2L5-1.6 3.1 4.2H-3.1L-5-1.6z"/>"#,
];

/// The style of the series with this index: colour, dashes and marker.
#[derive(Clone, Copy)]
pub struct SeriesStyle(pub usize);

impl SeriesStyle {
    /// The class that sets the colour.
    pub fn colour(self) -> String {
        format!("c{}", self.0 % COLOURS)
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
        let shape = (self.0 + 2 * (self.0 / COLOURS)) % SHAPES.len();
        html! { use class={ "mark " (self.colour()) } href={ "#shape" (shape) } x=(x) y=(y) {} }
    }

    /// The marker alone, to stand before a name.
    pub fn badge(self) -> Markup {
        html! { svg.badge width="14" height="14" aria-hidden="true" { (self.marker(7, 7)) } }
    }
}

/// The shapes that markers refer to. A page includes them once.
pub fn definitions() -> Markup {
    html! {
        svg.definitions width="0" height="0" aria-hidden="true" {
            defs {
                @for (index, shape) in SHAPES.iter().enumerate() {
                    g id={ "shape" (index) } { (PreEscaped(shape)) }
                }
            }
        }
    }
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
    fn six_series_differ_in_their_dashes() {
        let distinct: BTreeSet<_> = (0..6).map(|index| SeriesStyle(index).dashes()).collect();
        assert_eq!(distinct.len(), 6);
    }
}
