//! Where a scenario settles.

mod find;
mod json;
mod summary;
mod utility;

pub use find::{Closed, Settled, settle};
pub(crate) use find::{longest_rtt, present, settle_at};
pub use json::{equilibrium_json, shared_json};
pub use summary::{AtRest, GroupAtRest, LinkAtRest, at_rest};
pub use utility::{AlphaFair, Class, Shared, share_out, weight};
