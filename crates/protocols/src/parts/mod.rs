//! Code that at least two laws share.

pub(crate) mod ack_clock;
pub mod capacity_estimate;
pub(crate) mod capped_rate;
pub(crate) mod cubic_window;
pub(crate) mod fields;
pub(crate) mod full_pipe;
pub(crate) mod hystart;
pub(crate) mod interval;
pub(crate) mod linear_count;
pub mod logistic;
pub(crate) mod logistic_fluid;
pub mod marking;
pub(crate) mod mean_rtt;
pub(crate) mod own_limit;
pub(crate) mod persistent_queue;
pub(crate) mod proportional_reduction;
pub mod send_rate;
pub mod step_size;
pub(crate) mod whole_packets;
pub(crate) mod window;
pub(crate) mod windowed_max;
