//! Whole runs: against theory, against every registered protocol, against themselves.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

mod abc;
mod acp;
mod analysis;
mod battery;
mod cltcp;
mod coexistence;
mod common;
mod determinism;
mod equilibrium;
mod every_scenario;
mod explain;
mod explicit;
mod fluid_plans;
mod fluid_runs;
mod fluid_steps;
mod garbled;
mod marking_threshold;
mod mcp;
mod measures;
mod motion;
mod paganini;
mod plans;
mod several_links;
mod theory;
mod transfers;
mod utility;
mod varying_capacity;
mod worlds;
