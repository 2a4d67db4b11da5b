//! From a scenario to what a world runs: every name is resolved, every setting checked, every random value sampled.
//!
//! ```text
//!   Scenario --> protocols: laws with their settings ----+
//!           \--> flow_instances: paths, sampled values ---+--> packets: links, flows --> PacketPlan
//!                                                        +--> fluid:   links, loops --> FluidPlan
//! ```

mod buffers;
mod concealed;
mod conduct;
mod delays;
mod faults;
mod flow_instances;
pub mod fluid;
mod laws;
mod least_rate;
mod names;
pub mod packets;
mod protocols;
mod queue_conflicts;
mod queue_warnings;
mod rate_code;
mod relay_buffers;
mod sampling;
mod shared_loops;
mod traffic;
mod warnings;

pub use protocols::{law_faults, with_used_settings};
pub use queue_conflicts::other_queues;
