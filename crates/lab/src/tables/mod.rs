//! Tables for the terminal.

mod comparison;
mod protocols;
mod summary;
mod write;

pub use comparison::comparison;
pub use protocols::{protocol, protocols};
pub use summary::summary;
