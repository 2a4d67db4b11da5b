//! How a network moves: where trajectories lead ([`fate`]), how it answers a step ([`Response`]), and what its rightmost
//! root alone would predict ([`Predicted`]).

mod long_term;
mod step_response;
mod trajectory;

pub use long_term::{LongTermBehavior, long_term_behavior};
pub use step_response::{BAND, Predicted, StepResponse, time_to};
pub use trajectory::{Component, Trajectory, follow};

#[cfg(test)]
mod tests;
