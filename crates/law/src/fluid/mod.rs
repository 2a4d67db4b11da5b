//! The same laws as differential equations: the shapes of the fluid world.
//!
//! ```text
//!             rate [bit/s], carried quantities, after the forward delay
//!   [ FluidSender ] ------------------------------------------------> [ FluidLink ]  one per protocol and link
//!      states                                                            states      one for the queue law
//!        ^                                                                 |
//!        +---- feedback: signals of the path, aggregated, after the ------+
//!              backward delay; queueing delay, marks, losses
//! ```
//!
//! A law is written once over a [`Number`]: it runs on `f64`, and on dual numbers for its exact linearization. The
//! engine owns delays, queues, relays, the sums over flows and the bounds of states; a law sees none of them.
//! Units are bits, bit/s and seconds, whatever its paper uses; probabilities and prices are as the paper has them.

mod allocation;
mod batch;
mod link;
mod model;
mod number;
mod relay;
mod sender;

pub use allocation::{Allocation, Jump, Marginal, PriceSum, Rest};
pub use batch::{LinkInputs, Links, Moves, SenderInputs, Senders, link_piece, sender_piece};
pub use link::{FluidLink, LinkInput};
pub use model::{FluidModel, FluidQueue, LoopFacts, Verdicts};
pub use num_dual::{Dual64, DualNum};
pub use number::{Number, greatest, least, positive};
pub use relay::{Forwarded, NextLoop};
pub use sender::{Aggregate, Feedback, FluidSender, Hears, Quantity, SenderInput, State};
