//! Errors.

use millpond_scenario::{Fault, Faults};
use std::fmt;

/// Why there is no frontier.
#[derive(Debug)]
pub enum Error {
    /// An option that cannot be followed; the text says what is expected.
    Option(String),
    /// An error in the trace or in the name of a protocol, with its place.
    Scenario(Faults),
    /// An error of a run.
    Run(millpond_lab::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(text) => f.write_str(text),
            Self::Scenario(faults) => faults.fmt(f),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Scenario(fault.into())
    }
}

impl From<Faults> for Error {
    fn from(faults: Faults) -> Self {
        Self::Scenario(faults)
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
