//! Protocols in the fluid world, against closed forms and the models of `tests/reference`.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cltcp;
mod deliveries;
mod derivatives;
mod network;
