//! Strict priority.

use super::{Queues, Scheduler};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use millpond_units::Bytes;

/// Queues of equal priority, served in turn.
#[derive(Clone, Debug)]
struct Level {
    weight: f64,
    backlogged: VecDeque<u32>,
}

/// Serves a packet of a flow only if no flow of greater weight has one; flows of equal weight are served in turn, packet by
/// packet.
#[derive(Clone, Debug, Default)]
pub struct StrictPriority {
    /// In descending order of weight.
    levels: Vec<Level>,
    /// Weight of each queue, and whether it is in the list of its level.
    queues: Vec<(f64, bool)>,
}

impl StrictPriority {
    fn level(&mut self, weight: f64) -> &mut Level {
        let index = self.levels.partition_point(|level| level.weight > weight);
        if self.levels.get(index).is_none_or(|level| level.weight != weight) {
            self.levels.insert(index, Level { weight, backlogged: VecDeque::new() });
        }
        &mut self.levels[index]
    }
}

impl Scheduler for StrictPriority {
    fn add_queue(&mut self, weight: f64) {
        self.queues.push((weight, false));
    }

    fn arrived(&mut self, queue: u32) {
        let Some((weight, is_listed)) = self.queues.get_mut(queue as usize) else { return };
        if !*is_listed {
            *is_listed = true;
            let weight = *weight;
            self.level(weight).backlogged.push_back(queue);
        }
    }

    fn next(&mut self, queues: &dyn Queues) -> Option<u32> {
        for level in &mut self.levels {
            while let Some(&queue) = level.backlogged.front() {
                if queues.packets(queue) > 0 {
                    return Some(queue);
                }
                level.backlogged.pop_front();
                self.queues[queue as usize].1 = false;
            }
        }
        None
    }

    fn served(&mut self, queue: u32, _bytes: Bytes, _queues: &dyn Queues) {
        let Some((weight, _)) = self.queues.get(queue as usize).copied() else { return };
        let level = self.level(weight);
        if level.backlogged.front() == Some(&queue) {
            level.backlogged.rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;

    #[test]
    fn a_greater_weight_goes_first_and_equals_take_turns() {
        let mut bench = Bench::new(StrictPriority::default(), &[1.0, 2.0, 1.0]);
        for _ in 0..2 {
            (0..3).for_each(|queue| bench.push(queue, 100));
        }
        assert_eq!(bench.order(3), [1, 1, 0]);
        bench.push(1, 100);
        assert_eq!(bench.order(9), [1, 2, 0, 2]);
    }

    #[test]
    fn a_queue_that_was_emptied_by_drops_is_passed_over_and_returns() {
        let mut bench = Bench::new(StrictPriority::default(), &[1.0, 2.0]);
        (0..2).for_each(|queue| bench.push(queue, 100));
        bench.clear(1);
        assert_eq!(bench.serve(), Some(0));
        bench.push(1, 100);
        assert_eq!(bench.order(2), [1]);
    }
}
