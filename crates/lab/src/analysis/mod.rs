//! What the fluid world says of a scenario without running it: where it settles, and whether it stays there.
//!
//! ```text
//!   Scenario --fluid::plan--> equations --settle--> a point of rest --judge--> roots, margins
//!        ^                                                                        |
//!        +------------------------- Knob: round-trip time, flows, a parameter <---+  critical values, maps
//! ```

mod at_rest;
mod explain;
mod json;
mod judge;
mod knob;
mod map;
mod settle;
mod utility;
mod vary;

pub use at_rest::{AtRest, GroupAtRest, LinkAtRest, at_rest};
pub use explain::{
    Density, Explanation, Finding, Floor, Growth, Inexplicable, Model, Of, Peak, ReadError, Row, Stretch,
    Swing, Verdict, explain, explanation_json, read_run,
};
pub use json::{equilibrium_json, stability_json};
pub use judge::{Stability, judge};
pub use knob::Knob;
pub(crate) use knob::significant;
pub use map::{Axis, Map, map};
pub(crate) use settle::present;
pub use settle::{Closed, Settled, settle};
pub use utility::{AlphaFair, Class, Shared, share_out, shared_json, weight};
pub(crate) use vary::longest_rtt;
pub use vary::{Boundary, Search, boundaries, search};

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

impl From<Unknown> for Refusal {
    fn from(reason: Unknown) -> Self {
        Self::Unknown(reason)
    }
}
