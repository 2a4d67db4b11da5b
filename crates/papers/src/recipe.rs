//! The recipe file: a scenario, the paper's values, and the accepted bounds.
//!
//! [`form`] expands the table forms; `serde` reads the result, so that an unknown key, a missing one or a wrong type is
//! reported with its line. [`Recipe::parse`] then checks what the types cannot express, such as a row of an unknown
//! case.

use super::analysis::Analysis;
use super::expect::{Claimant, Expectation};
use super::figure::RecipeFigure;
use super::form::{self, Fault, Siblings};
use super::names::without_variables;
use super::nyquist::NyquistOptions;
use super::reading::Reading;
use super::stage::Stage;
use super::unknown_name::unknown;
use millpond_recurrences::Recurrence;
use millpond_results::World;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// A figure, table or theorem of a paper, with scenario and rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The name, of folder and file: `lgcc/fig12`.
    #[serde(skip)]
    pub name: String,
    /// The title.
    pub title: String,
    /// The place in the paper: `Fig. 12, section X-B`.
    pub place: String,
    /// The claim of the paper with its numbers, in our own words.
    pub claim: String,
    /// What the paper leaves open here, and our assumptions.
    #[serde(default)]
    pub setup: String,
    /// The recipe of the same folder whose scenario, recurrence and stages this one extends.
    pub base: Option<String>,
    /// The scenario, with the keys of a scenario file.
    pub scenario: Option<toml::Table>,
    /// A difference equation instead of a scenario, see [`Recurrence`].
    pub recurrence: Option<toml::Table>,
    /// Named intervals of the run, for `during` of a row.
    #[serde(default)]
    pub stages: BTreeMap<String, Stage>,
    /// Named texts, for `{name}` in the texts of rows and cases.
    #[serde(default)]
    pub texts: BTreeMap<String, String>,
    /// Variants of the scenario. The first is the default of every row.
    pub cases: Vec<Case>,
    /// Pictures with the axes of the paper; derived from the rows by default.
    #[serde(default)]
    pub figures: Vec<Spanned<RecipeFigure>>,
    /// Whether a check takes more than ten seconds of processor time: `papers check --short` leaves it out.
    #[serde(default)]
    pub long: bool,
    /// The extent of `papers check`.
    #[serde(default)]
    pub quick: Extent,
    /// The extent of `--full`: the paper's own grid and repetitions.
    #[serde(default)]
    pub full: Extent,
    /// The rows, each with its byte range in the text.
    pub expect: Vec<Spanned<Expectation>>,
}

/// The key of a scenario that each trial sets.
pub(super) const SEED: &str = "seed";

/// One variant of a recipe's scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name that rows use.
    pub name: String,
    /// Overrides of the scenario by dotted path, as in `--set path=value`.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// The world: `"packets"` or `"fluid"`.
    #[serde(default)]
    pub world: World,
    /// An analysis instead of a run: `"equilibrium"`, `"stability"`, `"nyquist"`, or `"worlds"`, which compares both
    /// worlds and theory.
    pub analysis: Option<Analysis>,
    /// The parameter whose critical value is searched: `rtt`, `flows`, `protocols.NAME.params.PARAMETER`.
    pub vary: Option<String>,
    /// Options of the Nyquist plot.
    pub nyquist: Option<NyquistOptions>,
    /// Whether the case is run by `--full` alone.
    #[serde(default)]
    pub full: bool,
}

/// The most seeds of a recipe, as of the command.
const MOST_SEEDS: u64 = 10_000;

/// The extent of a check: seeds, overrides and trace.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// The number of seeds: 1, 2, ...
    #[serde(default = "one", deserialize_with = "number_of_seeds")]
    pub seeds: u64,
    /// Overrides of the scenario of every case.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// A trace that replaces the recipe's.
    pub trace: Option<String>,
}

impl Default for Extent {
    fn default() -> Self {
        Self { seeds: 1, set: BTreeMap::new(), trace: None }
    }
}

fn one() -> u64 {
    1
}

/// A number of seeds that a check can have. Its fault has the place of the value, which no later check knows.
fn number_of_seeds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let valid = u64::try_from(number).ok().filter(|number| (1..=MOST_SEEDS).contains(number));
    valid.ok_or_else(|| {
        D::Error::custom(format!("{number} seeds: expected a whole number from 1 to {MOST_SEEDS}"))
    })
}

impl Recipe {
    /// Reads the text of the recipe `name`. Its rows may use `readings`; `siblings` returns the texts of the recipes in
    /// its folder.
    ///
    /// # Errors
    /// The first error, with its place in the text.
    pub(super) fn parse<'i>(
        name: &str,
        text: &'i str,
        readings: &[String],
        siblings: Siblings<'_, 'i>,
    ) -> Result<Self, Fault> {
        let mut recipe: Self = form::read(text, siblings)?;
        recipe.name = name.to_owned();
        let mut rows = Vec::new();
        for row in std::mem::take(&mut recipe.expect) {
            let span = row.span();
            let mut row = row.into_inner();
            let what = row.what.get_ref().clone();
            row.written = as_written(text, row.what.span());
            if row.source() == Claimant::Paper && row.claim.is_empty() {
                row.claim = vec![without_variables(&row.written)];
            }
            let expanded = recipe.expand_cases(row).map_err(|fault| row_fault(&span, &what, &fault))?;
            rows.extend(expanded.into_iter().map(|row| Spanned::new(span.clone(), row)));
        }
        recipe.expect = rows;
        recipe.check().map_err(Fault::plain)?;
        for row in &recipe.expect {
            let check = recipe.check_row(row.get_ref(), readings);
            check.map_err(|fault| row_fault(&row.span(), row.get_ref().what.get_ref(), &fault))?;
        }
        recipe.check_figures()?;
        Ok(recipe)
    }

    fn check_figures(&self) -> Result<(), Fault> {
        let whats: Vec<_> = self.expect.iter().map(|row| row.get_ref().what.get_ref().as_str()).collect();
        let cases: Vec<_> = self.cases.iter().map(|case| &case.name).collect();
        self.figures.iter().try_for_each(|figure| {
            let check = figure.get_ref().check(&whats, &cases);
            check.map_err(|fault| Fault::at(figure.span(), format!("[[figures]]: {fault}")))
        })
    }

    /// One row for each of the row's cases, with the interval of its stage.
    fn expand_cases(&self, row: Expectation) -> Result<Vec<Expectation>, String> {
        if row.case.is_some() && !row.cases.is_empty() {
            return Err("give case or cases".into());
        }
        Ok(row.with_interval(&self.stages)?.per_case())
    }

    fn check(&self) -> Result<(), String> {
        if self.scenario.is_some() == self.recurrence.is_some() {
            return Err("a recipe has either [scenario] or [recurrence]".into());
        }
        if self.cases.is_empty() {
            return Err("a recipe has at least one [[cases]]".into());
        }
        if self.expect.is_empty() {
            return Err("a recipe has at least one [[expect]]".into());
        }
        if self.sets_seed() {
            return Err(
                "the seeds of a recipe are 1, 2, ...: `seeds` of [quick] and [full] is their number".into()
            );
        }
        self.cases.iter().try_for_each(|case| self.check_case(case))?;
        self.cases
            .iter()
            .filter_map(|case| self.recurrence(case, &Reading::default()))
            .try_for_each(|recurrence| recurrence.map(drop))
    }

    /// Whether the scenario or an override of it has a seed, which that of a trial would replace.
    fn sets_seed(&self) -> bool {
        let sets = self.cases.iter().map(|case| &case.set).chain([&self.quick.set, &self.full.set]);
        let in_scenario = self.scenario.as_ref().is_some_and(|scenario| scenario.contains_key(SEED));
        in_scenario || sets.into_iter().any(|set| set.contains_key(SEED))
    }

    fn check_row(&self, row: &Expectation, readings: &[String]) -> Result<(), String> {
        self.check_name(row)?;
        let names = self.cases.iter().map(|case| &case.name);
        for case in row.case.iter().chain(&row.versus) {
            if self.case(case).is_none() {
                return Err(unknown(case, "case", names));
            }
        }
        if let Some(reading) = row.reading.as_ref().filter(|reading| !readings.contains(reading)) {
            return Err(unknown(reading, "reading", readings));
        }
        row.check()?;
        let is_analysed = self.case(self.case_of(row)).is_some_and(|case| case.analysis.is_some());
        if is_analysed != row.answer.is_some() {
            return Err("answer needs a case with analysis, and a row of such a case needs answer".into());
        }
        Ok(())
    }

    /// Checks that the name of a row is unique, and that the row that its order refers to exists and is judged with it.
    fn check_name(&self, row: &Expectation) -> Result<(), String> {
        let rows = || self.expect.iter().map(Spanned::get_ref);
        if let Some(name) = &row.name
            && rows().filter(|other| other.name.as_ref() == Some(name)).count() > 1
        {
            return Err(format!("another row is named \"{name}\""));
        }
        let Some(than) = row.order().and_then(|order| order.than.as_ref()) else { return Ok(()) };
        let Some(other) = rows().find(|other| other.name.as_ref() == Some(than)) else {
            return Err(unknown(than, "row named", rows().filter_map(|row| row.name.as_ref())));
        };
        if !self.is_full(row) && self.is_full(other) {
            return Err(format!("\"{than}\" is judged by --full alone, and so must be this row"));
        }
        Ok(())
    }

    fn check_case(&self, case: &Case) -> Result<(), String> {
        let fail = |fault: &str| Err(format!("case \"{}\": {fault}", case.name));
        if case.analysis.is_some() && self.scenario.is_none() {
            return fail("analysis needs a [scenario]");
        }
        if case.vary.is_some() && case.analysis != Some(Analysis::Stability) {
            return fail("vary needs analysis = \"stability\"");
        }
        if case.nyquist.is_some() && case.analysis != Some(Analysis::Nyquist) {
            return fail("nyquist needs analysis = \"nyquist\"");
        }
        if let Some(Err(fault)) = case.nyquist.as_ref().map(NyquistOptions::check) {
            return fail(&fault);
        }
        Ok(())
    }

    /// The case of this name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// The name of a row's case.
    pub fn case_of<'a>(&'a self, row: &'a Expectation) -> &'a str {
        row.case.as_deref().unwrap_or_else(|| self.cases.first().map_or("", |case| &case.name))
    }

    /// The law of a case's recurrence, if the recipe has one.
    pub(super) fn recurrence_law<'a>(&'a self, case: &'a Case) -> Option<&'a str> {
        case.set.get("law").or(self.recurrence.as_ref()?.get("law"))?.as_str()
    }

    /// The difference equation of a case under a reading, if the recipe has one. The parameters of the case replace those
    /// of the reading.
    pub fn recurrence(&self, case: &Case, reading: &Reading) -> Option<Result<Recurrence, String>> {
        let mut table = self.recurrence.clone()?;
        let of_reading = self.recurrence_law(case).and_then(|law| reading.recurrence.get(law));
        table.extend(of_reading.cloned().unwrap_or_default());
        table.extend(case.set.clone());
        let parsed: Result<Recurrence, _> = table.try_into();
        let checked =
            parsed.map_err(|fault: toml::de::Error| Fault::from(fault).message).and_then(Recurrence::check);
        Some(checked.map_err(|fault| format!("case \"{}\": {fault}", case.name)))
    }

    /// The extent of a full or quick check.
    pub fn extent(&self, full: bool) -> &Extent {
        if full { &self.full } else { &self.quick }
    }

    /// The rows of a full or quick check. A quick check excludes the rows and cases that are marked as `full`.
    pub fn rows(&self, full: bool) -> impl Iterator<Item = &Expectation> {
        self.expect.iter().map(Spanned::get_ref).filter(move |row| full || !self.is_full(row))
    }

    /// Whether the row or one of its cases is marked as `full`.
    fn is_full(&self, row: &Expectation) -> bool {
        let mut cases = std::iter::once(self.case_of(row)).chain(row.versus.as_deref());
        row.full || cases.any(|name| self.case(name).is_some_and(|case| case.full))
    }
}

/// A text of the recipe as it is written, without quotation marks: its variables are not replaced.
fn as_written(text: &str, span: Range<usize>) -> String {
    text.get(span).unwrap_or_default().trim_matches(['"', '\'', '\n']).to_owned()
}

fn row_fault(span: &Range<usize>, what: &str, fault: &str) -> Fault {
    Fault::at(span.clone(), format!("[[expect]] \"{what}\": {fault}"))
}
