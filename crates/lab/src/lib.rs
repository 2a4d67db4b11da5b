//! Runs a scenario: plans it, runs it in its world and measures it. Both worlds give results of the same form.
//!
//! ```text
//!   Scenario --plan--> PacketPlan or FluidPlan --run--> Run
//!       \--cases--> one Scenario per protocol, world and seed --compare--> Runs
//! ```

mod coexistence;
mod compare;
mod deployment;
mod distributions;
mod error;
mod fair_shares;
mod fairness;
mod fluid;
mod groups;
mod harm;
mod kept_runs;
mod live;
mod observers;
mod packets;
mod panics;
mod perturb;
mod recorded_series;
mod run_key;
mod stopwatch;
mod threads;
mod ticks;
mod world;

pub use coexistence::{CoexistenceRow, CompetingFlows, coexistence};
pub use compare::{
    Choice, ComparisonCase, cases, compare, labels_without_randomness, live_agreements, notes_on_queues,
    seeds_of, world_agreements,
};
pub use deployment::Deployment;
pub use error::{Error, RunPanic};
pub use fair_shares::fair_shares;
pub use harm::{Harm, HarmPlan, HarmRow, HarmTo, HarmVerdict};
pub use kept_runs::WantedRun;
pub use observers::{MakeObserver, ObservedLoop};
pub use perturb::{Disturbance, DisturbancePlan, disturbances};
pub use run_key::is_run_of;
pub use threads::ThreadCount;
pub use world::{run, run_observed};
