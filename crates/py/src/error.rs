//! Errors as Python exceptions, with the text that the command prints.

use millpond_diagnosis::explain::{ExplainError, RunReadError};
use millpond_papers::{CheckError, RecipeError};
use millpond_results::files::{LoadError, OutputError};
use millpond_scenario::{Fault, Faults};
use millpond_theory::AnalysisError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;

pyo3::create_exception!(
    millpond,
    Error,
    PyValueError,
    "Input that Millpond refuses, or a file that it cannot read or write.\n\n\
     The text is that of the command: for a scenario with file, line, key and the nearest valid spelling.\n\
     ``faults`` holds a pair (line, message) for each error of a scenario."
);

pyo3::create_exception!(
    millpond,
    GuestError,
    Error,
    "A law in Python raised an exception or set a value without meaning; the run has ended.\n\n\
     ``law``, ``part``, ``event`` and ``time_s`` say where; ``__cause__`` is the exception of the law."
);

/// The exception for a guest that ended its run.
pub(crate) fn guest_error(py: Python<'_>, failure: millpond_guest::Failure) -> PyErr {
    let error = GuestError::new_err(failure.to_string());
    let value = error.value(py);
    let no_faults: [(usize, String); 0] = [];
    let attached = value
        .setattr("law", failure.law)
        .and_then(|()| value.setattr("part", failure.part.name()))
        .and_then(|()| value.setattr("event", failure.event))
        .and_then(|()| value.setattr("time_s", failure.time.secs()))
        .and_then(|()| value.setattr("faults", no_faults));
    if let Err(other) = attached {
        return other;
    }
    let cause = failure.cause.and_then(|cause| cause.downcast::<PyErr>().ok());
    error.set_cause(py, cause.map(|cause| *cause));
    error
}

/// Why a function has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Errors in a scenario or a trace, with their places.
    Scenario(Faults),
    /// Any other refusal.
    Input(String),
}

impl Failure {
    /// A refusal with this message.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(message.to_string())
    }

    /// The text that the command prints, without its line break.
    fn text(&self) -> String {
        match self {
            Self::Scenario(faults) => faults.render(false).trim_end().to_owned(),
            Self::Input(message) => message.clone(),
        }
    }

    /// Line and message of each error of a scenario.
    fn faults(&self) -> Vec<(usize, String)> {
        match self {
            Self::Scenario(Faults(faults)) => {
                faults.iter().map(|fault| (fault.line(), fault.message().to_owned())).collect()
            }
            Self::Input(_) => Vec::new(),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let error = Error::new_err(failure.text());
        let attached = Python::attach(|py| error.value(py).setattr("faults", failure.faults()));
        attached.map_or_else(|other| other, |()| error)
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::Scenario(faults)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Scenario(fault.into())
    }
}

impl From<millpond_lab::Error> for Failure {
    fn from(error: millpond_lab::Error) -> Self {
        match error {
            millpond_lab::Error::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}

impl From<millpond_sweep::Error> for Failure {
    fn from(error: millpond_sweep::Error) -> Self {
        match error {
            millpond_sweep::Error::Scenario(faults) => Self::Scenario(faults),
            millpond_sweep::Error::Run(error) => error.into(),
            millpond_sweep::Error::Refused(refusal) => Self::Input(refusal.text("out", "replace=True")),
            other => Self::input(other),
        }
    }
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Scenario(faults) => Self::Scenario(faults),
            other => Self::input(other),
        }
    }
}

impl From<ExplainError> for Failure {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Analysis(error) => error.into(),
            other => Self::input(other),
        }
    }
}

impl From<RunReadError> for Failure {
    fn from(error: RunReadError) -> Self {
        match error {
            RunReadError::Run(error) => error.into(),
            RunReadError::Scenario(faults) => Self::Scenario(faults),
        }
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Run(error) => error.into(),
            CheckError::Recipe(error) => error.into(),
        }
    }
}

/// Errors without a place in a scenario.
macro_rules! from_displayed {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::input(error)
            }
        })*
    };
}

from_displayed!(LoadError, OutputError, RecipeError, serde_json::Error);
