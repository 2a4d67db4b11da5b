//! The event queue. Events of one time leave in the order of insertion.

use millpond_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What an event is for: a small number that the event loop gives meaning to.
pub(crate) type Target = u32;

/// Bits of a key that hold the target; the 40 above them count insertions, the 64 above those hold the time. One
/// comparison of two integers decides time and tie alike.
const TARGET_BITS: u32 = 24;

/// Targets must be below this.
pub(crate) const TARGETS: u32 = 1 << TARGET_BITS;

type Key = u128;

fn time_of(key: Key) -> u64 {
    (key >> 64) as u64
}

/// How many slots the wheel has.
const SLOTS: usize = 4096;

/// No slot, no node.
const NONE: u32 = u32::MAX;

/// A wheel of slots of time.
///
/// ```text
///          start                                                  start + SLOTS << shift
///            |----|----|----|----|----|---- ...                 ----|
///   present: | cursor  |  slots: unsorted lists of keys             |  later: one unsorted list
/// ```
///
/// Events are sorted when time reaches their slot, which mostly holds one; so an event costs the same however many
/// are pending. When the wheel has turned once, the next turn is filled from `later`, with wider or narrower slots
/// if the last turn found too few or too many events in them: about one in each.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The slot that time has reached, latest first.
    present: Vec<Key>,
    /// What was added to that slot since.
    added: BinaryHeap<Reverse<Key>>,
    cursor: usize,
    /// The first node of each slot.
    slots: Vec<u32>,
    nodes: Vec<Node>,
    free: u32,
    later: Vec<Key>,
    /// An empty list that keeps its memory, to be `later` at the next turn.
    spare: Vec<Key>,
    /// When the wheel's first slot begins.
    start: u64,
    /// A slot lasts 2^shift ps.
    shift: u32,
    inserted: u64,
    /// Insertions before this turn.
    before: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Key,
    next: u32,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            present: Vec::new(),
            added: BinaryHeap::new(),
            cursor: 0,
            slots: vec![NONE; SLOTS],
            nodes: Vec::new(),
            free: NONE,
            later: Vec::new(),
            spare: Vec::new(),
            start: 0,
            shift: 24,
            inserted: 0,
            before: 0,
        }
    }
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
        self.inserted += 1;
        self.place(u128::from(time.picos()) << 64 | u128::from(tie));
    }

    /// Removes the earliest event, if it is due at `limit` or before.
    #[inline]
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<(Time, Target)> {
        while self.present.is_empty() && self.added.is_empty() {
            if !self.advance() && !self.turn() {
                return None;
            }
        }
        let due = |key: &mut Key| time_of(*key) <= limit.picos();
        let key = if self.added.is_empty() { self.present.pop_if(due) } else { self.pop_of_both(due) }?;
        Some((Time::from_picos(time_of(key)), key as u32 & (TARGETS - 1)))
    }

    /// Removes the earliest event of the present slot if it is due, where some were added late.
    #[inline(never)]
    fn pop_of_both(&mut self, due: impl Fn(&mut Key) -> bool) -> Option<Key> {
        let mut added = self.added.peek_mut()?;
        if self.present.last().is_some_and(|present| *present < added.0) {
            return self.present.pop_if(due);
        }
        due(&mut added.0).then(|| PeekMut::pop(added).0)
    }

    /// Puts a key where its time belongs.
    #[inline]
    fn place(&mut self, key: Key) {
        let slot = (time_of(key).saturating_sub(self.start) >> self.shift) as usize;
        match self.slots.get_mut(slot) {
            Some(first) if slot > self.cursor => match self.nodes.get_mut(self.free as usize) {
                Some(node) => {
                    (self.free, *first, *node) = (node.next, self.free, Node { key, next: *first });
                }
                None => self.place_in_new_node(slot, key),
            },
            _ => self.place_aside(slot, key),
        }
    }

    #[cold]
    fn place_in_new_node(&mut self, slot: usize, key: Key) {
        let next = std::mem::replace(&mut self.slots[slot], self.nodes.len() as u32);
        self.nodes.push(Node { key, next });
    }

    /// Few events are of the present slot or of a later turn.
    #[inline(never)]
    fn place_aside(&mut self, slot: usize, key: Key) {
        if slot <= self.cursor {
            self.added.push(Reverse(key));
        } else {
            self.later.push(key);
        }
    }

    /// Goes on to the next slot that has events; false if none has.
    #[inline]
    fn advance(&mut self) -> bool {
        let ahead = self.slots.iter_mut().skip(self.cursor + 1);
        let Some((steps, slot)) = ahead.enumerate().find(|(_, first)| **first != NONE) else {
            self.cursor = SLOTS - 1;
            return false;
        };
        self.cursor += 1 + steps;
        let mut index = std::mem::replace(slot, NONE);
        while let Some(node) = self.nodes.get_mut(index as usize) {
            self.present.push(node.key);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = index;
            index = next;
        }
        if self.present.len() > 1 {
            self.present.sort_unstable_by(|a, b| b.cmp(a));
        }
        true
    }

    /// Turns the wheel to the earliest of what comes later; false if there is nothing.
    #[cold]
    fn turn(&mut self) -> bool {
        let Some(earliest) = self.later.iter().map(|key| time_of(*key)).min() else { return false };
        let handled = (self.inserted - self.before) as usize;
        self.before = self.inserted;
        self.shift = match handled {
            _ if handled < SLOTS / 2 => (self.shift + 1).min(50),
            _ if handled > SLOTS * 2 => self.shift.saturating_sub(1),
            _ => self.shift,
        };
        (self.start, self.cursor) = (earliest, 0);
        let mut later = std::mem::replace(&mut self.later, std::mem::take(&mut self.spare));
        later.drain(..).for_each(|key| self.place(key));
        self.spare = later;
        true
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
    fn a_long_run_of_events_stays_in_order_while_the_wheel_turns_and_adapts() {
        // 500 clocks of 0.1 ms to 1 s that tick for 10 s.
        let mut events = EventQueue::default();
        let period = |clock: u32| 100_000_000 + 2_000_000_000 * u64::from(clock);
        (0..500).for_each(|clock| events.push(Time::ZERO, clock));
        let (mut last, mut ticks) = (Time::ZERO, [0_u64; 500]);
        while let Some((now, clock)) = events.pop_until(Time::from_secs(10.0)) {
            assert!(last <= now && now.picos() == ticks[clock as usize] * period(clock));
            last = now;
            ticks[clock as usize] += 1;
            events.push(Time::from_picos(now.picos() + period(clock)), clock);
        }
        let expected = |clock: usize| 10_000_000_000_000 / period(clock as u32) + 1;
        assert!(ticks.iter().enumerate().all(|(clock, ticks)| *ticks == expected(clock)));
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
            steps in prop::collection::vec((0_u32..50, 0_u64..8, 0_usize..3), 1..300),
        ) {
            let mut events = EventQueue::default();
            let mut sorted: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (order, (magnitude, ahead, pops)) in steps.into_iter().enumerate() {
                let time = now + (ahead << magnitude);
                events.push(Time::from_picos(time), order as Target);
                sorted.push((time, order));
                sorted.sort_unstable();
                for _ in 0..pops {
                    let expected = (!sorted.is_empty()).then(|| sorted.remove(0));
                    let popped = events.pop_until(Time::NEVER).map(|(time, target)| (time.picos(), target as usize));
                    prop_assert_eq!(popped, expected);
                    now = popped.map_or(now, |(time, _)| time);
                }
            }
        }
    }
}
