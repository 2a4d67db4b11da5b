//! The label and the world of a run, and a run that has ended.

use crate::run::{Run, Timing};
use serde::Deserialize;

/// The label of a run, its world and its index among several runs.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// See [`Run::label`].
    pub label: String,
    /// What makes the run.
    pub origin: RunOrigin,
    /// The index of the run in calls of [`Watch`](crate::Watch).
    pub index: usize,
    /// The world of the run.
    pub world: World,
}

/// The command that makes runs, and the version of Millpond.
#[derive(Clone, Debug, Default)]
pub struct RunOrigin {
    /// See [`Run::command`].
    pub command: String,
    /// See [`Summary::version`](crate::Summary::version).
    pub version: String,
}

/// An argument of a command line as a shell reads it.
pub fn shell_word(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// The world in which a scenario is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// The packet-level simulator.
    #[default]
    Packets,
    /// The differential equations of the laws.
    Fluid,
    /// Datagrams between real sockets, at the times of a clock. Recipes have no live runs: their verdicts must not depend on the
    /// machine.
    #[serde(skip)]
    Live,
}

impl World {
    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Fluid => "fluid",
            Self::Live => "live",
        }
    }
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its results, which depend on scenario, seed and version only.
    pub run: Run,
    /// Its cost, which differs between executions.
    pub timing: Timing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_a_shell_would_split_is_quoted() {
        assert_eq!(shell_word("links.L1.rate=5Mbps"), "links.L1.rate=5Mbps");
        assert_eq!(shell_word("title=a b"), "'title=a b'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
