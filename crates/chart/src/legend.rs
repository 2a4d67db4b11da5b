//! The legend of a plot: a piece of each line or area beside its name.

use crate::style::{CurveStyle, SeriesStyle};
use crate::text::elide;
use maud::{Markup, Render, html};

/// Names of curves in legends are cut to this many characters.
const NAME_LENGTH: usize = 24;

/// What stands before a name.
pub(crate) enum LegendSample {
    /// Nothing.
    None,
    /// Pieces of line with these style classes, each drawn over the one before.
    Lines(Vec<String>),
    /// A filled block.
    Block(String),
    /// A piece of line with its marker.
    Series(SeriesStyle),
    /// A marker without a line.
    Marker(SeriesStyle),
    /// A dot.
    Dot(String),
}

pub(crate) struct LegendEntry {
    pub(crate) sample: LegendSample,
    pub(crate) name: String,
    /// The colour of what has no colour of its own.
    pub(crate) colour: Option<SeriesStyle>,
}

/// The entries of a legend, in the order in which they are read.
#[derive(Default)]
pub struct Legend {
    pub(crate) entries: Vec<LegendEntry>,
}

impl Legend {
    /// Without entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Without entries if the condition is false.
    #[must_use]
    pub fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::default() }
    }

    /// Adds a curve with this style class.
    #[must_use]
    pub fn line(self, class: &str, name: &str) -> Self {
        self.lines(&[class], name)
    }

    /// Adds a curve that is drawn several times, with these style classes.
    #[must_use]
    pub fn lines(self, classes: &[&str], name: &str) -> Self {
        let classes = classes.iter().map(|class| (*class).to_owned()).collect();
        self.entry(LegendSample::Lines(classes), elide(name, NAME_LENGTH))
    }

    /// Adds an area with this style class; an empty class is that of [`crate::Plot::area`].
    #[must_use]
    pub fn area(self, class: &str, name: &str) -> Self {
        self.entry(LegendSample::Block(class.into()), name.into())
    }

    /// Adds a series: its line with its marker.
    #[must_use]
    pub fn series(self, style: SeriesStyle, name: &str) -> Self {
        self.entry(LegendSample::Series(style), name.into())
    }

    /// Adds a series, or a curve in a tone.
    #[must_use]
    pub fn curve(self, style: &CurveStyle, name: &str) -> Self {
        if style.is_tone() { self.line(&style.line(), name) } else { self.series(style.series, name) }
    }

    /// Adds the marker of a series.
    #[must_use]
    pub fn marker(self, style: SeriesStyle, name: &str) -> Self {
        self.entry(LegendSample::Marker(style), name.into())
    }

    /// Adds a dot with this style class.
    #[must_use]
    pub fn dot(self, class: &str, name: &str) -> Self {
        self.entry(LegendSample::Dot(class.into()), name.into())
    }

    /// Adds a text without a sample.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.entry(LegendSample::None, text.into())
    }

    /// Adds the entries of another legend.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self
    }

    /// Sets the colour of all entries that have none yet.
    #[must_use]
    pub fn coloured(mut self, style: SeriesStyle) -> Self {
        self.entries.iter_mut().for_each(|entry| entry.colour = entry.colour.or(Some(style)));
        self
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn entry(mut self, sample: LegendSample, name: String) -> Self {
        self.entries.push(LegendEntry { sample, name, colour: None });
        self
    }
}

impl Render for Legend {
    fn render(&self) -> Markup {
        html! { @for entry in &self.entries { (entry) } }
    }
}

impl Render for LegendEntry {
    fn render(&self) -> Markup {
        let colour = self.colour.map(SeriesStyle::colour);
        html! {
            span class={ "key" @if let Some(colour) = &colour { " " (colour) } } { (self.sample) (self.name) }
        }
    }
}

impl Render for LegendSample {
    fn render(&self) -> Markup {
        match self {
            Self::None => html! {},
            Self::Lines(classes) => html! {
                svg.swatch width="22" height="10" aria-hidden="true" {
                    @for (index, class) in classes.iter().enumerate() {
                        path class=(class) d={ "M" (1 + index) " 5H" (21 - index) } {}
                    }
                }
            },
            Self::Block(class) => html! { i class={ "block " (class) } {} },
            Self::Series(style) => html! {
                svg class={ (style.colour()) " swatch" } width="34" height="12" aria-hidden="true" {
                    path class={ (style.dashes()) " line" } d="M1 6H33" {}
                    (style.marker(17, 6))
                }
            },
            Self::Marker(style) => html! {
                svg.swatch width="12" height="10" aria-hidden="true" { (style.marker(6, 5)) }
            },
            Self::Dot(class) => html! {
                svg width="10" height="10" aria-hidden="true" { circle class=(class) cx="5" cy="5" r="3" {} }
            },
        }
    }
}
