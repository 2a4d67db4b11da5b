//! How a network moves: where trajectories lead ([`fate`]), how it answers a step ([`Response`]), and what its rightmost
//! root alone would predict ([`Predicted`]).

mod fate;
mod response;
mod trajectory;

pub use fate::{Fate, fate};
pub use response::{BAND, Predicted, Response, time_to};
pub use trajectory::{Place, Trajectory, follow};

#[cfg(test)]
mod tests;
