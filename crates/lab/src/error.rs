//! Errors of runs and comparisons.

use millpond_live::LiveError;
use millpond_results::files::OutputError;
use millpond_scenario::{Fault, Faults};
use millpond_units::Time;
use std::fmt;

/// The variable of the environment that asks for the calls that led to a panic.
pub(crate) const BACKTRACE: &str = "RUST_BACKTRACE";

/// A panic in a run: a defect of one of its laws, or of the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPanic {
    /// The protocols of the run, sorted.
    pub protocols: Vec<String>,
    /// The simulated time.
    pub time: Time,
    /// The message of the panic, with file and line.
    pub message: String,
}

impl fmt::Display for RunPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocols, time, message } = self;
        let names: Vec<String> = protocols.iter().map(|name| format!("\"{name}\"")).collect();
        let laws = if names.len() == 1 { "law" } else { "one of the laws" };
        let (names, seconds) = (names.join(", "), time.secs());
        write!(f, "{laws} {names} at {seconds} s: panic: {message}; {BACKTRACE}=1 prints the calls")
    }
}

/// Why a run or a comparison has no results, or not all of them.
#[derive(Debug)]
pub enum Error {
    /// Errors in the scenario, with their places.
    Scenario(Faults),
    /// A file or directory could not be written.
    Output(OutputError),
    /// The equations could not be integrated.
    Fluid(millpond_fluid::Error),
    /// A law panicked.
    Panic(RunPanic),
    /// The system refuses what a live run needs.
    Live(LiveError),
    /// It was stopped.
    Stopped {
        /// The number of runs that had ended.
        finished: usize,
        /// The number of all runs.
        of: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(faults) => faults.fmt(f),
            Self::Output(error) => error.fmt(f),
            Self::Fluid(error) => error.fmt(f),
            Self::Panic(panic) => panic.fmt(f),
            Self::Live(error) => error.fmt(f),
            Self::Stopped { finished, of } => write!(f, "{finished} of {of} runs had ended"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Faults> for Error {
    fn from(faults: Faults) -> Self {
        Self::Scenario(faults)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Scenario(fault.into())
    }
}

impl From<OutputError> for Error {
    fn from(error: OutputError) -> Self {
        Self::Output(error)
    }
}

impl From<millpond_fluid::Error> for Error {
    fn from(error: millpond_fluid::Error) -> Self {
        Self::Fluid(error)
    }
}

impl From<LiveError> for Error {
    fn from(error: LiveError) -> Self {
        Self::Live(error)
    }
}
