//! The command as a user meets it: what it prints, what it writes, how it fails.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

mod bad_input;
mod bad_theory;
mod common;
mod explain;
mod interrupt;
mod motion;
mod outputs;
mod papers;
mod readme;
