//! What flows receive over paths with several queues.
//!
//! Each queue receives the rates of its senders, one forward delay later, whatever other queues they cross: the standard
//! fluid model. Two busy queues of a path then hold the same data twice, and the product of their departing shares is no
//! rate of data: if both empty at twice the arriving rate, it is four times that rate. A flow has received what every
//! link of its path has served, and not faster than each link offers to serve it:
//!
//! ```text
//!   delivered(t) = min over links of served(t),    d/dt delivered(t) <= min over links of offered(t)
//! ```
//!
//! A link offers each flow a share of its capacity that is proportional to the flow's arrivals. The shares of a link add
//! up to its capacity. All deliveries over a link, counted when they leave it, are therefore at most its capacity at
//! every time. Over a path with one hop, what is delivered is what the link has served.
//!
//! The same holds for the loops of a chain: each delivers at most what the loop before it has delivered to its relay. A
//! link divides its departures in proportion to the present arrivals, also those of data that other flows have in its
//! queue. A flow behind a relay would otherwise receive data that has never crossed the links before the relay.

use crate::assembly::{Assembly, LoopData};

/// The service of one link for one flow: rates in bit/s, or amounts in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HopService {
    /// The flow's part of the departures.
    pub(crate) served: f64,
    /// The flow's share of the capacity.
    pub(crate) offered: f64,
}

/// Bits delivered after an interval. `before`: those delivered before it; `served`: the least that a link of the path has
/// served since the same time; `offered`: the least that a link offered in the interval.
pub(crate) fn delivered_after(before: f64, served: f64, offered: f64) -> f64 {
    served.min(before + offered).max(before)
}

/// Deliveries of the loops of a network.
pub(crate) struct Deliveries {
    /// For each hop of the assembly: bits that the link has served and that were not delivered.
    pub(crate) undelivered: Vec<f64>,
    /// For each loop: bits that have arrived at its first relay and were not delivered; infinite if it begins at the
    /// sender.
    relayed: Vec<f64>,
    /// For each loop: bits delivered since time zero.
    delivered: Vec<f64>,
    /// The loops with several hops, and all loops of chains with relays, in the order of their chains.
    loops: Vec<usize>,
}

impl Deliveries {
    pub(crate) fn new(asm: &Assembly) -> Self {
        let mut deliveries = Self {
            undelivered: vec![0.0; asm.hops.len()],
            relayed: vec![f64::INFINITY; asm.loops.len()],
            delivered: vec![0.0; asm.loops.len()],
            loops: Vec::new(),
        };
        let mut heads: Vec<usize> =
            (0..asm.loops.len()).filter(|l| asm.loops[*l].start_relay.is_none()).collect();
        while let Some(l) = heads.pop() {
            let LoopData { start_relay, end_relay, .. } = asm.loops[l];
            if asm.hops_of(l).len() > 1 || start_relay.is_some() || end_relay.is_some() {
                deliveries.loops.push(l);
            }
            if let Some(relay) = end_relay {
                let next = asm.relays[relay].downstream.0;
                deliveries.relayed[next] = 0.0;
                heads.push(next);
            }
        }
        deliveries
    }

    /// The loops whose deliveries differ from what one link serves, each after the loop before it in its chain.
    pub(crate) fn loops(&self) -> &[usize] {
        &self.loops
    }

    /// Bits that a loop has delivered since time zero.
    pub(crate) fn delivered(&self, loop_index: usize) -> f64 {
        self.delivered[loop_index]
    }

    /// Adds the service of each hop in one interval, in bits.
    pub(crate) fn add_interval(&mut self, asm: &Assembly, service: impl Fn(usize) -> HopService) {
        for position in 0..self.loops.len() {
            self.deliver(asm, self.loops[position], &service);
        }
    }

    fn deliver(&mut self, asm: &Assembly, loop_index: usize, service: &impl Fn(usize) -> HopService) {
        let hops = asm.loops[loop_index].hops.clone();
        let (mut served, mut offered) = (self.relayed[loop_index], f64::INFINITY);
        for hop in hops.clone() {
            let HopService { served: of_hop, offered: to_flow } = service(hop);
            self.undelivered[hop] += of_hop;
            served = served.min(self.undelivered[hop]);
            offered = offered.min(to_flow);
        }
        let delivered = delivered_after(0.0, served, offered);
        self.undelivered[hops].iter_mut().for_each(|bits| *bits -= delivered);
        self.relayed[loop_index] -= delivered;
        if let Some(relay) = asm.loops[loop_index].end_relay {
            self.relayed[asm.relays[relay].downstream.0] += delivered;
        }
        self.delivered[loop_index] += delivered;
    }
}
