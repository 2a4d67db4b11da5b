//! Start-time fair queueing (Goyal, Vin and Cheng 1997) among flows that are backlogged.

use super::{Queues, Scheduler};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use millpond_units::Bytes;

/// Virtual time is counted in 2^-20 bytes per unit of weight.
const VIRTUAL_BITS: u32 = 20;

/// Scheduling state of one flow.
#[derive(Clone, Debug)]
struct FlowTags {
    /// Virtual time for each byte: the inverse of the weight.
    time_per_byte: u64,
    /// Finish tag of the last packet; while the flow is backlogged, start tag of the next packet.
    tag: u64,
    /// Whether the flow is in the list of backlogged flows.
    is_backlogged: bool,
}

/// A start-time fair queueing scheduler. The backlogged flow with the smallest start tag is served first. A packet
/// advances the tag of its flow by its size over the weight.
#[derive(Clone, Debug, Default)]
pub struct FairScheduler {
    flows: Vec<FlowTags>,
    /// Backlogged flows by (start tag, order of activation).
    backlogged: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    /// Start tag of the packet in service; at the end of a busy period the greatest finish tag of those served.
    virtual_time: u64,
    /// Greatest finish tag of a packet that has been served.
    served_until: u64,
}

impl FairScheduler {
    /// Flows with these weights, numbered from 0; none is backlogged.
    pub fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut scheduler = Self::default();
        weights.into_iter().for_each(|weight| scheduler.add_flow(weight));
        scheduler
    }

    /// Adds a flow.
    pub fn add_flow(&mut self, weight: f64) {
        let time_per_byte = ((f64::from(1 << VIRTUAL_BITS) / weight + 0.5) as u64).max(1);
        self.flows.push(FlowTags { time_per_byte, tag: 0, is_backlogged: false });
    }

    /// Marks a flow as backlogged. It has no claim to service that it did not use while idle.
    pub fn activate(&mut self, flow: u32) {
        let Some(tags) = self.flows.get_mut(flow as usize) else { return };
        tags.tag = tags.tag.max(self.virtual_time);
        tags.is_backlogged = true;
        self.backlogged.push(Reverse((tags.tag, self.order, flow)));
        self.order += 1;
    }

    /// The flow to serve next.
    pub fn next_flow(&self) -> Option<u32> {
        self.backlogged.peek().map(|Reverse((_, _, flow))| *flow)
    }

    /// Removes the next flow from the list of backlogged flows.
    fn remove_first(&mut self) {
        let Some(Reverse((_, _, flow))) = self.backlogged.pop() else { return };
        if let Some(tags) = self.flows.get_mut(flow as usize) {
            tags.is_backlogged = false;
        }
    }

    /// Serves `bytes` of the next flow, which stays backlogged if `more` is true.
    pub fn serve(&mut self, bytes: u64, more: bool) {
        let Some(Reverse((start, _, flow))) = self.backlogged.pop() else { return };
        self.virtual_time = start;
        if let Some(tags) = self.flows.get_mut(flow as usize) {
            tags.tag = start.saturating_add(bytes.saturating_mul(tags.time_per_byte));
            tags.is_backlogged = more;
            self.served_until = self.served_until.max(tags.tag);
        }
        if more {
            self.activate(flow);
        }
    }
}

impl Scheduler for FairScheduler {
    fn add_queue(&mut self, weight: f64) {
        self.add_flow(weight);
    }

    fn arrived(&mut self, queue: u32) {
        if self.flows.get(queue as usize).is_some_and(|tags| !tags.is_backlogged) {
            self.activate(queue);
        }
    }

    fn next(&mut self, queues: &dyn Queues) -> Option<u32> {
        while let Some(flow) = self.next_flow() {
            if queues.packets(flow) > 0 {
                return Some(flow);
            }
            // Drops have emptied its queue.
            self.remove_first();
        }
        None
    }

    /// Section 2 of the paper: at the end of a busy period the virtual time is the greatest finish tag of the packets served.
    fn idle(&mut self) {
        self.virtual_time = self.virtual_time.max(self.served_until);
        while self.next_flow().is_some() {
            self.remove_first();
        }
    }

    fn served(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) {
        self.serve(bytes.get(), queues.packets(queue) > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn backlogged_flows_share_service_by_weight_for_any_packet_sizes() {
        let (weights, sizes) = ([1.0, 2.0, 5.0], [1500, 300, 900]);
        let mut scheduler = FairScheduler::new(weights);
        (0..3).for_each(|flow| scheduler.activate(flow));
        let mut served = [0_u64; 3];
        for _ in 0..20_000 {
            let flow = scheduler.next_flow().unwrap() as usize;
            scheduler.serve(sizes[flow], true);
            served[flow] += sizes[flow];
        }
        // Theorem 1 of the paper: normalized services differ by at most l_i/w_i + l_j/w_j.
        let normal = |flow: usize| served[flow] as f64 / weights[flow];
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let bound = sizes[i] as f64 / weights[i] + sizes[j] as f64 / weights[j];
            assert!((normal(i) - normal(j)).abs() <= bound + 1.0, "{served:?}");
        }
    }

    #[test]
    fn queues_are_served_by_weight_and_one_that_drops_emptied_is_passed_over() {
        let mut bench = Bench::new(FairScheduler::default(), &[1.0, 2.0]);
        (0..9).for_each(|packet| bench.push(packet % 2, 1000));
        // Start tags of queue 0 are 0, 1, 2..; those of queue 1 are 0, 1/2, 1..
        assert_eq!(bench.order(6), [0, 1, 1, 0, 1, 1]);
        bench.push(1, 1000);
        bench.clear(1);
        assert_eq!(bench.order(9), [0, 0, 0]);
        bench.push(1, 1000);
        assert_eq!(bench.serve(), Some(1));
    }

    /// Section 2 of the paper. A packet of 1000 bytes at a weight of 1/10 ends at a virtual time of 10,000, from which both flows
    /// begin in the next busy period; without that, the second flow would be served up to there alone.
    #[test]
    fn a_busy_period_begins_at_the_greatest_finish_tag_of_the_one_before() {
        let mut bench = Bench::new(FairScheduler::default(), &[0.1, 1.0]);
        bench.push(0, 1000);
        assert_eq!(bench.serve(), Some(0));
        bench.scheduler.idle();
        (0..24).for_each(|packet| bench.push(packet % 2, 1000));
        let order = bench.order(12);
        assert_eq!(order.iter().position(|queue| *queue == 0), Some(0), "{order:?}");
        assert_eq!(order[1..11], [1; 10]);
        assert_eq!(order[11], 0);
    }

    #[test]
    fn an_idle_flow_has_no_claim_to_past_service() {
        let mut scheduler = FairScheduler::new([1.0, 1.0]);
        scheduler.activate(0);
        (0..50).for_each(|_| scheduler.serve(1000, true));
        scheduler.activate(1);
        let order: Vec<_> = (0..6)
            .map(|_| {
                let flow = scheduler.next_flow();
                scheduler.serve(1000, true);
                flow
            })
            .collect();
        assert_eq!(order.iter().filter(|flow| **flow == Some(0)).count(), 3, "{order:?}");
    }
}
