//! A row of a recipe: the quantity, the paper's value, the accepted bounds, and the bounds of theory.

use super::stage::Stage;
use super::time_or_step::{NumberOr, TimeOrStep};
use super::unknown_name::unknown;
use millpond_units::format::at_most_five_digits;
use serde::Deserialize;
use serde::de::Deserializer;
use std::collections::BTreeMap;
use std::fmt;

/// One quantity, the paper's value of it, and the bounds by which a measured value is judged.
///
/// A measured value inside `accept` **matches** the paper. Outside of it but inside `theory` it **differs**, for the
/// reason in `reason`: the paper is wrong or incomplete. Outside of both it is **unexplained**: our error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The name of the quantity.
    pub what: String,
    /// The case; the recipe's first by default.
    pub case: Option<String>,
    /// Several cases instead of one: the row stands for one row per case.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The reading; the paper's first by default.
    pub reading: Option<String>,
    /// Whether the row is judged by `--full` alone.
    #[serde(default)]
    pub full: bool,

    /// Source: a path into the summary: `links.middle.utilization`, `flows.*.goodput_bps`.
    pub summary: Option<String>,
    /// Source: a series of an entity.
    pub series: Option<EntityPattern>,
    /// The value of `series` is divided by the value of this entity.
    pub over: Option<EntityPattern>,
    /// Source: a distribution of an entity.
    pub distribution: Option<EntityPattern>,
    /// Source: a path into the result of a case with `analysis`: `roots.0.growth_per_s`, `boundaries.0.critical`.
    pub answer: Option<String>,
    /// Source: the distance of a series from a multiple of another, sample by sample.
    pub deviation: Option<Deviation>,
    /// The statistic of the samples.
    #[serde(default)]
    pub statistic: Statistic,
    /// How the values of several entities are combined.
    #[serde(default)]
    pub combine: Combine,
    /// The name of the stage whose samples count, instead of `from` and `to`.
    pub during: Option<String>,
    /// Samples after this count; a number without unit is a step of a recurrence.
    pub from: Option<TimeOrStep>,
    /// Samples until this count.
    pub to: Option<TimeOrStep>,
    /// Samples are first averaged over bins of this length.
    pub bin: Option<TimeOrStep>,
    /// The value is divided by the value of this other case.
    pub versus: Option<String>,
    /// The value is multiplied by this, for a convenient unit.
    #[serde(default = "unity")]
    pub scale: f64,
    /// The unit of the value after `scale`.
    #[serde(default)]
    pub unit: String,

    /// The paper's value: a number or text.
    pub paper: PaperValue,
    /// The least and greatest value that match the paper's.
    pub accept: Bounds,
    /// The reason of these bounds.
    pub because: String,
    /// The least and greatest value according to theory, if it contradicts the paper.
    pub theory: Option<Bounds>,
    /// The reason why the paper's value is not the result; required with `theory`.
    pub reason: Option<String>,
}

fn unity() -> f64 {
    1.0
}

/// A pattern of entities and one of their quantities; `*` in a name matches any text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityPattern {
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

/// `|a - share * b|` of two series, sample by sample.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// The series `a` of `|a - share * b|`.
    pub of: EntityPattern,
    /// The series `b`.
    pub from: EntityPattern,
    /// The factor of `b`.
    #[serde(default = "unity")]
    pub share: f64,
}

/// A statistic of samples.
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
    /// The quantile, from 0 to 1.
    Quantile(f64),
    /// The difference of two quantiles: `{ between = [0.25, 0.75] }`.
    Between(f64, f64),
    /// The time from the start of the interval until a sample is at least this value.
    Reaches(f64),
    /// The time from the start of the interval after which all samples stay within a fraction of a value.
    Settles {
        /// The value.
        at: f64,
        /// The fraction.
        within: f64,
    },
}

/// How the values of several entities are combined.
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
    /// The value with the greatest magnitude.
    Farthest,
    /// The sum.
    Sum,
}

/// The paper's value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum PaperValue {
    /// A number, in the row's unit.
    Number(f64),
    /// A statement: "smoother than ABC".
    Text(String),
}

/// The least and the greatest value, both included.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Bounds(pub f64, pub f64);

impl Bounds {
    /// Whether the value is within the bounds.
    pub fn contains(self, value: f64) -> bool {
        self.0 <= value && value <= self.1
    }
}

impl fmt::Display for Bounds {
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
    /// One row for each of the row's cases.
    pub(super) fn per_case(mut self) -> Vec<Self> {
        let cases = std::mem::take(&mut self.cases);
        if cases.is_empty() {
            return vec![self];
        }
        cases.into_iter().map(|case| Self { case: Some(case), ..self.clone() }).collect()
    }

    /// The row with `from` and `to` of the stage in `during`.
    ///
    /// # Errors
    /// The stage does not exist, or the row has `from` or `to` as well.
    pub(super) fn with_interval(mut self, stages: &BTreeMap<String, Stage>) -> Result<Self, String> {
        let Some(name) = self.during.take() else { return Ok(self) };
        let stage = stages.get(&name).ok_or_else(|| unknown(&name, "stage", stages.keys()))?;
        if self.from.is_some() || self.to.is_some() {
            return Err("give during, or from and to".into());
        }
        Ok(Self { from: Some(stage.from), to: stage.to, ..self })
    }

    /// Checks what the types cannot express.
    ///
    /// # Errors
    /// The keys of the row contradict each other.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_source()?;
        if self.accept.0 > self.accept.1 || self.theory.is_some_and(|theory| theory.0 > theory.1) {
            return Err("a range is [least, greatest]".into());
        }
        if let PaperValue::Number(paper) = self.paper
            && !self.accept.contains(paper)
        {
            return Err(format!("accept ({}) does not contain the paper's value ({paper})", self.accept));
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
            return Err("over = { .. } needs a series".into());
        }
        let deviation = self.deviation.iter().flat_map(|d| [&d.of, &d.from]);
        let mut entities = self.series.iter().chain(&self.over).chain(&self.distribution).chain(deviation);
        entities.try_for_each(|entity| entity.kind_and_pattern().map(drop))?;
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

impl EntityPattern {
    /// The kind of entity and the pattern of its name.
    ///
    /// # Errors
    /// None or several of the four kinds are given.
    pub(super) fn kind_and_pattern(&self) -> Result<(millpond_results::EntityKind, &str), String> {
        use millpond_results::EntityKind;
        let patterns = [
            (EntityKind::Flow, &self.flow),
            (EntityKind::Link, &self.link),
            (EntityKind::Relay, &self.relay),
            (EntityKind::Group, &self.group),
        ];
        let mut given = patterns.iter().filter_map(|(kind, name)| name.as_deref().map(|name| (*kind, name)));
        match (given.next(), given.next()) {
            (Some(one), None) => Ok(one),
            _ => Err("an entity has one of flow, link, relay and group".into()),
        }
    }
}

impl fmt::Display for PaperValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for PaperValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOr(
            "a number or text",
            |text| Ok(Self::Text(text.to_owned())),
            Self::Number,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::Bounds;

    #[test]
    fn bounds_are_printed_with_five_digits() {
        let printed = |low, high| Bounds(low, high).to_string();
        assert_eq!(printed(6.644_958_2, 8.51), "6.645 to 8.51");
        assert_eq!(printed(0.000_123_456_7, 23_750.0), "0.00012346 to 23750");
        assert_eq!(printed(1_234_567.4, f64::INFINITY), "at least 1234567");
        assert_eq!(printed(-0.5, -0.5), "-0.5");
    }
}
