//! `millpond papers`: recipes that reproduce results of papers.

use crate::args::{self, PapersAction};
use crate::command_line::origin;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{finish, new_file, print_results};
use crate::progress::Progress;
use millpond_papers::{
    CheckOptions, CheckedPapers, CheckedRecipe, Library, Paper, ReadingsPlan, RecipeError, RecipeReadings,
    RowVerdict, SelectedRecipe, check, require_traces, trial_count,
};
use millpond_protocols::Registry;
use millpond_report as page;
use millpond_terminal::{self as terminal, Document};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::to_string_pretty as pretty;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where finished runs of `--full` are kept without `--keep`.
const KEEP: &str = "millpond-papers";

pub(crate) fn papers(args: &args::Papers, registry: &Registry) -> Outcome {
    match &args.action {
        PapersAction::List(args) => list(args),
        PapersAction::Run(args) => {
            let keep = args.out.clone();
            Request { grid: &args.grid, short: false, keep, shown: &args.shown, registry }.check()?;
            Ok(ExitCode::SUCCESS)
        }
        PapersAction::Check(args) => Request::new(args, registry).check(),
        PapersAction::Readings(args) => readings(args, registry),
    }
}

fn list(args: &args::PapersList) -> Outcome {
    let library = library(&args.recipes)?;
    let selected = library.select(args.recipes.name.as_deref())?;
    let entries = || -> Vec<RecipeEntry<'_>> { selected.iter().map(RecipeEntry::of).collect() };
    print_results(
        &args.form.or_markdown_in_files(),
        || pretty(&entries()),
        || terminal::recipe_list(&selected),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A recipe: one figure, table or theorem of a paper.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RecipeEntry<'a> {
    /// The paper and the recipe: `lgcc/fig12`.
    recipe: &'a str,
    /// Where it is in the paper.
    place: &'a str,
    /// What it is about.
    title: &'a str,
}

impl<'a> RecipeEntry<'a> {
    fn of(selected: &SelectedRecipe<'a>) -> Self {
        let recipe = selected.recipe;
        Self { recipe: &recipe.name, place: &recipe.place, title: &recipe.title }
    }
}

fn library(recipes: &args::Recipes) -> Result<Library, RecipeError> {
    recipes.papers.as_deref().map_or_else(Library::builtin, Library::read)
}

/// Recipes to check, and how their rows are printed.
struct Request<'a> {
    grid: &'a args::PapersGrid,
    /// Whether recipes that take long are left out.
    short: bool,
    /// Where finished runs are kept.
    keep: Option<PathBuf>,
    shown: &'a args::PapersShown,
    registry: &'a Registry,
}

impl<'a> Request<'a> {
    fn new(args: &'a args::PapersCheck, registry: &'a Registry) -> Self {
        let keep = args.kept.folder(&args.grid);
        Self { grid: &args.grid, short: args.short, keep, shown: &args.shown, registry }
    }

    /// Checks the recipes and prints their rows. The exit code is a failure if a row is unexplained.
    fn check(self) -> Outcome {
        let library = library(&self.grid.recipes)?;
        let shown = self.shown;
        let page = shown.report.as_deref().map(|path| new_file(path, shown.existing)).transpose()?;
        let checked = CheckedPapers::new(self.run(&library)?);
        if let Some(page) = page {
            finish(page, page::papers(&checked, &origin()).as_bytes())?;
        }
        print_results(&shown.form.or_markdown_in_files(), || pretty(&checked), || tables(&checked))?;
        let unexplained =
            checked.recipes.iter().any(|one| one.verdict(None) == Some(RowVerdict::Unexplained));
        Ok(if unexplained { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn run(self, library: &Library) -> Result<Vec<CheckedRecipe>, Failure> {
        let grid = self.grid;
        let mut selected = library.select(grid.recipes.name.as_deref())?;
        if self.short {
            selected.retain(|one| !one.recipe.long);
            if selected.is_empty() {
                return Err(Failure::input(
                    "--short leaves out every recipe with this name: check it without",
                ));
            }
        }
        let draw = self.shown.report.is_some();
        let options = options(grid, self.keep, draw, self.registry)?;
        require_traces(&selected, &options)?;
        let progress = Progress::of_all(trial_count(&selected, grid.full), Interrupt::install()?);
        let checked = check(&selected, &options, &progress);
        progress.clear();
        Ok(checked?)
    }
}

fn options(
    grid: &args::PapersGrid,
    keep: Option<PathBuf>,
    draw: bool,
    registry: &Registry,
) -> Result<CheckOptions, Failure> {
    let trace = grid.trace.as_deref().map(std::path::absolute).transpose().map_err(Failure::input)?;
    Ok(CheckOptions {
        registry: registry.clone(),
        full: grid.full,
        set: grid.sets.clone(),
        trace,
        keep,
        draw,
    })
}

impl args::PapersKept {
    /// Where finished runs are kept: where the user says, and those of `--full` in any case.
    fn folder(&self, grid: &args::PapersGrid) -> Option<PathBuf> {
        self.keep.clone().or_else(|| grid.full.then(|| PathBuf::from(KEEP)))
    }
}

/// The table of each recipe, and the numbers of claims that hold.
fn tables(checked: &CheckedPapers) -> Document {
    let of = |document: Document, one: &CheckedRecipe| document.then(terminal::verdicts(one));
    checked.recipes.iter().fold(Document::default(), of).then(terminal::headline(&checked.headline))
}

/// Runs recipes under every reading of their papers, and prints a table for each paper, or the rows of one recipe.
fn readings(args: &args::PapersReadings, registry: &Registry) -> Outcome {
    let grid = &args.grid;
    let library = library(&grid.recipes)?;
    let selected = library.select(grid.recipes.name.as_deref())?;
    let rows = args.rows.as_deref().map(|path| new_file(path, args.existing)).transpose()?;
    let options = options(grid, args.kept.folder(grid), false, registry)?;
    require_traces(&selected, &options)?;
    let plan = ReadingsPlan::new(&selected, &options);
    let progress = Progress::of_all(plan.run_count(), Interrupt::install()?);
    let found = plan.run(&progress);
    progress.clear();
    let found = found?;
    if let Some(file) = rows {
        finish(
            file,
            by_paper(&library, &found, |_, mine| terminal::all_rows_under_readings(mine)).csv().as_bytes(),
        )?;
    }
    let document = || match found.as_slice() {
        [one] => terminal::rows_under_readings(one),
        _ => by_paper(&library, &found, terminal::readings),
    };
    print_results(&args.form.or_markdown_in_files(), || pretty(&found), document)?;
    Ok(ExitCode::SUCCESS)
}

/// The tables of each paper about its recipes.
fn by_paper(
    library: &Library,
    found: &[RecipeReadings],
    tables: impl Fn(&Paper, &[RecipeReadings]) -> Document,
) -> Document {
    let of = |document: Document, paper: &Paper| {
        let is_of = |one: &&RecipeReadings| paper.recipes.iter().any(|recipe| recipe.name == one.recipe);
        let mine: Vec<_> = found.iter().filter(is_of).cloned().collect();
        if mine.is_empty() { document } else { document.then(tables(paper, &mine)) }
    };
    library.papers.iter().fold(Document::default(), of)
}
