//! Events of later rotations of the wheel.

use super::{EventKey, NONE, QueuedEvent};
use crate::packet_pool::PacketHandle;
use crate::prefetch::prefetch_first_line;

/// Number of rotations that have a list of their own: a power of two.
const LISTS: usize = 1024;

/// Number of events in a block: a power of two.
const BLOCK: usize = 16;

/// Events of later rotations, unsorted: a list for each of the next rotations, and one for all events after these.
///
/// The list of a rotation is appended to, and read once when the rotation begins, so
/// that an event that waits here is not searched for, whatever is pending.
#[derive(Debug)]
pub(super) struct LaterEvents {
    /// The list of each rotation before `horizon`, by its number modulo their number.
    lists: Box<[List]>,
    /// Events of rotations from `horizon` on.
    far: List,
    horizon: u64,
    /// Start of rotation 0 in picoseconds.
    origin: u64,
    /// Duration of a rotation: 2^shift ps.
    shift: u32,
    /// Number of events in all lists.
    len: usize,
    blocks: Blocks,
}

/// A list of events. All its blocks but the first are full.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    len: usize,
}

impl List {
    const EMPTY: Self = Self { first: NONE, len: 0 };

    /// Number of events in its first block, if it is not empty.
    fn in_first_block(self) -> usize {
        match self.len % BLOCK {
            0 => BLOCK,
            len => len,
        }
    }
}

/// The blocks of all lists, which are reused.
#[derive(Debug)]
struct Blocks {
    events: Vec<[QueuedEvent; BLOCK]>,
    /// The next block of the same list, or of the free list.
    next: Vec<u32>,
    /// First block of the free list.
    free: u32,
}

/// Events that were removed from a list.
pub(super) struct Removed {
    events: [QueuedEvent; BLOCK],
    len: usize,
}

impl Removed {
    pub(super) fn events(&self) -> &[QueuedEvent] {
        &self.events[..self.len]
    }
}

impl LaterEvents {
    /// No events. Rotations last 2^shift ps, and the first one is the current one.
    pub(super) fn new(shift: u32) -> Self {
        let lists = vec![List::EMPTY; LISTS].into_boxed_slice();
        let blocks = Blocks { events: Vec::new(), next: Vec::new(), free: NONE };
        Self { lists, far: List::EMPTY, horizon: LISTS as u64, origin: 0, shift, len: 0, blocks }
    }

    /// Starts rotation 0 at `origin`, with a duration of 2^shift ps for each, while there are no events.
    pub(super) fn restart(&mut self, origin: u64, shift: u32) {
        (self.origin, self.shift, self.horizon) = (origin, shift, LISTS as u64);
    }

    /// Number of events.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The rotation of a time in picoseconds.
    pub(super) fn rotation(&self, time: u64) -> u64 {
        (time - self.origin) >> self.shift
    }

    /// Start of a rotation in picoseconds.
    pub(super) fn start(&self, rotation: u64) -> u64 {
        self.origin + (rotation << self.shift)
    }

    /// Adds an event of a rotation after the current one.
    #[inline(never)]
    pub(super) fn push(&mut self, key: EventKey, handle: PacketHandle) {
        let rotation = self.rotation(key.time);
        let is_far = rotation >= self.horizon;
        let list = if is_far { &mut self.far } else { &mut self.lists[rotation as usize % LISTS] };
        let place = list.len % BLOCK;
        if place == 0 {
            list.first = self.blocks.take(list.first);
        }
        let block = &mut self.blocks.events[list.first as usize];
        block[place] = QueuedEvent { key, handle };
        // The place of the next event but one, which may be in another cache line.
        prefetch_first_line(block.get(place + 2));
        list.len += 1;
        self.len += 1;
    }

    /// The first rotation after `current` whose list has events, and their number.
    pub(super) fn next_rotation(&self, current: u64) -> Option<(u64, usize)> {
        let len = |rotation: u64| self.lists[rotation as usize % LISTS].len;
        (current + 1..self.horizon).map(|rotation| (rotation, len(rotation))).find(|(_, len)| *len > 0)
    }

    /// Makes a rotation the current one: far events that are now near receive a list.
    pub(super) fn advance_to(&mut self, rotation: u64) {
        if self.horizon - rotation > LISTS as u64 / 2 {
            return;
        }
        self.horizon = rotation + LISTS as u64;
        let mut far = std::mem::replace(&mut self.far, List::EMPTY);
        while let Some(removed) = self.remove(&mut far) {
            removed.events().iter().for_each(|event| self.push(event.key, event.handle));
        }
    }

    /// Removes some events from the list of a rotation; none if it is empty.
    pub(super) fn take_from(&mut self, rotation: u64) -> Option<Removed> {
        let number = rotation as usize % LISTS;
        let mut list = self.lists[number];
        let removed = self.remove(&mut list);
        self.lists[number] = list;
        removed
    }

    /// Removes the events of the first block of a list.
    fn remove(&mut self, list: &mut List) -> Option<Removed> {
        let events = *self.blocks.events.get(list.first as usize)?;
        list.first = self.blocks.release(list.first);
        let len = list.in_first_block();
        list.len -= len;
        self.len -= len;
        Some(Removed { events, len })
    }

    /// Removes all events.
    pub(super) fn take_all(&mut self) -> Vec<QueuedEvent> {
        let lists = self.lists.iter_mut().chain([&mut self.far]);
        let lists: Vec<List> = lists.map(|list| std::mem::replace(list, List::EMPTY)).collect();
        let mut events = Vec::with_capacity(self.len);
        for mut list in lists {
            while let Some(removed) = self.remove(&mut list) {
                events.extend_from_slice(removed.events());
            }
        }
        events
    }

    /// The time of the first event in picoseconds, if the current rotation is `current`.
    pub(super) fn first_time(&self, current: u64) -> Option<u64> {
        let next = self.next_rotation(current).map(|(rotation, _)| self.lists[rotation as usize % LISTS]);
        let mut list = next.unwrap_or(self.far);
        let mut first = None;
        while let Some(block) = self.blocks.events.get(list.first as usize) {
            let events = &block[..list.in_first_block()];
            first = first.into_iter().chain(events.iter().map(|event| event.key.time)).min();
            list = List { first: self.blocks.next[list.first as usize], len: list.len - events.len() };
        }
        first
    }
}

impl Blocks {
    /// Takes a block from the free list, or a new one. `next` becomes the block after it.
    fn take(&mut self, next: u32) -> u32 {
        let number = self.free;
        let Some(after) = self.next.get_mut(number as usize) else {
            self.events.push([QueuedEvent::NONE; BLOCK]);
            self.next.push(next);
            return (self.next.len() - 1) as u32;
        };
        self.free = std::mem::replace(after, next);
        number
    }

    /// Adds a block to the free list. Returns the block after it.
    fn release(&mut self, number: u32) -> u32 {
        let next = std::mem::replace(&mut self.next[number as usize], self.free);
        self.free = number;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rotation_has_its_events_also_beyond_the_lists() {
        // Rotations of 16 ps that begin at 7 ps. The event at 17 n + 23 ps is in rotation n + 1 or a later one.
        let mut later = LaterEvents::new(0);
        later.restart(7, 4);
        let times: Vec<u64> = (0..5000).map(|n| 17 * n + 23).collect();
        for (tie, time) in (0..).zip(&times) {
            later.push(EventKey { time: *time, tie }, PacketHandle::NONE);
        }
        assert!(later.far.len > 3000 && later.len() == 5000);
        assert_eq!(later.first_time(0), Some(23));
        let (mut rotation, mut taken) = (0, Vec::new());
        while let Some((next, waiting)) = later.next_rotation(rotation) {
            assert!(next > rotation, "{next} after {rotation}");
            rotation = next;
            later.advance_to(rotation);
            let before = taken.len();
            while let Some(removed) = later.take_from(rotation) {
                taken.extend(removed.events().iter().map(|event| event.key.time));
            }
            assert_eq!(taken.len() - before, waiting);
            assert!(taken[before..].iter().all(|time| later.rotation(*time) == rotation));
            assert!(taken[before..].iter().all(|time| (0..16).contains(&(time - later.start(rotation)))));
        }
        taken.sort_unstable();
        assert_eq!((taken, later.len(), later.first_time(rotation)), (times, 0, None));
    }

    #[test]
    fn blocks_are_reused() {
        let mut later = LaterEvents::new(10);
        for round in 1..100 {
            let time = |tie: u64| (round << 10) + tie;
            (0..100).for_each(|tie| later.push(EventKey { time: time(tie), tie }, PacketHandle::NONE));
            if round % 2 == 0 {
                assert_eq!(later.take_all().len(), 100);
            } else {
                let mut removed = std::iter::from_fn(|| later.take_from(round));
                assert!(removed.by_ref().all(|some| !some.events().is_empty()));
            }
        }
        assert_eq!((later.len(), later.blocks.events.len()), (0, 100_usize.div_ceil(BLOCK)));
    }
}
