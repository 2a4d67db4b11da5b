//! The recipe file: a scenario, what the paper says about it, and what we accept.
//!
//! [`form`] writes out its table forms; `serde` reads the result, so that an unknown key, a missing one or a wrong type
//! is shown with its line. What the types cannot say (a row that names a case which does not exist) is checked by
//! [`Recipe::parse`] afterwards.

use super::analysis::Analysis;
use super::expect::Expectation;
use super::form::{self, Fault, Siblings};
use super::nyquist::Plot;
use super::recurrence::Recurrence;
use super::stage::Stage;
use super::unknown_name::unknown;
use millpond_results::World;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// A figure, table or theorem of a paper as something to run and to judge.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// `lgcc/fig12`: its paper's folder and its file.
    #[serde(skip)]
    pub name: String,
    /// In a few words.
    pub title: String,
    /// Where in the paper: `Fig. 12, section X-B`.
    pub place: String,
    /// What the paper says, in our own words, with its numbers.
    pub claim: String,
    /// What the paper leaves open here and what was taken, in our own words.
    #[serde(default)]
    pub setup: String,
    /// The recipe of the same folder whose scenario, recurrence and stages this one begins with.
    pub base: Option<String>,
    /// A scenario, spelled as in a scenario file.
    pub scenario: Option<toml::Table>,
    /// Or a difference equation to iterate, see [`Recurrence`].
    pub recurrence: Option<toml::Table>,
    /// Intervals of the run by name, for `during` of a row.
    #[serde(default)]
    pub stages: BTreeMap<String, Stage>,
    /// Texts by name, for `{name}` in the texts of rows and cases.
    #[serde(default)]
    pub texts: BTreeMap<String, String>,
    /// What is run: protocols, deployments. The first is the default of every row.
    pub cases: Vec<Case>,
    /// What `papers check` runs.
    #[serde(default)]
    pub quick: Extent,
    /// What `--full` runs: the paper's own grid and repetitions.
    #[serde(default)]
    pub full: Extent,
    /// The rows of its table, each with its bytes in the text.
    pub expect: Vec<Spanned<Expectation>>,
}

/// One variant of a recipe's scenario.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// How rows call it.
    pub name: String,
    /// Values laid over the scenario, each under its dotted path, as `--set path=value` would.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// Where it is run: `"packets"` or `"fluid"`.
    #[serde(default)]
    pub world: World,
    /// Not run once, but answered: `"equilibrium"`, `"stability"`, `"nyquist"` by theory, `"worlds"` by both worlds and theory.
    pub analysis: Option<Analysis>,
    /// What is varied until stability ends: `rtt`, `flows`, `protocols.NAME.params.PARAMETER`.
    pub vary: Option<String>,
    /// What is read off a Nyquist plot.
    pub nyquist: Option<Plot>,
    /// Run only by `--full`.
    #[serde(default)]
    pub full: bool,
}

/// How much of a recipe is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// So many seeds: 1, 2, ...
    #[serde(default = "one")]
    pub seeds: u64,
    /// Values laid over the scenario of every case.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// A trace in place of the recipe's.
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

impl Recipe {
    /// Reads a recipe's text; `name` is what it is called, `readings` the names that its rows may use, `siblings` the
    /// texts of the recipes in its folder.
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
            let row = row.into_inner();
            let what = row.what.clone();
            let each = recipe.each_case(row).map_err(|fault| row_fault(&span, &what, &fault))?;
            rows.extend(each.into_iter().map(|row| Spanned::new(span.clone(), row)));
        }
        recipe.expect = rows;
        recipe.check().map_err(Fault::plain)?;
        for row in &recipe.expect {
            let check = recipe.check_row(row.get_ref(), readings);
            check.map_err(|fault| row_fault(&row.span(), &row.get_ref().what, &fault))?;
        }
        Ok(recipe)
    }

    /// The row with the times of its stage, once for each of its cases.
    fn each_case(&self, row: Expectation) -> Result<Vec<Expectation>, String> {
        if row.case.is_some() && !row.cases.is_empty() {
            return Err("give case or cases".into());
        }
        Ok(row.timed(&self.stages)?.spread())
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
        if self.quick.seeds == 0 || self.full.seeds == 0 {
            return Err("seeds: expected at least 1".into());
        }
        self.cases.iter().try_for_each(|case| self.check_case(case))?;
        self.cases.iter().filter_map(|case| self.recurrence(case)).try_for_each(|made| made.map(drop))
    }

    fn check_row(&self, row: &Expectation, readings: &[String]) -> Result<(), String> {
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
        let answered = self.case(self.case_of(row)).is_some_and(|case| case.analysis.is_some());
        if answered != row.answer.is_some() {
            return Err("answer belongs to a case with analysis, and such a case has nothing else".into());
        }
        Ok(())
    }

    fn check_case(&self, case: &Case) -> Result<(), String> {
        let complain = |fault: &str| Err(format!("case \"{}\": {fault}", case.name));
        if case.analysis.is_some() && self.scenario.is_none() {
            return complain("analysis is of a [scenario]");
        }
        if case.vary.is_some() && case.analysis != Some(Analysis::Stability) {
            return complain("vary belongs to analysis = \"stability\"");
        }
        if case.nyquist.is_some() && case.analysis != Some(Analysis::Nyquist) {
            return complain("nyquist belongs to analysis = \"nyquist\"");
        }
        if let Some(Err(fault)) = case.nyquist.as_ref().map(Plot::check) {
            return complain(&fault);
        }
        Ok(())
    }

    /// The case of this name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// The case that a row is about.
    pub fn case_of<'a>(&'a self, row: &'a Expectation) -> &'a str {
        row.case.as_deref().unwrap_or_else(|| self.cases.first().map_or("", |case| &case.name))
    }

    /// The difference equation of a case, if the recipe has one.
    pub fn recurrence(&self, case: &Case) -> Option<Result<Recurrence, String>> {
        let mut table = self.recurrence.clone()?;
        table.extend(case.set.clone());
        let made: Result<Recurrence, _> = table.try_into();
        let made =
            made.map_err(|fault: toml::de::Error| fault.message().to_owned()).and_then(Recurrence::check);
        Some(made.map_err(|fault| format!("case \"{}\": {fault}", case.name)))
    }

    /// How much is run.
    pub fn extent(&self, full: bool) -> &Extent {
        if full { &self.full } else { &self.quick }
    }

    /// Rows that are judged at this extent: those of a case for `--full` alone wait for it.
    pub fn rows(&self, full: bool) -> impl Iterator<Item = &Expectation> {
        self.expect.iter().map(Spanned::get_ref).filter(move |row| {
            let cases = std::iter::once(self.case_of(row)).chain(row.versus.as_deref());
            full || !row.full && cases.into_iter().all(|name| self.case(name).is_some_and(|case| !case.full))
        })
    }
}

fn row_fault(span: &Range<usize>, what: &str, fault: &str) -> Fault {
    Fault::at(span.clone(), format!("[[expect]] \"{what}\": {fault}"))
}
