//! What a row's measured value says about the paper, and about us.

use super::expect::Expectation;
use millpond_stats::{mean, standard_deviation};
use millpond_units::format::four_digits;
use serde::Serialize;

/// The verdict on one row, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The paper's claim comes out.
    Matches,
    /// It does not, for the documented reason.
    Differs,
    /// It does not, and nothing explains it: our error until shown otherwise.
    Unexplained,
}

/// A row after its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// What was measured, in words.
    pub what: String,
    /// Of which case.
    pub case: String,
    /// Under which reading.
    pub reading: String,
    /// What the paper says.
    pub paper: String,
    /// What we measure: the mean over the seeds; none if it could not be measured.
    pub measured: Option<f64>,
    /// Standard deviation over the seeds.
    pub spread: f64,
    /// The least and the greatest over the seeds, if there are several.
    pub extremes: Option<(f64, f64)>,
    /// How many seeds.
    pub seeds: usize,
    /// The unit of both.
    pub unit: String,
    /// What counts as the same.
    pub accept: String,
    /// What theory says instead.
    pub theory: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why: the bounds of a match, the reason of a difference, or what went wrong.
    pub reason: String,
}

impl Verdict {
    /// As printed.
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
        if self.accept.holds(measured) {
            Verdict::Matches
        } else if self.theory.is_some_and(|theory| theory.holds(measured)) {
            Verdict::Differs
        } else {
            Verdict::Unexplained
        }
    }

    /// The row with its verdict, from one value per seed or from what went wrong.
    pub fn judge(&self, case: &str, reading: &str, values: &Result<Vec<f64>, String>) -> Judged {
        let (measured, verdict, reason) = match values {
            Ok(values) => {
                let measured = if values.is_empty() { f64::NAN } else { mean(values) };
                let verdict = self.verdict(measured);
                (Some(measured), verdict, self.why(verdict))
            }
            Err(fault) => (None, Verdict::Unexplained, fault.clone()),
        };
        let values = values.as_deref().unwrap_or_default();
        Judged {
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

    fn why(&self, verdict: Verdict) -> String {
        match verdict {
            Verdict::Matches => self.because.clone(),
            Verdict::Differs => self.reason.clone().unwrap_or_default(),
            Verdict::Unexplained => match &self.theory {
                Some(theory) => {
                    format!("neither what the paper says ({}) nor theory ({theory})", self.accept)
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

impl Judged {
    /// What the paper says, with its unit if it is a number.
    pub fn says(&self) -> String {
        self.with_unit(self.paper.clone())
    }

    /// What we measure, with its unit, and its spread and its extremes over seeds.
    pub fn measures(&self) -> String {
        let Some(value) = self.measured else { return "-".to_owned() };
        let Some((least, greatest)) = self.extremes else { return self.with_unit(four_digits(value)) };
        // What rounding leaves of equal values is no spread.
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

    fn row(rest: &str) -> Expectation {
        let text =
            "what = 'x'\nsummary = 'fairness.jain'\npaper = 1.0\naccept = [0.9, 1.1]\nbecause = 'print'";
        toml::from_str(&format!("{text}\n{rest}")).unwrap()
    }

    #[test]
    fn a_value_matches_differs_as_derived_or_stays_unexplained() {
        let row = row("theory = [0.5, 0.6]\nreason = 'the sign is wrong'");
        let verdicts = [1.0, 0.9, 1.1, 0.55, 0.7, f64::NAN, f64::INFINITY].map(|x| row.verdict(x));
        use Verdict::{Differs, Matches, Unexplained};
        assert_eq!(verdicts, [Matches, Matches, Matches, Differs, Unexplained, Unexplained, Unexplained]);
    }

    #[test]
    fn what_cannot_be_measured_is_unexplained() {
        let judged = row("").judge("abc", "window", &Err("no such flow".into()));
        assert_eq!((judged.verdict, judged.measured), (Verdict::Unexplained, None));
        assert_eq!(judged.reason, "no such flow");
    }

    #[test]
    fn a_row_gives_the_mean_over_its_seeds_their_spread_and_their_extremes() {
        let judged = row("").judge("abc", "window", &Ok(vec![0.9, 1.1]));
        assert!((judged.measured.unwrap() - 1.0).abs() < 1e-12 && (judged.spread - 0.1).abs() < 1e-12);
        assert_eq!(judged.extremes, Some((0.9, 1.1)));
        assert_eq!(row("").judge("abc", "window", &Ok(vec![0.9])).extremes, None);
    }

    #[test]
    fn a_row_must_accept_what_its_paper_says() {
        assert!(row("").check().is_ok());
        let mut wrong = row("");
        wrong.accept = super::super::expect::Range(2.0, 3.0);
        assert!(wrong.check().is_err_and(|fault| fault.contains("does not hold")));
    }

    #[test]
    fn a_theory_without_a_reason_is_refused() {
        assert!(row("theory = [0.5, 0.6]").check().is_err());
    }
}
