//! Transients of a network: long-term behaviour of trajectories ([`long_term_behavior`]), step responses
//! ([`StepResponse`]), the prediction from the rightmost root alone ([`Predicted`]), and the trajectory about an equilibrium on
//! a threshold ([`motion_about`]).

mod about_threshold;
mod long_term;
mod step_response;
mod trajectory;

pub use about_threshold::{Followed, MotionAboutThreshold, motion_about};
pub use long_term::{LongTermBehavior, long_term_behavior};
pub use step_response::{BAND, Predicted, StepResponse, time_to};
pub use trajectory::{Component, Trajectory, record};

#[cfg(test)]
mod tests;
