//! What a run is called, where it happens, and what it leaves when it has ended.

use crate::run::{Run, Timing};
use serde::Deserialize;

/// What a run is called and where it stands among others.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// See [`Run::label`].
    pub label: String,
    /// See [`Run::command`].
    pub command: String,
    /// The number by which its [`Watch`](crate::Watch) knows it.
    pub index: usize,
    /// Where it happens.
    pub world: World,
}

/// Where a scenario is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// The packet-level simulator.
    #[default]
    Packets,
    /// The differential equations of the laws.
    Fluid,
}

impl World {
    /// As written in files and typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Fluid => "fluid",
        }
    }
}

/// A run that has come to its end.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it gave: depends on scenario, seed and version alone.
    pub run: Run,
    /// What it cost: does not.
    pub timing: Timing,
}
