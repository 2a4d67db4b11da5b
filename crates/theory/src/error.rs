//! Why an analysis has no result.

use millpond_fluid::equilibrium::NoEquilibrium;
use millpond_fluid::stability::RootError;
use millpond_scenario::Faults;
use std::fmt;

/// Why an analysis has no result.
#[derive(Debug)]
pub enum AnalysisError {
    /// The scenario is wrong, or its equations cannot represent it.
    Scenario(Faults),
    /// The equations have no equilibrium that was found: why, in a sentence.
    NoEquilibrium(String),
    /// No link on the path of this flow signals congestion: it receives no feedback.
    NoBottleneck {
        /// Name of the flow.
        flow: String,
    },
    /// The characteristic roots could not be computed.
    Roots(RootError),
    /// A law decides at discrete times, so that the network has no linearization.
    DiscreteTime {
        /// Name of the protocol.
        protocol: String,
    },
    /// The equilibrium lies on a jump of a law, which has no derivative: amplitude and period of the limit cycle, in a
    /// sentence.
    LimitCycle(String),
    /// The equations could not be integrated.
    Integration(millpond_fluid::Error),
    /// No trajectory can start from the initial condition: why, in a sentence.
    InitialCondition(String),
    /// A weight is given for a group of flows that does not exist: which groups exist, in a sentence.
    UnknownGroup(String),
}

impl fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(faults) => faults.fmt(f),
            Self::NoEquilibrium(reason) | Self::InitialCondition(reason) | Self::UnknownGroup(reason) => {
                f.write_str(reason)
            }
            Self::NoBottleneck { flow } => write!(
                f,
                "the flow {flow} meets no bottleneck: no link on its path signals congestion, so no feedback reaches it and there is \
                 no loop to analyze; add flows, or lower a link's rate until a queue forms"
            ),
            Self::Roots(reason) => reason.fmt(f),
            Self::LimitCycle(sentence) => f.write_str(sentence),
            Self::Integration(reason) => reason.fmt(f),
            Self::DiscreteTime { protocol } => write!(
                f,
                "the law {protocol} decides at discrete times: its equilibrium is a cycle and has no linearization; \
                 the fluid world shows what the network does instead"
            ),
        }
    }
}

impl From<Faults> for AnalysisError {
    fn from(faults: Faults) -> Self {
        Self::Scenario(faults)
    }
}

impl From<NoEquilibrium> for AnalysisError {
    fn from(reason: NoEquilibrium) -> Self {
        Self::NoEquilibrium(reason.to_string())
    }
}

impl From<millpond_fluid::Error> for AnalysisError {
    fn from(error: millpond_fluid::Error) -> Self {
        Self::Integration(error)
    }
}

impl From<RootError> for AnalysisError {
    fn from(reason: RootError) -> Self {
        Self::Roots(reason)
    }
}
