//! What finished runs show beside the theory: why a run oscillates, and how far the worlds agree.

pub mod agreement;
pub mod explain;
