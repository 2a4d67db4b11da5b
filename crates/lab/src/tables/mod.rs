//! Tables for the terminal.

mod comparison;
mod protocols;
mod summary;
mod trace;
mod worlds;
mod write;

pub use comparison::comparison;
pub use protocols::{protocol, protocols};
pub use summary::summary;
pub use trace::trace;
pub use worlds::worlds;
