//! Control laws as differential equations: the interface of the fluid world.
//!
//! ```text
//!             rate [bit/s] and carried quantities, after the forward delay
//!   [ FluidSender ] ------------------------------------------------> [ FluidLink ]  one per protocol and link,
//!      states                                                            states      one for the queue law
//!        ^                                                                 |
//!        +---- feedback: signals of the path's links, aggregated; --------+
//!              queueing delay, marks, losses; after the backward delay
//! ```
//!
//! A law is written once over a [`Number`]. It runs on `f64`, and on dual numbers for its exact linearization. The
//! engine (`millpond-fluid`) implements delays, queues, relays, sums over flows and bounds of states; a law contains
//! none of them. Units are bits, bit/s and seconds, whatever the paper uses. Probabilities and prices are as in the
//! paper.
//!
//! | module | content |
//! |---|---|
//! | `sender`, `link` | [`FluidSender`] and [`FluidLink`]: the equations of one sender and of one link |
//! | `number`, `elementary` | the numbers of laws, and their functions with the same bits on every platform |
//! | `relay` | feedback between the loops of a chain |
//! | `allocation` | the equilibrium of a law in closed form |
//! | `steady_state` | cycles and continua that follow from the law itself |
//! | `inputs` | inputs and outputs of blocks of flows and links |
//! | `objects` | [`SenderLaws`] and [`LinkLaws`]: many laws of one type behind one virtual call |
//! | `blocks` | the loops over the flows or links of such a call |
//! | `model` | [`FluidModel`]: the laws of a protocol under given settings |

mod allocation;
mod blocks;
mod elementary;
mod inputs;
mod link;
mod model;
mod number;
mod objects;
mod relay;
mod sender;
mod steady_state;

pub use allocation::{Allocation, Jump, LinkEquilibrium, Marginal, PriceSum};
pub use inputs::{LinkInputs, SenderInputs, SenderOutputs};
pub use link::{FluidLink, LinkInput};
pub use model::{FluidModel, FluidQueue, LoopFacts, Verdicts};
pub use num_dual::{Dual64, DualNum};
pub use number::{Number, exp, exp_m1, greatest, least, ln, ln_1p, positive};
pub use objects::{LinkLaws, SenderLaws, link_law, sender_law};
pub use relay::{DownstreamFeedback, UpstreamFeedback};
pub use sender::{Feedback, FluidSender, InputSet, LawState, PathAggregation, Quantity, SenderInput, State};
pub use steady_state::{AdditiveIncrease, Continuum, Cycle, CyclePeak, SteadyStateFacts};
