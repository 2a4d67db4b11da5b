//! The solver against equations with known solutions.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod chain;
mod credit;
mod deliveries;
mod draining;
mod events;
mod fixed;
mod granularity;
mod held;
mod lag;
mod laws;
mod measured;
mod motion;
mod portraits;
mod scalar;
mod shared;
mod sides;
mod sliding;
mod switches;
mod unused;
