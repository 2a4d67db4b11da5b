//! The twin of a row that is expected to differ: a row under whose setting the paper's value is the result.

use serde::Deserialize;
use std::fmt;

/// Identifies a twin by what it does not share with its row. One key at least is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The recipe; that of the row by default.
    pub recipe: Option<String>,
    /// The case; that of the row by default, or the first of another recipe.
    pub case: Option<String>,
    /// The reading; that of the row by default, or the first of another paper.
    pub reading: Option<String>,
    /// The name of the quantity; by default that of the row, or of any row with one of its claims.
    pub what: Option<String>,
}

impl fmt::Display for Twin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recipe = self.recipe.iter().map(ToString::to_string);
        let case = self.case.iter().map(|case| format!("case \"{case}\""));
        let reading = self.reading.iter().map(|reading| format!("reading \"{reading}\""));
        let what = self.what.iter().map(|what| format!("row \"{what}\""));
        let parts: Vec<_> = recipe.chain(case).chain(reading).chain(what).collect();
        f.write_str(&parts.join(", "))
    }
}
