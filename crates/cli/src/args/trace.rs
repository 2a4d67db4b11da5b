//! The arguments of `millpond trace`.

use super::{Existing, OutputForm};
use crate::{examples, values};
use clap::{Args as Arguments, Subcommand};
use millpond_units::{Rate, Span};
use std::path::PathBuf;

#[derive(Debug, Arguments)]
pub(crate) struct Trace {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Generate a synthetic trace with the statistics of recorded radio links
    #[command(after_help = kinds_and_examples())]
    Generate(Generate),
    /// Print statistics of a trace: rates, variation, outages
    #[command(after_help = examples::TRACE_STATS)]
    Stats(Stats),
}

#[derive(Debug, Arguments)]
pub(crate) struct Generate {
    /// The kind of link, such as 5g-static or lte-car; all kinds are listed below
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: String,
    /// The duration of the trace
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true)]
    pub(crate) duration: Span,
    /// The random seed
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// The mean rate [default: that of the preset]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) mean: Option<Rate>,
    /// The highest rate [default: that of the preset]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) peak: Option<Rate>,
    /// The time between samples [default: that of the preset]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) step: Option<Span>,
    /// The format of the file
    #[arg(long, default_value = "csv")]
    pub(crate) format: TraceFormat,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

/// The kinds of links, and examples.
fn kinds_and_examples() -> String {
    format!("Kinds of links:\n{}\n\n{}", values::kinds_of_links(), examples::TRACE_GENERATE)
}

/// The format of a trace file.
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
    #[command(flatten)]
    pub(crate) form: OutputForm,
}
