//! The arguments of all commands.

mod frontier;
mod new;
mod papers;
mod serve;
mod trace;

pub(crate) use frontier::*;
pub(crate) use new::*;
pub(crate) use papers::*;
pub(crate) use serve::*;
pub(crate) use trace::*;

use crate::command_line::VERSION;
use crate::{examples, values};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args as Arguments, Parser, Subcommand};
use millpond_report::PaperWidth;
use millpond_sweep::Varied;
use millpond_theory::equilibrium::{AlphaFair, GroupWeight};
use millpond_units::Span;
use std::io::IsTerminal;
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().bold())
    .usage(AnsiColor::Cyan.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

/// A laboratory for congestion control: protocols and queues in packets, in equations and with real packets
#[derive(Debug, Parser)]
#[command(name = "millpond", version = VERSION, styles = STYLES, after_help = examples::MILLPOND, max_term_width = 110)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of all commands.
#[derive(Debug, Arguments)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// When to use colours; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Print neither progress nor warnings
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Number of runs at the same time, at most one per processor core [default: RAYON_NUM_THREADS, else one per core]
    #[arg(long, global = true, value_name = "NUMBER", value_parser = values::jobs)]
    pub(crate) jobs: Option<usize>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// What happens to an existing output.
#[derive(Clone, Copy, Debug, Arguments)]
pub(crate) struct Existing {
    /// Replace outputs that exist
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and print goodput, queueing delay, utilization and losses
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Write a scenario file from a template, as a beginning for a network of your own
    #[command(after_help = examples::NEW)]
    New(New),
    /// Check whether a scenario is valid, without running it
    #[command(after_help = examples::CHECK)]
    Check(Check),
    /// Print the JSON Schema of scenario files, or of the JSON that a command prints
    #[command(after_help = examples::SCHEMA)]
    Schema(Schema),
    /// Run a scenario with the same random samples under several protocols, at several queues or in several worlds, and
    /// compare the results
    #[command(after_help = examples::COMPARE)]
    Compare(Compare),
    /// Run a scenario for all combinations of values of some keys, or for samples of them, into a dataset
    #[command(after_help = examples::SWEEP)]
    Sweep(Sweep),
    /// Compute the equilibrium of a scenario: rates, prices, queues, bottlenecks
    #[command(after_help = examples::EQUILIBRIUM)]
    Equilibrium(Equilibrium),
    /// Compute the stability of the equilibrium: roots, margins, critical values of parameters
    #[command(after_help = examples::STABILITY)]
    Stability(Stability),
    /// Print the shares of a protocol beside CUBIC, and of flows that join late
    #[command(after_help = examples::COEXISTENCE)]
    Coexistence(Coexistence),
    /// Compute what a controller can reach on the trace of a link, utilization against queueing delay, and run protocols on it
    #[command(after_help = examples::FRONTIER)]
    Frontier(Frontier),
    /// Evaluate protocols and queues by the criteria that documents have for them, such as RFC 9743 (BCP 133) and RFC 7928
    #[command(after_help = examples::EVALUATE)]
    Evaluate(Evaluate),
    /// List protocols and queues, or print one with its parameters
    #[command(after_help = examples::PROTOCOLS)]
    Protocols(Protocols),
    /// Write a self-contained HTML page about finished runs
    #[command(after_help = examples::REPORT)]
    Report(Report),
    /// Write a figure of finished runs for a paper, as SVG or PDF
    #[command(after_help = examples::FIGURE)]
    Figure(Figure),
    /// Serve the playground: a page on this machine on which scenarios are changed and run
    #[command(after_help = examples::SERVE)]
    Serve(Serve),
    /// Run a command behind an emulated link: real packets through the queues of the packet world
    #[command(after_help = examples::LINK)]
    Link(Box<Link>),
    /// Run a relay of flows over QUIC, or check its configuration; needs `make node`
    #[command(after_help = examples::NODE)]
    Node(Node),
    /// Run recipes of papers and check the results against the papers' values
    #[command(after_help = examples::PAPERS)]
    Papers(Papers),
    /// Generate link traces, or print statistics of a trace
    #[command(after_help = examples::TRACE)]
    Trace(Trace),
    /// Print the completions of a shell, as a script
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page of the command, or of one of its commands
    #[command(after_help = examples::MAN)]
    Man(Man),
}

#[derive(Debug, Arguments)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Arguments)]
pub(crate) struct Man {
    /// A command, such as run, or the words of one, such as papers check
    pub(crate) command: Vec<String>,
}

/// A scenario and changes to it.
#[derive(Debug, Arguments)]
pub(crate) struct Scenario {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml")]
    pub(crate) file: PathBuf,
    /// Change one value: links.L1.rate=100Mbps (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// The random seed [default: that of the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: Option<u64>,
}

/// The form in which results are printed.
#[derive(Clone, Copy, Debug, Arguments)]
#[group(multiple = false)]
pub(crate) struct OutputForm {
    /// Print only JSON, with all digits
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the tables, as CSV with all digits
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print tables as Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

impl OutputForm {
    /// Whether the user chose none of them.
    pub(crate) fn is_terminal(&self) -> bool {
        !self.json && !self.csv && !self.markdown
    }

    /// The same form; Markdown if the user chose none and standard output is no terminal.
    pub(crate) fn or_markdown_in_files(self) -> Self {
        let is_file = self.is_terminal() && !std::io::stdout().is_terminal();
        Self { markdown: is_file || self.markdown, ..self }
    }
}

/// The world in which a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum World {
    /// Packet-level simulation
    Packets,
    /// Differential equations of the same control laws
    Fluid,
    /// Real datagrams between sockets of this machine, as long as the scenario's duration
    Live,
}

#[derive(Debug, Arguments)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// The world to run in
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
}

#[derive(Debug, Arguments)]
pub(crate) struct Schema {
    /// The document that the schema describes
    #[arg(default_value = "scenario")]
    pub(crate) document: SchemaDocument,
}

/// A document with a JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SchemaDocument {
    /// Scenario files
    Scenario,
    /// summary.json, printed by run --json
    Run,
    /// timing.json
    Timing,
    /// comparison.json, printed by compare --json
    Compare,
    /// Printed by compare --harm --json
    CompareHarm,
    /// Printed by compare --perturb --json
    Perturb,
    /// Printed by sweep --json
    Sweep,
    /// A line of runs.jsonl of a sweep
    SweepRun,
    /// Printed by equilibrium --json
    Equilibrium,
    /// Printed by equilibrium --utility --json
    Utility,
    /// Printed by stability --json
    Stability,
    /// Printed by stability --with-run --json
    StabilityWithRun,
    /// Printed by stability --explain --json
    Explain,
    /// Printed by papers run and check with --json
    Papers,
    /// Printed by papers readings --json
    Readings,
    /// Printed by papers list --json
    Recipes,
    /// Printed by coexistence --json
    Coexistence,
    /// Printed by coexistence --harm --json
    Harm,
    /// Printed by frontier --json
    Frontier,
    /// Printed by evaluate --json
    Evaluate,
    /// Printed by protocols --json
    Protocols,
    /// Printed by trace stats --json
    Trace,
    /// Printed by link --json
    Link,
}

#[derive(Debug, Arguments)]
pub(crate) struct Link {
    /// The rate of both directions: 20Mbps [default: unlimited]
    #[arg(long, value_name = "RATE", conflicts_with_all = ["down", "up"], allow_hyphen_values = true)]
    pub(crate) rate: Option<String>,
    /// The rate to the command: a rate, or a trace file (Mahimahi, or time_s,mbps) [default: unlimited]
    #[arg(long, value_name = "RATE|TRACE", allow_hyphen_values = true)]
    pub(crate) down: Option<String>,
    /// The rate from the command: a rate, or a trace file [default: unlimited]
    #[arg(long, value_name = "RATE|TRACE", allow_hyphen_values = true)]
    pub(crate) up: Option<String>,
    /// The propagation delay of each direction [default: 0s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) delay: Option<String>,
    /// A random delay up to this, added to each packet without reordering [default: 0s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) jitter: Option<String>,
    /// The share of packets lost at random in each direction: 1% [default: none]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) loss: Option<String>,
    /// The buffer of each direction: 100ms, 60packets, 150KB, 2bdp, unlimited [default: 100ms]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) buffer: Option<String>,
    /// The queue law of each direction: droptail, codel, fq-codel, dualpi2, ... [default: droptail]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) queue: Option<String>,
    /// One key of the link as in scenarios: queue.codel.target=10ms, scheduler=fair, back.loss=2% (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// The random seed of the link
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// A command for a shell at the other end, in a network of its own [default: the other end is in your network]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Option<String>,
    /// Write the results as JSON into this new file
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,
    /// Write all packets into this new file, for Wireshark
    #[arg(long, value_name = "FILE.pcapng")]
    pub(crate) pcap: Option<PathBuf>,
    /// How the results are printed on standard output, instead of a table on standard error. What the commands print goes
    /// to standard error then
    #[command(flatten)]
    pub(crate) form: OutputForm,
    /// Run the emulator with normal priority, also if real-time priority is permitted
    #[arg(long)]
    pub(crate) normal_priority: bool,
    #[command(flatten)]
    pub(crate) existing: Existing,
    /// The command to run behind the link
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Node {
    /// The configuration file of the node, and --check to check it only; or keys, and the file for a new private key
    #[arg(value_name = "ARGUMENT", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// The world to run in
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
    /// Write the files of the run into this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// With --out: write series, flows and distributions also as .csv files
    #[arg(long, requires = "out")]
    pub(crate) csv_files: bool,
    /// With --out: write the packets, acknowledgements, losses, windows and round-trip times of each sender into the
    /// directory qlog/, as qlog files that qvis opens
    #[arg(long, requires = "out")]
    pub(crate) qlog: bool,
    /// With --out: write the packets that leave and arrive at each sender into packets.pcapng, which Wireshark opens
    #[arg(long, requires = "out")]
    pub(crate) pcap: bool,
    /// Write an HTML page with charts of the run
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

#[derive(Debug, Arguments)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// The world to run in
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
    /// The protocols, entries of [protocols] in the scenario, or variants of either: lgcc:PRESET, lgcc:PARAMETER=VALUE,...
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', required_unless_present_any = ["worlds", "queues", "harm", "perturb", "deploy"], value_parser = values::name)]
    pub(crate) protocols: Vec<String>,
    /// The queues, each at every link that carries data, with its default settings or those of the link if it has this
    /// queue already; with --protocols, all pairs
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', value_parser = values::queue)]
    pub(crate) queues: Vec<String>,
    /// Partial deployment: in each row this percentage of the flows of each group that is not pinned runs the protocol, the
    /// others the baseline
    #[arg(long, value_name = "PERCENT,PERCENT,...", value_delimiter = ',', value_parser = values::percentage)]
    pub(crate) deploy: Vec<f64>,
    /// With --deploy: the protocol of the flows that take no part
    #[arg(long, value_name = "NAME", default_value = "cubic", requires = "deploy")]
    pub(crate) baseline: String,
    /// With --deploy: the links whose routers take part [default: all]; at the others they are absent
    #[arg(long, value_name = "LINK,LINK,...", value_delimiter = ',', requires = "deploy", value_parser = values::link)]
    pub(crate) deploy_at: Vec<String>,
    /// Instead: the harm that this group of flows does to the others, and whether it is more than the harm that as many flows
    /// of the others' own protocols do; --protocols are those of the group, and a verdict needs at least two seeds
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["perturb", "deploy", "queues", "worlds", "world", "out", "report"])]
    pub(crate) harm: Option<String>,
    /// Instead: what each of these disturbances changes, one at a time; all: all of them (docs/disturbances.md)
    #[arg(long, value_name = "all|NAME,NAME,...", value_delimiter = ',', value_parser = values::disturbance, conflicts_with_all = ["deploy", "queues", "worlds", "world", "out"])]
    pub(crate) perturb: Vec<String>,
    /// With --perturb: also write the tornado charts into this file
    #[arg(long, value_name = "FILE.svg|FILE.pdf", requires = "perturb", value_parser = values::figure_file)]
    pub(crate) tornado: Option<values::FigureFile>,
    /// The worlds to run in, instead of --world; those beside packets are compared with packets
    #[arg(long, value_name = "WORLD,WORLD", value_delimiter = ',', conflicts_with = "world")]
    pub(crate) worlds: Vec<World>,
    /// Number of seeds per row; with several, the table shows 95 % confidence intervals
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seeds, allow_hyphen_values = true)]
    pub(crate) seeds: u64,
    /// Write the files of each run into a subdirectory of this new directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The report to write [default: report.html in --out, else SCENARIO-report.html in the current directory]
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    /// Continue an interrupted comparison: keep the runs that --out has, run the others
    #[arg(long, requires = "out", conflicts_with = "force")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

#[derive(Debug, Arguments)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// A key and its values: a list, or N values of a range at equal differences or (log) equal ratios (repeatable)
    #[arg(long, value_name = "KEY=V,V,...|LOW..HIGH[:log]:N", required = true, value_parser = Varied::parse)]
    pub(crate) vary: Vec<Varied>,
    /// This many samples of all keys, of a Sobol sequence, instead of all combinations; ranges are then written without N
    #[arg(long, value_name = "NUMBER", value_parser = values::samples)]
    pub(crate) samples: Option<u32>,
    /// The protocols, entries of [protocols] in the scenario, or variants of either: lgcc:PRESET, lgcc:PARAMETER=VALUE,...
    /// [default: those of the flows]
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', value_parser = values::name)]
    pub(crate) protocols: Vec<String>,
    /// Number of seeds for each combination; with several, the table shows 95 % confidence intervals
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seeds, allow_hyphen_values = true)]
    pub(crate) seeds: u64,
    /// The world to run in
    #[arg(long, default_value = "packets")]
    pub(crate) world: World,
    /// The directory of the dataset; of an interrupted or smaller sweep only the missing runs are made
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

#[derive(Debug, Arguments)]
pub(crate) struct Equilibrium {
    #[command(flatten)]
    pub(crate) scenario: Scenario,
    /// Rates that maximize this utility, independent of the protocols: U'(x) = x^-A, where A = 1 is proportional
    /// fairness and A = inf is max-min fairness
    #[arg(long, value_name = "alpha=A", allow_hyphen_values = true)]
    pub(crate) utility: Option<AlphaFair>,
    /// With --utility: the weight of each flow of this group (repeatable). A flow of weight w counts as w flows: U'(x) =
    /// (x / w)^-A
    #[arg(long = "weight", value_name = "GROUP=NUMBER", requires = "utility")]
    pub(crate) weights: Vec<GroupWeight>,
    /// Capacity of links that vary: that at this time of the run [default: their mean over the run]
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub(crate) at: Option<Span>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
}

#[derive(Debug, Arguments)]
pub(crate) struct Stability {
    #[command(flatten)]
    pub(crate) scenario: Option<Scenario>,
    /// Instead of a scenario: explain whether and why this finished run oscillates
    #[arg(long, value_name = "RUN", conflicts_with_all = ["Scenario", "Transients", "critical", "map", "points"])]
    pub(crate) explain: Option<PathBuf>,
    /// Critical values of this parameter: rtt, flows, protocols.NAME.params.PARAMETER (repeatable) [default: rtt]
    #[arg(long, value_name = "KEY")]
    pub(crate) critical: Vec<String>,
    /// Stability map over two parameters: rtt=10ms..2s,flows=1..100
    #[arg(long, value_name = "KEY=LOW..HIGH,KEY=LOW..HIGH")]
    pub(crate) map: Option<String>,
    /// Number of values in each range of --map and --convergence [default: 40]
    #[arg(long, value_name = "NUMBER", value_parser = values::points)]
    pub(crate) points: Option<usize>,
    #[command(flatten)]
    pub(crate) transients: Transients,
    /// Run the scenario in packets, too: say whether the run oscillates, and draw it beside the loci of --report
    #[arg(long, conflicts_with = "explain")]
    pub(crate) with_run: bool,
    /// Capacity of links that vary: that at this time of the run [default: their mean over the run]. With --explain: the
    /// interval without changes that contains this time [default: the longest]
    #[arg(long, value_name = "TIME", value_parser = values::span)]
    pub(crate) at: Option<Span>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    /// Write an HTML page with Nyquist loci, a Bode plot, the map and all other results
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write each figure of that page into this directory, as SVG and PDF, one and two columns of a paper wide
    #[arg(long, value_name = "DIR", conflicts_with = "explain")]
    pub(crate) figures: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

/// Trajectories, step responses and convergence times.
#[derive(Debug, Arguments)]
pub(crate) struct Transients {
    /// Phase portrait: trajectories of two quantities, x,q or any states such as f.window,near.queue
    #[arg(long, value_name = "ACROSS,UP")]
    pub(crate) phase: Option<String>,
    /// Starts of trajectories: grid, or x=1Mbps..200Mbps,q=0..100kB [default: a grid around the equilibrium]. For --convergence:
    /// grid (all rates at 20, 50, 150 and 200 % of their equilibrium, the slowest counts), or a single start such as x=50%
    #[arg(long, value_name = "STARTS")]
    pub(crate) from: Option<String>,
    /// Number of starts in each range of --from
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = values::starts, requires = "phase")]
    pub(crate) starts: usize,
    /// Step response to a link's new capacity, near=80% or near=100Mbps, or to one more flow, join=GROUP (repeatable)
    #[arg(long, value_name = "LINK=RATE")]
    pub(crate) step: Vec<String>,
    /// Convergence time of all rates over a range of a parameter: rtt=10ms..2s
    #[arg(long, value_name = "KEY=LOW..HIGH")]
    pub(crate) convergence: Option<String>,
    /// With --convergence: the greatest distance from the equilibrium, as a share of the equilibrium rate
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = values::share, requires = "convergence")]
    pub(crate) within: f64,
    /// Duration of trajectories and step responses [default: until the rightmost root has decayed]
    #[arg(long = "for", value_name = "TIME", value_parser = values::span)]
    pub(crate) seconds: Option<Span>,
}

#[derive(Debug, Arguments)]
pub(crate) struct Coexistence {
    /// The protocol, or a variant of it: lgcc:PRESET, lgcc:PARAMETER=VALUE,...
    pub(crate) protocol: String,
    /// Instead of shares: the harm to the goodput and to the p95 delay of CUBIC, and whether it is more than the harm that
    /// as many flows of CUBIC do
    #[arg(long)]
    pub(crate) harm: bool,
    /// With --harm: number of seeds for each set of flows; a verdict needs at least two
    #[arg(long, value_name = "NUMBER", default_value_t = 5, requires = "harm", value_parser = values::seeds, allow_hyphen_values = true)]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) form: OutputForm,
}

#[derive(Debug, Arguments)]
pub(crate) struct Evaluate {
    /// The protocols, or the queues; of several, the verdicts are printed as a matrix
    #[arg(value_name = "NAME", required_unless_present = "all", value_parser = values::name)]
    pub(crate) names: Vec<String>,
    /// All protocols, and all queues for the suites that evaluate queues
    #[arg(long, conflicts_with = "names")]
    pub(crate) all: bool,
    /// The suites: bcp133, l4s, rmcat and tcpeval evaluate protocols, aqm evaluates queues; a name with a "/" is the folder of
    /// a suite of your own, such as ./my-link [default: all for the kind of NAME]
    #[arg(long, value_name = "NAME|FOLDER,...", value_delimiter = ',')]
    pub(crate) suite: Vec<String>,
    /// Only the criteria of these sections: 5.1.1
    #[arg(long, value_name = "NUMBER,NUMBER,...", value_delimiter = ',')]
    pub(crate) section: Vec<String>,
    /// 32 seeds for each row instead of 8: fewer verdicts are undecided
    #[arg(long)]
    pub(crate) full: bool,
    /// Change one value of every scenario; "tested" is the protocol or the queue: protocols.tested.params.beta=0.5 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Directory in which finished runs are kept and looked up [default with --all or --full: millpond-evaluation]
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Write an HTML page with the evidence of each criterion
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the verdicts as rows of a Markdown page, whose other rows are kept: docs/evaluation-matrix.md
    #[arg(long, value_name = "FILE.md", conflicts_with_all = ["section", "sets", "full"])]
    pub(crate) matrix: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

#[derive(Debug, Arguments)]
pub(crate) struct Protocols {
    /// A protocol or a queue to print with its parameters
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
}

#[derive(Debug, Arguments)]
pub(crate) struct Report {
    /// Directories of runs, or directories that contain them at any depth
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// The HTML page to write
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

#[derive(Debug, Arguments)]
pub(crate) struct Figure {
    /// Directories of runs, or directories that contain them at any depth; for the kinds `sweep...` the one of a sweep
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,
    /// What it shows
    #[arg(long, value_parser = values::figure_kinds())]
    pub(crate) kind: values::ChosenFigure,
    /// The label of the run that is shown; a figure of several runs then shows this one only. Of a sweep: the settings
    /// besides the one on the axis, as its page writes them; of samples: the key on the axis
    #[arg(long, value_name = "LABEL")]
    pub(crate) run: Option<String>,
    /// The width: one column (3.5 inches) or two (7.16 inches)
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = values::columns)]
    pub(crate) columns: PaperWidth,
    /// The file to write
    #[arg(long, value_name = "FILE.pdf|FILE.svg", value_parser = values::figure_file)]
    pub(crate) out: values::FigureFile,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// The command and all commands below it, with the words that select each.
    fn with_all_below(command: &clap::Command, words: &str) -> Vec<(String, clap::Command)> {
        let below = command.get_subcommands().flat_map(|one| {
            let words = format!("{words} {}", one.get_name());
            with_all_below(one, words.trim_start())
        });
        std::iter::once((words.to_owned(), command.clone())).chain(below).collect()
    }

    #[test]
    fn the_help_of_each_command_has_examples_that_can_be_typed() {
        let commands = with_all_below(&Args::command(), "");
        assert!(commands.iter().any(|(words, _)| words == "papers check"));
        for (words, command) in &commands {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Longer lines are broken without a backslash where the standard output is no terminal.
            assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
            let help = help.replace("\\\n", " ");
            let lines = help.lines().filter_map(|line| line.trim().strip_prefix("millpond "));
            let typed: Vec<&str> = lines.collect();
            assert!(!typed.is_empty(), "{words}");
            for line in typed {
                assert!(line.starts_with(words.as_str()), "{words}: {line}");
                let arguments = line.split_whitespace().take_while(|argument| *argument != ">");
                let parsed = Args::try_parse_from(std::iter::once("millpond").chain(arguments));
                assert!(parsed.is_ok(), "{line}: {:?}", parsed.err().map(|error| error.to_string()));
            }
        }
    }
}
