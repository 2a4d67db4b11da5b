//! What two laws share.

pub(crate) mod window;
