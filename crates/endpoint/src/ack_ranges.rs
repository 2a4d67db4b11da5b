//! The packet numbers that an acknowledgement tells of: a few ranges, newest first, in 24 bytes.

use std::ops::RangeInclusive;

/// How many ranges follow the newest one at most.
const OLDER: usize = 3;

/// A range that lies below another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Older {
    /// Packet numbers between it and the range above of which nothing is told.
    gap: u16,
    /// Packet numbers in it; zero if there is no such range.
    len: u16,
}

/// Up to four ranges of packet numbers, newest first.
///
/// What does not fit is left out from the old end: of a longer list the older ranges, of a very long range its
/// oldest numbers (over 2^16 of them, or 2^32 in the newest range). Earlier acknowledgements have told of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckRanges {
    largest: u64,
    newest: u32,
    older: [Older; OLDER],
}

impl AckRanges {
    /// How many ranges fit.
    pub const MAX: usize = 1 + OLDER;

    /// One range.
    #[inline]
    pub fn one(range: RangeInclusive<u64>) -> Self {
        let length = range.end().saturating_sub(*range.start()).saturating_add(1);
        let newest = u32::try_from(length).unwrap_or(u32::MAX);
        Self { largest: *range.end(), newest, ..Self::default() }
    }

    /// One more number is told of: the one after the largest.
    #[inline]
    pub fn extend(&mut self) {
        self.largest = self.largest.saturating_add(1);
        self.newest = self.newest.saturating_add(1);
    }

    /// The first of these ranges that fit. They must come newest first and must not touch; what does not keep to
    /// that is left out.
    pub fn newest_first(ranges: impl IntoIterator<Item = RangeInclusive<u64>>) -> Self {
        let mut ranges = ranges.into_iter();
        let Some(newest) = ranges.next() else { return Self::default() };
        let mut told = Self::one(newest);
        let mut least = told.least();
        for (slot, range) in told.older.iter_mut().zip(ranges) {
            let gap = least.checked_sub(*range.end()).and_then(|distance| distance.checked_sub(1));
            let Some(gap) = gap.and_then(|gap| u16::try_from(gap).ok()) else { break };
            let length = range.end().saturating_sub(*range.start()).saturating_add(1);
            let len = u16::try_from(length).unwrap_or(u16::MAX);
            *slot = Older { gap, len };
            least = range.end() - u64::from(len - 1);
        }
        told
    }

    /// The largest packet number told of, if any is.
    #[inline]
    pub const fn largest(&self) -> Option<u64> {
        if self.newest == 0 { None } else { Some(self.largest) }
    }

    /// The ranges, newest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        let newest = self.largest().map(|largest| self.least()..=largest);
        let mut least = self.least();
        let older = self.older.iter().map_while(move |older| {
            let largest = least.checked_sub(1 + u64::from(older.gap)).filter(|_| older.len > 0)?;
            let range = range_down_from(largest, u64::from(older.len));
            least = *range.start();
            Some(range)
        });
        newest.into_iter().chain(older)
    }

    /// What these ranges tell beyond `known`, if that is nothing but more numbers after the newest range of `known`:
    /// then it is one range, empty if there are none.
    #[inline]
    pub fn extension_of(&self, known: &Self) -> Option<RangeInclusive<u64>> {
        let adjoins = self.least() <= known.largest.saturating_add(1) && known.newest > 0;
        let covers = known.least() <= self.least();
        let lone = self.older[0].len == 0;
        let rest_is_known = lone || (self.older == known.older && self.least() == known.least());
        (adjoins && covers && rest_is_known).then(|| known.largest.saturating_add(1)..=self.largest)
    }

    /// Calls `each` for the parts of these ranges that lie outside all ranges of `known`, newest first.
    pub fn for_each_beyond(&self, known: &Self, mut each: impl FnMut(RangeInclusive<u64>)) {
        for range in self.iter() {
            beyond(range, known, &mut each);
        }
    }

    /// The least number of the newest range, if there is one.
    #[inline]
    const fn least(&self) -> u64 {
        self.largest.saturating_sub((self.newest as u64).saturating_sub(1))
    }
}

/// Calls `each` for the parts of `range` outside all ranges of `known`, newest first.
fn beyond(range: RangeInclusive<u64>, known: &AckRanges, each: &mut impl FnMut(RangeInclusive<u64>)) {
    let (least, mut largest) = (*range.start(), Some(*range.end()));
    for known in known.iter() {
        let Some(end) = largest.filter(|end| *known.end() >= least && *end >= least) else { break };
        if *known.start() > end {
            continue;
        }
        if *known.end() < end {
            each(known.end() + 1..=end);
        }
        largest = known.start().checked_sub(1);
    }
    if let Some(end) = largest.filter(|end| *end >= least) {
        each(least..=end);
    }
}

/// `length` numbers (at least one) of which `largest` is the largest; none is below zero.
#[inline]
const fn range_down_from(largest: u64, length: u64) -> RangeInclusive<u64> {
    largest.saturating_sub(length - 1)..=largest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

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
    fn it_tells_the_newest_ranges_that_fit() {
        let told = AckRanges::newest_first([90..=99, 80..=80, 60..=70, 3..=9, 0..=1]);
        assert_eq!(told.iter().collect::<Vec<_>>(), [90..=99, 80..=80, 60..=70, 3..=9]);
        assert_eq!(told.largest(), Some(99));
        assert_eq!(AckRanges::default().iter().count(), 0);
        assert_eq!(AckRanges::default().largest(), None);
    }

    #[test]
    fn the_newest_range_grows_at_its_upper_end() {
        let mut told = AckRanges::newest_first([5..=6, 1..=2]);
        told.extend();
        assert_eq!(told.iter().collect::<Vec<_>>(), [5..=7, 1..=2]);
    }

    #[test]
    fn an_extension_goes_on_from_the_newest_range_and_leaves_the_others_alone() {
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
    fn what_is_too_long_or_too_far_loses_its_old_end() {
        let told = AckRanges::newest_first([300_000..=300_000, 0..=299_000]);
        assert_eq!(told.iter().collect::<Vec<_>>(), [300_000..=300_000, 233_466..=299_000]);
        let told = AckRanges::newest_first([300_000..=300_000, 0..=100]);
        assert_eq!(told.iter().collect::<Vec<_>>(), [300_000..=300_000]);
    }

    #[test]
    fn ranges_that_are_out_of_order_are_left_out() {
        let told = AckRanges::newest_first([5..=6, 8..=9]);
        assert_eq!(told.iter().collect::<Vec<_>>(), [5..=6]);
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(ranges in few_ranges()) {
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
