//! Which waiting packet is served next, at links that decide it at the time of service.

use super::ring::Ring;
use crate::packets::Parcel;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The order of service.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Start-time fair queueing (Goyal, Vin and Cheng 1997) among flows, by the weights in the flows' own
    /// specifications. When the buffer is full, the flow with the longest queue loses its newest packet.
    Fair,
}

/// Packets waiting for service.
#[derive(Debug)]
pub(super) enum Waiting {
    Fifo(Ring<Parcel>),
    Fair(FairQueue),
}

impl Waiting {
    pub(super) fn new(scheduler: &Scheduler, weights: &[f64]) -> Self {
        match scheduler {
            Scheduler::Fifo => Self::Fifo(Ring::default()),
            Scheduler::Fair => Self::Fair(FairQueue::new(weights)),
        }
    }

    /// From now on there is one more flow.
    pub(super) fn add_flow(&mut self, weight: f64) {
        if let Self::Fair(queue) = self {
            queue.add_flow(weight);
        }
    }

    pub(super) fn push(&mut self, parcel: Parcel, flow: u32) {
        match self {
            Self::Fifo(ring) => ring.push(parcel),
            Self::Fair(queue) => queue.push(parcel, flow),
        }
    }

    /// The packet to serve now.
    pub(super) fn pop(&mut self) -> Option<Parcel> {
        match self {
            Self::Fifo(ring) => ring.pop(),
            Self::Fair(queue) => queue.pop(),
        }
    }

    /// The packet that `pop` would give.
    pub(super) fn head(&self) -> Option<&Parcel> {
        match self {
            Self::Fifo(ring) => ring.get(0),
            Self::Fair(queue) => queue.head(),
        }
    }

    /// Makes room for a packet of `flow`: removes the packet that must go in its stead. None if it must go itself.
    pub(super) fn evict_for(&mut self, flow: u32, bytes: u32) -> Option<Parcel> {
        match self {
            Self::Fifo(_) => None,
            Self::Fair(queue) => queue.evict_for(flow, bytes),
        }
    }
}

/// Virtual time is counted in bytes per unit of weight, in 2^-20ths.
const VIRTUAL_BITS: u32 = 20;

/// One flow's queue.
#[derive(Debug, Default)]
struct FlowQueue {
    ring: Ring<Parcel>,
    bytes: u64,
    /// Virtual time per byte.
    slowness: u64,
    /// The finish tag of the packet last served or, if it waits, the start tag of the next.
    tag: u64,
}

/// Start-time fair queueing: each packet has a start tag in virtual time, the least is served first.
#[derive(Debug)]
pub(super) struct FairQueue {
    flows: Vec<FlowQueue>,
    /// Flows with packets by (start tag, order of entry).
    backlogged: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    /// The start tag of the packet last served.
    virtual_time: u64,
}

impl FairQueue {
    fn new(weights: &[f64]) -> Self {
        let mut queue = Self { flows: Vec::new(), backlogged: BinaryHeap::new(), order: 0, virtual_time: 0 };
        weights.iter().for_each(|weight| queue.add_flow(*weight));
        queue
    }

    fn add_flow(&mut self, weight: f64) {
        let slowness = ((f64::from(1 << VIRTUAL_BITS) / weight + 0.5) as u64).max(1);
        self.flows.push(FlowQueue { slowness, ..FlowQueue::default() });
    }

    fn push(&mut self, parcel: Parcel, flow: u32) {
        let queue = &mut self.flows[flow as usize];
        queue.ring.push(parcel);
        queue.bytes += u64::from(parcel.bytes);
        if queue.ring.len() == 1 {
            queue.tag = queue.tag.max(self.virtual_time);
            self.enlist(flow);
        }
    }

    fn enlist(&mut self, flow: u32) {
        self.backlogged.push(Reverse((self.flows[flow as usize].tag, self.order, flow)));
        self.order += 1;
    }

    fn pop(&mut self) -> Option<Parcel> {
        let Reverse((start, _, flow)) = self.backlogged.pop()?;
        self.virtual_time = start;
        let queue = &mut self.flows[flow as usize];
        let parcel = queue.ring.pop()?;
        queue.bytes -= u64::from(parcel.bytes);
        queue.tag = start + u64::from(parcel.bytes) * queue.slowness;
        if queue.ring.len() > 0 {
            self.enlist(flow);
        }
        Some(parcel)
    }

    fn head(&self) -> Option<&Parcel> {
        let Reverse((_, _, flow)) = self.backlogged.peek()?;
        self.flows[*flow as usize].ring.get(0)
    }

    fn evict_for(&mut self, flow: u32, bytes: u32) -> Option<Parcel> {
        let own = self.flows[flow as usize].bytes + u64::from(bytes);
        let longest =
            self.flows.iter_mut().filter(|queue| queue.ring.len() > 1).max_by_key(|queue| queue.bytes)?;
        if longest.bytes <= own {
            return None;
        }
        let parcel = longest.ring.pop_back()?;
        longest.bytes -= u64::from(parcel.bytes);
        Some(parcel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(packet: u32, bytes: u32) -> Parcel {
        Parcel { packet, bytes, ..Parcel::default() }
    }

    #[test]
    fn backlogged_flows_share_by_their_weights_whatever_their_packet_sizes() {
        let weights = [1.0, 2.0, 5.0];
        let sizes = [1500, 300, 900];
        let mut queue = FairQueue::new(&weights);
        for flow in 0..3 {
            (0..40_000).for_each(|_| queue.push(parcel(flow, sizes[flow as usize]), flow));
        }
        let mut served = [0_u64; 3];
        (0..20_000).filter_map(|_| queue.pop()).for_each(|e| served[e.packet as usize] += u64::from(e.bytes));
        // Start-time fair queueing: normalised service differs by at most l_i/w_i + l_j/w_j (theorem 1).
        let normal = |flow: usize| served[flow] as f64 / weights[flow];
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let bound = f64::from(sizes[i]) / weights[i] + f64::from(sizes[j]) / weights[j];
            assert!((normal(i) - normal(j)).abs() <= bound + 1.0, "{served:?}");
        }
    }

    #[test]
    fn a_flow_that_was_idle_claims_nothing_for_the_past() {
        let mut queue = FairQueue::new(&[1.0, 1.0]);
        (0..100).for_each(|_| queue.push(parcel(0, 1000), 0));
        (0..50).for_each(|_| assert_eq!(queue.pop().unwrap().packet, 0));
        (0..100).for_each(|_| queue.push(parcel(1, 1000), 1));
        let turns: Vec<u32> = (0..6).filter_map(|_| queue.pop()).map(|e| e.packet).collect();
        assert_eq!(turns.iter().filter(|flow| **flow == 0).count(), 3, "{turns:?}");
    }

    #[test]
    fn a_full_buffer_takes_from_the_longest_queue() {
        let mut queue = FairQueue::new(&[1.0, 1.0]);
        (0..10).for_each(|packet| queue.push(parcel(packet, 1000), 0));
        queue.push(parcel(20, 1000), 1);
        assert_eq!(queue.evict_for(1, 1000).unwrap().packet, 9);
        assert!(queue.evict_for(0, 1000).is_none());
    }
}
