//! Which waiting packet is served next, at links that decide it at the time of service.

use super::ring::Ring;
use crate::packet_pool::Parcel;
use millpond_endpoint::FairScheduler;

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

    #[inline]
    pub(super) fn push(&mut self, parcel: Parcel, flow: u32) {
        match self {
            Self::Fifo(ring) => ring.push(parcel),
            Self::Fair(queue) => queue.push(parcel, flow),
        }
    }

    /// The packet to serve now.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Parcel> {
        match self {
            Self::Fifo(ring) => ring.pop(),
            Self::Fair(queue) => queue.pop(),
        }
    }

    /// Is a packet that is pushed while none waits the one that `pop` gives, and nothing else remembers it?
    #[inline]
    pub(super) fn passes_through(&self) -> bool {
        matches!(self, Self::Fifo(ring) if ring.len() == 0)
    }

    /// The packet that `pop` would give.
    #[inline]
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

/// One flow's queue.
#[derive(Debug, Default)]
struct FlowQueue {
    ring: Ring<Parcel>,
    bytes: u64,
}

/// A queue for each flow, served in fair turns.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    flows: Vec<FlowQueue>,
    scheduler: FairScheduler,
}

impl FairQueue {
    fn new(weights: &[f64]) -> Self {
        let mut queue = Self::default();
        weights.iter().for_each(|weight| queue.add_flow(*weight));
        queue
    }

    fn add_flow(&mut self, weight: f64) {
        self.flows.push(FlowQueue::default());
        self.scheduler.add_flow(weight);
    }

    fn push(&mut self, parcel: Parcel, flow: u32) {
        let queue = &mut self.flows[flow as usize];
        queue.ring.push(parcel);
        queue.bytes += u64::from(parcel.bytes);
        if queue.ring.len() == 1 {
            self.scheduler.activate(flow);
        }
    }

    fn pop(&mut self) -> Option<Parcel> {
        let queue = &mut self.flows[self.scheduler.next_flow()? as usize];
        let parcel = queue.ring.pop()?;
        queue.bytes -= u64::from(parcel.bytes);
        self.scheduler.serve(parcel.bytes.into(), queue.ring.len() > 0);
        Some(parcel)
    }

    fn head(&self) -> Option<&Parcel> {
        self.flows[self.scheduler.next_flow()? as usize].ring.get(0)
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
    fn flows_are_served_in_turn_by_weight_and_in_order() {
        let mut queue = FairQueue::new(&[1.0, 2.0]);
        (0..9).for_each(|packet| queue.push(parcel(packet, 1000), packet % 2));
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|parcel| parcel.packet).collect();
        // Start tags of the packets 0, 2, 4.. are 0, 1, 2..; of 1, 3, 5.. they are 0, 1/2, 1..
        assert_eq!(order, [0, 1, 3, 2, 5, 7, 4, 6, 8]);
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
