//! Scheduling: which waiting packet is served next, at links with one event per service.

use super::ring::Ring;
use crate::packet_pool::PacketHandle;
use millpond_endpoint::FairScheduler;

/// The order of service.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Start-time fair queueing (Goyal, Vin and Cheng 1997) among flows, with the weights of the flows. If the buffer is
    /// full, the newest packet of the longest flow queue is dropped.
    Fair,
}

/// Packets waiting for service.
#[derive(Debug)]
pub(super) enum ServiceQueue {
    Fifo(Ring<PacketHandle>),
    Fair(FairQueue),
}

impl ServiceQueue {
    pub(super) fn new(scheduler: &Scheduler, weights: &[f64]) -> Self {
        match scheduler {
            Scheduler::Fifo => Self::Fifo(Ring::default()),
            Scheduler::Fair => Self::Fair(FairQueue::new(weights)),
        }
    }

    /// Adds a flow.
    pub(super) fn add_flow(&mut self, weight: f64) {
        if let Self::Fair(queue) = self {
            queue.add_flow(weight);
        }
    }

    #[inline]
    pub(super) fn push(&mut self, handle: PacketHandle, flow: u32) {
        match self {
            Self::Fifo(ring) => ring.push(handle),
            Self::Fair(queue) => queue.push(handle, flow),
        }
    }

    /// Removes the packet to serve next.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<PacketHandle> {
        match self {
            Self::Fifo(ring) => ring.pop(),
            Self::Fair(queue) => queue.pop(),
        }
    }

    /// True if a packet pushed now would be returned by the next `pop` and leave no other state.
    #[inline]
    pub(super) fn is_pass_through(&self) -> bool {
        matches!(self, Self::Fifo(ring) if ring.len() == 0)
    }

    /// The packet to serve next.
    #[inline]
    pub(super) fn head(&self) -> Option<&PacketHandle> {
        match self {
            Self::Fifo(ring) => ring.get(0),
            Self::Fair(queue) => queue.head(),
        }
    }

    /// Bytes and packets of a flow that wait; zero in a queue for all flows.
    pub(super) fn of_flow(&self, flow: u32) -> (u64, u64) {
        match self {
            Self::Fifo(_) => (0, 0),
            Self::Fair(queue) => {
                let FlowQueue { ring, bytes } = &queue.flows[flow as usize];
                (*bytes, ring.len() as u64)
            }
        }
    }

    /// Makes room for a packet of `flow`: removes and returns another packet. None if the arriving one must be dropped.
    pub(super) fn drop_for(&mut self, flow: u32, bytes: u32) -> Option<PacketHandle> {
        match self {
            Self::Fifo(_) => None,
            Self::Fair(queue) => queue.drop_for(flow, bytes),
        }
    }
}

/// One flow's queue.
#[derive(Debug, Default)]
struct FlowQueue {
    ring: Ring<PacketHandle>,
    bytes: u64,
}

/// A queue for each flow, served by start-time fair queueing.
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

    fn push(&mut self, handle: PacketHandle, flow: u32) {
        let queue = &mut self.flows[flow as usize];
        queue.ring.push(handle);
        queue.bytes += u64::from(handle.bytes);
        if queue.ring.len() == 1 {
            self.scheduler.activate(flow);
        }
    }

    fn pop(&mut self) -> Option<PacketHandle> {
        let queue = &mut self.flows[self.scheduler.next_flow()? as usize];
        let handle = queue.ring.pop()?;
        queue.bytes -= u64::from(handle.bytes);
        self.scheduler.serve(handle.bytes.into(), queue.ring.len() > 0);
        Some(handle)
    }

    fn head(&self) -> Option<&PacketHandle> {
        self.flows[self.scheduler.next_flow()? as usize].ring.get(0)
    }

    fn drop_for(&mut self, flow: u32, bytes: u32) -> Option<PacketHandle> {
        let own = self.flows[flow as usize].bytes + u64::from(bytes);
        let longest =
            self.flows.iter_mut().filter(|queue| queue.ring.len() > 1).max_by_key(|queue| queue.bytes)?;
        if longest.bytes <= own {
            return None;
        }
        let handle = longest.ring.pop_back()?;
        longest.bytes -= u64::from(handle.bytes);
        Some(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(packet: u32, bytes: u32) -> PacketHandle {
        PacketHandle { packet, bytes, ..PacketHandle::default() }
    }

    #[test]
    fn flows_are_served_by_weight_and_packets_in_order() {
        let mut queue = FairQueue::new(&[1.0, 2.0]);
        (0..9).for_each(|packet| queue.push(handle(packet, 1000), packet % 2));
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|handle| handle.packet).collect();
        // Start tags of packets 0, 2, 4.. are 0, 1, 2..; those of 1, 3, 5.. are 0, 1/2, 1..
        assert_eq!(order, [0, 1, 3, 2, 5, 7, 4, 6, 8]);
    }

    #[test]
    fn a_full_buffer_drops_from_the_longest_queue() {
        let mut queue = FairQueue::new(&[1.0, 1.0]);
        (0..10).for_each(|packet| queue.push(handle(packet, 1000), 0));
        queue.push(handle(20, 1000), 1);
        assert_eq!(queue.drop_for(1, 1000).unwrap().packet, 9);
        assert!(queue.drop_for(0, 1000).is_none());
    }
}
