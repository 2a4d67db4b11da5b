//! Recipes: the figures, tables and theorems of papers as scenarios, with the paper's values and the accepted bounds.
//!
//! ```text
//!   papers/<paper>/paper.toml ---> Paper, its readings
//!   papers/<paper>/<fig>.toml ---> Recipe: scenario x cases, rows
//!                                       |  trials: case x reading x seed
//!                                       v
//!       cached on disk <-- Run, or AnalysisResult --> measure: one number per row and seed
//!                                                        |
//!                                 expected value, bounds -+-> verdict: matches | differs, with the reason | unexplained
//!                                                                              |
//!                                            verdicts of a claim's rows --> claim: holds | does not hold | unexplained
//! ```
//!
//! With [`CheckOptions::draw`], a checked recipe has what pictures are drawn of: its figures, measured rows and runs.

mod analysis;
mod analyze;
mod charted;
mod check;
mod claims;
mod drawn;
#[cfg(test)]
mod evidence_tests;
mod execute;
mod expect;
mod figure;
mod form;
mod headline;
mod measure;
pub mod names;
mod nyquist;
mod paper;
mod reading;
mod readings;
mod recipe;
mod stage;
mod time_or_step;
mod trial;
mod twin;
mod unknown_name;
mod value;
mod verdict;

pub use analysis::{Analysis, AnalysisResult};
pub use charted::{ChartedRun, MeasuredRow};
pub use check::{
    CheckedRecipe, Measurement, check, finish_all, measure_all, measure_rows, require_traces, trial_count,
};
pub use claims::JudgedClaim;
pub use execute::{CheckOptions, TrialResult, execute};
pub use expect::{Claimant, Combine, Deviation, EntityPattern, Expectation, Statistic};
pub use figure::{FigurePanel, FigureX, NumberIn, RecipeFigure, RecipeFigureKind};
pub use form::{COLUMNS, ROWS};
pub use headline::{CheckedPapers, ClaimCounts, Headline, RowCounts};
pub use measure::{measure, summary_value};
pub use nyquist::NyquistOptions;
pub use paper::{Library, Paper, PaperKind, SelectedRecipe, recipe_text, texts_in, texts_of};
pub use reading::Reading;
pub use readings::{Effect, ReadingCell, ReadingsPlan, RecipeReadings, RowReadings, own_reading};
pub use recipe::{Case, Extent, Recipe};
pub use stage::Stage;
pub use time_or_step::TimeOrStep;
pub use trial::{Trial, trials};
pub use twin::Twin;
pub use unknown_name::unknown;
pub use value::{AcceptedRange, Order, PaperValue, Relation, StatedValue};
pub use verdict::{JudgedRow, RowValues, RowVerdict};

use std::fmt;

/// Why recipes could not be checked.
#[derive(Debug)]
pub enum CheckError {
    /// A run has no results.
    Run(millpond_lab::Error),
    /// A recipe is wrong.
    Recipe(RecipeError),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Recipe(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<millpond_lab::Error> for CheckError {
    fn from(error: millpond_lab::Error) -> Self {
        Self::Run(error)
    }
}

impl From<RecipeError> for CheckError {
    fn from(error: RecipeError) -> Self {
        Self::Recipe(error)
    }
}

/// An error in the text of a recipe, or an unknown recipe name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeError {
    /// The file or the name.
    pub place: String,
    /// What is wrong; for a file, with its line.
    pub message: String,
}

impl RecipeError {
    /// An error at `place`, which is a file or a name.
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
