//! The packet numbers that an acknowledgement reports: up to four ranges, newest first, in 24 bytes.

use core::ops::RangeInclusive;

/// Number of ranges besides the newest one.
const OLDER_RANGES: usize = 3;

/// A range below another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OlderRange {
    /// Number of packet numbers between this range and the one above.
    gap: u16,
    /// Number of packet numbers in it; zero if there is no such range.
    len: u16,
}

/// Up to four ranges of packet numbers, newest first (compare the ACK frame of RFC 9000, section 19.3.1).
///
/// Ranges that do not fit are omitted, oldest first. Of a very long range the oldest numbers are omitted: those beyond
/// 2^16, or 2^32 in the newest range. Earlier acknowledgements have reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckRanges {
    largest: u64,
    newest: u32,
    older: [OlderRange; OLDER_RANGES],
}

impl AckRanges {
    /// Largest number of ranges.
    pub const MAX: usize = 1 + OLDER_RANGES;

    /// A single range.
    #[inline]
    pub fn single(range: RangeInclusive<u64>) -> Self {
        let length = range.end().saturating_sub(*range.start()).saturating_add(1);
        let newest = u32::try_from(length).unwrap_or(u32::MAX);
        Self { largest: *range.end(), newest, ..Self::default() }
    }

    /// Adds the number after the largest.
    #[inline]
    pub fn extend(&mut self) {
        self.largest = self.largest.saturating_add(1);
        self.newest = self.newest.saturating_add(1);
    }

    /// The first of these ranges that fit. They must be in descending order and must not touch; the first that violates
    /// this and all later ones are omitted.
    pub fn newest_first(ranges: impl IntoIterator<Item = RangeInclusive<u64>>) -> Self {
        let mut ranges = ranges.into_iter();
        let Some(newest) = ranges.next() else { return Self::default() };
        let mut kept = Self::single(newest);
        let mut smallest = kept.smallest();
        for (slot, range) in kept.older.iter_mut().zip(ranges) {
            let gap = smallest.checked_sub(*range.end()).and_then(|distance| distance.checked_sub(1));
            let Some(gap) = gap.and_then(|gap| u16::try_from(gap).ok()) else { break };
            let length = range.end().saturating_sub(*range.start()).saturating_add(1);
            let len = u16::try_from(length).unwrap_or(u16::MAX);
            *slot = OlderRange { gap, len };
            smallest = range.end() - u64::from(len - 1);
        }
        kept
    }

    /// The largest packet number reported; none if the list is empty.
    #[inline]
    pub const fn largest(&self) -> Option<u64> {
        if self.newest == 0 { None } else { Some(self.largest) }
    }

    /// The ranges, newest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        let newest = self.largest().map(|largest| self.smallest()..=largest);
        let mut smallest = self.smallest();
        let older = self.older.iter().map_while(move |older| {
            let largest = smallest.checked_sub(1 + u64::from(older.gap)).filter(|_| older.len > 0)?;
            let range = range_down_from(largest, u64::from(older.len));
            smallest = *range.start();
            Some(range)
        });
        newest.into_iter().chain(older)
    }

    /// The numbers that are new compared with `known`, if they only extend its newest range upwards. The result is
    /// empty if nothing is new, and none if the difference is not such an extension.
    #[inline]
    pub fn extension_of(&self, known: &Self) -> Option<RangeInclusive<u64>> {
        let adjoins = self.smallest() <= known.largest.saturating_add(1) && known.newest > 0;
        let covers = known.smallest() <= self.smallest();
        let is_single = self.older[0].len == 0;
        let older_is_known = is_single || (self.older == known.older && self.smallest() == known.smallest());
        (adjoins && covers && older_is_known).then(|| known.largest.saturating_add(1)..=self.largest)
    }

    /// Calls `each` for every part of these ranges that lies outside all ranges of `known`, newest first.
    pub fn for_each_beyond(&self, known: &Self, mut each: impl FnMut(RangeInclusive<u64>)) {
        for range in self.iter() {
            beyond(range, known, &mut each);
        }
    }

    /// The smallest number of the newest range, if there is one.
    #[inline]
    const fn smallest(&self) -> u64 {
        self.largest.saturating_sub((self.newest as u64).saturating_sub(1))
    }
}

/// Calls `each` for every part of `range` that lies outside all ranges of `known`, newest first.
fn beyond(range: RangeInclusive<u64>, known: &AckRanges, each: &mut impl FnMut(RangeInclusive<u64>)) {
    let (smallest, mut largest) = (*range.start(), Some(*range.end()));
    for known in known.iter() {
        let Some(end) = largest.filter(|end| *known.end() >= smallest && *end >= smallest) else { break };
        if *known.start() > end {
            continue;
        }
        if *known.end() < end {
            each(known.end() + 1..=end);
        }
        largest = known.start().checked_sub(1);
    }
    if let Some(end) = largest.filter(|end| *end >= smallest) {
        each(smallest..=end);
    }
}

/// The range of `length` numbers (at least one) whose largest is `largest`, cut off at zero.
#[inline]
const fn range_down_from(largest: u64, length: u64) -> RangeInclusive<u64> {
    largest.saturating_sub(length - 1)..=largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    fn numbers(ranges: &AckRanges) -> BTreeSet<u64> {
        ranges.iter().flatten().collect()
    }

    /// Disjoint ranges, newest first, from (gap, length) pairs.
    fn ranges(steps: &[(u64, u64)]) -> Vec<RangeInclusive<u64>> {
        let mut next = 0;
        let mut ranges: Vec<_> = steps
            .iter()
            .map(|(gap, len)| {
                let start = next + gap;
                next = start + len + 1;
                start..=start + len - 1
            })
            .collect();
        ranges.reverse();
        ranges
    }

    fn few_ranges() -> impl Strategy<Value = Vec<RangeInclusive<u64>>> {
        proptest::collection::vec((0..4_u64, 1..6_u64), 0..=AckRanges::MAX).prop_map(|steps| ranges(&steps))
    }

    #[test]
    fn the_newest_ranges_that_fit_are_kept() {
        let kept = AckRanges::newest_first([90..=99, 80..=80, 60..=70, 3..=9, 0..=1]);
        assert_eq!(kept.iter().collect::<Vec<_>>(), [90..=99, 80..=80, 60..=70, 3..=9]);
        assert_eq!(kept.largest(), Some(99));
        assert_eq!(AckRanges::default().iter().count(), 0);
        assert_eq!(AckRanges::default().largest(), None);
    }

    #[test]
    fn the_newest_range_grows_at_its_upper_end() {
        let mut kept = AckRanges::newest_first([5..=6, 1..=2]);
        kept.extend();
        assert_eq!(kept.iter().collect::<Vec<_>>(), [5..=7, 1..=2]);
    }

    #[test]
    fn an_extension_continues_the_newest_range_and_keeps_the_others() {
        let known = AckRanges::newest_first([10..=20, 1..=5]);
        let beyond = |ranges: &[RangeInclusive<u64>]| {
            AckRanges::newest_first(ranges.iter().cloned()).extension_of(&known)
        };
        assert_eq!(beyond(&[10..=23, 1..=5]), Some(21..=23));
        assert_eq!(beyond(&[15..=23]), Some(21..=23));
        assert!(beyond(&[10..=20, 1..=5]).is_some_and(|range| range.is_empty()));
        assert_eq!(beyond(&[10..=23, 1..=6]), None);
        assert_eq!(beyond(&[9..=23]), None);
        assert_eq!(beyond(&[22..=23]), None);
    }

    #[test]
    fn a_range_too_long_or_too_far_away_is_truncated_at_its_old_end() {
        let kept = AckRanges::newest_first([300_000..=300_000, 0..=299_000]);
        assert_eq!(kept.iter().collect::<Vec<_>>(), [300_000..=300_000, 233_466..=299_000]);
        let kept = AckRanges::newest_first([300_000..=300_000, 0..=100]);
        assert_eq!(kept.iter().collect::<Vec<_>>(), [300_000..=300_000]);
    }

    #[test]
    fn ranges_out_of_order_are_omitted() {
        let kept = AckRanges::newest_first([5..=6, 8..=9]);
        assert_eq!(kept.iter().collect::<Vec<_>>(), [5..=6]);
    }

    proptest! {
        #[test]
        fn ranges_are_returned_as_given(ranges in few_ranges()) {
            prop_assert_eq!(AckRanges::newest_first(ranges.clone()).iter().collect::<Vec<_>>(), ranges);
        }

        #[test]
        fn beyond_is_the_difference_of_the_two_sets(new in few_ranges(), known in few_ranges()) {
            let (new, known) = (AckRanges::newest_first(new), AckRanges::newest_first(known));
            let mut beyond = Vec::new();
            new.for_each_beyond(&known, |range| beyond.extend(range));
            let once: BTreeSet<_> = beyond.iter().copied().collect();
            prop_assert_eq!(once.len(), beyond.len());
            if let Some(extension) = new.extension_of(&known) {
                prop_assert_eq!(extension.collect::<BTreeSet<_>>(), once.clone());
            }
            prop_assert_eq!(once, numbers(&new).difference(&numbers(&known)).copied().collect());
        }
    }
}
