//! Whole loops and chains of loops over a small pipe.

mod pipe;

mod chain;
mod delivery;
mod law_events;
mod no_feedback;
mod timing;
