//! Whole loops and chains of loops over a path model.

mod event_log;
mod pipe;

mod chain;
mod delivery;
mod early_acks;
mod ecn;
mod law_events;
mod loss_events;
mod no_feedback;
mod timing;
