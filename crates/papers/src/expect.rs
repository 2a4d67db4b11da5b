//! A row of a recipe: the quantity, its expected value, the accepted bounds, and the bounds of theory.

use super::stage::Stage;
use super::time_or_step::TimeOrStep;
use super::twin::Twin;
use super::unknown_name::unknown;
use super::value::{AcceptedRange, Order, PaperValue, StatedValue};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

/// One quantity, its expected value, and the bounds by which a measured value is judged.
///
/// A row with `theory` is expected to **differ** from the paper: its value is inside `theory`. All other rows are
/// expected to **match**: the value is inside `accept`, or the order holds. Anything else is **unexplained**: our error.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The name of the quantity, with its place in the text.
    pub what: Spanned<String>,
    /// `what` as the text of the recipe has it: variables are not replaced.
    #[serde(skip)]
    pub written: String,
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

    /// The name by which the order of another row refers to this one; unique in the recipe.
    pub name: Option<String>,
    /// The claims of the paper that this row checks, in words. Rows with the same claim are one claim of the recipe.
    #[serde(default, deserialize_with = "one_or_several")]
    pub claim: Vec<String>,
    /// The paper's value.
    pub paper: Option<PaperValue>,
    /// A value measured in ns-2, instead of the paper's.
    pub ns2: Option<StatedValue>,
    /// A value of our own closed form or reference model, instead of the paper's.
    pub own: Option<StatedValue>,
    /// The least and greatest value that match; an order needs none.
    pub accept: Option<AcceptedRange>,
    /// The reason of these bounds.
    pub because: Option<String>,
    /// The formula or source from which both bounds follow, instead of `because`; wide bounds need it.
    pub derivation: Option<String>,
    /// The least and greatest value according to theory, if it contradicts the paper.
    pub theory: Option<AcceptedRange>,
    /// The reason why the paper's value is not the result; required with `theory`.
    pub reason: Option<String>,
    /// The row under whose setting the paper's value is the result; with `theory` only.
    pub twin: Option<Twin>,
    /// Instead of `twin`: the proof that no setting has the paper's value as its result.
    pub no_twin: Option<String>,
}

/// Whose statement a row checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Claimant {
    /// A claim of the paper.
    Paper,
    /// A measurement in ns-2.
    #[serde(rename = "ns-2")]
    Ns2,
    /// Our own check: a closed form, a reference model, conservation.
    Own,
}

impl Claimant {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ns2 => "ns-2",
            Self::Own => "own",
        }
    }
}

/// A text, or a list of texts.
pub(super) fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text or a list of texts")]
    enum OneOrSeveral {
        One(String),
        Several(Vec<String>),
    }
    Ok(match OneOrSeveral::deserialize(deserializer)? {
        OneOrSeveral::One(text) => vec![text],
        OneOrSeveral::Several(texts) => texts,
    })
}

fn unity() -> f64 {
    1.0
}

/// A pattern of entities and one of their quantities; `*` in a name matches any text.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
    /// The mean time for which the samples stay in a range, of the complete stays: `{ lasts = [2, 3] }`.
    Lasts(f64, f64),
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

impl Statistic {
    /// Checks that quantiles are shares and that ranges begin with their lower end.
    fn check(self) -> Result<(), String> {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        match self {
            Self::Quantile(share) if !is_share(share) => {
                Err(format!("quantile = {share}: a quantile is from 0 to 1"))
            }
            Self::Between(low, high) if !(is_share(low) && is_share(high) && low <= high) => {
                Err(format!("between = [{low}, {high}]: two quantiles from 0 to 1, the lower one first"))
            }
            Self::Settles { within, .. } if within < 0.0 || within.is_nan() => {
                Err(format!("within = {within}: a share of at least 0"))
            }
            Self::Lasts(low, high) if low > high => {
                Err(format!("lasts = [{low}, {high}]: the lower end of the range first"))
            }
            _ => Ok(()),
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
        self.check_expected()?;
        self.check_order()?;
        self.check_bounds()?;
        if self.theory.is_some() != self.reason.is_some() {
            return Err("theory and reason belong together".into());
        }
        self.check_twin()
    }

    fn check_expected(&self) -> Result<(), String> {
        let given = [self.paper.is_some(), self.ns2.is_some(), self.own.is_some()];
        if given.iter().filter(|given| **given).count() > 1 {
            return Err("give one of paper, ns2 and own".into());
        }
        if !self.claim.is_empty() && (self.ns2.is_some() || self.own.is_some()) {
            return Err("a claim is the paper's: it has no ns2 and no own".into());
        }
        if self.theory.is_some() && self.source() != Claimant::Paper {
            return Err("only a row with paper or claim can be expected to differ".into());
        }
        Ok(())
    }

    fn check_twin(&self) -> Result<(), String> {
        let given = self.twin.is_some() || self.no_twin.is_some();
        if given && self.theory.is_none() {
            return Err("twin and no_twin belong to a row with theory".into());
        }
        if self.twin.is_some() && self.no_twin.is_some() {
            return Err("give twin, or no_twin in its place".into());
        }
        Ok(())
    }

    fn check_order(&self) -> Result<(), String> {
        let is_quotient = self.versus.is_some() || self.over.is_some();
        match self.order() {
            Some(order) if order.than.is_none() && !is_quotient => {
                Err("an order has than = \"NAME\" of another row, or its row is a quotient by versus or over"
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// Checks `accept` and `theory`.
    fn check_bounds(&self) -> Result<(), String> {
        let is_order = matches!(self.paper, Some(PaperValue::Order(_)));
        if self.accept.iter().chain(&self.theory).any(|range| !range.is_ordered()) {
            return Err("a range is [least, greatest]".into());
        }
        if self.because.is_some() && self.derivation.is_some() {
            return Err("give because, or derivation in its place".into());
        }
        let Some(accept) = self.accept else {
            return if is_order { Ok(()) } else { Err("accept = [least, greatest] is missing".into()) };
        };
        if is_order {
            return Err("an order has no accept: it compares two values".into());
        }
        if self.because.is_none() && self.derivation.is_none() {
            return Err("because is missing".into());
        }
        if accept.are_wide() && self.derivation.is_none() {
            return Err(format!(
                "accept ({accept}) is infinite, wider than a factor of two, or includes zero: give derivation, the \
                 formula or source of both bounds, in place of because"
            ));
        }
        if let Some(stated) = self.stated()
            && !accept.encloses(stated.bounds())
        {
            return Err(format!("accept ({accept}) does not contain the expected value ({stated})"));
        }
        match self.theory.filter(|theory| theory.meets(accept)) {
            Some(theory) => Err(format!("accept ({accept}) and theory ({theory}) have a common value")),
            None => Ok(()),
        }
    }

    /// The number or range of the paper.
    pub fn paper_bounds(&self) -> Option<AcceptedRange> {
        match &self.paper {
            Some(PaperValue::Stated(value)) => Some(value.bounds()),
            _ => None,
        }
    }

    /// The number or range that the row expects.
    fn stated(&self) -> Option<StatedValue> {
        let paper = self.paper.as_ref().and_then(|paper| match paper {
            PaperValue::Stated(value) => Some(*value),
            PaperValue::Order(_) => None,
        });
        paper.or(self.ns2).or(self.own)
    }

    /// Whose statement the row checks.
    pub fn source(&self) -> Claimant {
        match (&self.ns2, self.paper.is_some() || !self.claim.is_empty()) {
            (Some(_), _) => Claimant::Ns2,
            (None, true) => Claimant::Paper,
            (None, false) => Claimant::Own,
        }
    }

    /// The order that the paper states.
    pub fn order(&self) -> Option<&Order> {
        match &self.paper {
            Some(PaperValue::Order(order)) => Some(order),
            _ => None,
        }
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
        if self.scale == 0.0 || !self.scale.is_finite() {
            return Err(format!(
                "scale = {}: every value would be the same; a number other than 0",
                self.scale
            ));
        }
        self.statistic.check()?;
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
    pub fn kind_and_pattern(&self) -> Result<(millpond_results::EntityKind, &str), String> {
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
