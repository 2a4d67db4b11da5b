//! What is written beside an axis.

use crate::scale::{AxisSpacing, Scale, tick_labels};
use crate::text::elide;

/// Names on a vertical axis are cut to this many characters.
const NAME_LENGTH: usize = 14;

/// A scale with its title and its ticks.
#[derive(Clone)]
pub struct Axis {
    /// From values to positions.
    pub scale: Scale,
    /// Quantity and unit: `time, s`. It is written below a horizontal axis only.
    pub title: String,
    /// Values with the text at each of them.
    pub ticks: Vec<(f64, String)>,
    /// Whether the ticks are names of rows.
    pub is_named: bool,
}

impl Axis {
    /// An axis with about `count` round numbers.
    pub fn numbered(scale: Scale, title: impl Into<String>, count: usize) -> Self {
        let values = scale.ticks(count);
        let labels = tick_labels(scale.spacing, &values);
        let ticks = values.into_iter().zip(labels).collect();
        Self { scale, title: title.into(), ticks, is_named: false }
    }

    /// The spacing of its numbers, for a reader; none for names of rows.
    pub(crate) fn spacing_text(&self) -> Option<&'static str> {
        let text = match self.scale.spacing {
            AxisSpacing::Linear => "linear scale",
            AxisSpacing::Log => "log scale",
        };
        (!self.is_named).then_some(text)
    }

    /// An axis with names at 0, -1, -2 ..., the first at the top.
    pub fn named<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let scale = Scale::linear(0.5 - names.len() as f64, 0.5);
        let ticks = names.enumerate().map(|(row, name)| (-(row as f64), elide(name, NAME_LENGTH))).collect();
        Self { scale, title: String::new(), ticks, is_named: true }
    }

    /// The same axis without text, for a plot that stands above another one with the same axis.
    #[must_use]
    pub fn without_text(mut self) -> Self {
        self.ticks.iter_mut().for_each(|tick| tick.1.clear());
        self.title.clear();
        self
    }
}
