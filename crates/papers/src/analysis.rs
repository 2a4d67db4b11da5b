//! The analyses that a recipe can ask for instead of a run, and their answers.

use millpond_fluid::stability::Locus;
use millpond_theory::agreement::Agreement;
use serde::Deserialize;
use serde_json::Value;

/// What is asked of a case's scenario instead of running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analysis {
    /// Where it settles.
    Equilibrium,
    /// Whether it stays there, and where stability ends when [`super::Case::vary`] is varied.
    Stability,
    /// Its Nyquist plot, read as [`super::Case::nyquist`] says.
    Nyquist,
    /// How far rest, fluid and packets agree: run in both worlds, in the keys of [`agreement_json`](millpond_theory::agreement::agreement_json).
    Worlds,
}

/// What an analysis says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// For rows to look into.
    pub value: Value,
    /// Curves to draw.
    pub loci: Vec<Locus>,
    /// A table to show.
    pub agreement: Option<Agreement>,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}
