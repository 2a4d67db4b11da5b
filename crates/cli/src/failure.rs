//! Exit codes and errors of commands.

use crate::messages;
use millpond_scenario::Faults;
use std::fmt::Display;
use std::process::ExitCode;

/// What a command returns: an exit code or an error.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// Invalid input.
const BAD_INPUT: u8 = 2;
/// 128 + SIGINT, as after a signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Errors in a scenario or a trace, with their positions.
    Scenario(Faults),
    /// Other invalid input.
    Input(String),
    /// The user interrupted the command; the text says what was kept.
    Interrupted(String),
}

impl Failure {
    /// Invalid input with this message.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(message.to_string())
    }

    /// Prints the error on standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::Scenario(faults) => {
                messages::raw(faults.render_within(messages::has_colour(), messages::width()));
                ExitCode::from(BAD_INPUT)
            }
            Self::Input(message) => {
                messages::error(format_args!("error: {message}"));
                ExitCode::from(BAD_INPUT)
            }
            Self::Interrupted(kept) => {
                messages::error(format_args!("interrupted: {kept}"));
                ExitCode::from(INTERRUPTED)
            }
        }
    }
}

impl From<millpond_sweep::Error> for Failure {
    fn from(error: millpond_sweep::Error) -> Self {
        match error {
            millpond_sweep::Error::Scenario(faults) => Self::Scenario(faults),
            millpond_sweep::Error::Run(error) => error.into(),
            stopped @ millpond_sweep::Error::Stopped { .. } => {
                Self::Interrupted(format!("{stopped}; the same command runs the others"))
            }
            other => Self::input(other),
        }
    }
}

impl From<millpond_lab::Error> for Failure {
    fn from(error: millpond_lab::Error) -> Self {
        match error {
            millpond_lab::Error::Scenario(faults) => Self::Scenario(faults),
            millpond_lab::Error::Output(error) => Self::input(error),
            millpond_lab::Error::Fluid(error) => Self::input(error),
            millpond_lab::Error::Live(error) => Self::input(error),
            millpond_lab::Error::Panic(panic) => Self::input(panic),
            stopped @ millpond_lab::Error::Stopped { .. } => Self::Interrupted(stopped.to_string()),
        }
    }
}

impl From<millpond_frontier::Error> for Failure {
    fn from(error: millpond_frontier::Error) -> Self {
        match error {
            millpond_frontier::Error::Scenario(faults) => Self::Scenario(faults),
            millpond_frontier::Error::Run(error) => error.into(),
            millpond_frontier::Error::Option(text) => Self::Input(text),
        }
    }
}

impl From<millpond_papers::CheckError> for Failure {
    fn from(error: millpond_papers::CheckError) -> Self {
        match error {
            millpond_papers::CheckError::Run(error) => error.into(),
            millpond_papers::CheckError::Recipe(error) => error.into(),
        }
    }
}

impl From<millpond_papers::RecipeError> for Failure {
    fn from(error: millpond_papers::RecipeError) -> Self {
        Self::input(error)
    }
}

impl From<Faults> for Failure {
    fn from(faults: Faults) -> Self {
        Self::Scenario(faults)
    }
}
