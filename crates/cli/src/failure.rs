//! How a command ends.

use millpond_scenario::Faults;
use std::fmt::Display;
use std::io::IsTerminal;
use std::process::ExitCode;

/// What a command returns: an exit code, or why it could not do its work.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// What was given cannot be used.
const BAD_INPUT: u8 = 2;
/// As after a signal: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A scenario or a trace is wrong: where and how.
    Scenario(Faults),
    /// Anything else that was given cannot be used.
    Input(String),
    /// The user stopped it; what was kept.
    Interrupted(String),
}

impl Failure {
    /// Something that was given cannot be used, in its own words.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(message.to_string())
    }

    /// Tells the user on standard error and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let colour = std::io::stderr().is_terminal();
        match self {
            Self::Scenario(faults) => {
                eprint!("{}", faults.render(colour));
                ExitCode::from(BAD_INPUT)
            }
            Self::Input(message) => {
                eprintln!("error: {message}");
                ExitCode::from(BAD_INPUT)
            }
            Self::Interrupted(kept) => {
                eprintln!("interrupted: {kept}");
                ExitCode::from(INTERRUPTED)
            }
        }
    }
}

impl From<millpond_lab::Error> for Failure {
    fn from(error: millpond_lab::Error) -> Self {
        match error {
            millpond_lab::Error::Scenario(faults) => Self::Scenario(faults),
            millpond_lab::Error::Output(error) => Self::input(error),
            millpond_lab::Error::Fluid(error) => Self::input(error),
            stopped @ millpond_lab::Error::Stopped { .. } => Self::Interrupted(stopped.to_string()),
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
