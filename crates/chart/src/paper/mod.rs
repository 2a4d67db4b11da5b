//! Figures for a paper: fixed width, black axes on white, as SVG or PDF. They show what the figures of a page show.

mod drawing;
mod font;
mod ink;
mod layout;
mod pdf;
mod svg;

pub use ink::{PaperColour, PaperPaint, PaperRule};

use crate::figure::Figure;

/// The width of a figure, as journals of two columns set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaperWidth {
    /// 3.5 inches.
    OneColumn,
    /// 7.16 inches.
    TwoColumns,
}

impl PaperWidth {
    /// In points of 1/72 inch.
    const fn points(self) -> f64 {
        match self {
            Self::OneColumn => 252.0,
            Self::TwoColumns => 515.52,
        }
    }
}

impl Figure {
    /// The panels as an SVG file. `rules` say how style classes of the page look on paper; those of charts are known.
    #[must_use]
    pub fn to_svg(&self, width: PaperWidth, rules: &[PaperRule]) -> String {
        svg::write(&layout::drawing(self, width, rules))
    }

    /// The panels as a PDF file of one page, without fonts: texts are outlines.
    #[must_use]
    pub fn to_pdf(&self, width: PaperWidth, rules: &[PaperRule]) -> Vec<u8> {
        pdf::write(&layout::drawing(self, width, rules))
    }
}

#[cfg(test)]
mod tests;
