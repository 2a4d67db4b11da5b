//! The twin of a row that is expected to differ: a row under whose setting the paper's value is the result.

use super::RecipeError;
use super::expect::Expectation;
use super::paper::{Library, SelectedRecipe};
use serde::Deserialize;
use std::fmt;

/// Identifies a twin by what it does not share with its row. One key at least is given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// The recipe; that of the row by default.
    pub recipe: Option<String>,
    /// The case; that of the row by default, or the first of another recipe.
    pub case: Option<String>,
    /// The reading; that of the row by default, or the first of another paper.
    pub reading: Option<String>,
    /// The name of the quantity; by default that of the row, or of any row with one of its claims.
    pub what: Option<String>,
}

impl Twin {
    /// Whether the library has this twin of `row`: a row that is expected to match.
    fn exists(&self, library: &Library, selected: SelectedRecipe<'_>, row: &Expectation) -> bool {
        let name = self.recipe.as_deref().unwrap_or(&selected.recipe.name);
        let recipes = library.select(Some(name)).unwrap_or_default();
        recipes
            .iter()
            .any(|&other| other.recipe.rows(true).any(|candidate| self.is(selected, row, other, candidate)))
    }

    fn is(
        &self,
        of: SelectedRecipe<'_>,
        row: &Expectation,
        other: SelectedRecipe<'_>,
        candidate: &Expectation,
    ) -> bool {
        let same_recipe = of.recipe.name == other.recipe.name;
        let first_case = other.recipe.cases.first().map(|case| case.name.as_str());
        let default_case = if same_recipe { Some(of.recipe.case_of(row)) } else { first_case };
        let case = self.case.as_deref().or(default_case);
        let same_paper = of.paper.name == other.paper.name;
        let default_reading = row.reading.as_deref().filter(|_| same_paper);
        let reading = self.reading.as_deref().or(default_reading);
        let has_name = |selected: SelectedRecipe<'_>, reading| {
            selected.paper.reading(reading).map(|reading| reading.name.clone())
        };
        candidate.theory.is_none()
            && Some(other.recipe.case_of(candidate)) == case
            && has_name(other, candidate.reading.as_deref()) == has_name(other, reading)
            && self.is_same_quantity(row, candidate)
    }

    fn is_same_quantity(&self, row: &Expectation, candidate: &Expectation) -> bool {
        match &self.what {
            Some(what) => candidate.what.get_ref() == what,
            None => {
                candidate.what.get_ref() == row.what.get_ref()
                    || candidate.claim.iter().any(|claim| row.claim.contains(claim))
            }
        }
    }
}

/// Checks that the library has every twin that its rows name.
///
/// # Errors
/// The first row whose twin does not exist.
pub(super) fn check_twins(library: &Library) -> Result<(), RecipeError> {
    for selected in library.select(None)? {
        let with_twin = selected.recipe.rows(true).filter_map(|row| Some((row, row.twin.as_ref()?)));
        let mut without = with_twin.filter(|(row, twin)| !twin.exists(library, selected, row));
        if let Some((row, twin)) = without.next() {
            let message = format!("[[expect]] \"{}\": no row is its twin ({twin})", row.what.get_ref());
            return Err(RecipeError::new(&selected.recipe.name, message));
        }
    }
    Ok(())
}

impl fmt::Display for Twin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recipe = self.recipe.iter().map(ToString::to_string);
        let case = self.case.iter().map(|case| format!("case \"{case}\""));
        let reading = self.reading.iter().map(|reading| format!("reading \"{reading}\""));
        let what = self.what.iter().map(|what| format!("row \"{what}\""));
        let parts: Vec<_> = recipe.chain(case).chain(reading).chain(what).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;

    /// The rows of shipped recipes that are expected to differ under a reading that we do not reject.
    fn differing(selected: SelectedRecipe<'_>) -> impl Iterator<Item = &Expectation> {
        let rejected = move |row: &&Expectation| {
            selected.paper.reading(row.reading.as_deref()).is_some_and(|reading| reading.rejected)
        };
        selected.recipe.rows(true).filter(|row| row.theory.is_some()).filter(move |row| !rejected(row))
    }

    #[test]
    fn each_difference_of_the_shipped_recipes_has_a_twin_or_a_proof_that_there_is_none() {
        let library = Library::builtin().unwrap();
        let describe = |recipe: &Recipe, row: &Expectation| {
            format!("{}, {}: {}", recipe.name, recipe.case_of(row), row.what.get_ref())
        };
        let without: Vec<_> = library
            .select(None)
            .unwrap()
            .into_iter()
            .flat_map(|selected| differing(selected).map(move |row| (selected, row)))
            .filter(|(_, row)| row.twin.is_none() && row.no_twin.is_none())
            .map(|(selected, row)| describe(selected.recipe, row))
            .collect();
        assert!(without.is_empty(), "{} rows differ without a twin:\n{}", without.len(), without.join("\n"));
    }

    #[test]
    fn a_twin_belongs_to_a_row_with_theory_and_excludes_a_proof() {
        let row = |more: &str| {
            let text =
                format!("what = 'x'\nsummary = 's'\npaper = 1\naccept = [1, 1.1]\nbecause = 'b'\n{more}");
            toml::from_str::<Expectation>(&text).unwrap().check()
        };
        let theory = "theory = [2, 3]\nreason = 'r'\n";
        assert!(row(&format!("{theory}twin = {{ case = 'a' }}")).is_ok());
        assert!(row(&format!("{theory}no_twin = 'p'")).is_ok());
        assert!(row("twin = { case = 'a' }").unwrap_err().contains("theory"));
        assert!(row(&format!("{theory}no_twin = 'p'\ntwin = {{ case = 'a' }}")).is_err());
    }
}
