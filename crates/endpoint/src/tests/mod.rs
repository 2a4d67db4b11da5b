//! Whole loops and chains of loops over a small pipe.

mod pipe;

mod chain;
mod delivery;
mod silence;
mod telling;
mod timing;
