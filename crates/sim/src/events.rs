//! The event queue: a 4-ary heap of (time, order, target). Events of one time leave in the order of insertion.

use millpond_units::Time;

/// What an event is for: a small number that the event loop gives meaning to.
pub(crate) type Target = u32;

/// Bits of a key that hold the target; the 40 above them count insertions, the 64 above those hold the time.
const TARGET_BITS: u32 = 24;

/// Targets must be below this.
pub(crate) const TARGETS: u32 = 1 << TARGET_BITS;

/// Each node has this many children: a family fills one cache line.
const ARITY: usize = 4;

/// A min-heap in which one comparison of two integers decides time and tie alike.
///
/// Most events cause exactly one other, so `pop` leaves its gap at the root for the next `push` to fill: one walk
/// down the heap instead of one down and one up.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: Vec<u128>,
    inserted: u64,
    gap: bool,
}

impl EventQueue {
    /// Adds an event; one at [`Time::NEVER`] is forgotten at once.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, target: Target) {
        debug_assert!(target < TARGETS);
        if time == Time::NEVER {
            return;
        }
        let tie = self.inserted << TARGET_BITS | u64::from(target);
        let key = u128::from(time.picos()) << 64 | u128::from(tie);
        self.inserted += 1;
        if self.gap {
            self.gap = false;
            self.sink(key);
        } else {
            self.heap.push(key);
            self.rise(key);
        }
    }

    /// Removes the earliest event, if it is due at `limit` or before.
    #[inline]
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<(Time, Target)> {
        if self.gap {
            self.close_gap();
        }
        let key = *self.heap.first()?;
        let time = (key >> 64) as u64;
        if time > limit.picos() {
            return None;
        }
        self.gap = true;
        Some((Time::from_picos(time), key as u32 & (TARGETS - 1)))
    }

    /// Fills the gap at the root with the last event.
    #[inline]
    fn close_gap(&mut self) {
        self.gap = false;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
    }

    /// Puts `key` at the root and lets it sink to its place.
    #[inline]
    fn sink(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut place = 0;
        loop {
            let first = place * ARITY + 1;
            let least = if let Some(family) = heap.get(first..first + ARITY) {
                let left = usize::from(family[1] < family[0]);
                let right = 2 + usize::from(family[3] < family[2]);
                first + if family[right] < family[left] { right } else { left }
            } else if let Some(family) = heap.get(first..) {
                let Some(least) = (0..family.len()).min_by_key(|&child| family[child]) else { break };
                first + least
            } else {
                break;
            };
            if heap[least] >= key {
                break;
            }
            heap[place] = heap[least];
            place = least;
        }
        heap[place] = key;
    }

    /// Lets `key`, which is at the end, rise to its place.
    #[inline]
    fn rise(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut place = heap.len() - 1;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if heap[parent] <= key {
                break;
            }
            heap[place] = heap[parent];
            place = parent;
        }
        heap[place] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_of_one_time_leave_in_the_order_of_insertion() {
        let mut events = EventQueue::default();
        for target in [5, 3, 9, 1, 7, 2, 8] {
            events.push(Time::from_picos(10), target);
        }
        events.push(Time::from_picos(9), 4);
        let mut order = Vec::new();
        while let Some((_, target)) = events.pop_until(Time::from_picos(10)) {
            order.push(target);
        }
        assert_eq!(order, [4, 5, 3, 9, 1, 7, 2, 8]);
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut events = EventQueue::default();
        events.push(Time::from_picos(11), 0);
        events.push(Time::NEVER, 1);
        assert_eq!(events.pop_until(Time::from_picos(10)), None);
        assert_eq!(events.pop_until(Time::NEVER), Some((Time::from_picos(11), 0)));
        assert_eq!(events.pop_until(Time::NEVER), None);
    }

    proptest! {
        #[test]
        fn any_mixture_of_pushes_and_pops_agrees_with_a_sorted_list(
            steps in prop::collection::vec((0_u64..50, 0_usize..3), 1..300),
        ) {
            let mut events = EventQueue::default();
            let mut sorted: Vec<(u64, usize)> = Vec::new();
            for (order, (time, pops)) in steps.into_iter().enumerate() {
                events.push(Time::from_picos(time), order as Target);
                sorted.push((time, order));
                sorted.sort_unstable();
                for _ in 0..pops {
                    let expected = (!sorted.is_empty()).then(|| sorted.remove(0));
                    let popped = events.pop_until(Time::NEVER).map(|(time, target)| (time.picos(), target as usize));
                    prop_assert_eq!(popped, expected);
                }
            }
        }
    }
}
