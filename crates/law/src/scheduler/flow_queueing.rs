//! The scheduler of FQ-CoDel (RFC 8290, section 4): deficit round robin with a list of new queues.

use super::{Queues, Scheduler};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use millpond_units::Bytes;

/// The list that holds a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum List {
    /// None: the queue is empty.
    #[default]
    Empty,
    New,
    Old,
}

/// A queue and its byte credits.
#[derive(Clone, Copy, Debug, Default)]
struct Credits {
    list: List,
    bytes: i64,
}

/// Deficit round robin in which queues that were empty are served before queues with a backlog, for one quantum.
#[derive(Clone, Debug)]
pub struct FlowQueueing {
    quantum: i64,
    queues: Vec<Credits>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl FlowQueueing {
    /// A scheduler that gives each queue `quantum` in each round.
    pub fn new(quantum: Bytes) -> Self {
        let quantum = i64::try_from(quantum.get()).unwrap_or(i64::MAX).max(1);
        Self { quantum, queues: Vec::new(), new: VecDeque::new(), old: VecDeque::new() }
    }

    /// The list to serve: the new queues, then the old ones.
    fn first(&self) -> Option<u32> {
        self.new.front().or_else(|| self.old.front()).copied()
    }

    /// Removes the first queue of the list to serve.
    fn remove_first(&mut self) {
        if self.new.pop_front().is_none() {
            self.old.pop_front();
        }
    }

    fn move_to_old(&mut self, queue: u32) {
        self.remove_first();
        self.queues[queue as usize].list = List::Old;
        self.old.push_back(queue);
    }
}

impl Scheduler for FlowQueueing {
    fn arrived(&mut self, queue: u32) {
        let index = queue as usize;
        if self.queues.len() <= index {
            self.queues.resize(index + 1, Credits::default());
        }
        if self.queues[index].list == List::Empty {
            self.queues[index] = Credits { list: List::New, bytes: self.quantum };
            self.new.push_back(queue);
        }
    }

    fn next(&mut self, queues: &dyn Queues) -> Option<u32> {
        while let Some(queue) = self.first() {
            let quantum = self.quantum;
            let credits = &mut self.queues[queue as usize];
            if credits.bytes <= 0 {
                credits.bytes = credits.bytes.saturating_add(quantum);
                self.move_to_old(queue);
            } else if queues.packets(queue) > 0 {
                return Some(queue);
            } else if credits.list == List::New {
                // It stays for one round, so that it cannot return as new ahead of the old queues.
                self.move_to_old(queue);
            } else {
                credits.list = List::Empty;
                self.remove_first();
            }
        }
        None
    }

    fn served(&mut self, queue: u32, bytes: Bytes, _queues: &dyn Queues) {
        let bytes = i64::try_from(bytes.get()).unwrap_or(i64::MAX);
        if let Some(credits) = self.queues.get_mut(queue as usize) {
            credits.bytes = credits.bytes.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    fn bench() -> Bench<FlowQueueing> {
        Bench::new(FlowQueueing::new(Bytes::new(1000)), &[])
    }

    #[test]
    fn a_new_queue_is_served_before_all_old_ones() {
        let mut bench = bench();
        for _ in 0..5 {
            (0..3).for_each(|queue| bench.push(queue, 1000));
        }
        assert_eq!(bench.order(4), [0, 1, 2, 0], "one quantum each, then the first again");
        bench.push(7, 100);
        assert_eq!(bench.order(3), [7, 1, 2]);
    }

    #[test]
    fn an_empty_new_queue_waits_a_round_before_it_can_be_new_again() {
        let mut bench = bench();
        (0..5).for_each(|_| bench.push(0, 1000));
        bench.push(1, 100);
        assert_eq!(bench.order(2), [0, 1]);
        // Queue 1 has become empty and is moved behind queue 0 when it is examined; its next packet finds it there.
        assert_eq!(bench.serve(), Some(0));
        bench.push(1, 100);
        assert_eq!(bench.scheduler.queues[1].list, List::Old);
        assert_eq!(bench.order(2), [1, 0], "after the quantum of queue 0");
    }

    #[test]
    fn a_new_queue_that_uses_its_quantum_becomes_old() {
        let mut bench = bench();
        (0..5).for_each(|_| bench.push(0, 1000));
        assert_eq!(bench.serve(), Some(0));
        (0..5).for_each(|_| bench.push(1, 600));
        // 600 and 1200 bytes: the second packet ends the credits.
        assert_eq!(bench.order(4), [1, 1, 0, 1]);
    }

    #[test]
    fn bytes_and_not_packets_are_shared() {
        let mut bench = bench();
        for _ in 0..1000 {
            (0..5).for_each(|_| bench.push(0, 300));
            bench.push(1, 1500);
        }
        let order = bench.order(1200);
        let large = order.iter().filter(|queue| **queue == 1).count() as f64;
        let bytes = [(order.len() as f64 - large) * 300.0, large * 1500.0];
        assert!((bytes[0] - bytes[1]).abs() <= 1000.0 + 1500.0, "{bytes:?}");
    }

    #[test]
    fn a_queue_that_was_emptied_by_drops_is_passed_over() {
        let mut bench = bench();
        (0..3).for_each(|queue| bench.push(queue, 500));
        bench.clear(1);
        assert_eq!(bench.order(5), [0, 2]);
        assert!(bench.scheduler.queues.iter().all(|credits| credits.list == List::Empty));
    }
}
