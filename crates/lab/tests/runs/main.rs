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
mod every_scenario;
mod explain;
mod explicit;
mod fluid_plans;
mod fluid_runs;
mod fluid_steps;
mod garbled;
mod mcp;
mod measures;
mod motion;
mod paganini;
mod plans;
mod radio;
mod rest;
mod rows;
mod step_marks;
mod theory;
mod transfers;
mod utility;
mod worlds;
