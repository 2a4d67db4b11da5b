//! Recipes that reproduce results of papers.

use crate::error::Failure;
use crate::registry;
use crate::work::{Conditions, interruptible};
use millpond_papers::{
    CheckOptions, CheckedPapers, CheckedRecipe, Library, RecipeError, check, require_traces, trial_count,
};
use millpond_terminal::{self as terminal, Document};
use pyo3::prelude::*;
use std::path::PathBuf;

/// The recipes in a folder, or the built-in ones.
fn library(folder: Option<&PathBuf>) -> Result<Library, RecipeError> {
    folder.map_or_else(Library::builtin, |folder| Library::read(folder))
}

/// Name, place in the paper and title of each recipe of this name, or of all.
#[pyfunction]
pub fn recipes(name: Option<&str>, folder: Option<PathBuf>) -> PyResult<Vec<(String, String, String)>> {
    let library = library(folder.as_ref()).map_err(Failure::from)?;
    let selected = library.select(name).map_err(Failure::from)?;
    let entry =
        |recipe: &millpond_papers::Recipe| (recipe.name.clone(), recipe.place.clone(), recipe.title.clone());
    Ok(selected.iter().map(|selected| entry(selected.recipe)).collect())
}

/// Checks recipes: JSON and tables, as `millpond papers check` prints them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of the Python function")]
pub fn check_papers(
    py: Python<'_>,
    name: Option<String>,
    folder: Option<PathBuf>,
    full: bool,
    sets: Vec<String>,
    trace: Option<PathBuf>,
    keep: Option<PathBuf>,
    threads: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let library = library(folder.as_ref()).map_err(Failure::from)?;
    let runs = trial_count(&library.select(name.as_deref()).map_err(Failure::from)?, full);
    let trace = trace.map(std::path::absolute).transpose().map_err(Failure::input)?;
    let options = CheckOptions { registry: registry(), full, set: sets, trace, keep, draw: false };
    interruptible(py, &Conditions { runs, threads, progress }, move |watch| {
        let selected = library.select(name.as_deref())?;
        require_traces(&selected, &options)?;
        let checked = CheckedPapers::new(check(&selected, &options, watch)?);
        let of = |document: Document, one: &CheckedRecipe| document.then(terminal::verdicts(one));
        let tables = checked.recipes.iter().fold(Document::default(), of);
        let tables = tables.then(terminal::headline(&checked.headline)).fitted(None);
        Ok((serde_json::to_string_pretty(&checked)?, tables))
    })
}
