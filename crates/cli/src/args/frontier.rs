//! The arguments of `millpond frontier`.

use super::{Existing, OutputForm};
use crate::values;
use clap::Args as Arguments;
use millpond_units::Span;
use std::path::PathBuf;

#[derive(Debug, Arguments)]
pub(crate) struct Frontier {
    /// The file of a trace, or a kind of link, such as lte-short, of which a trace is generated (trace generate --help
    /// lists them)
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// The base round-trip time, which is also the delay from a decision to its effect on the queue
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = values::span)]
    pub(crate) rtt: Span,
    /// The protocols, one flow each [default: all]
    #[arg(long, value_name = "NAME,NAME,...", value_delimiter = ',', value_parser = values::name)]
    pub(crate) protocols: Vec<String>,
    /// Queueing delays: rows of the table, and runs of protocols that have a target delay
    #[arg(long, value_name = "TIME,TIME,...", value_delimiter = ',', default_value = "20ms,50ms,100ms,200ms", value_parser = values::span)]
    pub(crate) target: Vec<Span>,
    /// The part of the trace that is used, from its beginning; all of it if it is shorter
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::span)]
    pub(crate) duration: Span,
    /// The buffer of the link: 500packets, 1s (at the mean rate), unlimited
    #[arg(long, value_name = "SIZE", default_value = "1s", allow_hyphen_values = true)]
    pub(crate) buffer: String,
    /// The random seed of a generated trace
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = values::seed, allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// Write an HTML page with the picture, the method and its assumptions
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the picture into this file
    #[arg(long, value_name = "FILE.svg|FILE.pdf", value_parser = values::figure_file)]
    pub(crate) figure: Option<values::FigureFile>,
    #[command(flatten)]
    pub(crate) form: OutputForm,
    #[command(flatten)]
    pub(crate) existing: Existing,
}
