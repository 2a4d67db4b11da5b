//! `millpond papers`: what papers say, and what comes out here.

use crate::args::{self, PapersAction};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{print, print_line};
use crate::progress::Progress;
use millpond_papers::{Checked, Library, Paper, RecipeError, Settings, Verdict, check, runs};
use millpond_protocols::Registry;
use millpond_report::page;
use millpond_report::terminal::{matrix, overview, table};
use millpond_results::files::WholeFile;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where finished runs of `--full` are kept unless `--keep` says otherwise.
const KEEP: &str = "millpond-papers";

pub(crate) fn papers(args: &args::Papers, registry: &Registry) -> Outcome {
    match &args.action {
        PapersAction::List(recipes) => list(recipes),
        PapersAction::Run(args) => {
            judge(&args.grid, args.out.clone(), &args.shown, registry, &tables)?;
            Ok(ExitCode::SUCCESS)
        }
        PapersAction::Check(args) => judge(&args.grid, kept(args), &args.shown, registry, &tables),
        PapersAction::Readings(args) => judge(&args.grid, kept(args), &args.shown, registry, &matrices),
    }
}

fn list(recipes: &args::Recipes) -> Outcome {
    print(overview(&library(recipes)?.choose(recipes.name.as_deref())?))?;
    Ok(ExitCode::SUCCESS)
}

fn library(recipes: &args::Recipes) -> Result<Library, RecipeError> {
    recipes.papers.as_deref().map_or_else(Library::builtin, Library::read)
}

fn kept(args: &args::PapersCheck) -> Option<PathBuf> {
    args.keep.clone().or_else(|| args.grid.full.then(|| PathBuf::from(KEEP)))
}

/// Checks the recipes asked for and shows them; fails if a row is unexplained.
fn judge(
    grid: &args::PapersGrid,
    keep: Option<PathBuf>,
    shown: &args::PapersShown,
    registry: &Registry,
    show: &dyn Fn(&Library, &[Checked]) -> String,
) -> Outcome {
    let library = library(&grid.recipes)?;
    let page = shown.report.as_deref().map(WholeFile::create).transpose().map_err(Failure::input)?;
    let checked = run(&library, grid, keep, page.is_some(), registry)?;
    if let Some(page) = page {
        page.write(page::papers(&checked).as_bytes()).map_err(Failure::input)?;
        page.finish().map_err(Failure::input)?;
    }
    if shown.json {
        print_line(serde_json::to_string_pretty(&checked).map_err(Failure::input)?)?;
    } else {
        print(show(&library, &checked))?;
    }
    let unexplained = checked.iter().any(|one| one.verdict(None) == Some(Verdict::Unexplained));
    Ok(if unexplained { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn run(
    library: &Library,
    grid: &args::PapersGrid,
    keep: Option<PathBuf>,
    draw: bool,
    registry: &Registry,
) -> Result<Vec<Checked>, Failure> {
    let chosen = library.choose(grid.recipes.name.as_deref())?;
    let progress = Progress::of_all(runs(&chosen, grid.full), Interrupt::install()?);
    let settings = Settings {
        registry: registry.clone(),
        full: grid.full,
        set: grid.sets.clone(),
        trace: grid.trace.as_deref().map(std::path::absolute).transpose().map_err(Failure::input)?,
        keep,
        draw,
    };
    let checked = check(&chosen, &settings, &progress);
    progress.clear();
    Ok(checked?)
}

/// The table of each recipe, and how many rows came out how.
fn tables(_: &Library, checked: &[Checked]) -> String {
    let tables: String = checked.iter().map(|one| table(one) + "\n").collect();
    let rows = || checked.iter().flat_map(|one| &one.rows);
    let count = |verdict| rows().filter(|row| row.verdict == verdict).count();
    let said = [Verdict::Matches, Verdict::Differs, Verdict::Unexplained]
        .map(|verdict| format!("{} {}", count(verdict), verdict.name()));
    format!("{tables}{} rows: {}\n", rows().count(), said.join(", "))
}

/// Of each paper: which recipe comes out under which reading.
fn matrices(library: &Library, checked: &[Checked]) -> String {
    let of_paper = |paper: &Paper| {
        let is_of = |one: &&Checked| paper.recipes.iter().any(|recipe| recipe.name == one.recipe);
        let mine: Vec<_> = checked.iter().filter(is_of).cloned().collect();
        (!mine.is_empty()).then(|| matrix(paper, &mine) + "\n")
    };
    library.papers.iter().filter_map(of_paper).collect()
}
