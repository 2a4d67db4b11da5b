//! A 4-ary heap.

use super::Key;

/// Each node has this many children: a family of 16-byte keys fills one cache line.
const ARITY: usize = 4;

/// A min-heap of keys.
///
/// Most events cause exactly one other, so `pop` leaves its gap at the root for the next `push` to fill: one walk
/// down the heap instead of one down and one up.
#[derive(Debug, Default)]
pub(super) struct Heap {
    keys: Vec<Key>,
    gap: bool,
}

impl Heap {
    #[inline]
    pub(super) fn push(&mut self, key: Key) {
        if self.gap {
            self.gap = false;
            self.sink(key);
        } else {
            self.keys.push(key);
            self.rise(key);
        }
    }

    /// The least key.
    #[inline]
    pub(super) fn least(&mut self) -> Option<Key> {
        if self.keys.is_empty() {
            return None;
        }
        if self.gap {
            self.close_gap();
        }
        self.keys.first().copied()
    }

    /// Removes what `least` has just given.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.gap = true;
    }

    /// Fills the gap at the root with the last event.
    #[inline]
    fn close_gap(&mut self) {
        self.gap = false;
        if let Some(last) = self.keys.pop()
            && !self.keys.is_empty()
        {
            self.sink(last);
        }
    }

    /// Puts `key` at the root and lets it sink to its place.
    #[inline]
    fn sink(&mut self, key: Key) {
        let heap = self.keys.as_mut_slice();
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
    fn rise(&mut self, key: Key) {
        let heap = self.keys.as_mut_slice();
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
