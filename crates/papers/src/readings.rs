//! The matrix of readings: every row of a recipe under every reading of its paper, established by running.

use super::check::{CheckedRecipe, check_with, trial_count};
use super::execute::{CheckOptions, TrialResult, execute};
use super::expect::Expectation;
use super::paper::{Paper, SelectedRecipe};
use super::recipe::Recipe;
use super::trial::Trial;
use super::verdict::{JudgedRow, Verdict};
use millpond_lab::Error;
use millpond_results::Watch;
use schemars::JsonSchema;
use serde::Serialize;
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

/// The recipes under every reading of their papers: for each selected recipe one recipe per reading, in this order.
fn variants<'a>(selected: &[SelectedRecipe<'a>], full: bool) -> Vec<(&'a Paper, Recipe)> {
    let of = |one: &SelectedRecipe<'a>| {
        let (paper, recipe, own) = (one.paper, one.recipe, rows_of_own_reading(*one, full));
        paper.readings.iter().map(move |reading| (paper, with_rows(recipe, &own, &reading.name)))
    };
    selected.iter().flat_map(of).collect()
}

fn to_check<'a>(variants: &'a [(&'a Paper, Recipe)]) -> Vec<SelectedRecipe<'a>> {
    variants.iter().map(|(paper, recipe)| SelectedRecipe { paper, recipe }).collect()
}

/// The number of trials of [`under_readings`].
pub fn readings_trial_count(selected: &[SelectedRecipe<'_>], full: bool) -> usize {
    trial_count(&to_check(&variants(selected, full)), full)
}

/// Runs every row of the recipes' own readings under every reading of their papers. `watch` receives the number of
/// each trial, from 0 to [`readings_trial_count`].
///
/// # Errors
/// A cache that cannot be written, or the interruption by `watch`. A scenario that a reading makes invalid, and a
/// network whose equations cannot be integrated under it, are no errors: their rows are not measured.
pub fn under_readings(
    selected: &[SelectedRecipe<'_>],
    options: &CheckOptions,
    watch: &dyn Watch,
) -> Result<Vec<RecipeReadings>, Error> {
    let run = |index: usize, trial: &Trial<'_>| match execute(trial, index, options, watch) {
        Err(fault @ (Error::Scenario(_) | Error::Fluid(_))) => Ok(TrialResult::Refused(fault.to_string())),
        other => other,
    };
    let variants = variants(selected, options.full);
    let mut checked = check_with(&to_check(&variants), options, &run)?.into_iter();
    let of = |one: &SelectedRecipe<'_>| {
        let variants: Vec<_> = checked.by_ref().take(one.paper.readings.len()).collect();
        matrix(*one, &variants)
    };
    Ok(selected.iter().map(of).collect())
}

/// The name of the reading under which the recipe judges its rows: that of its first row.
fn own_reading<'a>(selected: SelectedRecipe<'a>) -> &'a str {
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

/// The matrix of one recipe from its variants, one per reading.
fn matrix(selected: SelectedRecipe<'_>, variants: &[CheckedRecipe]) -> RecipeReadings {
    let own = own_reading(selected);
    let readings: Vec<_> = selected.paper.readings.iter().map(|reading| reading.name.clone()).collect();
    let base = readings.iter().position(|name| name == own).and_then(|own| variants.get(own));
    let rows = base.map_or(&[][..], |base| &base.rows).iter().enumerate();
    let row = |(i, base): (usize, &JudgedRow)| RowReadings {
        what: base.what.clone(),
        case: base.case.clone(),
        unit: base.unit.clone(),
        accepted: base.accept.clone().or_else(|| base.paper.clone()).unwrap_or_default(),
        cells: variants.iter().filter_map(|variant| Some(cell(variant.rows.get(i)?, base, own))).collect(),
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
        (Some(_), Verdict::Matches) => Effect::Accepted,
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
    use super::super::Library;
    use super::*;
    use millpond_results::Unwatched;

    fn matrix_of(change: impl Fn(&mut super::super::Reading)) -> RecipeReadings {
        let mut library = Library::builtin().unwrap();
        library.papers.retain(|paper| paper.name == "xcp");
        change(&mut library.papers[0].readings[1]);
        let selected = library.select(Some("xcp/persistent-queue")).unwrap();
        under_readings(&selected, &CheckOptions::quick(), &Unwatched).unwrap().remove(0)
    }

    #[test]
    fn every_row_has_a_cell_for_every_reading() {
        let matrix = matrix_of(|_| ());
        assert_eq!(matrix.readings, ["as the draft", "first interval of 80 ms", "truncated windows"]);
        assert!(matrix.rows.iter().all(|row| row.cells.len() == 3));
        assert_eq!(matrix.counts(0), (matrix.rows.len(), 0), "{matrix:#?}");
        assert!(matrix.counts(1).1 > 0, "{matrix:#?}");
    }

    #[test]
    fn a_value_that_is_no_number_under_both_readings_is_not_affected() {
        let row = crate::claims::tests::row("own = 1", f64::NAN, false);
        assert_eq!(cell(&row, &row, "another").effect, Effect::None);
        assert_eq!(cell(&row, &row, &row.reading).effect, Effect::NotAccepted);
    }

    #[test]
    fn a_reading_that_changes_nothing_has_no_effect_on_any_row() {
        let matrix = matrix_of(|reading| reading.set.clear());
        assert!(matrix.rows.iter().all(|row| row.cells[1].effect == Effect::None), "{matrix:#?}");
        assert_eq!(matrix.counts(1), (matrix.rows.len(), 0));
    }

    #[test]
    fn a_reading_that_makes_a_scenario_invalid_is_a_cell_with_its_reason() {
        let bad = || ("protocols.xcp.params.no_such_key".to_owned(), toml::Value::Integer(1));
        let matrix = matrix_of(|reading| reading.set.extend([bad()]));
        let cell = &matrix.rows[0].cells[1];
        assert_eq!((cell.effect, cell.measured), (Effect::NotMeasured, None));
        assert!(cell.reason.contains("no_such_key"), "{cell:?}");
    }
}
