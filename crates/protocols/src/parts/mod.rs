//! What two laws share. A part enters with its second user.

pub mod logistic;
pub mod marking;
pub mod max_delivery;
pub mod send_rate;
pub mod step_size;
pub(crate) mod window;
