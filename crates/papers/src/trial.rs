//! The runs that a recipe's rows ask for: which, and of what scenario.

use super::expect::Expectation;
use super::paper::{Chosen, Paper, Reading};
use super::recipe::{Case, Recipe};
use super::recurrence::Recurrence;
use millpond_scenario::{Faults, Scenario};
use std::path::{Path, PathBuf};
use toml::Value;

/// One run of a recipe: a case under a reading with a seed.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Of this paper.
    pub paper: &'a Paper,
    /// Of this recipe.
    pub recipe: &'a Recipe,
    /// The variant of its scenario.
    pub case: &'a Case,
    /// The meaning taken.
    pub reading: &'a Reading,
    /// The seed.
    pub seed: u64,
    /// At the paper's own extent?
    pub full: bool,
}

impl Cell<'_> {
    /// What a person calls it: `lgcc/fig12, ABC, window, seed 1`.
    pub fn label(&self) -> String {
        format!("{}, {}, {}, seed {}", self.recipe.name, self.case.name, self.reading.name, self.seed)
    }

    /// The command that runs the cell's recipe, for the run's description.
    pub(super) fn command(&self) -> String {
        format!("millpond papers run {}{}", self.recipe.name, if self.full { " --full" } else { "" })
    }

    /// Its difference equation, if the recipe has one.
    pub(super) fn recurrence(&self) -> Option<Recurrence> {
        self.recipe.recurrence(self.case).and_then(Result::ok)
    }

    /// Its scenario, with `more` values laid over it and with `trace` in place of every trace.
    ///
    /// # Errors
    /// What is wrong with the scenario or with the values laid over it.
    pub fn scenario(&self, more: &[String], trace: Option<&Path>) -> Result<Scenario, Faults> {
        let (folder, files) = self.paper.files();
        let other = self.recipe.extent(self.full).trace.as_deref();
        let path = |file: &str| trace.map_or_else(|| folder.join(other.unwrap_or(file)), Path::to_owned);
        let table = self.recipe.scenario.clone().unwrap_or_default();
        let text = toml::to_string(&with_traces(table.into(), &path)).unwrap_or_default();
        let mut overrides = self.overrides(&path);
        overrides.extend_from_slice(more);
        Scenario::parse(&text, &self.recipe.name, &folder, &overrides, files)
    }

    /// Values laid over the recipe's scenario as `path=value`, later ones over earlier ones.
    fn overrides(&self, path: &dyn Fn(&str) -> PathBuf) -> Vec<String> {
        let layers = [&self.recipe.extent(self.full).set, &self.case.set, &self.reading.set];
        let set = layers
            .into_iter()
            .flatten()
            .map(|(key, value)| format!("{key}={}", with_traces(value.clone(), path)));
        set.chain([format!("seed={}", self.seed)]).collect()
    }

    fn id(&self) -> (&str, &str, u64) {
        (&self.case.name, &self.reading.name, self.seed)
    }

    /// Is it the same run of the same recipe?
    pub(super) fn same(&self, other: &Self) -> bool {
        self.recipe.name == other.recipe.name && self.id() == other.id()
    }

    /// Does this row, under its reading, look at this run?
    pub(super) fn concerns(&self, row: &Expectation, reading: &Reading) -> bool {
        let here = self.recipe.case_of(row) == self.case.name || row.versus.as_ref() == Some(&self.case.name);
        here && self.reading.name == reading.name
    }
}

/// The value with `path` of each trace file that it names: `trace = "file"` or `trace = { file = "file", .. }`.
fn with_traces(value: Value, path: &dyn Fn(&str) -> PathBuf) -> Value {
    let placed = |file: Value| match &file {
        Value::String(name) => Value::String(path(name).display().to_string()),
        _ => file,
    };
    let inside = |(key, value): (String, Value)| {
        let value = match (key.as_str(), value) {
            ("trace", value @ Value::String(_)) => placed(value),
            ("trace", Value::Table(trace)) => {
                let named = |(key, value)| if key == "file" { (key, placed(value)) } else { (key, value) };
                Value::Table(trace.into_iter().map(named).collect())
            }
            (_, value) => with_traces(value, path),
        };
        (key, value)
    };
    match value {
        Value::Table(table) => Value::Table(table.into_iter().map(inside).collect()),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| with_traces(item, path)).collect()),
        plain => plain,
    }
}

/// The cells that the rows of a recipe need, each once, in the order in which rows first ask for them.
pub fn cells<'a>(chosen: Chosen<'a>, full: bool) -> Vec<Cell<'a>> {
    let Chosen { paper, recipe } = chosen;
    let mut cells: Vec<Cell<'a>> = Vec::new();
    for row in recipe.rows(full) {
        let cases = std::iter::once(recipe.case_of(row)).chain(row.versus.as_deref());
        for case in cases.filter_map(|name| recipe.case(name)) {
            let Some(reading) = paper.reading(row.reading.as_deref()) else { continue };
            for seed in 1..=recipe.extent(full).seeds {
                let cell = Cell { paper, recipe, case, reading, seed, full };
                if !cells.iter().any(|known| known.id() == cell.id()) {
                    cells.push(cell);
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::Library;
    use super::*;

    #[test]
    fn every_cell_of_every_shipped_recipe_has_a_scenario_without_a_fault() {
        let library = Library::builtin().unwrap();
        for chosen in library.choose(None).unwrap() {
            for cell in [false, true].iter().flat_map(|&full| cells(chosen, full)) {
                if let (true, Err(faults)) = (chosen.recipe.scenario.is_some(), cell.scenario(&[], None)) {
                    panic!("{}:\n{}", cell.label(), faults.render(false));
                }
            }
        }
    }

    #[test]
    fn a_trace_is_looked_for_beside_its_recipe_wherever_it_is_named() {
        let before =
            "[a]\nrate = { trace = { file = 'x.csv', end = 'hold' } }\n[[b]]\nrate = { trace = 'y.csv' }";
        let after = "[a]\nrate = { trace = { file = 'in/x.csv', end = 'hold' } }\n[[b]]\nrate = { trace = 'in/y.csv' }";
        let value = |text: &str| Value::Table(text.parse().unwrap());
        assert_eq!(with_traces(value(before), &|file| Path::new("in").join(file)), value(after));
    }
}
