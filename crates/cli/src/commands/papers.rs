//! `millpond papers`: what papers say, and what comes out here.

use crate::args::{self, PapersAction};
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::progress::Total;
use millpond_lab::recipes::{
    Checked, Library, RecipeError, Settings, Verdict, check, matrix, overview, runs, table,
};
use millpond_protocols::Registry;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where finished runs of `--full` are kept unless `--keep` says otherwise.
const KEEP: &str = "millpond-papers";

pub(crate) fn papers(args: &args::Papers, registry: &Registry) -> Outcome {
    match &args.action {
        PapersAction::List(recipes) => list(recipes),
        PapersAction::Run(args) => {
            let library = library(&args.grid.recipes)?;
            let checked = run(&library, &args.grid, args.out.clone(), registry)?;
            show_tables(&library, &checked);
            Ok(ExitCode::SUCCESS)
        }
        PapersAction::Check(args) => judge(args, registry, &show_tables),
        PapersAction::Readings(args) => judge(args, registry, &show_matrix),
    }
}

fn list(recipes: &args::Recipes) -> Outcome {
    print!("{}", overview(&library(recipes)?.choose(recipes.name.as_deref())?));
    Ok(ExitCode::SUCCESS)
}

fn library(recipes: &args::Recipes) -> Result<Library, RecipeError> {
    recipes.papers.as_deref().map_or_else(Library::builtin, Library::read)
}

/// Checks the recipes asked for and shows them; fails if a row is unexplained.
fn judge(args: &args::PapersCheck, registry: &Registry, show: &dyn Fn(&Library, &[Checked])) -> Outcome {
    let library = library(&args.grid.recipes)?;
    let keep = args.keep.clone().or_else(|| args.grid.full.then(|| PathBuf::from(KEEP)));
    let checked = run(&library, &args.grid, keep, registry)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&checked).map_err(Failure::input)?);
    } else {
        show(&library, &checked);
    }
    let unexplained = checked.iter().any(|one| one.verdict(None) == Some(Verdict::Unexplained));
    Ok(if unexplained { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn run(
    library: &Library,
    grid: &args::PapersGrid,
    keep: Option<PathBuf>,
    registry: &Registry,
) -> Result<Vec<Checked>, Failure> {
    let chosen = library.choose(grid.recipes.name.as_deref())?;
    let progress = Total::new(runs(&chosen, grid.full), Interrupt::install()?);
    let settings = Settings {
        registry: registry.clone(),
        full: grid.full,
        set: grid.sets.clone(),
        trace: grid.trace.as_deref().map(std::path::absolute).transpose().map_err(Failure::input)?,
        keep,
    };
    let checked = check(&chosen, &settings, &progress);
    progress.clear();
    Ok(checked?)
}

fn show_tables(_: &Library, checked: &[Checked]) {
    checked.iter().for_each(|one| println!("{}", table(one)));
    let rows = || checked.iter().flat_map(|one| &one.rows);
    let count = |verdict| rows().filter(|row| row.verdict == verdict).count();
    let said = [Verdict::Matches, Verdict::Differs, Verdict::Unexplained]
        .map(|verdict| format!("{} {}", count(verdict), verdict.name()));
    println!("{} rows: {}", rows().count(), said.join(", "));
}

fn show_matrix(library: &Library, checked: &[Checked]) {
    for paper in &library.papers {
        let of_paper = |one: &&Checked| paper.recipes.iter().any(|recipe| recipe.name == one.recipe);
        let mine: Vec<_> = checked.iter().filter(of_paper).cloned().collect();
        if !mine.is_empty() {
            println!("{}", matrix(paper, &mine));
        }
    }
}
