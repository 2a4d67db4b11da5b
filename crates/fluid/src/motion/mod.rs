//! Transients of a network: long-term behaviour of trajectories ([`long_term_behavior`]), step responses
//! ([`StepResponse`]), and the prediction from the rightmost root alone ([`Predicted`]).

mod long_term;
mod step_response;
mod trajectory;

pub use long_term::{LongTermBehavior, long_term_behavior};
pub use step_response::{BAND, Predicted, StepResponse, time_to};
pub use trajectory::{Component, Trajectory, record};

#[cfg(test)]
mod tests;
