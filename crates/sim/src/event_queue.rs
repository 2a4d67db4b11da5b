//! The event queue. Events of one time leave in the order of insertion.

use crate::packet_pool::Parcel;
use millpond_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What an event is for: a small number that the event loop gives meaning to.
pub(crate) type Target = u32;

/// Bits of a tie that hold the target; the 40 above them count insertions.
const TARGET_BITS: u32 = 24;

/// Targets must be below this.
pub(crate) const TARGETS: u32 = 1 << TARGET_BITS;

/// In the order in which events leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: u64,
    tie: u64,
}

/// One event: when, what for, and the packet that it moves, if it moves one.
#[derive(Clone, Copy, Debug)]
struct Event {
    key: Key,
    parcel: Parcel,
}

impl Event {
    const NONE: Self = Self { key: Key { time: u64::MAX, tie: u64::MAX }, parcel: Parcel::NONE };
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Event {}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How many slots the wheel has.
const SLOTS: usize = 65536;

/// As many slots have their bits in one word.
const WORD: usize = 64;
const WORDS: usize = SLOTS / WORD;
const LAST_WORD: usize = WORDS - 1;

/// A turn with fewer events is too short: too much waits in `later` and is looked at again and again.
const FEW: usize = SLOTS / 4;

/// With more of them too many share a slot.
const MANY: usize = SLOTS / 4 * 3;

/// The slots of the first turn last a microsecond: that suits a million events in a second.
const FIRST_SHIFT: u32 = 20;

/// No slot, no node.
const NONE: u32 = u32::MAX;

/// As many events of a slot are passed at most on the way to a new one's place.
const WALK: usize = 8;

/// A wheel of slots of time.
///
/// ```text
///      start                                                  start + SLOTS << shift
///        |----|----|----|----|----|---- ...                 ----|
///               word   |  slots: short sorted lists             |  later: one unsorted list
/// ```
///
/// A slot mostly holds one event or none, so an event costs the same however many are pending; what would make a
/// list long goes to a heap beside the wheel. When the wheel has turned once, the next turn is filled from `later`,
/// with wider or narrower slots if the last turn found fewer events than [`FEW`] or more than [`MANY`].
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Where time has come to: before this word all slots are empty.
    word: usize,
    slots: Box<[Word; WORDS]>,
    nodes: Vec<Node>,
    /// The first node that is free.
    free: u32,
    /// Events of this turn that found their slot crowded.
    crowd: BinaryHeap<Reverse<Event>>,
    later: Vec<Event>,
    /// An empty list that keeps its memory, to be `later` at the next turn.
    spare: Vec<Event>,
    /// When the wheel's first slot begins.
    start: u64,
    /// A slot lasts 2^shift ps.
    shift: u32,
    inserted: u64,
    /// Insertions before this turn.
    before: u64,
}

/// Some consecutive slots.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// A bit for each slot that holds an event.
    occupied: u64,
    /// The first node of each.
    first: [u32; WORD],
}

impl Word {
    const EMPTY: Self = Self { occupied: 0, first: [NONE; WORD] };
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Key,
    parcel: Parcel,
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 32);

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            word: 0,
            slots: Box::new([Word::EMPTY; WORDS]),
            nodes: Vec::new(),
            free: NONE,
            crowd: BinaryHeap::new(),
            later: Vec::new(),
            spare: Vec::new(),
            start: 0,
            shift: FIRST_SHIFT,
            inserted: 0,
            before: 0,
        }
    }
}

impl EventQueue {
    /// Adds an event; one at [`Time::NEVER`] is forgotten at once.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, target: Target) {
        self.push_parcel(time, target, Parcel::NONE);
    }

    /// Adds an event that moves a packet.
    #[inline]
    pub(crate) fn push_parcel(&mut self, time: Time, target: Target, parcel: Parcel) {
        debug_assert!(target < TARGETS);
        if time == Time::NEVER {
            return;
        }
        let tie = self.inserted << TARGET_BITS | u64::from(target);
        self.inserted += 1;
        self.place(Event { key: Key { time: time.picos(), tie }, parcel });
    }

    /// Removes the earliest event, if it is due at `limit` or before: its time, target and packet.
    #[inline]
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<(Time, Target, Parcel)> {
        let event = if self.crowd.is_empty() { self.pop_slot(limit) } else { self.pop_of_both(limit) }?;
        Some((Time::from_picos(event.key.time), event.key.tie as Target & (TARGETS - 1), event.parcel))
    }

    /// Removes the earliest event if it is due, where all are in slots or come later.
    #[inline]
    fn pop_slot(&mut self, limit: Time) -> Option<Event> {
        while self.word().occupied == 0 {
            if self.word < LAST_WORD {
                self.word += 1;
            } else if !self.turn() {
                return None;
            } else if !self.crowd.is_empty() {
                return self.pop_of_both(limit);
            }
        }
        let slots = &mut self.slots[self.word & LAST_WORD];
        let first = &mut slots.first[slots.occupied.trailing_zeros() as usize % WORD];
        let node = self.nodes.get_mut(*first as usize).filter(|node| node.key.time <= limit.picos())?;
        if node.next == NONE {
            slots.occupied &= slots.occupied - 1;
        }
        (*first, node.next, self.free) = (node.next, self.free, *first);
        Some(Event { key: node.key, parcel: node.parcel })
    }

    /// The slots that time has reached.
    #[inline]
    fn word(&self) -> &Word {
        &self.slots[self.word & LAST_WORD]
    }

    /// Removes the earliest event if it is due, where some found their slot crowded.
    #[inline(never)]
    fn pop_of_both(&mut self, limit: Time) -> Option<Event> {
        while self.word().occupied == 0 && self.word < LAST_WORD {
            self.word += 1;
        }
        let first = self.word().first[self.word().occupied.trailing_zeros() as usize % WORD];
        let crowded = self.crowd.peek_mut()?;
        if self.nodes.get(first as usize).is_some_and(|first| first.key < crowded.0.key) {
            drop(crowded);
            return self.pop_slot(limit);
        }
        (crowded.0.key.time <= limit.picos()).then(|| PeekMut::pop(crowded).0)
    }

    /// Puts an event where its time belongs.
    #[inline(always)]
    fn place(&mut self, Event { key, parcel }: Event) {
        let slot = (key.time.saturating_sub(self.start) >> self.shift) as usize;
        let slot = slot.max(self.word * WORD);
        if slot >= SLOTS {
            return self.later.push(Event { key, parcel });
        }
        if self.free == NONE {
            self.add_node();
        }
        let Some(fresh) = self.nodes.get_mut(self.free as usize) else { return };
        let (number, next_free) = (self.free, fresh.next);
        let slots = &mut self.slots[slot / WORD % WORDS];
        let first = &mut slots.first[slot % WORD];
        let before = *first;
        *fresh = Node { key, parcel, next: before };
        if before == NONE {
            slots.occupied |= 1 << (slot % WORD);
        } else if self.nodes.get(before as usize).is_some_and(|before| before.key < key) {
            return self.place_behind(before, number, next_free);
        }
        (*first, self.free) = (number, next_free);
    }

    /// Puts a free node that holds its event already where it belongs behind the first of its slot.
    #[inline(never)]
    fn place_behind(&mut self, first: u32, number: u32, next_free: u32) {
        let Node { key, parcel, .. } = self.nodes[number as usize];
        let mut before = first;
        for _ in 0..WALK {
            let next = self.nodes[before as usize].next;
            if self.nodes.get(next as usize).is_none_or(|next| key < next.key) {
                self.nodes[number as usize].next = next;
                self.nodes[before as usize].next = number;
                self.free = next_free;
                return;
            }
            before = next;
        }
        self.nodes[number as usize].next = next_free;
        self.crowd.push(Reverse(Event { key, parcel }));
    }

    /// Adds a free node.
    #[cold]
    fn add_node(&mut self) {
        self.free = self.nodes.len() as u32;
        let Event { key, parcel } = Event::NONE;
        self.nodes.push(Node { key, parcel, next: NONE });
    }

    /// Turns the wheel to the earliest of what comes later; false if there is nothing.
    #[cold]
    fn turn(&mut self) -> bool {
        let Some(earliest) = self.later.iter().map(|event| event.key.time).min() else { return false };
        let handled = (self.inserted - self.before) as usize;
        self.before = self.inserted;
        self.shift = match handled {
            _ if handled < FEW => (self.shift + 1).min(50),
            _ if handled > MANY => self.shift.saturating_sub(1),
            _ => self.shift,
        };
        (self.start, self.word) = (earliest, 0);
        let mut later = std::mem::replace(&mut self.later, std::mem::take(&mut self.spare));
        later.drain(..).for_each(|event| self.place(event));
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
        // More than a slot's list holds, so that the last of them wait in the heap.
        let targets = (0..5 * WALK as Target).map(|n| n * 7 % 41);
        let mut events = EventQueue::default();
        targets.clone().for_each(|target| events.push(Time::from_picos(10), target));
        assert!(!events.crowd.is_empty());
        events.push(Time::from_picos(9), 99);
        let mut order = Vec::new();
        while let Some((_, target, _)) = events.pop_until(Time::from_picos(10)) {
            order.push(target);
        }
        assert!(order.into_iter().eq(std::iter::once(99).chain(targets)));
    }

    #[test]
    fn a_long_run_of_events_stays_in_order_while_the_wheel_turns_and_adapts() {
        // 500 clocks of 0.1 ms to 1 s that tick for 10 s.
        let mut events = EventQueue::default();
        let period = |clock: u32| 100_000_000 + 2_000_000_000 * u64::from(clock);
        (0..500).for_each(|clock| events.push(Time::ZERO, clock));
        let (mut last, mut ticks) = (Time::ZERO, [0_u64; 500]);
        while let Some((now, clock, _)) = events.pop_until(Time::from_secs(10.0)) {
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
        assert_eq!(events.pop_until(Time::NEVER), Some((Time::from_picos(11), 0, Parcel::NONE)));
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
                    let popped = events.pop_until(Time::NEVER).map(|(time, target, _)| (time.picos(), target as usize));
                    prop_assert_eq!(popped, expected);
                    now = popped.map_or(now, |(time, _)| time);
                }
            }
        }
    }
}
