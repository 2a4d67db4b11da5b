//! The runs that a recipe's rows ask for: which, and of what scenario.

use super::expect::Expectation;
use super::paper::{Chosen, Paper, Reading};
use super::recipe::{Case, Recipe};
use millpond_scenario::{Faults, Scenario};

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

    /// Its scenario with `more` values laid over it; none if the recipe is a recurrence.
    ///
    /// # Errors
    /// What is wrong with the scenario or with the values laid over it.
    pub fn scenario(&self, more: &[String]) -> Option<Result<Scenario, Faults>> {
        let text = self.recipe.scenario.as_ref()?.to_string();
        let mut overrides = self.overrides();
        overrides.extend_from_slice(more);
        let (folder, files) = self.paper.files();
        Some(Scenario::parse(&text, &self.recipe.name, &folder, &overrides, files))
    }

    /// Values laid over the recipe's scenario as `path=value`, later ones over earlier ones.
    fn overrides(&self) -> Vec<String> {
        let layers = [&self.recipe.extent(self.full).set, &self.case.set, &self.reading.set];
        let seed = format!("seed={}", self.seed);
        let set = layers.into_iter().flatten().map(|(path, value)| format!("{path}={value}"));
        set.chain([seed]).collect()
    }

    fn id(&self) -> (&str, &str, u64) {
        (&self.case.name, &self.reading.name, self.seed)
    }

    /// Does this row, under its reading, look at this run?
    pub(super) fn concerns(&self, row: &Expectation, reading: &Reading) -> bool {
        let here = self.recipe.case_of(row) == self.case.name || row.versus.as_ref() == Some(&self.case.name);
        here && self.reading.name == reading.name
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
                if let Some(Err(faults)) = cell.scenario(&[]) {
                    panic!("{}:\n{}", cell.label(), faults.render(false));
                }
            }
        }
    }
}
