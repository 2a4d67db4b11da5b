//! A ring buffer.

/// A FIFO queue. The record at its head is stored in the struct itself, so that a queue of one record, as on an idle link,
/// accesses no other memory. The others are in one block whose length is a power of two, which grows by doubling and never
/// shrinks.
#[derive(Debug, Default)]
pub(crate) struct Ring<T> {
    first: T,
    /// The records behind the first, from slot `head` on.
    slots: Box<[T]>,
    head: u32,
    /// Number of records, the first included.
    len: u32,
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// Slot of the record at `index` from the head, which is not the first.
    #[inline]
    fn slot(&self, index: u32) -> usize {
        self.head.wrapping_add(index - 1) as usize & self.slots.len().wrapping_sub(1)
    }

    /// The record at `index` from the head.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len() {
            return None;
        }
        if index == 0 { Some(&self.first) } else { self.slots.get(self.slot(index as u32)) }
    }

    /// The record at the tail.
    #[inline]
    pub(crate) fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Adds a record at the tail.
    #[inline]
    pub(crate) fn push(&mut self, record: T) {
        if self.len == 0 {
            self.first = record;
        } else {
            self.push_behind(record);
        }
        self.len += 1;
    }

    #[inline]
    fn push_behind(&mut self, record: T) {
        if self.len() > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len);
        self.slots[slot] = record;
    }

    /// Replaces the record at the head of a ring that is not empty. Returns the old one.
    #[inline]
    pub(crate) fn replace_first(&mut self, record: T) -> T {
        debug_assert!(self.len > 0);
        std::mem::replace(&mut self.first, record)
    }

    /// Removes the record at the head.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let record = self.first;
        self.len -= 1;
        if self.len > 0 {
            self.first = self.slots[self.slot(1)];
            // An empty block restarts at its first slot, which is still in the cache.
            self.head = if self.len == 1 { 0 } else { self.head.wrapping_add(1) };
        }
        Some(record)
    }

    /// Removes the record at the head if the condition holds for it.
    #[inline]
    pub(crate) fn pop_if(&mut self, condition: impl Fn(&T) -> bool) -> Option<T> {
        if self.get(0).is_some_and(condition) { self.pop() } else { None }
    }

    /// Removes the record at the tail.
    pub(crate) fn pop_back(&mut self) -> Option<T> {
        let record = *self.last()?;
        self.len -= 1;
        Some(record)
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(4);
        let mut slots = Vec::with_capacity(capacity);
        slots.extend((1..self.len()).filter_map(|index| self.get(index).copied()));
        slots.resize(capacity, T::default());
        (self.slots, self.head) = (slots.into_boxed_slice(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_agrees_with_a_queue(steps in prop::collection::vec(any::<bool>(), 0..200)) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            for (record, push) in steps.into_iter().enumerate() {
                if push {
                    ring.push(record);
                    queue.push_back(record);
                } else {
                    prop_assert_eq!(ring.pop(), queue.pop_front());
                }
                prop_assert_eq!(ring.len(), queue.len());
                for index in 0..=queue.len() {
                    prop_assert_eq!(ring.get(index), queue.get(index));
                }
            }
        }
    }
}
