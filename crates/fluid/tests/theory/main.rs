//! The solver against equations with known solutions.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod acked;
mod chain;
mod chain_gain;
mod credit;
mod deliveries;
mod draining;
mod events;
mod fixed;
mod granularity;
mod held;
mod lag;
mod laws;
mod linear_parts;
mod measured;
mod motion;
mod portraits;
mod relay_feedback;
mod scalar;
mod shared;
mod sides;
mod sliding;
mod switches;
mod unused;
