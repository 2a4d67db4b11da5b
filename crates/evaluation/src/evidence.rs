//! The results of an evaluation: criteria with their evidence and verdicts.

use super::subject::SubjectKind;
use super::suite::{Criterion, Suite};
use millpond_papers::{AcceptedRange, Expectation, RowValues};
use millpond_results::Estimate;
use millpond_units::format::{at_most_five_digits, four_digits};
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict on a piece of evidence or on a criterion, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceVerdict {
    /// A simulation does not judge it.
    NotJudged,
    /// The 95 % confidence interval over the seeds is within the bounds.
    Met,
    /// The interval contains a bound: more seeds decide.
    Undecided,
    /// There is no value.
    NotMeasured,
    /// The interval is outside of the bounds.
    NotMet,
}

impl EvidenceVerdict {
    /// All verdicts.
    pub const ALL: [Self; 5] = [Self::Met, Self::Undecided, Self::NotMet, Self::NotMeasured, Self::NotJudged];

    /// The verdict as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged",
            Self::Met => "met",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
            Self::NotMet => "not met",
        }
    }

    /// From an interval and the bounds.
    fn of(estimate: Estimate, accept: AcceptedRange) -> Self {
        let half = estimate.half_width.unwrap_or(0.0);
        let (least, greatest) = (estimate.mean - half, estimate.mean + half);
        let AcceptedRange(from, to) = accept;
        if from <= least && greatest <= to {
            Self::Met
        } else if greatest < from || to < least {
            Self::NotMet
        } else {
            Self::Undecided
        }
    }
}

/// What `millpond evaluate` prints.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evaluations {
    /// The protocols and queues, in the order of the command.
    pub evaluations: Vec<Evaluation>,
}

/// A protocol or a queue under the suites that it was evaluated with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evaluation {
    /// The protocol or the queue.
    pub name: String,
    /// Whether it is a protocol or a queue.
    pub kind: SubjectKind,
    /// Its title.
    pub title: String,
    /// Its specification.
    pub specification: String,
    /// The version of Millpond.
    pub version: String,
    /// The changes of every scenario, in the form of `--set`.
    pub overrides: Vec<String>,
    /// The suites.
    pub suites: Vec<JudgedSuite>,
}

/// A suite with the verdicts on its criteria.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedSuite {
    /// The name of the suite: `bcp133`.
    pub suite: String,
    /// The title of the document.
    pub title: String,
    /// The number, authors and date of the document.
    pub source: String,
    /// How the criteria are judged, and what the bounds are.
    pub about: String,
    /// The criteria, in the order of the document.
    pub criteria: Vec<JudgedCriterion>,
}

/// A criterion with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedCriterion {
    /// The section of the document.
    pub section: String,
    /// The title of the section.
    pub title: String,
    /// What the section asks, in our own words.
    pub asks: String,
    /// The worst verdict on its evidence.
    pub verdict: EvidenceVerdict,
    /// What of it a simulation does not judge, and why; empty if all of it is judged.
    pub not_judged: String,
    /// The evidence.
    pub evidence: Vec<Evidence>,
}

/// One measured quantity with its bounds and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The recipe: `bcp133/feedback-loss`.
    pub recipe: String,
    /// The title of the recipe.
    pub scenario: String,
    /// The name of the quantity.
    pub what: String,
    /// The case.
    pub case: String,
    /// The algorithm by whose value in the same case the value is divided; null if it is divided by none.
    pub versus: Option<String>,
    /// The mean over the seeds with half the width of its 95 % confidence interval; null if there is no value.
    pub measured: Option<Estimate>,
    /// The unit of the value.
    pub unit: String,
    /// The number of seeds.
    pub seeds: usize,
    /// The least accepted value; null if there is none.
    pub least: Option<f64>,
    /// The greatest accepted value; null if there is none.
    pub greatest: Option<f64>,
    /// The source of the bounds.
    pub derivation: String,
    /// The verdict.
    pub verdict: EvidenceVerdict,
    /// Why there is no value; empty if there is one.
    pub fault: String,
}

impl Evaluation {
    /// The result of the suite of this name.
    pub fn suite(&self, name: &str) -> Option<&JudgedSuite> {
        self.suites.iter().find(|suite| suite.suite == name)
    }

    /// The names of the suites of several evaluations, each once.
    pub fn suites_of(evaluations: &[Self]) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for suite in evaluations.iter().flat_map(|one| &one.suites) {
            if !names.contains(&suite.suite.as_str()) {
                names.push(&suite.suite);
            }
        }
        names
    }
}

impl Evidence {
    /// The evidence of a row with one value for each seed.
    pub(super) fn of(recipe: (&str, &str), case: &str, row: &Expectation, values: &RowValues) -> Self {
        let accept = row.accept.unwrap_or(AcceptedRange(f64::NEG_INFINITY, f64::INFINITY));
        let finite = |values: &Vec<f64>| values.iter().all(|value| value.is_finite());
        let estimate = values.as_ref().ok().filter(|values| finite(values));
        let measured = estimate.and_then(|values| Estimate::of(values.iter().copied()));
        let fault = match (measured, values) {
            (None, Err(fault)) => fault.clone(),
            (None, Ok(_)) => "the value is not a finite number".to_owned(),
            (Some(_), _) => String::new(),
        };
        let bound = |bound: f64| bound.is_finite().then_some(bound);
        Self {
            recipe: recipe.0.to_owned(),
            scenario: recipe.1.to_owned(),
            what: row.what.get_ref().clone(),
            case: case.to_owned(),
            versus: row.versus.as_deref().map(|other| baseline(case, other)),
            measured,
            unit: row.unit.clone(),
            seeds: values.as_ref().map_or(0, Vec::len),
            least: bound(accept.0),
            greatest: bound(accept.1),
            derivation: row.derivation.clone().or_else(|| row.because.clone()).unwrap_or_default(),
            verdict: measured.map_or(EvidenceVerdict::NotMeasured, |one| EvidenceVerdict::of(one, accept)),
            fault,
        }
    }

    /// Of rows with one quantity and one case, which differ in the algorithm that they compare with, the row with the best
    /// verdict; the first of several.
    pub(super) fn least_strict(rows: Vec<Self>) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for row in rows {
            let is_same = |other: &&mut Self| {
                (&other.recipe, &other.what, &other.case) == (&row.recipe, &row.what, &row.case)
            };
            match kept.iter_mut().find(is_same) {
                Some(other) if row.verdict < other.verdict => *other = row,
                Some(_) => {}
                None => kept.push(row),
            }
        }
        kept
    }

    /// The unit of value and bounds: that of the row, or the value of an algorithm: ` of CUBIC`.
    fn unit(&self) -> String {
        match &self.versus {
            Some(other) => format!(" of {other}"),
            None if self.unit.is_empty() => String::new(),
            None => format!(" {}", self.unit),
        }
    }

    /// The bounds as a condition: `at most 1.02 of CUBIC`, with the unit.
    pub fn bound(&self) -> String {
        let unit = self.unit();
        match (self.least.map(at_most_five_digits), self.greatest.map(at_most_five_digits)) {
            (Some(least), Some(greatest)) if least == greatest => format!("{least}{unit}"),
            (Some(least), Some(greatest)) => format!("{least} to {greatest}{unit}"),
            (Some(least), None) => format!("at least {least}{unit}"),
            (None, Some(greatest)) => format!("at most {greatest}{unit}"),
            (None, None) => String::new(),
        }
    }

    /// The measured value with its unit and its confidence interval; `-` if there is none.
    pub fn value(&self) -> String {
        let Some(Estimate { mean, half_width }) = self.measured else { return "-".to_owned() };
        // The deviation of equal values is a rounding error.
        let half = half_width.filter(|half| *half > 1e-9 * mean.abs());
        let spread = half.map_or_else(String::new, |half| format!(" ± {}", four_digits(half)));
        format!("{}{spread}{}", four_digits(mean), self.unit())
    }
}

/// The algorithm of a case that is named after another one: `CUBIC` of `4 flows, CUBIC`.
fn baseline(case: &str, other: &str) -> String {
    let name = other.strip_prefix(case).and_then(|rest| rest.strip_prefix(", "));
    name.unwrap_or(other).to_owned()
}

impl JudgedCriterion {
    pub(super) fn of(criterion: &Criterion, evidence: Vec<Evidence>) -> Self {
        let worst = evidence.iter().map(|one| one.verdict).max();
        Self {
            section: criterion.section.clone(),
            title: criterion.title.clone(),
            asks: criterion.asks.clone(),
            verdict: worst.unwrap_or(EvidenceVerdict::NotJudged),
            not_judged: criterion.not_judged.clone(),
            evidence,
        }
    }

    /// The verdict in a matrix: with the number of rows that have it among all.
    pub fn cell(&self) -> String {
        let of_all = |name: &str| format!("{name} {}/{}", self.count(self.verdict), self.evidence.len());
        match self.verdict {
            EvidenceVerdict::Met => "met".to_owned(),
            EvidenceVerdict::NotJudged => "-".to_owned(),
            EvidenceVerdict::Undecided => of_all("?"),
            EvidenceVerdict::NotMeasured => of_all("none"),
            EvidenceVerdict::NotMet => of_all("no"),
        }
    }

    /// How many pieces of its evidence have a verdict.
    pub fn count(&self, verdict: EvidenceVerdict) -> usize {
        self.evidence.iter().filter(|one| one.verdict == verdict).count()
    }
}

impl JudgedSuite {
    pub(super) fn of(suite: &Suite, criteria: Vec<JudgedCriterion>) -> Self {
        let description = &suite.description;
        Self {
            suite: suite.name().to_owned(),
            title: description.title.clone(),
            source: description.source.clone(),
            about: description.about.trim().to_owned(),
            criteria,
        }
    }

    /// How many criteria have a verdict.
    pub fn count(&self, verdict: EvidenceVerdict) -> usize {
        self.criteria.iter().filter(|one| one.verdict == verdict).count()
    }

    /// The verdicts in the order of the criteria, in the form of a matrix.
    pub fn cells(&self) -> Vec<String> {
        self.criteria.iter().map(JudgedCriterion::cell).collect()
    }

    /// A list, in Markdown, of what the sections ask, and what of it is not judged.
    pub fn asks(&self) -> String {
        let line = |one: &JudgedCriterion| {
            let JudgedCriterion { section, title, asks, not_judged, .. } = one;
            let reason =
                if not_judged.is_empty() { String::new() } else { format!(" Not judged: {not_judged}") };
            format!("- **{section} {title}.** {asks}{reason}\n")
        };
        self.criteria.iter().map(line).collect()
    }

    /// A sentence with the number of criteria of each verdict that there is.
    pub fn sentence(&self) -> String {
        let counted = |verdict: EvidenceVerdict| {
            let count = self.count(verdict);
            (count > 0).then(|| format!("{count} {}", verdict.name()))
        };
        let counts: Vec<String> = EvidenceVerdict::ALL.into_iter().filter_map(counted).collect();
        let criteria = if self.criteria.len() == 1 { "criterion" } else { "criteria" };
        format!("{}: {} {criteria}: {}", self.suite, self.criteria.len(), counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(values: &[f64], accept: (f64, f64)) -> EvidenceVerdict {
        let estimate = Estimate::of(values.iter().copied()).unwrap();
        EvidenceVerdict::of(estimate, AcceptedRange(accept.0, accept.1))
    }

    #[test]
    fn a_verdict_needs_an_interval_on_one_side_of_the_bounds() {
        let at_most = (f64::NEG_INFINITY, 1.01);
        assert_eq!(verdict(&[1.0, 1.0, 1.0], at_most), EvidenceVerdict::Met);
        assert_eq!(verdict(&[0.8, 0.81, 0.79], at_most), EvidenceVerdict::Met);
        assert_eq!(verdict(&[1.3, 1.31, 1.29], at_most), EvidenceVerdict::NotMet);
        assert_eq!(verdict(&[0.9, 1.1, 1.0], at_most), EvidenceVerdict::Undecided);
        // Means of 1.13 and 0.87, on either side of the bound, and half a width of 0.62 each.
        assert_eq!(verdict(&[0.9, 1.1, 1.4], at_most), EvidenceVerdict::Undecided);
        assert_eq!(verdict(&[1.1, 0.9, 0.6], at_most), EvidenceVerdict::Undecided);
        // A mean of 0.93 with half a width of t(2) = 4.303 times 0.05 over the root of 3: up to 1.054.
        assert_eq!(verdict(&[0.88, 0.98, 0.93], at_most), EvidenceVerdict::Undecided);
        assert_eq!(verdict(&[5.0], (0.0, 4.0)), EvidenceVerdict::NotMet, "one seed is judged by its value");
    }

    #[test]
    fn a_value_that_is_missing_or_infinite_is_not_measured() {
        let row: Expectation = toml::from_str(
            "what = 'x'\nsummary = 'fairness.jain'\naccept = [0, 1]\nderivation = 'd'\nunit = 'ms'",
        )
        .unwrap();
        let of = |values: RowValues| Evidence::of(("s/r", "title"), "case", &row, &values);
        assert_eq!(of(Err("no such flow".into())).fault, "no such flow");
        assert_eq!(of(Ok(vec![f64::INFINITY, 1.0])).verdict, EvidenceVerdict::NotMeasured);
        let met = of(Ok(vec![0.5, 0.5]));
        assert_eq!((met.value().as_str(), met.bound().as_str()), ("0.5000 ms", "0 to 1 ms"));
    }

    #[test]
    fn of_rows_that_differ_in_their_baseline_the_least_strict_counts() {
        let row = |versus: &str, value: f64| {
            let text = format!(
                "what = 'x'\nsummary = 'fairness.jain'\naccept = [-inf, 1.02]\nderivation = 'd'\nversus = 'a, {versus}'"
            );
            Evidence::of(("s/r", "title"), "a", &toml::from_str(&text).unwrap(), &Ok(vec![value; 2]))
        };
        let kept = |rows: &[Evidence]| {
            let kept = Evidence::least_strict(rows.to_vec());
            kept.iter().map(|one| (one.value(), one.verdict)).collect::<Vec<_>>()
        };
        let met = |text: &str| vec![(text.to_owned(), EvidenceVerdict::Met)];
        assert_eq!(kept(&[row("CUBIC", 2.0), row("NewReno", 0.5)]), met("0.5000 of NewReno"));
        assert_eq!(
            kept(&[row("CUBIC", 1.0), row("NewReno", 0.5)]),
            met("1.000 of CUBIC"),
            "the first counts"
        );
        let worse = kept(&[row("CUBIC", 2.0), row("NewReno", 3.0)]);
        assert_eq!(worse, [("2.000 of CUBIC".to_owned(), EvidenceVerdict::NotMet)]);
    }

    #[test]
    fn a_criterion_has_the_worst_verdict_of_its_evidence() {
        use EvidenceVerdict::{Met, NotJudged, NotMeasured, NotMet, Undecided};
        assert!(NotJudged < Met && Met < Undecided && Undecided < NotMeasured && NotMeasured < NotMet);
    }
}
