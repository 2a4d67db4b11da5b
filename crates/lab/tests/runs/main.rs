//! Whole runs: against theory, against every registered protocol, against themselves.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

mod abc;
mod acp;
mod analysis;
mod battery;
mod bbr;
mod chain_gain;
mod cltcp;
mod coexistence;
mod common;
mod configured_rate;
mod corrupted_headers;
mod determinism;
mod equilibrium;
mod every_scenario;
mod explain;
mod fair_queueing;
mod findings;
mod fluid_plans;
mod fluid_runs;
mod fluid_steps;
mod lgcc_page;
mod marking_threshold;
mod mcp;
mod measures;
mod paganini;
mod phase_effects;
mod plans;
mod queues;
mod reference_results;
mod reno_over_red;
mod service_times;
mod several_links;
mod silences;
mod sliding;
mod slow_start;
mod steady_state;
mod theory;
mod transfers;
mod transients;
mod two_protocols;
mod utility;
mod varying_capacity;
mod worlds;
mod xcp;
