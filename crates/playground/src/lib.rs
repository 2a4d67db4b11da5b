//! The playground: a page on this machine on which a scenario is changed and its runs are drawn at once.
//!
//! ```text
//!   browser --HTTP--> server: token, host, limits, queue --stdin--> job: a process for one check, run or analysis
//!      ^                                                               |
//!      +------------- one JSON object per line ------------ stdout ----+
//! ```
//!
//! A job is a process, so that its memory and its processor time are limited by the system, and so that a closed
//! connection ends it at once. `docs/playground.md` documents the requests.

mod access;
mod analysis;
mod answer;
mod apply;
mod assets;
mod bottleneck;
mod catalogue;
mod check;
mod clock;
mod drawing;
mod effort;
mod facts;
mod faults;
mod files;
mod job;
mod ledger;
#[cfg(test)]
mod lesson_tests;
mod limits;
mod messages;
mod notebook;
mod queue;
mod readings;
mod requests;
mod run;
mod server;
mod shipped;
mod sliders;
mod supervisor;
mod written;

pub use answer::run_job;
pub use server::{ServeError, ServeOptions, serve};
