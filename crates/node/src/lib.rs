//! Relays over QUIC: the control laws of Millpond in charge of the connections of a QUIC library.
//!
//! A **node** is an enter, a relay or an exit of a chain of loops. It has one connection for each neighbour, and a stream for each flow of
//! an application. The law of a connection's sender decides when a datagram leaves ([`control`]). What a node receives upstream about the
//! next loop comes in rate messages ([`message`], [`exchange`]). What waits for a loop is bounded by a delay ([`backlog`]).
//!
//! ```text
//!   TCP --> [ enter ] ===== loop 1 ====> [ relay ] ===== loop 2 ====> [ exit ] --> TCP
//!               ^                          |   ^                         |
//!               +----- rate messages ------+   +----- rate messages -----+
//! ```
//!
//! [`Node`] reads neither clock nor socket, so that tests run it in virtual time.

pub mod backlog;
pub mod carrier;
pub mod clock;
pub mod config;
pub mod connections;
pub mod control;
pub mod driver;
pub mod exchange;
pub mod flow;
mod flow_connections;
pub mod identity;
mod link;
mod links;
pub mod message;
mod node;
mod node_connections;
mod node_flows;
pub mod proxy;
pub mod stats;
pub mod target;
pub mod weight;

pub use flow::{Abort, FlowId, LinkId};
pub use node::{Neighbour, Node, NodeConfig, NodeError, NodeEvent};
