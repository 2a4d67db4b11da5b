//! A set of integers that fills up from below: packet numbers or bytes of a stream received.

use alloc::collections::VecDeque;
use core::ops::Range;

/// All integers below `prefix`, and ranges above it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeSet {
    prefix: u64,
    /// Ascending; none is empty, adjacent to another or adjacent to the prefix.
    above: VecDeque<Range<u64>>,
}

impl RangeSet {
    /// The smallest integer that is not in the set.
    #[inline]
    pub(crate) fn prefix(&self) -> u64 {
        self.prefix
    }

    /// True if there are no ranges above the prefix.
    #[inline]
    pub(crate) fn is_contiguous(&self) -> bool {
        self.above.is_empty()
    }

    /// The ranges above the prefix, highest first.
    #[inline]
    pub(crate) fn descending(&self) -> impl Iterator<Item = &Range<u64>> {
        self.above.iter().rev()
    }

    /// Adds a range and calls `fresh` for each part of it that was not in the set.
    #[inline(always)]
    pub(crate) fn insert(&mut self, range: Range<u64>, mut fresh: impl FnMut(Range<u64>)) {
        // The usual case: the range continues the prefix, and none lies above it.
        if range.start == self.prefix && range.end > range.start && self.above.is_empty() {
            self.prefix = range.end;
            return fresh(range);
        }
        self.insert_any(range, fresh);
    }

    #[inline(never)]
    fn insert_any(&mut self, range: Range<u64>, mut fresh: impl FnMut(Range<u64>)) {
        if range.start <= self.prefix && self.above.is_empty() {
            if range.end > self.prefix {
                fresh(self.prefix..range.end);
                self.prefix = range.end;
            }
            return;
        }
        if let Some(last) = self.above.back_mut().filter(|last| last.end == range.start) {
            if range.end > range.start {
                last.end = range.end;
                fresh(range);
            }
            return;
        }
        self.insert_above(range, &mut fresh);
    }

    /// Adds `number` if it is the prefix and no range lies above it. Returns true if it was added.
    #[inline]
    pub(crate) fn extend(&mut self, number: u64) -> bool {
        let next = number == self.prefix && self.above.is_empty() && number < u64::MAX;
        self.prefix += u64::from(next);
        next
    }

    /// Adds all integers below `floor`.
    #[inline]
    pub(crate) fn raise(&mut self, floor: u64) {
        if floor > self.prefix {
            self.prefix = floor;
            self.merge_reached();
        }
    }

    fn insert_above(&mut self, range: Range<u64>, fresh: &mut impl FnMut(Range<u64>)) {
        let mut start = range.start.max(self.prefix);
        if start >= range.end {
            return;
        }
        let (first, mut merged) = (self.above.partition_point(|known| known.end < start), start..range.end);
        let mut past = first;
        while let Some(known) = self.above.get(past).filter(|known| known.start <= range.end) {
            if start < known.start {
                fresh(start..known.start);
            }
            start = start.max(known.end);
            merged = merged.start.min(known.start)..merged.end.max(known.end);
            past += 1;
        }
        if start < range.end {
            fresh(start..range.end);
        }
        self.replace(first..past, merged);
        self.merge_reached();
    }

    /// Replaces the ranges at these indices by one range.
    fn replace(&mut self, old: Range<usize>, new: Range<u64>) {
        if let Some(slot) = self.above.get_mut(old.start).filter(|_| !old.is_empty()) {
            *slot = new;
            self.above.drain(old.start + 1..old.end);
        } else {
            self.above.insert(old.start, new);
        }
    }

    /// Merges ranges that the prefix has reached.
    fn merge_reached(&mut self) {
        while let Some(first) = self.above.front().filter(|first| first.start <= self.prefix) {
            self.prefix = self.prefix.max(first.end);
            self.above.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u64, u64),
        Raise(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            5 => (0..60_u64, 0..8_u64).prop_map(|(start, len)| Step::Insert(start, start + len)),
            1 => (0..40_u64).prop_map(Step::Raise),
        ]
    }

    fn contains(set: &RangeSet, number: u64) -> bool {
        number < set.prefix() || set.descending().any(|range| range.contains(&number))
    }

    proptest! {
        #[test]
        fn a_range_set_agrees_with_a_plain_set(steps in proptest::collection::vec(step(), 0..60)) {
            let (mut set, mut plain) = (RangeSet::default(), BTreeSet::new());
            for step in steps {
                match step {
                    Step::Insert(start, end) => {
                        let mut fresh = Vec::new();
                        set.insert(start..end, |range| fresh.extend(range));
                        let expected: Vec<_> = (start..end).filter(|n| plain.insert(*n)).collect();
                        prop_assert_eq!(fresh, expected);
                    }
                    Step::Raise(floor) => {
                        set.raise(floor);
                        plain.extend(0..floor);
                    }
                }
                for number in 0..80 {
                    prop_assert_eq!(contains(&set, number), plain.contains(&number));
                }
                prop_assert!(!plain.contains(&set.prefix()));
                let ends: Vec<_> = set.descending().flat_map(|range| [range.end, range.start]).collect();
                prop_assert!(ends.is_sorted_by(|a, b| a > b), "{:?}", ends);
            }
        }
    }
}
