//! From a scenario to what a world runs: every name resolved, every setting checked, every random value drawn.
//!
//! ```text
//!   Scenario --> cast: protocols, settings  --+
//!           \--> members: flows, draws, paths -+--> packets: links, flows --> Network
//!                                             +--> fluid:   links, loops --> Assembly
//! ```

mod buffers;
mod delays;
mod faults;
mod flow_instances;
pub mod fluid;
mod laws;
mod names;
pub mod packets;
mod protocols;
mod sampling;
mod shared_loops;
mod traffic;
mod warnings;
