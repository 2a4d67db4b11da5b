//! Recipes: a paper's figures, tables and theorems as scenarios, with what the paper says and what we accept.
//!
//! ```text
//!   papers/<paper>/paper.toml ---> Paper, its readings
//!   papers/<paper>/<fig>.toml ---> Recipe: scenario x cases, rows
//!                                       |  cells: case x reading x seed
//!                                       v
//!           kept on disk <-- Run, or answer --> measure: one number per row and seed
//!                                                  |
//!                          paper: number or words -+-> verdict: matches | differs, with the reason | unexplained
//! ```

mod analysis;
mod analyze;
mod check;
mod execute;
mod expect;
mod form;
mod measure;
mod nyquist;
#[cfg(test)]
mod page_tests;
mod paper;
mod recipe;
mod recurrence;
mod stage;
mod time_or_step;
mod trial;
mod unknown_name;
mod verdict;

pub use analysis::{Analysis, Answer};
pub use check::{Checked, check, runs};
pub use execute::{Ended, Settings};
pub use expect::{Combine, Deviation, Entity, Expectation, Range, Says, Statistic};
pub use measure::measure;
pub use nyquist::Plot;
pub use paper::{Chosen, Library, Paper, Reading};
pub use recipe::{Case, Extent, Recipe};
pub use recurrence::Recurrence;
pub use stage::Stage;
pub use time_or_step::Instant;
pub use trial::{Cell, cells};
pub use verdict::{Judged, Verdict};

use std::fmt;

/// A recipe that cannot be read, or a name that no recipe has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeError {
    /// The file or the name.
    pub place: String,
    /// What is wrong; for a file, with its line.
    pub message: String,
}

impl RecipeError {
    /// At this place, this is wrong.
    pub fn new(place: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { place: place.to_string(), message: message.into() }
    }
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for RecipeError {}
