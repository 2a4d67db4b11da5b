//! The verdict on a measured value.

use super::expect::{Claimant, Expectation};
use super::reading::Reading;
use millpond_stats::{mean, standard_deviation};
use millpond_units::format::four_digits;
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict on one row, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Verdict")]
pub enum RowVerdict {
    /// The value is as expected: within the accepted bounds, or the order holds.
    Matches,
    /// A difference is expected for the documented reason, and the value is within the bounds of theory.
    Differs,
    /// The value is not the expected one: our error until shown otherwise.
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
    /// Whose statement the row checks.
    pub source: Claimant,
    /// Whether we reject the reading: the row is no claim of the paper.
    pub rejected: bool,
    /// The claims of the paper to which the row belongs.
    pub claims: Vec<String>,
    /// The paper's value, without unit: a number, a range, or the order and the row that it refers to.
    pub paper: Option<String>,
    /// The value measured in ns-2, without unit.
    pub ns2: Option<String>,
    /// The value of our own closed form or reference model, without unit.
    pub own: Option<String>,
    /// With an order: the mean of the other row's values.
    pub compared: Option<f64>,
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
    /// The accepted bounds; none with an order.
    pub accept: Option<String>,
    /// The bounds of theory, if it contradicts the paper.
    pub theory: Option<String>,
    /// The verdict.
    pub verdict: RowVerdict,
    /// The reason of the bounds for a match, of the difference, or why there is no explanation.
    pub reason: String,
}

impl RowVerdict {
    /// The verdict as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::Differs => "differs",
            Self::Unexplained => "UNEXPLAINED",
        }
    }
}

/// The values of a row, one per seed, or the reason why there is none.
pub type RowValues = Result<Vec<f64>, String>;

impl Expectation {
    /// The verdict on measured values, one per seed; `others` are those of the row that an order refers to, none if it
    /// compares a quotient with one.
    pub fn verdict(&self, values: &[f64], others: &[f64]) -> RowVerdict {
        let matches = self.matches(values, others);
        match self.theory {
            None if matches => RowVerdict::Matches,
            Some(theory) if !matches && theory.contains(mean_or_nan(values)) => RowVerdict::Differs,
            _ => RowVerdict::Unexplained,
        }
    }

    /// Whether the mean of the values is within the accepted bounds, or the order holds in every seed.
    fn matches(&self, values: &[f64], others: &[f64]) -> bool {
        let Some(order) = self.order() else {
            return self.accept.is_some_and(|accept| accept.contains(mean_or_nan(values)));
        };
        let ones = vec![1.0; values.len()];
        let others = if order.than.is_some() { others } else { &ones };
        let ordered = values.iter().zip(others).all(|(value, other)| order.holds(*value, *other));
        ordered && !values.is_empty() && values.len() == others.len()
    }

    /// The row with its verdict. `others` are the values of the row that an order refers to.
    pub fn judge(
        &self,
        case: &str,
        reading: &Reading,
        values: &RowValues,
        others: Option<&RowValues>,
    ) -> JudgedRow {
        let both = match (values, others) {
            (Err(fault), _) | (_, Some(Err(fault))) => Err(fault.clone()),
            (Ok(values), None) => Ok((values.as_slice(), &[][..])),
            (Ok(values), Some(Ok(others))) => Ok((values.as_slice(), others.as_slice())),
        };
        let (verdict, reason) = match both {
            Ok((values, others)) => {
                let verdict = self.verdict(values, others);
                (verdict, self.reason_of(verdict, self.matches(values, others)))
            }
            Err(fault) => (RowVerdict::Unexplained, fault),
        };
        let measured = values.as_deref().map(mean_or_nan).ok();
        let values = values.as_deref().unwrap_or_default();
        JudgedRow {
            what: self.what.get_ref().clone(),
            case: case.to_owned(),
            reading: reading.name.clone(),
            source: self.source(),
            rejected: reading.rejected,
            claims: self.claim.clone(),
            paper: self.paper.as_ref().map(ToString::to_string),
            ns2: self.ns2.map(|value| value.to_string()),
            own: self.own.map(|value| value.to_string()),
            compared: others.and_then(|others| others.as_deref().map(mean_or_nan).ok()),
            measured,
            spread: standard_deviation(values),
            extremes: extremes(values),
            seeds: values.len(),
            unit: self.unit.clone(),
            accept: self.accept.map(|accept| accept.to_string()),
            theory: self.theory.map(|theory| theory.to_string()),
            verdict,
            reason,
        }
    }

    fn reason_of(&self, verdict: RowVerdict, matches: bool) -> String {
        let accepted = match (self.accept, self.order()) {
            (Some(accept), _) => accept.to_string(),
            (None, order) => order.map_or_else(String::new, ToString::to_string),
        };
        match (verdict, self.theory) {
            (RowVerdict::Matches, _) => {
                self.because.clone().or_else(|| self.derivation.clone()).unwrap_or_default()
            }
            (RowVerdict::Differs, _) => self.reason_with_twin(),
            (RowVerdict::Unexplained, None) => format!("accepted: {accepted}"),
            (RowVerdict::Unexplained, Some(_)) if matches => {
                format!("matches ({accepted}), but a difference is expected")
            }
            (RowVerdict::Unexplained, Some(theory)) => {
                format!("within neither the accepted bounds ({accepted}) nor those of theory ({theory})")
            }
        }
    }
}

impl Expectation {
    /// The reason of a difference, followed by its twin or the proof that there is none.
    fn reason_with_twin(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or_default();
        let end = if reason.ends_with('.') { "" } else { "." };
        match (&self.twin, &self.no_twin) {
            (Some(twin), _) => format!("{reason}{end} The paper's value is the result in: {twin}"),
            (None, Some(proof)) => {
                format!("{reason}{end} No setting has the paper's value as its result: {proof}")
            }
            (None, None) => reason.to_owned(),
        }
    }
}

fn mean_or_nan(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { mean(values) }
}

/// The least and the greatest of several values.
fn extremes(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (values.len() > 1).then_some((least, greatest))
}

impl JudgedRow {
    /// The paper's value with its unit; of an order also the value that it refers to. The claim in words if the paper
    /// has no value; `-` if the row is no claim.
    pub fn paper_value(&self) -> String {
        match (&self.paper, self.claims.first(), self.compared) {
            (Some(order), _, Some(other)) => format!("{order}, {}", self.with_unit(four_digits(other))),
            (Some(value), _, None) => self.with_unit(value.clone()),
            (None, Some(claim), _) => claim.clone(),
            (None, None, _) => "-".to_owned(),
        }
    }

    /// The paper's value without its unit, and without the value that an order refers to; the claim in words if the paper has no
    /// value; empty if the row is no claim.
    pub fn paper_alone(&self) -> &str {
        self.paper.as_ref().or(self.claims.first()).map_or("", String::as_str)
    }

    /// The value measured in ns-2 or that of our own model, without its unit; none if there is none.
    pub fn other_alone(&self) -> Option<&str> {
        self.ns2.as_deref().or(self.own.as_deref())
    }

    /// The value measured in ns-2 or that of our own model, with its unit and its source; none if there is none.
    pub fn other_value(&self) -> Option<String> {
        let named = |source: &str, value: &String| format!("{source}: {}", self.with_unit(value.clone()));
        let ns2 = self.ns2.as_ref().map(|value| named("ns-2", value));
        ns2.or_else(|| self.own.as_ref().map(|value| named("own", value)))
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
        if self.unit.is_empty() { text } else { format!("{text} {}", self.unit) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(more: &str) -> Expectation {
        toml::from_str(&format!("what = 'x'\nsummary = 'fairness.jain'\n{more}")).unwrap()
    }

    fn row(more: &str) -> Expectation {
        parsed(&format!("paper = 1.0\naccept = [0.9, 1.1]\nbecause = 'print'\n{more}"))
    }

    fn judged(row: &Expectation, values: &RowValues, others: Option<&RowValues>) -> JudgedRow {
        row.judge("abc", &Reading::default(), values, others)
    }

    use RowVerdict::{Differs, Matches, Unexplained};

    #[test]
    fn a_value_within_the_accepted_bounds_matches() {
        let verdicts = [1.0, 0.9, 1.1, 0.55, f64::NAN, f64::INFINITY].map(|x| row("").verdict(&[x], &[]));
        assert_eq!(verdicts, [Matches, Matches, Matches, Unexplained, Unexplained, Unexplained]);
    }

    #[test]
    fn a_row_that_is_expected_to_differ_fails_if_it_matches() {
        let row = row("theory = [0.5, 0.6]\nreason = 'the sign is wrong'");
        let verdicts = [1.0, 0.9, 0.55, 0.7, f64::NAN].map(|x| row.verdict(&[x], &[]));
        assert_eq!(verdicts, [Unexplained, Unexplained, Differs, Unexplained, Unexplained]);
        let reason = judged(&row, &Ok(vec![1.0]), None).reason;
        assert_eq!(reason, "matches (0.9 to 1.1), but a difference is expected");
    }

    #[test]
    fn an_order_holds_if_it_holds_in_every_seed() {
        let order = "paper = { order = '<', than = 'abc' }";
        assert_eq!(parsed(order).verdict(&[1.0, 2.0], &[1.5, 2.5]), Matches);
        assert_eq!(parsed(order).verdict(&[1.0, 2.0], &[1.5, 1.9]), Unexplained);
        assert_eq!(parsed(order).verdict(&[], &[]), Unexplained);
        let opposite = parsed(&format!("{order}\ntheory = [1, 3]\nreason = 'too slow'"));
        assert_eq!(opposite.verdict(&[1.0, 2.0], &[1.5, 1.9]), Differs);
        assert_eq!(opposite.verdict(&[1.0, 2.0], &[1.5, 2.5]), Unexplained);
        let fast = judged(&opposite, &Ok(vec![1.0]), Some(&Ok(vec![1.5])));
        assert_eq!(fast.reason, "matches (< abc), but a difference is expected");
        let quotient = parsed("versus = 'abc'\npaper = { order = '<', by = 2 }");
        assert_eq!(
            [0.4, 0.6, f64::NAN].map(|x| quotient.verdict(&[x], &[])),
            [Matches, Unexplained, Unexplained]
        );
        let judged = judged(&parsed(order), &Ok(vec![1.0]), Some(&Ok(vec![1.5])));
        assert_eq!((judged.paper_value(), judged.reason), ("< abc, 1.500".to_owned(), String::new()));
    }

    #[test]
    fn a_quantity_that_cannot_be_measured_is_unexplained() {
        let judged = judged(&row(""), &Err("no such flow".into()), None);
        assert_eq!((judged.verdict, judged.measured), (Unexplained, None));
        assert_eq!(judged.reason, "no such flow");
    }

    #[test]
    fn a_judged_row_has_mean_standard_deviation_and_extremes_over_its_seeds() {
        let two = judged(&row(""), &Ok(vec![0.9, 1.1]), None);
        assert!((two.measured.unwrap() - 1.0).abs() < 1e-12 && (two.spread - 0.1).abs() < 1e-12);
        assert_eq!(two.extremes, Some((0.9, 1.1)));
        assert_eq!(judged(&row(""), &Ok(vec![0.9]), None).extremes, None);
    }

    #[test]
    fn a_value_of_ns2_or_our_own_is_not_the_papers() {
        let own = parsed("own = 1.5\naccept = [1, 2]\nbecause = 'b'\nunit = 's'");
        let judged = judged(&own, &Ok(vec![1.5]), None);
        assert_eq!((judged.source, judged.paper_value()), (Claimant::Own, "-".to_owned()));
        assert_eq!(judged.other_value().as_deref(), Some("own: 1.5 s"));
        assert_eq!(parsed("ns2 = 1\naccept = [1, 2]\nbecause = 'b'").source(), Claimant::Ns2);
        assert_eq!(parsed("claim = 'fast'\naccept = [1, 2]\nbecause = 'b'").source(), Claimant::Paper);
    }

    #[test]
    fn rows_whose_verdict_could_hardly_fail_are_refused() {
        assert_eq!(row("").check(), Ok(()));
        for (text, fault) in [
            ("paper = 1\naccept = [2, 3]\nbecause = 'b'", "does not contain the expected value (1)"),
            (
                "paper = [1, 3]\naccept = [1, 2]\nbecause = 'b'",
                "does not contain the expected value (1 to 3)",
            ),
            ("ns2 = 1\naccept = [2, 3]\nbecause = 'b'", "does not contain the expected value (1)"),
            ("paper = 1\naccept = [0.8, 2]\nbecause = 'b'", "give derivation"),
            ("paper = 1\naccept = [1, inf]\nbecause = 'b'", "give derivation"),
            ("paper = 1\naccept = [0, 1]\nbecause = 'b'", "give derivation"),
            ("paper = 1\naccept = [1, 2]", "because is missing"),
            ("paper = 1\naccept = [1, 2]\nbecause = 'b'\nderivation = 'd'", "in its place"),
            ("paper = 1\nbecause = 'b'", "accept = [least, greatest] is missing"),
            ("paper = 1\naccept = [2, 1]\nbecause = 'b'", "a range is [least, greatest]"),
            ("paper = 1\nns2 = 1\naccept = [1, 2]\nbecause = 'b'", "one of paper, ns2 and own"),
            ("claim = 'c'\nown = 1\naccept = [1, 2]\nbecause = 'b'", "a claim is the paper's"),
            ("paper = 1\naccept = [1, 2]\nbecause = 'b'\ntheory = [3, 4]", "belong together"),
            (
                "paper = 1\naccept = [1, 2]\nbecause = 'b'\ntheory = [2, 4]\nreason = 'r'",
                "have a common value",
            ),
            ("own = 1\naccept = [1, 2]\nbecause = 'b'\ntheory = [3, 4]\nreason = 'r'", "expected to differ"),
            ("paper = { order = '<', than = 'x' }\naccept = [1, 2]\nbecause = 'b'", "an order has no accept"),
            ("paper = { order = '<' }", "an order has than"),
        ] {
            let check = parsed(text).check();
            assert!(check.as_ref().is_err_and(|message| message.contains(fault)), "{text}: {check:?}");
        }
        assert_eq!(parsed("paper = 1\naccept = [0, 1]\nderivation = 'd'").check(), Ok(()));
        assert_eq!(parsed("paper = { order = '<', than = 'x' }").check(), Ok(()));
    }
}
