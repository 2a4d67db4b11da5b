//! From a scenario to what a world runs: every name resolved, every setting checked, every random value drawn.
//!
//! ```text
//!   Scenario --> cast: protocols, settings  --+
//!           \--> members: flows, draws, paths -+--> packets: links, flows --> Network
//!                                             +--> fluid:   links, loops --> Assembly
//! ```

mod aggregates;
mod buffers;
mod cast;
mod delays;
mod draws;
mod faults;
pub mod fluid;
mod laws;
mod members;
mod names;
pub mod packets;
mod traffic;
mod warnings;
