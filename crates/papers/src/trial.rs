//! The trials of a recipe, and the scenario of each.

use super::expect::Expectation;
use super::paper::{Paper, SelectedRecipe};
use super::reading::Reading;
use super::recipe::{Case, Recipe, SEED};
use millpond_recurrences::Recurrence;
use millpond_results::{About, RunOrigin, World};
use millpond_scenario::{Fault, Faults, Place, Scenario};
use std::path::{Path, PathBuf};
use toml::Value;

/// One run or analysis of a recipe: a case under a reading with a seed.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The recipe.
    pub recipe: &'a Recipe,
    /// The variant of the recipe's scenario.
    pub case: &'a Case,
    /// The reading of the paper.
    pub reading: &'a Reading,
    /// The seed of the random streams.
    pub seed: u64,
    /// Whether the trial has the extent of `--full`.
    pub full: bool,
}

impl Trial<'_> {
    /// The label in progress and reports: `lgcc/fig12, ABC, window, seed 1`.
    pub fn label(&self) -> String {
        format!("{}, {}, {}, seed {}", self.recipe.name, self.case.name, self.reading.name, self.seed)
    }

    /// The command that runs the recipe, as stored in the files of the run.
    fn command(&self) -> String {
        format!("millpond papers run {}{}", self.recipe.name, if self.full { " --full" } else { "" })
    }

    /// The label, the command and the version of the run with this index.
    pub(super) fn about(&self, index: usize, world: World) -> About {
        let origin = RunOrigin { command: self.command(), version: env!("CARGO_PKG_VERSION").to_owned() };
        About { label: self.label(), origin, index, world }
    }

    /// The difference equation of the case under the reading, if the recipe has one.
    pub(super) fn recurrence(&self) -> Option<Recurrence> {
        self.recipe.recurrence(self.case, self.reading).and_then(Result::ok)
    }

    /// The scenario with the overrides `more` applied last and with `trace` in place of every trace.
    ///
    /// # Errors
    /// The faults of the scenario or of the overrides, or an override of the seed.
    pub fn scenario(&self, more: &[String], trace: Option<&Path>) -> Result<Scenario, Faults> {
        let (folder, files) = self.paper.files();
        let other = self.recipe.extent(self.full).trace.as_deref();
        let path = |file: &str| trace.map_or_else(|| folder.join(other.unwrap_or(file)), Path::to_owned);
        let table = self.recipe.scenario.clone().unwrap_or_default();
        let text = toml::to_string(&with_trace_paths(table.into(), &path)).unwrap_or_default();
        let mut overrides = self.overrides(&path);
        overrides.extend_from_slice(more);
        // Lines of this text are not those of the recipe.
        let name = format!("scenario of {}", self.recipe.name);
        let mut scenario = Scenario::parse(&text, &name, &folder, &overrides, files)?;
        match more.iter().find(|set| is_seed(set)) {
            Some(set) => Err(fixed_seed(&mut scenario, set).into()),
            None => Ok(scenario),
        }
    }

    /// The overrides of the recipe's scenario as `path=value`; later ones replace earlier ones.
    fn overrides(&self, path: &dyn Fn(&str) -> PathBuf) -> Vec<String> {
        let layers = [&self.recipe.extent(self.full).set, &self.case.set, &self.reading.set];
        let set = layers
            .into_iter()
            .flatten()
            .map(|(key, value)| format!("{key}={}", with_trace_paths(value.clone(), path)));
        set.chain([format!("{SEED}={}", self.seed)]).collect()
    }

    fn id(&self) -> (&str, &str, u64) {
        (&self.case.name, &self.reading.name, self.seed)
    }

    /// Whether both are the same trial of the same recipe.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.recipe.name == other.recipe.name && self.id() == other.id()
    }

    /// Whether the row, whose reading is `reading`, is measured on this trial.
    pub(super) fn is_measured_by(&self, row: &Expectation, reading: &Reading) -> bool {
        let has_case =
            self.recipe.case_of(row) == self.case.name || row.versus.as_ref() == Some(&self.case.name);
        has_case && self.reading.name == reading.name
    }
}

/// Whether an override `path=value` sets the seed.
fn is_seed(set: &str) -> bool {
    set.split_once('=').is_some_and(|(path, _)| path.trim() == SEED)
}

/// An override of the seed would make all seeds of a recipe one.
fn fixed_seed(scenario: &mut Scenario, set: &str) -> Fault {
    let text = scenario.sources.add("--set", set);
    let place = Place { text, start: 0, end: set.len() };
    let message = "the seeds of a recipe are 1, 2, ...; none is set for all runs";
    scenario.fault(place, message, "the seed").help("--full runs more seeds")
}

/// The value with every trace file replaced by `path` of it: `trace = "file"` or `trace = { file = "file", .. }`.
fn with_trace_paths(value: Value, path: &dyn Fn(&str) -> PathBuf) -> Value {
    let replaced = |file: Value| match &file {
        Value::String(name) => Value::String(path(name).display().to_string()),
        _ => file,
    };
    let entry = |(key, value): (String, Value)| {
        let value = match (key.as_str(), value) {
            ("trace", value @ Value::String(_)) => replaced(value),
            ("trace", Value::Table(trace)) => {
                let member = |(key, value)| if key == "file" { (key, replaced(value)) } else { (key, value) };
                Value::Table(trace.into_iter().map(member).collect())
            }
            (_, value) => with_trace_paths(value, path),
        };
        (key, value)
    };
    match value {
        Value::Table(table) => Value::Table(table.into_iter().map(entry).collect()),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| with_trace_paths(item, path)).collect())
        }
        plain => plain,
    }
}

/// The trials that the rows of a recipe need, each once, in the order in which rows first refer to them.
pub fn trials<'a>(selected: SelectedRecipe<'a>, full: bool) -> Vec<Trial<'a>> {
    let SelectedRecipe { paper, recipe } = selected;
    let mut trials: Vec<Trial<'a>> = Vec::new();
    for row in recipe.rows(full) {
        let cases = std::iter::once(recipe.case_of(row)).chain(row.versus.as_deref());
        for case in cases.filter_map(|name| recipe.case(name)) {
            let Some(reading) = paper.reading(row.reading.as_deref()) else { continue };
            for seed in 1..=recipe.extent(full).seeds {
                let trial = Trial { paper, recipe, case, reading, seed, full };
                if !trials.iter().any(|known| known.id() == trial.id()) {
                    trials.push(trial);
                }
            }
        }
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_paths_are_relative_to_the_folder_of_the_recipe() {
        let before =
            "[a]\nrate = { trace = { file = 'x.csv', end = 'hold' } }\n[[b]]\nrate = { trace = 'y.csv' }";
        let after = "[a]\nrate = { trace = { file = 'in/x.csv', end = 'hold' } }\n[[b]]\nrate = { trace = 'in/y.csv' }";
        let value = |text: &str| Value::Table(text.parse().unwrap());
        assert_eq!(with_trace_paths(value(before), &|file| Path::new("in").join(file)), value(after));
    }
}
