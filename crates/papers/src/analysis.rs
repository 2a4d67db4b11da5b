//! The analyses that a recipe can use instead of a run, and their results.

use millpond_diagnosis::agreement::Agreement;
use millpond_fluid::stability::Locus;
use serde::Deserialize;
use serde_json::Value;

/// The analysis of a case's scenario that replaces its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analysis {
    /// Its equilibrium.
    Equilibrium,
    /// The stability of its equilibrium, and the critical value of the parameter [`super::Case::vary`].
    Stability,
    /// Its Nyquist plot, with the options [`super::Case::nyquist`].
    Nyquist,
    /// The agreement of equilibrium, fluid run and packet run, in the keys of `millpond_diagnosis::agreement::agreement_json`.
    Worlds,
}

/// The result of an analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnalysisResult {
    /// The tree of values that rows refer to by paths.
    pub value: Value,
    /// Nyquist loci, for charts.
    pub loci: Vec<Locus>,
    /// The agreement of worlds, for the report.
    pub agreement: Option<Agreement>,
}

impl From<Value> for AnalysisResult {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}
