//! The event queue: a timing wheel (Varghese and Lauck 1987). Events of equal time leave in the order of insertion.

mod later;

use crate::packet_pool::PacketHandle;
use crate::prefetch::prefetch;
use later::LaterEvents;
use millpond_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// What an event is for: a number that the event loop interprets.
pub(crate) type EventTarget = u32;

/// Number of low bits of a tie-breaker that hold the target; the 36 bits above count insertions. Before the count wraps
/// around, all pending events are renumbered.
pub(crate) const TARGET_BITS: u32 = 28;

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

/// An event that has been removed from the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DueEvent {
    pub(crate) time: Time,
    pub(crate) target: EventTarget,
    /// The packet that it moves, if any.
    pub(crate) handle: PacketHandle,
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

/// Number of slots that share a word of the occupancy bitmap.
const WORD: usize = 64;

/// Number of words.
const WORDS: usize = 1024;

/// Number of slots: 2^`SLOT_BITS`.
const SLOTS: usize = WORDS * WORD;
const SLOT_BITS: u32 = SLOTS.ilog2();

/// Slots of the first rotation last 2^20 ps, about a microsecond: suitable for a million events per second.
const INITIAL_SHIFT: u32 = 20;

/// A rotation of the widest slots lasts 2^63 ps.
const MAX_SHIFT: u32 = 63 - SLOT_BITS;

/// Index that refers to no node.
const NONE: u32 = u32::MAX;

/// Largest number of list entries examined when an event is inserted into a slot.
const MAX_WALK: usize = 8;

/// Length of the overflow heap at which slots may become narrower.
const CROWD: usize = 1024;

/// A timing wheel.
///
/// ```text
///      start                             start + slots << shift
///        |----|----|----|----|---- ... ----|----------------|----------------|---- ...
///               word   |  slots: short     |  later: an unsorted list for each rotation,
///                      |  sorted lists     |  and one for all that are far away
/// ```
///
/// A slot mostly holds at most one event, so that the cost of an event does not depend on the number of pending events.
/// Events that would make a list long go to an overflow heap; if many do, the slots become narrower at once
/// ([`Self::narrow`]). A rotation begins with its list from `later`. The slots become wider if a rotation has fewer
/// events than a quarter of the slots, or narrower if it has more than three quarters: all later events are then distributed
/// again, at most once for as many events as are pending. Whatever is pending, the wheel and its nodes stay in the cache.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// Current position: all slots before this word are empty.
    word: usize,
    /// One bit for each slot that holds an event.
    occupied: Box<[u64; WORDS]>,
    /// First node of the list of each slot.
    first: Box<[u32; SLOTS]>,
    nodes: Vec<EventNode>,
    /// First node of the free list.
    free: u32,
    /// Duration of a slot: 2^shift ps.
    shift: u32,
    /// Start time of the first slot in picoseconds.
    start: u64,
    /// Time of the event that was removed last.
    now: u64,
    /// The tie-breaker of the next event, without its target.
    next_tie: u64,
    /// The same at the start of this rotation.
    tie_at_start: u64,
    /// Events of this rotation whose slot list was too long.
    overflow: BinaryHeap<Reverse<QueuedEvent>>,
    /// Length of `overflow` at which the slots become narrower.
    narrow_at: usize,
    later: LaterEvents,
    /// Number of events of all rotations since the width of the slots changed.
    since_change: usize,
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
            occupied: Box::new([0; WORDS]),
            first: Box::new([NONE; SLOTS]),
            nodes: Vec::new(),
            free: NONE,
            shift: INITIAL_SHIFT,
            start: 0,
            now: 0,
            next_tie: 0,
            tie_at_start: 0,
            overflow: BinaryHeap::new(),
            narrow_at: CROWD,
            later: LaterEvents::new(INITIAL_SHIFT + SLOT_BITS),
            since_change: 0,
        }
    }
}

impl EventQueue {
    /// Time of the event that was removed last; the start of the run before the first.
    pub(crate) fn last_time(&self) -> Time {
        Time::from_picos(self.now)
    }

    /// Adds an event; one at [`Time::NEVER`] is discarded.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, target: EventTarget) {
        if time != Time::NEVER {
            self.push_with_packet(time, target, PacketHandle::NONE);
        }
    }

    /// Adds an event that moves a packet, not at [`Time::NEVER`] and not before the event that was removed last.
    #[inline(always)]
    pub(crate) fn push_with_packet(&mut self, time: Time, target: EventTarget, handle: PacketHandle) {
        debug_assert!(target < TARGETS && time != Time::NEVER && time.picos() >= self.now);
        let tie = self.next_tie | u64::from(target);
        let (next_tie, wraps) = self.next_tie.overflowing_add(u64::from(TARGETS));
        self.next_tie = next_tie;
        self.insert(QueuedEvent { key: EventKey { time: time.picos(), tie }, handle });
        if wraps {
            self.renumber();
        }
    }

    /// Removes the earliest event that is due at `limit` or before.
    #[inline(always)]
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<DueEvent> {
        if !self.overflow.is_empty() && self.advance_to_overflow() {
            return self.pop_overflow(limit);
        }
        while self.occupied.get(self.word).is_none_or(|occupied| *occupied == 0) {
            if self.word < self.occupied.len() {
                self.word += 1;
            } else if !self.rotate() {
                return None;
            }
        }
        let occupied = self.occupied.get_mut(self.word)?;
        let first = self.first.get_mut(self.word * WORD + occupied.trailing_zeros() as usize)?;
        let node = self.nodes.get_mut(*first as usize).filter(|node| node.key.time <= limit.picos())?;
        if node.next == NONE {
            *occupied &= *occupied - 1;
        }
        (*first, node.next, self.free) = (node.next, self.free, *first);
        self.now = node.key.time;
        let target = node.key.tie as EventTarget & (TARGETS - 1);
        Some(DueEvent { time: Time::from_picos(node.key.time), target, handle: node.handle })
    }

    /// As [`Self::pop_until`], but without an advance to an event after `limit`: later calls may add events at any time from
    /// `limit` on.
    pub(crate) fn pop_due(&mut self, limit: Time) -> Option<DueEvent> {
        if self.next_time() > limit { None } else { self.pop_until(limit) }
    }

    /// The time of the next event; [`Time::NEVER`] if there is none.
    pub(crate) fn next_time(&self) -> Time {
        let words = self.occupied.iter().enumerate().skip(self.word);
        let occupied = words.map(|(word, bits)| (word, *bits)).find(|(_, bits)| *bits != 0);
        let first = |(word, bits): (usize, u64)| self.first[word * WORD + bits.trailing_zeros() as usize];
        let in_wheel =
            occupied.and_then(|word| self.nodes.get(first(word) as usize)).map(|node| node.key.time);
        let in_heap = self.overflow.peek().map(|Reverse(event)| event.key.time);
        let in_rotation = in_wheel.into_iter().chain(in_heap).min();
        let time = in_rotation.or_else(|| self.later.first_time(self.later.rotation(self.start)));
        time.map_or(Time::NEVER, Time::from_picos)
    }

    /// Target and packet of the next event, as far as it is in the current word of slots. Requests the event after it from
    /// memory, so that it is there when it becomes the next one.
    #[inline(always)]
    pub(crate) fn upcoming(&self) -> Option<(EventTarget, PacketHandle)> {
        let occupied = *self.occupied.get(self.word)?;
        let node = |occupied: u64| {
            let number = self.first.get(self.word * WORD + occupied.trailing_zeros() as usize)?;
            self.nodes.get(*number as usize)
        };
        let next = if occupied == 0 { None } else { node(occupied) }?;
        prefetch(node(occupied & (occupied - 1)));
        Some((next.key.tie as EventTarget & (TARGETS - 1), next.handle))
    }

    /// Moves the position to the first word with an event, in the wheel or in the overflow heap. Returns true if the first
    /// event of the heap is the earliest of all.
    #[inline(never)]
    fn advance_to_overflow(&mut self) -> bool {
        let Some(Reverse(overflowed)) = self.overflow.peek() else { return false };
        let last = self.slot(overflowed.key.time) / WORD;
        while self.word < last && self.occupied[self.word] == 0 {
            self.word += 1;
        }
        let occupied = self.occupied[self.word];
        if occupied == 0 {
            return true;
        }
        let first = self.first[self.word * WORD + occupied.trailing_zeros() as usize];
        overflowed.key < self.nodes[first as usize].key
    }

    /// Removes the first event of the overflow heap, if it is due at `limit` or before.
    fn pop_overflow(&mut self, limit: Time) -> Option<DueEvent> {
        let first = self.overflow.peek_mut().filter(|first| first.0.key.time <= limit.picos())?;
        let Reverse(QueuedEvent { key, handle }) = PeekMut::pop(first);
        self.now = key.time;
        let target = key.tie as EventTarget & (TARGETS - 1);
        Some(DueEvent { time: Time::from_picos(key.time), target, handle })
    }

    /// The slot of a time, counted from the start of the rotation.
    #[inline]
    fn slot(&self, time: u64) -> usize {
        ((time - self.start) >> self.shift) as usize
    }

    /// Inserts an event into its slot, or into `later`. Its slot is not before the current position, because its time is
    /// not before that of the event that was removed last.
    #[inline(always)]
    fn insert(&mut self, QueuedEvent { key, handle }: QueuedEvent) {
        let slot = self.slot(key.time);
        let Some(first) = self.first.get_mut(slot) else {
            return self.later.push(key, handle);
        };
        let Some(fresh) = self.nodes.get_mut(self.free as usize) else {
            return self.insert_into_new_node(QueuedEvent { key, handle });
        };
        let (number, next_free) = (self.free, fresh.next);
        let before = *first;
        *fresh = EventNode { key, handle, next: before };
        if before == NONE {
            self.occupied[slot / WORD] |= 1 << (slot % WORD);
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
        if self.overflow.len() > self.narrow_at {
            self.narrow(self.now);
        }
    }

    /// Adds a node to the free list, and inserts the event into it.
    #[cold]
    fn insert_into_new_node(&mut self, event: QueuedEvent) {
        self.free = self.nodes.len() as u32;
        let QueuedEvent { key, handle } = QueuedEvent::NONE;
        self.nodes.push(EventNode { key, handle, next: NONE });
        self.insert(event);
    }

    /// Starts the next rotation that has events; returns false if there is none.
    #[cold]
    fn rotate(&mut self) -> bool {
        let Some((rotation, waiting)) = self.later.next_rotation(self.later.rotation(self.start)) else {
            return self.widen();
        };
        let start = self.later.start(rotation);
        if waiting > SLOTS {
            self.narrow(start);
            return true;
        }
        let inserted = (self.next_tie.wrapping_sub(self.tie_at_start) >> TARGET_BITS) as usize;
        self.since_change += inserted + waiting;
        let shift = match inserted.max(waiting) {
            count if count < SLOTS / 4 => (self.shift + 1).min(MAX_SHIFT),
            count if count > SLOTS / 4 * 3 => self.shift.saturating_sub(1),
            _ => self.shift,
        };
        if shift != self.shift && self.since_change >= self.later.len() {
            let pending = self.take_all();
            self.fill(start, shift, &pending);
        } else {
            self.begin(rotation);
        }
        true
    }

    /// Starts a rotation with its list.
    fn begin(&mut self, rotation: u64) {
        self.later.advance_to(rotation);
        self.start_at(self.later.start(rotation));
        while let Some(removed) = self.later.take_from(rotation) {
            self.insert_all(removed.events());
        }
    }

    /// Makes slots wider, because all pending events are far away. Without any, the wheel begins again at the time of the event
    /// that was removed last, and the result is false.
    fn widen(&mut self) -> bool {
        let mut pending = self.take_all();
        let Some((earliest, shift)) = early_half(&mut pending) else {
            self.fill(self.now, self.shift, &[]);
            return false;
        };
        self.fill(earliest, shift.max(self.shift + 1).min(MAX_SHIFT), &pending);
        true
    }

    /// Makes slots narrower, because much more traffic has come than before it. Half of the slots then hold one of the earlier
    /// half of all pending events, none of which is before `time`.
    #[cold]
    fn narrow(&mut self, time: u64) {
        let mut pending = self.take_all();
        let shift = early_half(&mut pending).map_or(0, |(_, shift)| shift);
        self.fill(time, shift.min(self.shift.saturating_sub(1)), &pending);
    }

    /// Numbers all pending events again in their order, because the count of insertions wraps around.
    #[cold]
    fn renumber(&mut self) {
        let mut pending = self.take_all();
        pending.sort_unstable();
        self.next_tie = 0;
        for event in &mut pending {
            event.key.tie = self.next_tie | event.key.tie & u64::from(TARGETS - 1);
            self.next_tie += u64::from(TARGETS);
        }
        self.fill(self.now, self.shift, &pending);
    }

    /// Removes all events.
    fn take_all(&mut self) -> Vec<QueuedEvent> {
        let mut pending = self.later.take_all();
        pending.extend(std::mem::take(&mut self.overflow).into_iter().map(|Reverse(event)| event));
        for (occupied, slots) in self.occupied.iter_mut().zip(self.first.chunks_exact_mut(WORD)) {
            let slots = if *occupied == 0 { &mut [] } else { slots };
            for first in slots {
                let mut number = std::mem::replace(first, NONE);
                while let Some(EventNode { key, handle, next }) = self.nodes.get(number as usize).copied() {
                    pending.push(QueuedEvent { key, handle });
                    number = next;
                }
            }
            *occupied = 0;
        }
        (self.nodes, self.free) = (Vec::new(), NONE);
        pending
    }

    /// Sets the width of the slots of the empty wheel, and inserts the pending events, none of which is before `time`.
    fn fill(&mut self, time: u64, shift: u32, pending: &[QueuedEvent]) {
        (self.shift, self.since_change) = (shift, 0);
        self.later.restart(time, shift + SLOT_BITS);
        self.start_at(time);
        self.insert_all(pending);
    }

    /// Starts a rotation of the empty wheel.
    fn start_at(&mut self, start: u64) {
        (self.start, self.word, self.tie_at_start) = (start, 0, self.next_tie);
    }

    /// Inserts events at the start of a rotation. The slots do not become narrower meanwhile: events of one instant share a
    /// slot of any width.
    fn insert_all(&mut self, events: &[QueuedEvent]) {
        self.narrow_at = usize::MAX;
        events.iter().for_each(|event| self.insert(*event));
        self.narrow_at = CROWD.max(2 * self.overflow.len());
    }
}

/// The earliest time of events, and the width of slots of which half hold one of the earlier half of them; none without events.
fn early_half(events: &mut [QueuedEvent]) -> Option<(u64, u32)> {
    let earliest = events.iter().map(|event| event.key.time).min()?;
    let half = events.len() / 2;
    let median = events.select_nth_unstable(half).1.key.time;
    let distance = (median - earliest) / half.max(1) as u64;
    Some((earliest, 64 - distance.leading_zeros()))
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
        while let Some(DueEvent { target, .. }) = events.pop_until(Time::from_picos(10)) {
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
        while let Some(DueEvent { time: now, target: clock, .. }) = events.pop_until(Time::from_secs(10.0)) {
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
        assert_eq!(
            events.pop_until(Time::NEVER),
            Some(DueEvent { time: Time::from_picos(11), target: 0, handle: PacketHandle::NONE })
        );
        assert_eq!(events.pop_until(Time::NEVER), None);
    }

    /// Pushes events at these times and checks that they leave in order.
    fn check_order(events: &mut EventQueue, times: impl Iterator<Item = u64>) {
        let times: Vec<u64> = times.collect();
        times.iter().zip(0..).for_each(|(time, target)| events.push(Time::from_picos(*time), target));
        let mut sorted: Vec<(u64, EventTarget)> = times.into_iter().zip(0..).collect();
        sorted.sort_unstable();
        for expected in sorted {
            let popped = events.pop_until(Time::NEVER).map(|event| (event.time.picos(), event.target));
            assert_eq!(popped, Some(expected));
        }
        assert_eq!(events.pop_until(Time::NEVER), None);
    }

    #[test]
    fn the_wheel_does_not_grow_with_the_number_of_pending_events() {
        // A million events over two seconds, each of which leads to one two seconds later.
        let mut events = EventQueue::default();
        let times = (0..1_000_000_u64).map(|n| n * 7_919 % 1_000_003 * 2_000_000);
        times.for_each(|time| events.push(Time::from_picos(time), 0));
        for _ in 0..3_000_000 {
            let now = events.pop_until(Time::NEVER).unwrap().time;
            events.push(Time::from_picos(now.picos() + 2_000_000_000_000), 0);
        }
        assert!(events.nodes.len() <= SLOTS && events.overflow.len() < CROWD, "{}", events.nodes.len());
    }

    #[test]
    fn the_width_of_slots_is_steady_if_the_number_of_events_is() {
        // Two events in five slots, for more rotations than have a list of their own.
        let mut events = EventQueue::default();
        let (slot, clocks) = (1 << INITIAL_SHIFT, 1000);
        (0..clocks)
            .for_each(|clock| events.push(Time::from_picos(5 * slot * clock / 2), clock as EventTarget));
        let end = Time::from_picos(1100 * SLOTS as u64 * slot);
        while let Some(DueEvent { time, target, .. }) = events.pop_until(end) {
            events.push(Time::from_picos(time.picos() + 5 * slot * clocks / 2), target);
        }
        assert!(
            events.shift == INITIAL_SHIFT && events.since_change > 1000 * SLOTS / 3,
            "{}",
            events.since_change
        );
    }

    #[test]
    fn few_events_do_not_distribute_many_later_ones_again() {
        let mut events = EventQueue::default();
        let rotation = (SLOTS as u64) << INITIAL_SHIFT;
        (1..=9).for_each(|number| events.push(Time::from_picos(number * rotation), 0));
        (0..200_000).for_each(|target| events.push(Time::from_picos(500 * rotation), target));
        let shift_after = |events: &mut EventQueue| events.pop_until(Time::NEVER).map(|_| events.shift);
        let first = shift_after(&mut events);
        assert!((2..=9).all(|_| shift_after(&mut events) == first));
    }

    #[test]
    fn slots_become_narrower_when_a_burst_follows_a_silence() {
        const GAP: u64 = 1_000_000_000_000_000;
        let mut events = EventQueue::default();
        for event in 0..30 {
            check_order(&mut events, std::iter::once(event * GAP));
        }
        let wide = events.shift;
        check_order(&mut events, (0..100_000_u64).map(|n| 31 * GAP + n * 37 % 100_000 * 1_000_000));
        // A rotation contains two events with this gap. Then an event each 2^20 ps; a slot may hold a list of a few.
        assert!(
            1 << (wide + SLOT_BITS) > GAP && events.shift <= 20 + MAX_WALK.ilog2() + 1,
            "{wide} {}",
            events.shift
        );
        // Events of one instant cannot be separated.
        check_order(&mut events, std::iter::repeat_n(40 * GAP, 20_000));
    }

    #[test]
    fn events_stay_in_order_when_the_count_of_insertions_wraps_around() {
        let nearly = u64::MAX << TARGET_BITS;
        let mut events = EventQueue { next_tie: nearly, tie_at_start: nearly, ..EventQueue::default() };
        check_order(&mut events, (0..3000).map(|n| n % 3 * 1_000_000_000));
        assert_eq!(events.next_tie, 3000 << TARGET_BITS);
    }

    proptest! {
        #[test]
        fn pushes_and_pops_agree_with_a_sorted_list(
            steps in prop::collection::vec((0_u32..50, 0_u64..8, 0_usize..3, 1_usize..30), 1..300),
        ) {
            let mut events = EventQueue::default();
            let mut sorted: Vec<(u64, usize)> = Vec::new();
            let (mut now, mut order) = (0, 0);
            for (magnitude, ahead, pops, burst) in steps {
                // One event, or more of one time than the list of a slot holds.
                let burst = if burst > 2 * MAX_WALK { burst } else { 1 };
                let time = now + (ahead << magnitude);
                for _ in 0..burst {
                    events.push(Time::from_picos(time), order as EventTarget);
                    sorted.push((time, order));
                    order += 1;
                }
                sorted.sort_unstable();
                for _ in 0..pops * burst {
                    let expected = (!sorted.is_empty()).then(|| sorted.remove(0));
                    let popped = events.pop_until(Time::NEVER).map(|event| (event.time.picos(), event.target as usize));
                    prop_assert_eq!(popped, expected);
                    now = popped.map_or(now, |(time, _)| time);
                }
            }
        }
    }
}
