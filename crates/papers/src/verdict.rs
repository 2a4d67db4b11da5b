//! The verdict on a measured value.

use super::expect::Expectation;
use millpond_stats::{mean, standard_deviation};
use millpond_units::format::four_digits;
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict on one row, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The value is within the accepted bounds.
    Matches,
    /// It is not, for the documented reason.
    Differs,
    /// It is not, and no reason is documented: our error until shown otherwise.
    Unexplained,
}

/// A row with its measured value and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedRow {
    /// The name of the quantity.
    pub what: String,
    /// The case.
    pub case: String,
    /// The reading.
    pub reading: String,
    /// The paper's value, without unit.
    pub paper: String,
    /// The mean of the measured values over the seeds; none if the quantity could not be measured.
    pub measured: Option<f64>,
    /// Standard deviation over the seeds; null if a value is not finite.
    #[schemars(with = "Option<f64>")]
    pub spread: f64,
    /// The least and the greatest value over the seeds, if there are several; null in place of one that is not finite.
    #[schemars(with = "Option<(Option<f64>, Option<f64>)>")]
    pub extremes: Option<(f64, f64)>,
    /// The number of seeds.
    pub seeds: usize,
    /// The unit of the paper's and the measured value.
    pub unit: String,
    /// The accepted bounds.
    pub accept: String,
    /// The bounds of theory, if it contradicts the paper.
    pub theory: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason of the bounds for a match, of the difference, or why there is no explanation.
    pub reason: String,
}

impl Verdict {
    /// The verdict as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::Differs => "differs",
            Self::Unexplained => "UNEXPLAINED",
        }
    }
}

impl Expectation {
    /// The verdict on a measured value.
    pub fn verdict(&self, measured: f64) -> Verdict {
        if self.accept.contains(measured) {
            Verdict::Matches
        } else if self.theory.is_some_and(|theory| theory.contains(measured)) {
            Verdict::Differs
        } else {
            Verdict::Unexplained
        }
    }

    /// The row with its verdict; `values` has one value per seed, or the reason why there is none.
    pub fn judge(&self, case: &str, reading: &str, values: &Result<Vec<f64>, String>) -> JudgedRow {
        let (measured, verdict, reason) = match values {
            Ok(values) => {
                let measured = if values.is_empty() { f64::NAN } else { mean(values) };
                let verdict = self.verdict(measured);
                (Some(measured), verdict, self.reason_of(verdict))
            }
            Err(fault) => (None, Verdict::Unexplained, fault.clone()),
        };
        let values = values.as_deref().unwrap_or_default();
        JudgedRow {
            what: self.what.clone(),
            case: case.to_owned(),
            reading: reading.to_owned(),
            paper: self.paper.to_string(),
            measured,
            spread: standard_deviation(values),
            extremes: extremes(values),
            seeds: values.len(),
            unit: self.unit.clone(),
            accept: self.accept.to_string(),
            theory: self.theory.map(|theory| theory.to_string()),
            verdict,
            reason,
        }
    }

    fn reason_of(&self, verdict: Verdict) -> String {
        match verdict {
            Verdict::Matches => self.because.clone(),
            Verdict::Differs => self.reason.clone().unwrap_or_default(),
            Verdict::Unexplained => match &self.theory {
                Some(theory) => {
                    format!(
                        "within neither the accepted bounds ({}) nor those of theory ({theory})",
                        self.accept
                    )
                }
                None => format!("accepted: {}", self.accept),
            },
        }
    }
}

/// The least and the greatest of several values.
fn extremes(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (values.len() > 1).then_some((least, greatest))
}

impl JudgedRow {
    /// The paper's value, with its unit if it is a number.
    pub fn paper_value(&self) -> String {
        self.with_unit(self.paper.clone())
    }

    /// The measured value with its unit, and with standard deviation and extremes over the seeds; `-` if there is none.
    pub fn measured_value(&self) -> String {
        let Some(value) = self.measured else { return "-".to_owned() };
        let Some((least, greatest)) = self.extremes else { return self.with_unit(four_digits(value)) };
        // The deviation of equal values is a rounding error.
        let spread = if self.spread < 1e-9 * value.abs() { 0.0 } else { self.spread };
        let over_seeds =
            format!(" +- {} ({} to {})", four_digits(spread), four_digits(least), four_digits(greatest));
        self.with_unit(four_digits(value)) + &over_seeds
    }

    fn with_unit(&self, text: String) -> String {
        let number = text.parse::<f64>().is_ok();
        if number && !self.unit.is_empty() { format!("{text} {}", self.unit) } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(more: &str) -> Expectation {
        let text =
            "what = 'x'\nsummary = 'fairness.jain'\npaper = 1.0\naccept = [0.9, 1.1]\nbecause = 'print'";
        toml::from_str(&format!("{text}\n{more}")).unwrap()
    }

    #[test]
    fn a_value_matches_or_differs_by_theory_or_is_unexplained() {
        let row = row("theory = [0.5, 0.6]\nreason = 'the sign is wrong'");
        let verdicts = [1.0, 0.9, 1.1, 0.55, 0.7, f64::NAN, f64::INFINITY].map(|x| row.verdict(x));
        use Verdict::{Differs, Matches, Unexplained};
        assert_eq!(verdicts, [Matches, Matches, Matches, Differs, Unexplained, Unexplained, Unexplained]);
    }

    #[test]
    fn a_quantity_that_cannot_be_measured_is_unexplained() {
        let judged = row("").judge("abc", "window", &Err("no such flow".into()));
        assert_eq!((judged.verdict, judged.measured), (Verdict::Unexplained, None));
        assert_eq!(judged.reason, "no such flow");
    }

    #[test]
    fn a_judged_row_has_mean_standard_deviation_and_extremes_over_its_seeds() {
        let judged = row("").judge("abc", "window", &Ok(vec![0.9, 1.1]));
        assert!((judged.measured.unwrap() - 1.0).abs() < 1e-12 && (judged.spread - 0.1).abs() < 1e-12);
        assert_eq!(judged.extremes, Some((0.9, 1.1)));
        assert_eq!(row("").judge("abc", "window", &Ok(vec![0.9])).extremes, None);
    }

    #[test]
    fn the_accepted_bounds_must_contain_the_value_of_the_paper() {
        assert!(row("").check().is_ok());
        let mut wrong = row("");
        wrong.accept = super::super::expect::Bounds(2.0, 3.0);
        assert!(wrong.check().is_err_and(|fault| fault.contains("does not contain")));
    }

    #[test]
    fn a_theory_without_a_reason_is_refused() {
        assert!(row("theory = [0.5, 0.6]").check().is_err());
    }
}
