//! What a controller can reach on the trace of a link: utilization against the 95th percentile of queueing delay.
//!
//! ```text
//!   trace --> bound (law, newsvendor)      its random process is known: a generated trace
//!        \--> guide (guide, newsvendor)    it is recorded
//!        \--> one factor (one_factor)      a window with one constant chosen afterwards
//!        \--> protocols (measured)         runs in the packet world
//! ```
//!
//! `docs/frontier.md` has the derivation.

mod capacity;
mod error;
mod frontier;
mod guide;
mod law;
mod measured;
mod newsvendor;
mod one_factor;

pub use capacity::Capacity;
pub use error::Error;
pub use frontier::{Frontier, FrontierPlan, FrontierRequest, LATE, LimitKind, LimitPoint, TracedLink};
pub use guide::guided_utilization;
pub use law::{GeneratedLink, RateLaw, greatest_utilization};
pub use measured::ProtocolPoint;
pub use newsvendor::{Outcome, TradeOff};
pub use one_factor::{FactorPoint, one_factor};
