//! Tables for the terminal.

mod analysis;
mod comparison;
mod explain;
mod motion;
mod protocols;
mod summary;
mod trace;
mod worlds;
mod write;

pub use analysis::{equilibrium, followed, map, shared, stability, verdict};
pub use comparison::comparison;
pub use explain::{explanation, explanation_verdict};
pub use motion::{convergence, convergence_sentence, portrait_sentence, step, step_sentence};
pub use protocols::{protocol, protocols};
pub use summary::summary;
pub use trace::{rates_of, trace};
pub use worlds::worlds;
pub(crate) use worlds::{difference, remarks, written};
pub(crate) use write::duration;
