//! The arguments of `millpond papers`.

use super::{Existing, OutputForm};
use crate::examples;
use clap::{Args as Arguments, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Arguments)]
pub(crate) struct Papers {
    #[command(subcommand)]
    pub(crate) action: PapersAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PapersAction {
    /// List recipes: figures, tables and theorems of papers
    #[command(after_help = examples::PAPERS_LIST)]
    List(PapersList),
    /// Run recipes and print the paper's value beside the measured value
    #[command(after_help = examples::PAPERS_RUN)]
    Run(PapersRun),
    /// Run recipes and fail if a measured value differs without an explanation
    #[command(after_help = examples::PAPERS_CHECK)]
    Check(PapersCheck),
    /// Run each row of recipes under every reading of its paper; of one recipe, print every value
    #[command(after_help = examples::PAPERS_READINGS)]
    Readings(PapersReadings),
}

#[derive(Debug, Arguments)]
pub(crate) struct PapersList {
    #[command(flatten)]
    pub(crate) recipes: Recipes,
    #[command(flatten)]
    pub(crate) form: OutputForm,
}

/// A selection of recipes.
#[derive(Debug, Arguments)]
pub(crate) struct Recipes {
    /// A paper, or one of its recipes [default: all]
    #[arg(value_name = "PAPER[/RECIPE]")]
    pub(crate) name: Option<String>,
    /// Your own recipes: DIR/PAPER/paper.toml and DIR/PAPER/RECIPE.toml
    #[arg(long, value_name = "DIR")]
    pub(crate) papers: Option<PathBuf>,
}

/// A selection of recipes, and how they are run.
#[derive(Debug, Arguments)]
pub(crate) struct PapersGrid {
    #[command(flatten)]
    pub(crate) recipes: Recipes,
    /// Use the paper's own values and repetitions; finished runs are kept, so that you can interrupt and resume
    #[arg(long)]
    pub(crate) full: bool,
    /// Change one value of every scenario: duration=10s (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Your own trace instead of those of the recipes
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct PapersRun {
    #[command(flatten)]
    pub(crate) grid: PapersGrid,
    /// Write the files of each run into a subdirectory of this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: PapersShown,
}

#[derive(Debug, Arguments)]
pub(crate) struct PapersCheck {
    #[command(flatten)]
    pub(crate) grid: PapersGrid,
    /// Leave out the recipes that take more than ten seconds of processor time
    #[arg(long, conflicts_with = "full")]
    pub(crate) short: bool,
    #[command(flatten)]
    pub(crate) kept: PapersKept,
    #[command(flatten)]
    pub(crate) shown: PapersShown,
}

#[derive(Debug, Arguments)]
pub(crate) struct PapersReadings {
    #[command(flatten)]
    pub(crate) grid: PapersGrid,
    #[command(flatten)]
    pub(crate) kept: PapersKept,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    /// Also write every row under every reading as CSV
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) rows: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

/// Where finished runs are kept.
#[derive(Debug, Arguments)]
pub(crate) struct PapersKept {
    /// Directory in which finished runs are kept and looked up [default with --full: millpond-papers]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
}

/// How rows are printed.
#[derive(Debug, Arguments)]
pub(crate) struct PapersShown {
    #[command(flatten)]
    pub(crate) form: OutputForm,
    /// Write an HTML page with charts of each recipe and the paper's values
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) existing: Existing,
}
