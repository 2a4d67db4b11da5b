//! The event queue: a timing wheel (Varghese and Lauck 1987). Events of equal time leave in the order of insertion.

use crate::packet_pool::PacketHandle;
use millpond_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What an event is for: a number that the event loop interprets.
pub(crate) type EventTarget = u32;

/// Number of low bits of a tie-breaker that hold the target; the 40 bits above count insertions.
const TARGET_BITS: u32 = 24;

/// Number of possible targets.
pub(crate) const TARGETS: u32 = 1 << TARGET_BITS;

/// Sort key: time in picoseconds, then order of insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EventKey {
    time: u64,
    tie: u64,
}

/// An event: its key, and the packet that it moves, if any.
#[derive(Clone, Copy, Debug)]
struct QueuedEvent {
    key: EventKey,
    handle: PacketHandle,
}

impl QueuedEvent {
    const NONE: Self = Self { key: EventKey { time: u64::MAX, tie: u64::MAX }, handle: PacketHandle::NONE };
}

impl PartialEq for QueuedEvent {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for QueuedEvent {}

impl Ord for QueuedEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for QueuedEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Number of slots of the wheel.
const SLOTS: usize = 65536;

/// Number of slots that share a word of the occupancy bitmap.
const WORD: usize = 64;
const WORDS: usize = SLOTS / WORD;
const LAST_WORD: usize = WORDS - 1;

/// With fewer events per rotation, too many wait in `later` and are examined repeatedly: the slots become wider.
const MIN_EVENTS: usize = SLOTS / 4;

/// With more events per rotation, too many share a slot: the slots become narrower.
const MAX_EVENTS: usize = SLOTS / 4 * 3;

/// Slots of the first rotation last 2^20 ps, about a microsecond: suitable for a million events per second.
const INITIAL_SHIFT: u32 = 20;

/// Index that refers to no node.
const NONE: u32 = u32::MAX;

/// Largest number of list entries examined when an event is inserted into a slot.
const MAX_WALK: usize = 8;

/// A timing wheel.
///
/// ```text
///      start                                                  start + SLOTS << shift
///        |----|----|----|----|----|---- ...                 ----|
///               word   |  slots: short sorted lists             |  later: one unsorted list
/// ```
///
/// A slot mostly holds at most one event, so that the cost of an event does not depend on the number of pending events.
/// Events that would make a list long go to an overflow heap. After a rotation the wheel is filled from `later`, with
/// wider slots if the last rotation had fewer than [`MIN_EVENTS`] events, or narrower ones if more than [`MAX_EVENTS`].
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Current position: all slots before this word are empty.
    word: usize,
    slots: Box<[SlotWord; WORDS]>,
    nodes: Vec<EventNode>,
    /// First node of the free list.
    free: u32,
    /// Events of this rotation whose slot list was too long.
    overflow: BinaryHeap<Reverse<QueuedEvent>>,
    later: Vec<QueuedEvent>,
    /// An empty list that keeps its memory, to become `later` at the next rotation.
    spare: Vec<QueuedEvent>,
    /// Start time of the first slot in picoseconds.
    start: u64,
    /// Duration of a slot: 2^shift ps.
    shift: u32,
    inserted: u64,
    /// Insertions before this rotation.
    inserted_before: u64,
}

/// 64 consecutive slots.
#[derive(Clone, Copy, Debug)]
struct SlotWord {
    /// One bit for each slot that holds an event.
    occupied: u64,
    /// First node of the list of each slot.
    first: [u32; WORD],
}

impl SlotWord {
    const EMPTY: Self = Self { occupied: 0, first: [NONE; WORD] };
}

#[derive(Clone, Copy, Debug)]
struct EventNode {
    key: EventKey,
    handle: PacketHandle,
    next: u32,
}

const _: () = assert!(size_of::<EventNode>() == 32);

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            word: 0,
            slots: Box::new([SlotWord::EMPTY; WORDS]),
            nodes: Vec::new(),
            free: NONE,
            overflow: BinaryHeap::new(),
            later: Vec::new(),
            spare: Vec::new(),
            start: 0,
            shift: INITIAL_SHIFT,
            inserted: 0,
            inserted_before: 0,
        }
    }
}

impl EventQueue {
    /// Adds an event; one at [`Time::NEVER`] is discarded.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, target: EventTarget) {
        self.push_with_packet(time, target, PacketHandle::NONE);
    }

    /// Adds an event that moves a packet; one at [`Time::NEVER`] is discarded.
    #[inline]
    pub(crate) fn push_with_packet(&mut self, time: Time, target: EventTarget, handle: PacketHandle) {
        debug_assert!(target < TARGETS);
        if time == Time::NEVER {
            return;
        }
        let tie = self.inserted << TARGET_BITS | u64::from(target);
        self.inserted += 1;
        self.insert(QueuedEvent { key: EventKey { time: time.picos(), tie }, handle });
    }

    /// Removes the earliest event that is due at `limit` or before. Returns time, target and packet.
    #[inline]
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<(Time, EventTarget, PacketHandle)> {
        let event =
            if self.overflow.is_empty() { self.pop_from_wheel(limit) } else { self.pop_from_either(limit) }?;
        Some((Time::from_picos(event.key.time), event.key.tie as EventTarget & (TARGETS - 1), event.handle))
    }

    /// As [`Self::pop_until`] while the overflow heap is empty.
    #[inline]
    fn pop_from_wheel(&mut self, limit: Time) -> Option<QueuedEvent> {
        while self.word().occupied == 0 {
            if self.word < LAST_WORD {
                self.word += 1;
            } else if !self.rotate() {
                return None;
            } else if !self.overflow.is_empty() {
                return self.pop_from_either(limit);
            }
        }
        let slots = &mut self.slots[self.word & LAST_WORD];
        let first = &mut slots.first[slots.occupied.trailing_zeros() as usize % WORD];
        let node = self.nodes.get_mut(*first as usize).filter(|node| node.key.time <= limit.picos())?;
        if node.next == NONE {
            slots.occupied &= slots.occupied - 1;
        }
        (*first, node.next, self.free) = (node.next, self.free, *first);
        Some(QueuedEvent { key: node.key, handle: node.handle })
    }

    /// The current word of slots.
    #[inline]
    fn word(&self) -> &SlotWord {
        &self.slots[self.word & LAST_WORD]
    }

    /// As [`Self::pop_until`] while the overflow heap holds events.
    #[inline(never)]
    fn pop_from_either(&mut self, limit: Time) -> Option<QueuedEvent> {
        while self.word().occupied == 0 && self.word < LAST_WORD {
            self.word += 1;
        }
        let first = self.word().first[self.word().occupied.trailing_zeros() as usize % WORD];
        let overflowed = self.overflow.peek_mut()?;
        if self.nodes.get(first as usize).is_some_and(|first| first.key < overflowed.0.key) {
            drop(overflowed);
            return self.pop_from_wheel(limit);
        }
        (overflowed.0.key.time <= limit.picos()).then(|| PeekMut::pop(overflowed).0)
    }

    /// Inserts an event into its slot, or into `later`.
    #[inline(always)]
    fn insert(&mut self, QueuedEvent { key, handle }: QueuedEvent) {
        let slot = (key.time.saturating_sub(self.start) >> self.shift) as usize;
        let slot = slot.max(self.word * WORD);
        if slot >= SLOTS {
            return self.later.push(QueuedEvent { key, handle });
        }
        if self.free == NONE {
            self.add_node();
        }
        let Some(fresh) = self.nodes.get_mut(self.free as usize) else { return };
        let (number, next_free) = (self.free, fresh.next);
        let slots = &mut self.slots[slot / WORD % WORDS];
        let first = &mut slots.first[slot % WORD];
        let before = *first;
        *fresh = EventNode { key, handle, next: before };
        if before == NONE {
            slots.occupied |= 1 << (slot % WORD);
        } else if self.nodes.get(before as usize).is_some_and(|before| before.key < key) {
            return self.insert_behind(before, number, next_free);
        }
        (*first, self.free) = (number, next_free);
    }

    /// Inserts the free node `number`, which already holds its event, behind the first node of its slot.
    #[inline(never)]
    fn insert_behind(&mut self, first: u32, number: u32, next_free: u32) {
        let EventNode { key, handle, .. } = self.nodes[number as usize];
        let mut before = first;
        for _ in 0..MAX_WALK {
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
        self.overflow.push(Reverse(QueuedEvent { key, handle }));
    }

    /// Adds a node to the free list.
    #[cold]
    fn add_node(&mut self) {
        self.free = self.nodes.len() as u32;
        let QueuedEvent { key, handle } = QueuedEvent::NONE;
        self.nodes.push(EventNode { key, handle, next: NONE });
    }

    /// Starts the next rotation at the earliest event of `later`; returns false if there is none.
    #[cold]
    fn rotate(&mut self) -> bool {
        let Some(earliest) = self.later.iter().map(|event| event.key.time).min() else { return false };
        let count = (self.inserted - self.inserted_before) as usize;
        self.inserted_before = self.inserted;
        self.shift = match count {
            _ if count < MIN_EVENTS => (self.shift + 1).min(50),
            _ if count > MAX_EVENTS => self.shift.saturating_sub(1),
            _ => self.shift,
        };
        (self.start, self.word) = (earliest, 0);
        let mut later = std::mem::replace(&mut self.later, std::mem::take(&mut self.spare));
        later.drain(..).for_each(|event| self.insert(event));
        self.spare = later;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_of_equal_time_leave_in_the_order_of_insertion() {
        // More events than a slot list holds, so that the last ones go to the heap.
        let targets = (0..5 * MAX_WALK as EventTarget).map(|n| n * 7 % 41);
        let mut events = EventQueue::default();
        targets.clone().for_each(|target| events.push(Time::from_picos(10), target));
        assert!(!events.overflow.is_empty());
        events.push(Time::from_picos(9), 99);
        let mut order = Vec::new();
        while let Some((_, target, _)) = events.pop_until(Time::from_picos(10)) {
            order.push(target);
        }
        assert!(order.into_iter().eq(std::iter::once(99).chain(targets)));
    }

    #[test]
    fn events_stay_in_order_over_many_rotations_with_changing_slot_widths() {
        // 500 periodic timers of 0.1 ms to 1 s for 10 s.
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
    fn an_event_after_the_limit_stays_in_the_queue() {
        let mut events = EventQueue::default();
        events.push(Time::from_picos(11), 0);
        events.push(Time::NEVER, 1);
        assert_eq!(events.pop_until(Time::from_picos(10)), None);
        assert_eq!(events.pop_until(Time::NEVER), Some((Time::from_picos(11), 0, PacketHandle::NONE)));
        assert_eq!(events.pop_until(Time::NEVER), None);
    }

    proptest! {
        #[test]
        fn pushes_and_pops_agree_with_a_sorted_list(
            steps in prop::collection::vec((0_u32..50, 0_u64..8, 0_usize..3), 1..300),
        ) {
            let mut events = EventQueue::default();
            let mut sorted: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (order, (magnitude, ahead, pops)) in steps.into_iter().enumerate() {
                let time = now + (ahead << magnitude);
                events.push(Time::from_picos(time), order as EventTarget);
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
