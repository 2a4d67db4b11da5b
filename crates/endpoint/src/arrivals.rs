//! The packet numbers received, and the ranges of them to report in an acknowledgement.

use crate::AckRanges;
use crate::range_set::RangeSet;
use millpond_units::Time;

/// The packet numbers that have arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    numbers: RangeSet,
    /// The sender needs no acknowledgement of numbers below this one.
    floor: u64,
    /// One more than the largest number that has arrived.
    expected: u64,
    newest_at: Time,
    /// The ranges to report while packets are missing; empty if they must be collected again.
    reported: AckRanges,
}

/// Classification of an arriving packet number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// It has not arrived before, as far as the receiver still knows.
    pub(crate) is_new: bool,
    /// It follows the largest number received so far.
    pub(crate) in_order: bool,
}

impl Arrivals {
    /// When the packet with the largest number arrived.
    #[inline]
    pub(crate) fn newest_at(&self) -> Time {
        self.newest_at
    }

    /// Records an arrival; the sender needs no acknowledgement of numbers below `floor`.
    #[inline]
    pub(crate) fn on_arrival(&mut self, now: Time, number: u64, floor: u64) -> Arrival {
        let floor = self.floor.max(floor.min(number));
        // The usual case: no gap, and the expected number.
        if number == self.expected && self.numbers.extend(number) {
            (self.floor, self.expected, self.newest_at) = (floor, number + 1, now);
            return Arrival { is_new: true, in_order: true };
        }
        self.on_arrival_with_gaps(now, number, floor)
    }

    #[inline(never)]
    fn on_arrival_with_gaps(&mut self, now: Time, number: u64, floor: u64) -> Arrival {
        let in_order = number == self.expected;
        let mut is_new = false;
        self.numbers.raise(floor);
        self.numbers.insert(number..number.saturating_add(1), |_| is_new = true);
        self.reported = self.next_report(in_order);
        self.floor = floor;
        if number >= self.expected {
            self.expected = number.saturating_add(1);
            self.newest_at = now;
        }
        Arrival { is_new, in_order }
    }

    /// The newest ranges. The range of packet `acked` is included even if it is not among them.
    #[inline]
    pub(crate) fn ranges(&mut self, acked: Option<u64>) -> AckRanges {
        let prefix = self.numbers.prefix();
        if self.numbers.is_contiguous() && prefix > self.floor {
            return AckRanges::single(self.floor..=prefix - 1);
        }
        self.ranges_with_gaps(acked)
    }

    #[inline(never)]
    fn ranges_with_gaps(&mut self, acked: Option<u64>) -> AckRanges {
        if self.reported.largest().is_none() {
            self.reported = self.collect(acked);
        }
        self.reported
    }

    /// The ranges after one more arrival where they follow from the previous ones; empty where they do not.
    #[inline]
    fn next_report(&self, in_order: bool) -> AckRanges {
        let mut reported = self.reported;
        if !in_order || reported.largest().is_none() {
            return AckRanges::default();
        }
        reported.extend();
        reported
    }

    /// Collects the newest ranges. The last entry is the range of packet `acked`, if that is older than the others.
    fn collect(&self, acked: Option<u64>) -> AckRanges {
        let prefix = (self.numbers.prefix() > self.floor).then(|| self.floor..self.numbers.prefix());
        let mut all = self.numbers.descending().cloned().chain(prefix);
        let newest: [_; AckRanges::MAX - 1] = core::array::from_fn(|_| all.next());
        let smallest = newest.iter().flatten().last().map_or(0, |range| range.start);
        let last = match acked.filter(|number| *number < smallest) {
            Some(old) => all.find(|range| range.start <= old),
            None => all.next(),
        };
        let reported = newest.into_iter().flatten().chain(last);
        AckRanges::newest_first(reported.map(|range| range.start..=range.end - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    fn arrive(numbers: &[u64]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        for number in numbers {
            arrivals.on_arrival(Time::ZERO, *number, 0);
        }
        arrivals
    }

    #[test]
    fn a_late_old_packet_is_reported_in_the_last_range() {
        let mut arrivals = arrive(&[0, 2, 4, 6, 8, 10, 12, 3]);
        let reported: Vec<_> = arrivals.ranges(Some(3)).iter().collect();
        assert_eq!(reported, [12..=12, 10..=10, 8..=8, 2..=4]);
    }

    #[test]
    fn numbers_below_the_floor_are_not_reported() {
        let mut arrivals = arrive(&[0, 1, 3, 5, 6]);
        arrivals.on_arrival(Time::ZERO, 7, 4);
        assert_eq!(arrivals.ranges(None).iter().collect::<Vec<_>>(), [5..=7]);
    }

    #[test]
    fn a_floor_above_the_packet_itself_is_ignored() {
        let mut arrivals = Arrivals::default();
        assert!(arrivals.on_arrival(Time::ZERO, 2, u64::MAX).is_new);
        assert_eq!(arrivals.ranges(None).iter().collect::<Vec<_>>(), [2..=2]);
    }

    #[test]
    fn a_number_beyond_the_protocol_limit_is_handled() {
        // Packet numbers end at 2^62 (RFC 9000, section 12.3); the set cannot hold 2^64 - 1.
        let mut arrivals = arrive(&[u64::MAX - 1, u64::MAX, u64::MAX]);
        assert_eq!(arrivals.ranges(None).largest(), Some(u64::MAX - 1));
    }

    proptest! {
        #[test]
        fn only_received_numbers_are_reported_and_always_the_newest(
            numbers in proptest::collection::vec(0..40_u64, 1..60)
        ) {
            let (mut arrivals, mut plain) = (Arrivals::default(), BTreeSet::new());
            for number in numbers {
                let in_order = plain.last().map_or(0, |largest| largest + 1) == number;
                let is_new = plain.insert(number);
                prop_assert_eq!(arrivals.on_arrival(Time::ZERO, number, 0), Arrival { is_new, in_order });
                let reported = arrivals.ranges(Some(number));
                prop_assert_eq!(reported.largest(), plain.last().copied());
                prop_assert!(reported.iter().flatten().all(|number| plain.contains(&number)));
                prop_assert!(reported.iter().any(|range| range.contains(&number)));
            }
        }
    }
}
