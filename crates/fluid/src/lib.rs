//! The fluid world: control laws as delay-differential equations over a topology.
//!
//! It knows the traits of `millpond_law::fluid` and never a protocol.
