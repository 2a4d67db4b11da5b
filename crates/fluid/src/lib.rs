//! The fluid world: control laws as delay-differential equations over a topology.
//!
//! It knows the traits of `millpond_law::fluid` and never a protocol.

mod assembly;
mod delays;
mod discrete_state;
pub mod equilibrium;
mod error;
mod fair_sharing;
mod fixed;
mod frozen;
mod guards;
mod integration;
pub mod motion;
mod network;
mod path;
mod path_switches;
mod queue;
mod relay_feedback;
mod right_hand_side;
mod solver;
pub mod stability;
mod subsystems;

pub use assembly::{Assembly, Column, Entity};
pub use error::Error;
pub use fixed::{FixedStep, FixedStepIntegration, Snapshot, Snapshots};
pub use frozen::{Frozen, OperatingPoint, Sliding};
pub use integration::Integration;
pub use network::{FluidNetwork, Hop, LinkId, Loop, LoopId, ProtocolId, Relay, Share};
pub use solver::{Accuracy, Solution, Solver};
pub use subsystems::{Input, Subsystem};
