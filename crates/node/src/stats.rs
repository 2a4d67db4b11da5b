//! What a node reports about its loops and flows.

use crate::backlog::HoldTimes;
use crate::control::ControlCounters;
use crate::flow::LinkId;
use crate::identity::PublicKey;
use crate::link::Link;
use crate::node::Node;
use millpond_endpoint::Marks;
use millpond_units::{Bytes, Rate, Span};

/// One connection to a neighbour: the loop that sends on it, and what was received on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopStats {
    /// Its number at this node.
    pub link: LinkId,
    /// The key of the neighbour.
    pub peer: Option<PublicKey>,
    /// True if it leads to the next neighbour, false if a previous one made it.
    pub is_next: bool,
    /// True if it is established.
    pub is_up: bool,
    /// Counters of the sender.
    pub counters: ControlCounters,
    /// The rate at which the sender may send; none before the first RTT sample.
    pub allowed_rate: Option<Rate>,
    /// The window of its law.
    pub window: Option<Bytes>,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// Smoothed RTT.
    pub smoothed_rtt: Option<Span>,
    /// Minimum RTT.
    pub min_rtt: Option<Span>,
    /// How late packets left that pacing delayed, median and 99th percentile; none before the first.
    pub pacing_lateness: Option<(Span, Span)>,
    /// Bytes held for it.
    pub held: Bytes,
    /// The bound of what is held for it at present.
    pub hold_limit: Bytes,
    /// How long data was held.
    pub hold_times: HoldTimes,
    /// CE marks received on it.
    pub received_marks: Marks,
    /// Rate messages sent.
    pub messages_sent: u64,
    /// Rate messages received that counted.
    pub messages_received: u64,
    /// True if its packets are ECN-capable.
    pub sends_ecn: bool,
    /// True if the neighbour's rate messages have ceased.
    pub is_silent: bool,
}

/// A node at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeStats {
    /// Its connections.
    pub loops: Vec<LoopStats>,
    /// Flows at present.
    pub flows: usize,
    /// Flows since the start.
    pub flows_made: u64,
    /// Flows refused or aborted since the start.
    pub flows_aborted: u64,
    /// True if the connection to the next neighbour is established, or none is needed.
    pub is_ready: bool,
}

impl Node {
    /// The state of the node.
    pub fn stats(&self) -> NodeStats {
        NodeStats {
            loops: self.links.iter().map(|(id, link)| self.loop_stats(id, link)).collect(),
            flows: self.flow_count(),
            flows_made: self.flows_made,
            flows_aborted: self.aborted,
            is_ready: self.is_ready(),
        }
    }

    fn loop_stats(&self, id: LinkId, link: &Link) -> LoopStats {
        let hold_limit = link.hold_limit();
        let (messages_sent, messages_received) = link.messages();
        let control = link.control.get();
        LoopStats {
            link: id,
            peer: link.peer,
            is_next: self.next == Some(id),
            is_up: link.is_up,
            counters: control.counters(),
            allowed_rate: control.smoothed_rtt().map(|_| control.allowed_rate()),
            window: control.permit().window,
            in_flight: control.in_flight(),
            smoothed_rtt: control.smoothed_rtt(),
            min_rtt: control.min_rtt(),
            pacing_lateness: control.pacing_lateness(),
            held: Bytes::new(link.backlog.held().bytes as u64),
            hold_limit,
            hold_times: link.backlog.times(),
            received_marks: link.marks(),
            messages_sent,
            messages_received,
            sends_ecn: link.sends_ecn(),
            is_silent: control.is_silent(),
        }
    }
}
