//! Errors of sweeps.

use millpond_results::files::OutputError;
use millpond_scenario::Faults;
use std::fmt;

/// Why a sweep did not begin or did not end.
#[derive(Debug)]
pub enum Error {
    /// Errors in the scenario or in a varied value, with their places.
    Scenario(Faults),
    /// An option that cannot be followed; the text says what is expected.
    Option(String),
    /// A file of the dataset that cannot be read or written.
    Dataset(OutputError),
    /// An error of a run that is not one of its scenario.
    Run(millpond_lab::Error),
    /// It was stopped. The runs that had ended are in the dataset.
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
            Self::Option(message) => message.fmt(f),
            Self::Dataset(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
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

impl From<OutputError> for Error {
    fn from(error: OutputError) -> Self {
        Self::Dataset(error)
    }
}

impl From<millpond_lab::Error> for Error {
    fn from(error: millpond_lab::Error) -> Self {
        match error {
            millpond_lab::Error::Scenario(faults) => Self::Scenario(faults),
            other => Self::Run(other),
        }
    }
}
