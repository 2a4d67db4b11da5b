//! What two laws share. A part enters with its second user.

pub mod capacity_estimate;
pub(crate) mod cubic_window;
pub mod logistic;
pub mod marking;
pub mod send_rate;
pub mod step_size;
pub(crate) mod window;
