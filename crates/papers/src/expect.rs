//! A row of a recipe: what is measured, what the paper says it is, what we accept, and what theory says instead.

use super::stage::Stage;
use super::time_or_step::{Instant, NumberOr};
use super::unknown_name::unknown;
use millpond_units::format::at_most_five_digits;
use serde::Deserialize;
use serde::de::Deserializer;
use std::collections::BTreeMap;
use std::fmt;

/// What the paper says of one quantity, and how it is judged.
///
/// A measured value inside `accept` **matches** the paper. Outside of it but inside `theory` it **differs**, as
/// derived in `reason`: the paper is wrong or says too little. Outside of both it is **unexplained**: our error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What is measured, in words.
    pub what: String,
    /// Of which case; the recipe's first unless said.
    pub case: Option<String>,
    /// Or of each of these cases: such a row is read as one row for each.
    #[serde(default)]
    pub cases: Vec<String>,
    /// Under which reading; the paper's default unless said.
    pub reading: Option<String>,
    /// Judged only by `--full`.
    #[serde(default)]
    pub full: bool,

    /// A path into the summary: `links.middle.utilization`, `flows.*.goodput_bps`.
    pub summary: Option<String>,
    /// Or a quantity over time.
    pub series: Option<Entity>,
    /// That divided by the same of another entity.
    pub over: Option<Entity>,
    /// Or a distribution.
    pub distribution: Option<Entity>,
    /// Or a path into the answer of a case that is analysed: `roots.0.growth_per_s`, `boundaries.0.critical`.
    pub answer: Option<String>,
    /// Or the distance of a series from a share of another, sample by sample.
    pub deviation: Option<Deviation>,
    /// What is taken of the samples.
    #[serde(default)]
    pub statistic: Statistic,
    /// What is taken of several entities.
    #[serde(default)]
    pub combine: Combine,
    /// Only samples of this stage: its name instead of `from` and `to`.
    pub during: Option<String>,
    /// Only samples after this; a plain number counts the steps of a recurrence.
    pub from: Option<Instant>,
    /// Only samples until this.
    pub to: Option<Instant>,
    /// Samples are averaged over bins this long first.
    pub bin: Option<Instant>,
    /// Divided by the same of this other case, whatever the unit.
    pub versus: Option<String>,
    /// Multiplied by this, so that the row shows a handy unit.
    #[serde(default = "unity")]
    pub scale: f64,
    /// The unit shown.
    #[serde(default)]
    pub unit: String,

    /// What the paper says: a number or words.
    pub paper: Says,
    /// What counts as the same: least and greatest.
    pub accept: Range,
    /// Why these bounds.
    pub because: String,
    /// What theory says instead: least and greatest.
    pub theory: Option<Range>,
    /// Why the paper does not come out.
    pub reason: Option<String>,
}

fn unity() -> f64 {
    1.0
}

/// Which entities and which of their quantities; a `*` in a name stands for anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// Flows of this name, or loops of flows: `user.*/loop2`.
    pub flow: Option<String>,
    /// Links of this name and direction: `middle ->`.
    pub link: Option<String>,
    /// Relays of this name: `user.*@R1`.
    pub relay: Option<String>,
    /// Groups of this name; `all`.
    pub group: Option<String>,
    /// The quantity.
    pub quantity: String,
}

/// `|series - share * other|`, sample by sample.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// Of this series ...
    pub of: Entity,
    /// ... from this one ...
    pub from: Entity,
    /// ... times this.
    #[serde(default = "unity")]
    pub share: f64,
}

/// What is taken of a row of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean.
    #[default]
    Mean,
    /// The standard deviation.
    Sd,
    /// The coefficient of variation: the standard deviation over the mean.
    Cv,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
    /// The last.
    Last,
    /// The value that this share of the samples do not exceed.
    Quantile(f64),
    /// The distance between two quantiles: `{ between = [0.25, 0.75] }`.
    Between(f64, f64),
    /// When a sample first is at least this, counted from the start of the window.
    Reaches(f64),
    /// When samples come within a fraction of a value for good, counted from the start of the window.
    Settles {
        /// The value.
        at: f64,
        /// The fraction.
        within: f64,
    },
}

/// What is taken of several entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// The mean.
    #[default]
    Mean,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
    /// The one that is farthest from zero.
    Farthest,
    /// The sum.
    Sum,
}

/// What a paper says.
#[derive(Clone, Debug, PartialEq)]
pub enum Says {
    /// A number, in the row's unit.
    Number(f64),
    /// Words: "smoother than ABC".
    Words(String),
}

/// Least and greatest, both included.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Range(pub f64, pub f64);

impl Range {
    /// Is the value inside?
    pub fn holds(self, value: f64) -> bool {
        self.0 <= value && value <= self.1
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = [self.0, self.1].map(at_most_five_digits);
        match (self.0.is_finite(), self.1.is_finite()) {
            (true, false) => write!(f, "at least {low}"),
            (false, _) => write!(f, "at most {high}"),
            _ if self.0 == self.1 => write!(f, "{low}"),
            _ => write!(f, "{low} to {high}"),
        }
    }
}

impl Expectation {
    /// The row for each of its cases.
    pub(super) fn spread(mut self) -> Vec<Self> {
        let cases = std::mem::take(&mut self.cases);
        if cases.is_empty() {
            return vec![self];
        }
        cases.into_iter().map(|case| Self { case: Some(case), ..self.clone() }).collect()
    }

    /// The row with `from` and `to` of the stage that it names.
    ///
    /// # Errors
    /// There is no such stage, or `from` or `to` is given, too.
    pub(super) fn timed(mut self, stages: &BTreeMap<String, Stage>) -> Result<Self, String> {
        let Some(name) = self.during.take() else { return Ok(self) };
        let stage = stages.get(&name).ok_or_else(|| unknown(&name, "stage", stages.keys()))?;
        if self.from.is_some() || self.to.is_some() {
            return Err("give during, or from and to".into());
        }
        Ok(Self { from: Some(stage.from), to: stage.to, ..self })
    }

    /// What the types cannot say.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_source()?;
        if self.accept.0 > self.accept.1 || self.theory.is_some_and(|theory| theory.0 > theory.1) {
            return Err("a range is [least, greatest]".into());
        }
        if let Says::Number(paper) = self.paper
            && !self.accept.holds(paper)
        {
            return Err(format!("accept ({}) does not hold what the paper says ({paper})", self.accept));
        }
        if self.theory.is_some() != self.reason.is_some() {
            return Err("theory and reason belong together".into());
        }
        Ok(())
    }

    fn check_source(&self) -> Result<(), String> {
        let sources = [
            self.summary.is_some(),
            self.series.is_some(),
            self.distribution.is_some(),
            self.deviation.is_some(),
            self.answer.is_some(),
        ];
        if sources.iter().filter(|given| **given).count() != 1 {
            return Err("give one of summary, series, distribution, deviation and answer".into());
        }
        if self.over.is_some() && self.series.is_none() {
            return Err("over = { .. } belongs to a series".into());
        }
        let deviation = self.deviation.iter().flat_map(|d| [&d.of, &d.from]);
        let mut entities = self.series.iter().chain(&self.over).chain(&self.distribution).chain(deviation);
        entities.try_for_each(|entity| entity.named().map(drop))?;
        let timed = self.from.is_some() || self.to.is_some() || self.bin.is_some();
        let single = self.summary.is_some() || self.answer.is_some();
        if timed && (single || self.distribution.is_some()) {
            return Err("from, to and bin belong to a series; the summary begins at measure.from".into());
        }
        if single && self.statistic != Statistic::Mean {
            return Err("summary and answer hold single numbers: a statistic belongs to a series".into());
        }
        let of_distribution = matches!(self.statistic, Statistic::Quantile(_) | Statistic::Between(..));
        if self.distribution.is_some() && !of_distribution {
            return Err("of a distribution, take { quantile = share } or { between = [low, high] }".into());
        }
        Ok(())
    }
}

impl Entity {
    /// The kind of entity as series spell it, and the pattern of its name.
    pub(super) fn named(&self) -> Result<(millpond_results::EntityKind, &str), String> {
        use millpond_results::EntityKind;
        let named = [
            (EntityKind::Flow, &self.flow),
            (EntityKind::Link, &self.link),
            (EntityKind::Relay, &self.relay),
            (EntityKind::Group, &self.group),
        ];
        let mut given = named.iter().filter_map(|(kind, name)| name.as_deref().map(|name| (*kind, name)));
        match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            _ => Err("a quantity belongs to one of flow, link, relay and group".into()),
        }
    }
}

impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Words(words) => f.write_str(words),
        }
    }
}

impl<'de> Deserialize<'de> for Says {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOr(
            "a number or words",
            |words| Ok(Self::Words(words.to_owned())),
            Self::Number,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn bounds_are_shown_to_five_digits() {
        let shown = |low, high| Range(low, high).to_string();
        assert_eq!(shown(6.644_958_2, 8.51), "6.645 to 8.51");
        assert_eq!(shown(0.000_123_456_7, 23_750.0), "0.00012346 to 23750");
        assert_eq!(shown(1_234_567.4, f64::INFINITY), "at least 1234567");
        assert_eq!(shown(-0.5, -0.5), "-0.5");
    }
}
