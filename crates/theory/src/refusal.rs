//! Why there is no answer.

use millpond_fluid::equilibrium::NoEquilibrium;
use millpond_fluid::stability::Unknown;
use millpond_scenario::Faults;
use std::fmt;

/// Why there is no answer.
#[derive(Debug)]
pub enum Refusal {
    /// The scenario is wrong, or equations cannot honour it.
    Scenario(Faults),
    /// It settles nowhere.
    Restless(String),
    /// This flow meets no bottleneck: it sends at its own limit, and hears nothing.
    NoBottleneck {
        /// The flow.
        flow: String,
    },
    /// The roots are not known.
    Unknown(Unknown),
    /// A law decides at discrete times: its linearization says nothing.
    Clocked {
        /// Of which protocol.
        protocol: String,
    },
    /// It rests on a jump of a law, which has no slope: it cycles; how, in a sentence.
    Cycles(String),
    /// The equations could not be integrated.
    Broken(millpond_fluid::Error),
    /// Nothing can start where it was asked to: why.
    Start(String),
    /// Somebody who is not there was given a weight: who is there.
    Weight(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(faults) => faults.fmt(f),
            Self::Restless(reason) => f.write_str(reason),
            Self::NoBottleneck { flow } => write!(
                f,
                "{flow} meets no bottleneck: no link on its path is full, so no feedback reaches it and there is no loop to judge; \
                 add flows, or lower a link's rate until it is one"
            ),
            Self::Unknown(reason) => reason.fmt(f),
            Self::Cycles(sentence) => f.write_str(sentence),
            Self::Broken(reason) => reason.fmt(f),
            Self::Start(reason) | Self::Weight(reason) => reason.fmt(f),
            Self::Clocked { protocol } => write!(
                f,
                "{protocol} decides at discrete times: its equilibrium is a cycle and has no linearization; integrate it instead: \
                 millpond run --world fluid"
            ),
        }
    }
}

impl From<Faults> for Refusal {
    fn from(faults: Faults) -> Self {
        Self::Scenario(faults)
    }
}

impl From<NoEquilibrium> for Refusal {
    fn from(reason: NoEquilibrium) -> Self {
        Self::Restless(reason.to_string())
    }
}

impl From<millpond_fluid::Error> for Refusal {
    fn from(error: millpond_fluid::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<Unknown> for Refusal {
    fn from(reason: Unknown) -> Self {
        Self::Unknown(reason)
    }
}
