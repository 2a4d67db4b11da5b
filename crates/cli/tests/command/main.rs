//! The command as a user runs it: output, files and errors.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "helpers fail as tests do")]

mod bad_input;
mod bad_theory;
mod common;
mod evaluate;
mod event_files;
mod explain;
mod figures;
mod interrupt;
mod link;
mod live;
mod operators;
mod options;
mod outputs;
mod papers;
mod readme;
mod schemas;
#[cfg(target_os = "linux")]
mod serve;
mod sweep;
mod templates;
mod transients;
mod variants;
