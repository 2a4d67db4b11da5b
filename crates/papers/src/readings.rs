//! The matrix of readings: every row of a recipe under every reading of its paper, established by running.

use super::check::{Measurement, finish_all, judge_rows, measure_all, measure_rows};
use super::execute::{CheckOptions, TrialResult, execute};
use super::expect::Expectation;
use super::paper::{Paper, SelectedRecipe};
use super::reading::Reading;
use super::recipe::Recipe;
use super::trial::{Trial, trials};
use super::verdict::{JudgedRow, RowVerdict};
use millpond_lab::Error;
use millpond_plan::with_used_settings;
use millpond_results::Watch;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A recipe under every reading of its paper.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RecipeReadings {
    /// The name of the recipe: `lgcc/fig12`.
    pub recipe: String,
    /// The reading under which the recipe judges its rows: that of its first row.
    pub own: String,
    /// The names of the readings, in the order of the paper's file.
    pub readings: Vec<String>,
    /// The rows that the recipe judges under its own reading, in the order of the file.
    pub rows: Vec<RowReadings>,
}

/// A row under every reading.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowReadings {
    /// The name of the quantity.
    pub what: String,
    /// The case.
    pub case: String,
    /// The unit of the values.
    pub unit: String,
    /// What is accepted: the bounds, or the order and the row that it refers to.
    pub accepted: String,
    /// The result under each reading, in the order of `readings` of the recipe.
    pub cells: Vec<ReadingCell>,
}

/// A row under one reading.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ReadingCell {
    /// The mean of the values over the seeds; none if the quantity could not be measured.
    pub measured: Option<f64>,
    /// The effect of the reading.
    pub effect: Effect,
    /// Why the quantity could not be measured; empty otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The effect of a reading on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The value is exactly that under the recipe's own reading.
    None,
    /// The value is accepted.
    Accepted,
    /// The value is not accepted.
    NotAccepted,
    /// The quantity could not be measured.
    NotMeasured,
}

/// Recipes under every reading of their papers: what has to be run.
pub struct ReadingsPlan<'a> {
    options: &'a CheckOptions,
    recipes: Vec<Variants<'a>>,
    runs: Vec<PlannedRun>,
}

/// A recipe under every reading of its paper.
struct Variants<'a> {
    selected: SelectedRecipe<'a>,
    /// The paper, each reading without overrides of what the scenario of the recipe does not have.
    paper: Paper,
    /// The recipe for each reading, with the rows of its own reading.
    recipes: Vec<Recipe>,
}

/// A trial of a recipe that is executed once for several readings, because its scenario is the same under each of them.
struct PlannedRun {
    /// Number of the recipe.
    recipe: usize,
    /// Number of the trial of each of its variants.
    trial: usize,
    /// Numbers of the readings.
    readings: Vec<usize>,
}

impl<'a> ReadingsPlan<'a> {
    /// The plan for these recipes.
    pub fn new(selected: &'a [SelectedRecipe<'a>], options: &'a CheckOptions) -> Self {
        let recipes: Vec<_> = selected.iter().map(|one| Variants::new(*one, options.full)).collect();
        let runs = |(recipe, variants): (usize, &Variants<'_>)| variants.runs(recipe, options);
        let runs = recipes.par_iter().enumerate().flat_map_iter(runs).collect();
        Self { options, recipes, runs }
    }

    /// The number of trials that are executed.
    pub fn run_count(&self) -> usize {
        self.runs.len()
    }

    /// Runs every row of the recipes' own readings under every reading of their papers. `watch` receives the number of each
    /// trial, from 0 to [`ReadingsPlan::run_count`].
    ///
    /// # Errors
    /// A cache that cannot be written, or the interruption by `watch`. A scenario that a reading makes invalid, and a
    /// network whose equations cannot be integrated under it, are no errors: their rows are not measured.
    pub fn run(&self, watch: &dyn Watch) -> Result<Vec<RecipeReadings>, Error> {
        let measured = finish_all(self.runs.len(), &|index| {
            let PlannedRun { recipe, trial, readings } = &self.runs[index];
            let variant = self.recipes[*recipe].under(readings[0]);
            let trial = &trials(variant, self.options.full)[*trial];
            let result = match execute(trial, index, self.options, watch) {
                Err(fault @ (Error::Scenario(_) | Error::Fluid(_))) => {
                    TrialResult::Refused(fault.to_string())
                }
                other => other?,
            };
            Ok(measure_rows(variant, trial, &result))
        })?;
        let matrix = |(recipe, variants): (usize, &Variants<'_>)| {
            let judged = |reading| self.judge(variants.under(reading), recipe, reading, &measured);
            matrix(variants.selected, &(0..variants.recipes.len()).map(judged).collect::<Vec<_>>())
        };
        Ok(self.recipes.iter().enumerate().map(matrix).collect())
    }

    /// The rows of a recipe under a reading. `measured` are the values of all planned runs.
    fn judge(
        &self,
        variant: SelectedRecipe<'_>,
        recipe: usize,
        reading: usize,
        measured: &[Vec<Measurement>],
    ) -> Vec<JudgedRow> {
        let trials = trials(variant, self.options.full);
        let own = self.runs.iter().zip(measured);
        let own = own.filter(|(run, _)| run.recipe == recipe && run.readings.contains(&reading));
        let own = own.map(|(run, values)| (&trials[run.trial], values.as_slice()));
        judge_rows(variant, &measure_all(variant, self.options.full, own))
    }
}

impl<'a> Variants<'a> {
    fn new(selected: SelectedRecipe<'a>, full: bool) -> Self {
        let SelectedRecipe { paper, recipe } = selected;
        let own = rows_of_own_reading(selected, full);
        let readings = paper.readings.iter().map(|reading| reaching(reading, recipe)).collect();
        let recipes = paper.readings.iter().map(|reading| with_rows(recipe, &own, &reading.name)).collect();
        Self { selected, paper: paper.with_readings(readings), recipes }
    }

    fn under(&self, reading: usize) -> SelectedRecipe<'_> {
        SelectedRecipe { paper: &self.paper, recipe: &self.recipes[reading] }
    }

    /// The trials of all variants, those with equal scenarios together.
    fn runs(&self, recipe: usize, options: &CheckOptions) -> Vec<PlannedRun> {
        let mut found: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
        for reading in 0..self.recipes.len() {
            for (number, trial) in trials(self.under(reading), options.full).iter().enumerate() {
                let key = key(trial, options).unwrap_or_else(|| trial.reading.name.clone());
                found.entry((number, key)).or_default().push(reading);
            }
        }
        found.into_iter().map(|((trial, _), readings)| PlannedRun { recipe, trial, readings }).collect()
    }
}

/// What determines the result of a trial among those of the same case and seed: its difference equation or its scenario,
/// without settings of protocols that no flow uses. None if the scenario is invalid.
fn key(trial: &Trial<'_>, options: &CheckOptions) -> Option<String> {
    if let Some(recurrence) = trial.recurrence() {
        return Some(format!("{recurrence:?}"));
    }
    let scenario = trial.scenario(&options.set, options.trace.as_deref()).ok()?;
    let key = with_used_settings(&scenario, &options.registry).key();
    Some(format!("{} {:?}", key.sha256, key.traces))
}

/// The reading without overrides of links and flows that the scenario of the recipe does not have.
fn reaching(reading: &Reading, recipe: &Recipe) -> Reading {
    let has = |list: &str, name: &str| {
        let items = recipe.scenario.as_ref().and_then(|scenario| scenario.get(list)?.as_array());
        let is_named = |item: &toml::Value| item.get("name").and_then(toml::Value::as_str) == Some(name);
        items.is_some_and(|items| items.iter().any(is_named))
    };
    let mut reaching = reading.clone();
    reaching.set.retain(|key, _| {
        let mut names = key.split('.');
        match (names.next(), names.next()) {
            (Some(list @ ("links" | "flows")), Some(name)) => has(list, name),
            _ => true,
        }
    });
    reaching
}

/// The name of the reading under which the recipe judges its rows: that of its first row.
pub fn own_reading<'a>(selected: SelectedRecipe<'a>) -> &'a str {
    let first = selected.recipe.expect.first().and_then(|row| row.get_ref().reading.as_deref());
    selected.paper.reading(first).map_or("", |reading| &reading.name)
}

/// The rows that a recipe judges under its own reading.
fn rows_of_own_reading(selected: SelectedRecipe<'_>, full: bool) -> Vec<Expectation> {
    let own = own_reading(selected);
    let is_own = |row: &&Expectation| {
        selected.paper.reading(row.reading.as_deref()).is_some_and(|reading| reading.name == own)
    };
    selected.recipe.rows(full).filter(is_own).cloned().collect()
}

/// The recipe with these rows under a reading. No difference is expected: what is accepted is the paper's value.
fn with_rows(recipe: &Recipe, rows: &[Expectation], reading: &str) -> Recipe {
    let under = |row: &Expectation| Expectation {
        reading: Some(reading.to_owned()),
        theory: None,
        reason: None,
        twin: None,
        no_twin: None,
        ..row.clone()
    };
    Recipe { expect: rows.iter().map(|row| Spanned::new(0..0, under(row))).collect(), ..recipe.clone() }
}

/// The matrix of one recipe from its rows under each reading.
fn matrix(selected: SelectedRecipe<'_>, variants: &[Vec<JudgedRow>]) -> RecipeReadings {
    let own = own_reading(selected);
    let readings: Vec<_> = selected.paper.readings.iter().map(|reading| reading.name.clone()).collect();
    let base = readings.iter().position(|name| name == own).and_then(|own| variants.get(own));
    let rows = base.into_iter().flatten().enumerate();
    let row = |(i, base): (usize, &JudgedRow)| RowReadings {
        what: base.what.clone(),
        case: base.case.clone(),
        unit: base.unit.clone(),
        accepted: base.accept.clone().or_else(|| base.paper.clone()).unwrap_or_default(),
        cells: variants.iter().filter_map(|rows| Some(cell(rows.get(i)?, base, own))).collect(),
    };
    RecipeReadings {
        recipe: selected.recipe.name.clone(),
        own: own.to_owned(),
        rows: rows.map(row).collect(),
        readings,
    }
}

/// The cell of a row; `base` is the row under the recipe's own reading.
fn cell(row: &JudgedRow, base: &JudgedRow, own: &str) -> ReadingCell {
    let is_same = bits(row) == bits(base);
    let effect = match (row.measured, row.verdict) {
        (None, _) => Effect::NotMeasured,
        (Some(_), _) if row.reading != own && is_same => Effect::None,
        (Some(_), RowVerdict::Matches) => Effect::Accepted,
        (Some(_), _) => Effect::NotAccepted,
    };
    let reason = if row.measured.is_none() { row.reason.clone() } else { String::new() };
    ReadingCell { measured: row.measured, effect, reason }
}

/// The values of a row, bit by bit: one that is not a number equals itself.
fn bits(row: &JudgedRow) -> [Option<u64>; 4] {
    let (least, greatest) = row.extremes.unzip();
    [row.measured, row.compared, least, greatest].map(|value| value.map(f64::to_bits))
}

impl RecipeReadings {
    /// The numbers of rows under the reading number `reading` that are accepted, and that the reading affects. A row
    /// without effect counts as it does under the recipe's own reading.
    pub fn counts(&self, reading: usize) -> (usize, usize) {
        let own = self.readings.iter().position(|name| *name == self.own).unwrap_or_default();
        let effect = |row: &RowReadings, reading: usize| row.cells.get(reading).map(|cell| cell.effect);
        let is_accepted = |row: &&RowReadings| match effect(row, reading) {
            Some(Effect::None) => effect(row, own) == Some(Effect::Accepted),
            other => other == Some(Effect::Accepted),
        };
        let is_affected = |row: &&RowReadings| reading != own && effect(row, reading) != Some(Effect::None);
        (self.rows.iter().filter(is_accepted).count(), self.rows.iter().filter(is_affected).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_no_number_under_both_readings_is_not_affected() {
        let row = crate::claims::tests::row("own = 1", f64::NAN, false);
        assert_eq!(cell(&row, &row, "another").effect, Effect::None);
        assert_eq!(cell(&row, &row, &row.reading).effect, Effect::NotAccepted);
    }
}
