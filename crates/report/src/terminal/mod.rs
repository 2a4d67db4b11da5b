//! Tables for the terminal.

mod analysis;
mod comparison;
mod explain;
mod motion;
mod protocols;
mod recipes;
mod summary;
mod trace;
mod worlds;
mod write;

pub use analysis::{equilibrium, followed, map, stability, utility_allocation};
pub use comparison::comparison;
pub use explain::explanation;
pub use motion::{convergence, step};
pub use protocols::{protocol, protocols};
pub use recipes::{matrix, overview, table};
pub use summary::summary;
pub use trace::{rates_of, trace};
pub use worlds::worlds;
