//! The fluid world: control laws as delay-differential equations over a network.
//!
//! The crate depends on the traits of `millpond_law::fluid` and on no protocol. Modules import each other without cycles;
//! each one uses only modules above it:
//!
//! | module | content |
//! |---|---|
//! | `error` | errors, each with a remedy |
//! | `network` | the description of a network: links, loops, relays, changes at given times |
//! | [`Assembly`] (`assembly`) | the network as equations: classes of flows, sets of links, positions of states and channels |
//! | `queue`, `path` | a queue near its discontinuities; aggregation of signals over a path |
//! | `discrete_state` | the part of the state that changes only at events |
//! | `delays` | the delay of each look-up in the history |
//! | `channel_history` | the history of the channels, as the equations read it |
//! | `delivery` | what flows receive over paths with several queues |
//! | `fair_sharing`, `relay_feedback` | flows that share a loop; feedback between the loops of a chain |
//! | `credit`, `unused_rate` | how the limited buffer of a relay slows the loop before it; laws that have less to send than they permit |
//! | `path_switches` | owners of switching functions; the selected hop of a path |
//! | `hysteresis` | thresholds along which a solution slides |
//! | `right_hand_side` | derivatives and channels, given the history |
//! | `guards`, `law_sides` | evaluation and crossing of switching functions; laws on their side of a threshold |
//! | [`Integration`] (`integration`) | the common interface of both integration schemes |
//! | [`Frozen`] (`frozen`) | all delays zero: the residual for the equilibrium |
//! | [`Solver`] (`solver`) | adaptive steps of order five, event location, tracked discontinuities, [`DenseOutput`] |
//! | [`FixedStep`] (`fixed`) | fixed steps of order two, for large networks |
//! | [`Subsystem`] (`subsystems`) | exact linearization of each sender, link and relay |
//! | [`equilibrium`] | max-min fairness, utility maximum, zero of the vector field |
//! | [`stability`] | characteristic roots, margins, Nyquist loci, noise, limit cycles |
//! | [`motion`] | trajectories and step responses |

mod assembly;
mod channel_history;
mod credit;
mod delays;
mod delivery;
mod discrete_state;
pub mod equilibrium;
mod error;
mod fair_sharing;
mod fixed;
mod frozen;
mod guards;
mod hysteresis;
mod integration;
mod jacobian;
mod law_sides;
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
mod unused_rate;

pub use assembly::{Assembly, Entity, SolutionColumn};
pub use error::Error;
pub use fixed::{Executor, FixedStep, FixedStepIntegration, OneThread, Snapshot, Snapshots};
pub use frozen::{Frozen, OperatingPoint, Sliding, StateBounds};
pub use integration::{Integration, SlidingThreshold};
pub use network::{
    ConfiguredCapacity, FluidNetwork, LinkId, Loop, LoopHop, LoopId, ProtocolId, Relay, RelayBuffer, Share,
};
pub use solver::{Accuracy, DenseOutput, Solution, Solver};
pub use subsystems::{Input, Subsystem};
