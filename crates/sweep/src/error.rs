//! Errors of sweeps.

use millpond_results::files::OutputError;
use millpond_scenario::Faults;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a sweep did not begin or did not end.
#[derive(Debug)]
pub enum Error {
    /// Errors in the scenario or in a varied value, with their places.
    Scenario(Faults),
    /// An option that cannot be followed; the text says what is expected.
    Option(String),
    /// A file of the dataset that cannot be read or written.
    Dataset(OutputError),
    /// A directory that the sweep cannot use as it is.
    Refused(Refusal),
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

/// Why a directory is not used, and what the user can do.
#[derive(Debug)]
pub struct Refusal {
    path: PathBuf,
    fault: String,
    remedy: Remedy,
}

/// What the user can do besides giving another directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Remedy {
    /// Nothing: it has the files of somebody else.
    None,
    /// Replace the dataset.
    Replace,
    /// Wait for the end of another sweep.
    Wait,
}

impl Refusal {
    pub(crate) fn new(path: &Path, fault: impl Into<String>, remedy: Remedy) -> Self {
        Self { path: path.to_owned(), fault: fault.into(), remedy }
    }

    /// The message, with the names of the option for the directory and of the one that replaces a dataset.
    #[must_use]
    pub fn text(&self, out: &str, replace: &str) -> String {
        let remedy = match self.remedy {
            Remedy::None => format!("give {out} another name"),
            Remedy::Replace => format!("give {out} another name, or replace the dataset with {replace}"),
            Remedy::Wait => format!("wait for its end, or give {out} another name"),
        };
        format!("{}: {}; {remedy}", self.path.display(), self.fault)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(faults) => faults.fmt(f),
            Self::Option(message) => message.fmt(f),
            Self::Dataset(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.text("--out", "--force").fmt(f),
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

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
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
