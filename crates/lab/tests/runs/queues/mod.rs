//! Queues with long flows, judged by what their specifications state.

mod flow_queues;
mod l4s;
mod pie;
mod shaping;
mod without_ecn;
