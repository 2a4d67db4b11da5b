//! The core of the node in virtual time: two and three nodes, hours of operation, loss, reordering, restarts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chain;
mod connections;
mod faults;
mod flows;
mod liars;
mod world;
