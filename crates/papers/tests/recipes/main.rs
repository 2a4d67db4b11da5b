//! Folders and runs of recipes, and readings of papers.

#![allow(clippy::panic, clippy::unwrap_used, reason = "helpers fail as tests do")]

mod folders;
mod readings;
mod trials;
