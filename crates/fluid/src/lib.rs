//! The fluid world: control laws as delay-differential equations over a topology.
//!
//! It knows the traits of `millpond_law::fluid` and never a protocol.

mod assembly;
mod discrete_state;
pub mod equilibrium;
mod error;
mod field;
mod fixed;
mod frozen;
mod guards;
mod integration;
pub mod motion;
mod network;
mod outlook;
mod path;
mod pieces;
mod queue;
mod solver;
pub mod stability;
mod switches;
mod turns;
mod wiring;

pub use assembly::{Assembly, Column, Entity};
pub use error::Error;
pub use fixed::{FixedStep, Measured, Snapshot, Snapshots};
pub use frozen::{Frozen, Moment, Sliding};
pub use integration::Integration;
pub use network::{Hop, LinkId, Loop, LoopId, Network, ProtocolId, Relay, Share};
pub use pieces::{Input, Piece};
pub use solver::{Accuracy, Solution, Solver};
