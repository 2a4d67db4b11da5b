//! What can be typed.

use crate::values;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args as Arguments, Parser, Subcommand};
use millpond_theory::equilibrium::{AlphaFair, GroupWeight};
use millpond_units::{Rate, Span};
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().bold())
    .usage(AnsiColor::Cyan.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

const EXIT_CODES: &str = "\
Exit codes: 0 all went well; 1 a check failed or differs; 2 bad input; 130 interrupted.";

/// The laboratory for congestion control that listens to the network.
#[derive(Debug, Parser)]
#[command(name = "millpond", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 110)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario once and show what came out
    Run(Run),
    /// Say whether a scenario is right, without running it
    Check(Check),
    /// Print the JSON Schema of scenario files
    Schema,
    /// Run the same network and the same draws under several protocols, or in several worlds, side by side
    Compare(Compare),
    /// Say where a scenario settles: rates, prices, queues, bottlenecks
    Equilibrium(Equilibrium),
    /// Say whether it stays there: roots, margins, the values at which it begins to oscillate
    Stability(Stability),
    /// List protocols and queues, or show one with its parameters
    Protocols(Protocols),
    /// Write one self-contained page about finished runs
    Report(Report),
    /// Run what papers show and say whether it comes out
    Papers(Papers),
    /// Make link traces, or measure one
    Trace(Trace),
}

/// A scenario and what is changed about it.
#[derive(Debug, Arguments)]
pub(crate) struct Scenario {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml")]
    pub(crate) file: PathBuf,
    /// Change one value: links.L1.rate=100Mbps (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// The seed, instead of the scenario's own
    #[arg(long, value_name = "NUMBER", value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
}

/// Where a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum World {
    /// The packet-level simulator
    Packets,
    /// The differential equations of the same laws
    Fluid,
    /// Real packets between real hosts: not in this version
    Live,
}

#[derive(Debug, Arguments)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// In which world
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
}

#[derive(Debug, Arguments)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// In which world
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
    /// Write the run's files into this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print summary.json and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// With --out: series and flows as .csv too
    #[arg(long, requires = "out")]
    pub(crate) csv: bool,
}

#[derive(Debug, Arguments)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// In which world
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
    /// Which protocols, or entries of the scenario's [protocols]
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', required_unless_present = "worlds", value_parser = values::name)]
    pub(crate) protocols: Vec<String>,
    /// In which worlds, instead of --world: packets,fluid shows how far they agree
    #[arg(long, value_name = "WORLD,WORLD", value_delimiter = ',', conflicts_with = "world")]
    pub(crate) worlds: Vec<World>,
    /// How many seeds each; the table then shows 95 % confidence intervals
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seeds, allow_hyphen_values = true)]
    pub(crate) seeds: u64,
    /// Write each run's files into a directory of its own in this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where the report goes [default: report.html in --out, else SCENARIO-report.html here]
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Equilibrium {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// How flows of this utility would share the network, whatever their protocols do: U'(x) = x^-A, with A = 1
    /// proportional fairness and inf max-min
    #[arg(long, value_name = "alpha=A", allow_hyphen_values = true)]
    pub(crate) utility: Option<AlphaFair>,
    /// With --utility: each flow of this group counts for so many flows (repeatable)
    #[arg(long = "weight", value_name = "GROUP=NUMBER", requires = "utility")]
    pub(crate) weights: Vec<GroupWeight>,
    /// Print the answer as JSON and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Arguments)]
pub(crate) struct Stability {
    #[command(flatten)]
    pub(crate) scenario: Option<Scenario>,
    /// Instead of a scenario: say why this finished run oscillates, or that it does not
    #[arg(long, value_name = "RUN", conflicts_with_all = ["Scenario", "Motion", "critical", "map", "points"])]
    pub(crate) explain: Option<PathBuf>,
    /// Where stability ends along this: rtt, flows, protocols.NAME.params.PARAMETER (repeatable) [default: rtt]
    #[arg(long, value_name = "KEY")]
    pub(crate) critical: Vec<String>,
    /// The rightmost root over two of these: rtt=10ms..2s,flows=1..100
    #[arg(long, value_name = "KEY=LOW..HIGH,KEY=LOW..HIGH")]
    pub(crate) map: Option<String>,
    /// How many values along each range of --map and --convergence [default: 40]
    #[arg(long, value_name = "NUMBER", value_parser = values::points)]
    pub(crate) points: Option<usize>,
    #[command(flatten)]
    pub(crate) motion: Motion,
    /// Print the answer as JSON and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with Nyquist loci, the map, and everything else that was asked for
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

/// How a scenario moves about its equilibrium.
#[derive(Debug, Arguments)]
pub(crate) struct Motion {
    /// Trajectories in the plane of two quantities: x,q, or any state such as f.window,near.queue
    #[arg(long, value_name = "ACROSS,UP")]
    pub(crate) phase: Option<String>,
    /// Where trajectories start: grid, or x=0..2Mbps,q=0..100kB [default: a grid around the equilibrium]
    #[arg(long, value_name = "STARTS")]
    pub(crate) from: Option<String>,
    /// How many starts along each range of --from
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = values::starts, requires = "phase")]
    pub(crate) starts: usize,
    /// How a step is answered: near=80%, near=100Mbps, or join=GROUP for one flow more (repeatable)
    #[arg(long, value_name = "LINK=RATE")]
    pub(crate) step: Vec<String>,
    /// How long all rates take to stay near those at rest, over a range: rtt=10ms..2s
    #[arg(long, value_name = "KEY=LOW..HIGH")]
    pub(crate) convergence: Option<String>,
    /// With --convergence: how near, as a share of the rate at rest
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = values::share, requires = "convergence")]
    pub(crate) within: f64,
    /// How long trajectories and answers are followed [default: until the rightmost root has died out]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span)]
    pub(crate) seconds: Option<Span>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Protocols {
    /// One of them, in full
    pub(crate) name: Option<String>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Report {
    /// Run directories, or directories of them
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// The page to write
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Arguments)]
pub(crate) struct Papers {
    #[command(subcommand)]
    pub(crate) action: PapersAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PapersAction {
    /// List recipes: a paper's figures, tables and theorems
    List(Recipes),
    /// Run recipes and show what the paper says beside what we measure
    Run(PapersRun),
    /// The same, and fail where neither the paper nor theory explains what we measure
    Check(PapersCheck),
    /// Show which recipe comes out under which reading of its paper
    Readings(PapersCheck),
}

/// Some recipes.
#[derive(Debug, Arguments)]
pub(crate) struct Recipes {
    /// A paper, or one recipe of it [default: all]
    #[arg(value_name = "PAPER[/RECIPE]")]
    pub(crate) name: Option<String>,
    /// Recipes of your own: DIR/PAPER/paper.toml and DIR/PAPER/RECIPE.toml
    #[arg(long, value_name = "DIR")]
    pub(crate) papers: Option<PathBuf>,
}

/// Some recipes, and how they are run.
#[derive(Debug, Arguments)]
pub(crate) struct PapersGrid {
    #[command(flatten)]
    pub(crate) recipes: Recipes,
    /// The paper's own grid and repetitions; finished runs are kept, so that it can be interrupted
    #[arg(long)]
    pub(crate) full: bool,
    /// Change one value of every scenario: duration=10s (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// A trace of your own in place of the recipes' traces
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct PapersRun {
    #[command(flatten)]
    pub(crate) grid: PapersGrid,
    /// Write each run's files into a directory of its own in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: PapersShown,
}

#[derive(Debug, Arguments)]
pub(crate) struct PapersCheck {
    #[command(flatten)]
    pub(crate) grid: PapersGrid,
    /// Where finished runs are kept, and found again [default with --full: millpond-papers]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: PapersShown,
}

/// How the rows are shown.
#[derive(Debug, Arguments)]
pub(crate) struct PapersShown {
    /// Print the rows as JSON and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with each figure redrawn beside what the paper says
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Trace {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Make a synthetic trace like those recorded on a kind of radio link
    Generate(Generate),
    /// Measure a trace: rates, variation, outages
    Stats(Stats),
}

#[derive(Debug, Arguments)]
pub(crate) struct Generate {
    /// Which kind of link, such as 5g-static or lte-car
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: String,
    /// How long
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true)]
    pub(crate) duration: Span,
    /// The seed
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// The mean rate, instead of the preset's
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) mean: Option<Rate>,
    /// The highest rate, instead of the preset's
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) peak: Option<Rate>,
    /// The distance of samples, instead of the preset's
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) step: Option<Span>,
    /// How the file is written
    #[arg(long, default_value = "csv")]
    pub(crate) format: TraceFormat,
    /// The file to write, over an older one; standard output if none
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// How a trace file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TraceFormat {
    /// time_s,mbps
    Csv,
    /// One line per delivery opportunity of 1500 bytes
    Mahimahi,
}

#[derive(Debug, Arguments)]
pub(crate) struct Stats {
    /// A trace in either format
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}
