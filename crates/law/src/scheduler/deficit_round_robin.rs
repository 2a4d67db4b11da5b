//! Deficit round robin (Shreedhar and Varghese 1996).

use super::{Queues, Scheduler};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use millpond_units::Bytes;

/// A queue in the round.
#[derive(Clone, Copy, Debug, Default)]
struct RoundState {
    /// Bytes that it may send in each round.
    quantum: u64,
    /// Bytes that it may still send.
    deficit: u64,
    /// Whether it is in the list of active queues.
    is_active: bool,
}

/// Deficit round robin. In each round a queue may send its quantum and what it did not use in the rounds before; a queue
/// that becomes empty loses the rest. The quantum is that of the scheduler times the weight of the queue.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    quantum: Bytes,
    queues: Vec<RoundState>,
    active: VecDeque<u32>,
    /// Whether the first queue of the list has received its quantum in this round.
    is_visited: bool,
}

impl DeficitRoundRobin {
    /// A scheduler with this quantum for queues of weight 1. With at least the size of the largest packet, each visit serves
    /// a packet.
    pub fn new(quantum: Bytes) -> Self {
        Self { quantum, queues: Vec::new(), active: VecDeque::new(), is_visited: false }
    }

    fn state(&mut self, queue: u32) -> &mut RoundState {
        let index = queue as usize;
        if self.queues.len() <= index {
            let state = RoundState { quantum: self.quantum.get().max(1), ..RoundState::default() };
            self.queues.resize(index + 1, state);
        }
        &mut self.queues[index]
    }

    /// Ends the visit of the first queue.
    fn leave_first(&mut self, queue: u32, stays: bool) {
        self.active.pop_front();
        self.is_visited = false;
        if stays {
            self.active.push_back(queue);
        } else {
            let state = self.state(queue);
            (state.is_active, state.deficit) = (false, 0);
        }
    }
}

impl Scheduler for DeficitRoundRobin {
    fn add_queue(&mut self, weight: f64) {
        let quantum = ((self.quantum.as_f64() * weight) as u64).max(1);
        self.queues.push(RoundState { quantum, ..RoundState::default() });
    }

    fn arrived(&mut self, queue: u32) {
        let state = self.state(queue);
        if !state.is_active {
            (state.is_active, state.deficit) = (true, 0);
            self.active.push_back(queue);
        }
    }

    fn next(&mut self, queues: &dyn Queues) -> Option<u32> {
        while let Some(&queue) = self.active.front() {
            if queues.packets(queue) == 0 {
                self.leave_first(queue, false);
                continue;
            }
            let is_visited = self.is_visited;
            let state = self.state(queue);
            if !is_visited {
                state.deficit = state.deficit.saturating_add(state.quantum);
            }
            if state.deficit >= queues.head_bytes(queue).get() {
                self.is_visited = true;
                return Some(queue);
            }
            self.leave_first(queue, true);
        }
        None
    }

    fn served(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) {
        let state = self.state(queue);
        state.deficit = state.deficit.saturating_sub(bytes.get());
        if queues.packets(queue) == 0 && self.active.front() == Some(&queue) {
            self.leave_first(queue, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn an_unused_deficit_is_kept_for_the_next_round() {
        // Figure 2 of the paper in small: quantum 500. Queue 0 has packets of 200, 750, 400; queue 1 of 500 each.
        let mut bench = Bench::new(DeficitRoundRobin::new(Bytes::new(500)), &[1.0, 1.0]);
        [200, 750, 400].iter().for_each(|bytes| bench.push(0, *bytes));
        (0..4).for_each(|_| bench.push(1, 500));
        // Round 1: 200 (300 left), 500. Round 2: 750 (50 left), 500. Round 3: 400 (the rest is lost), 500.
        assert_eq!(bench.order(10), [0, 1, 0, 1, 0, 1, 1]);
    }

    #[test]
    fn shares_follow_the_weights_for_any_packet_sizes() {
        let mut bench = Bench::new(DeficitRoundRobin::new(Bytes::new(1500)), &[1.0, 2.0, 0.5]);
        let sizes = [1500, 300, 900];
        for _ in 0..20_000 {
            (0..3).for_each(|queue| bench.push(queue, sizes[queue as usize]));
        }
        let mut served = [0_u64; 3];
        bench.order(20_000).iter().for_each(|queue| served[*queue as usize] += sizes[*queue as usize]);
        // Theorem 4.2 of the paper: each is within one quantum and one packet of its share.
        let round = served[0] as f64 / 1500.0;
        for (queue, weight) in [(0, 1.0), (1, 2.0), (2, 0.5)] {
            let quantum = 1500.0 * weight;
            let off = (served[queue] as f64 - round * quantum).abs();
            assert!(off <= 2.0 * quantum + 1500.0, "{served:?}");
        }
    }

    #[test]
    fn a_queue_that_was_emptied_by_drops_is_passed_over() {
        let mut bench = Bench::new(DeficitRoundRobin::new(Bytes::new(1000)), &[]);
        (0..3).for_each(|queue| bench.push(queue, 1000));
        bench.clear(1);
        assert_eq!(bench.order(5), [0, 2]);
        bench.push(1, 1000);
        assert_eq!(bench.serve(), Some(1));
    }

    #[test]
    fn a_packet_larger_than_the_quantum_waits_for_several_rounds() {
        let mut bench = Bench::new(DeficitRoundRobin::new(Bytes::new(100)), &[]);
        bench.push(0, 1000);
        (0..20).for_each(|_| bench.push(1, 100));
        let order = bench.order(21);
        assert_eq!(order.iter().position(|queue| *queue == 0), Some(9), "{order:?}");
    }
}
