//! Which packets have arrived, and what to tell of them.

use crate::AckRanges;
use crate::range_set::RangeSet;
use millpond_units::Time;

/// The packet numbers that have arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    numbers: RangeSet,
    /// Numbers below this no longer matter to the sender.
    floor: u64,
    /// One more than the largest that has arrived.
    expected: u64,
    newest_at: Time,
    /// What to tell; empty if it must be collected anew.
    told: AckRanges,
}

/// What is to be said of one packet's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// It has not arrived before (as far as is still known).
    pub(crate) is_new: bool,
    /// It is the one after the largest so far.
    pub(crate) in_order: bool,
}

impl Arrivals {
    /// When the packet with the largest number arrived.
    #[inline]
    pub(crate) fn newest_at(&self) -> Time {
        self.newest_at
    }

    /// A packet arrived; its sender no longer cares for numbers below `floor`.
    #[inline]
    pub(crate) fn on_arrival(&mut self, now: Time, number: u64, floor: u64) -> Arrival {
        let floor = self.floor.max(floor.min(number));
        // Mostly nothing is missing, and this is the next.
        if number == self.expected && self.numbers.extend(number) {
            (self.floor, self.expected, self.newest_at) = (floor, number + 1, now);
            self.told = AckRanges::one(floor..=number);
            return Arrival { is_new: true, in_order: true };
        }
        self.on_arrival_around_gaps(now, number, floor)
    }

    #[inline(never)]
    fn on_arrival_around_gaps(&mut self, now: Time, number: u64, floor: u64) -> Arrival {
        let in_order = number == self.expected;
        let mut is_new = false;
        self.numbers.raise(floor);
        self.numbers.insert(number..number.saturating_add(1), |_| is_new = true);
        self.told = self.tell_next(in_order, floor);
        self.floor = floor;
        if number >= self.expected {
            self.expected = number.saturating_add(1);
            self.newest_at = now;
        }
        Arrival { is_new, in_order }
    }

    /// The newest ranges; packet `of` is told of even if it is not among them.
    #[inline]
    pub(crate) fn ranges(&mut self, of: Option<u64>) -> AckRanges {
        if self.told.largest().is_none() {
            self.told = self.collect(of);
        }
        self.told
    }

    /// What to tell after one more arrival, in the two cases in which that is easily said.
    #[inline]
    fn tell_next(&self, in_order: bool, floor: u64) -> AckRanges {
        let prefix = self.numbers.prefix();
        if self.numbers.is_contiguous() && prefix > floor {
            return AckRanges::one(floor..=prefix - 1);
        }
        let mut told = self.told;
        if !in_order || told.largest().is_none() {
            return AckRanges::default();
        }
        told.extend();
        told
    }

    /// Collects the newest ranges; the last place belongs to the range of packet `of`, if that is an old one.
    fn collect(&self, of: Option<u64>) -> AckRanges {
        let prefix = (self.numbers.prefix() > self.floor).then(|| self.floor..self.numbers.prefix());
        let mut all = self.numbers.descending().cloned().chain(prefix);
        let newest: [_; AckRanges::MAX - 1] = std::array::from_fn(|_| all.next());
        let least = newest.iter().flatten().last().map_or(0, |range| range.start);
        let last = match of.filter(|number| *number < least) {
            Some(old) => all.find(|range| range.start <= old),
            None => all.next(),
        };
        let told = newest.into_iter().flatten().chain(last);
        AckRanges::newest_first(told.map(|range| range.start..=range.end - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn arrive(numbers: &[u64]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        for number in numbers {
            arrivals.on_arrival(Time::ZERO, *number, 0);
        }
        arrivals
    }

    #[test]
    fn an_old_packet_that_comes_late_takes_the_last_place() {
        let mut arrivals = arrive(&[0, 2, 4, 6, 8, 10, 12, 3]);
        let told: Vec<_> = arrivals.ranges(Some(3)).iter().collect();
        assert_eq!(told, [12..=12, 10..=10, 8..=8, 2..=4]);
    }

    #[test]
    fn below_the_floor_nothing_is_told() {
        let mut arrivals = arrive(&[0, 1, 3, 5, 6]);
        arrivals.on_arrival(Time::ZERO, 7, 4);
        assert_eq!(arrivals.ranges(None).iter().collect::<Vec<_>>(), [5..=7]);
    }

    #[test]
    fn a_floor_above_the_packet_itself_is_not_believed() {
        let mut arrivals = Arrivals::default();
        assert!(arrivals.on_arrival(Time::ZERO, 2, u64::MAX).is_new);
        assert_eq!(arrivals.ranges(None).iter().collect::<Vec<_>>(), [2..=2]);
    }

    #[test]
    fn a_number_that_no_sender_reaches_does_no_harm() {
        // Packet numbers end at 2^62 (RFC 9000, section 12.3); 2^64 - 1 has no place in the set.
        let mut arrivals = arrive(&[u64::MAX - 1, u64::MAX, u64::MAX]);
        assert_eq!(arrivals.ranges(None).largest(), Some(u64::MAX - 1));
    }

    proptest! {
        #[test]
        fn only_what_arrived_is_told_and_the_newest_always(
            numbers in proptest::collection::vec(0..40_u64, 1..60)
        ) {
            let (mut arrivals, mut plain) = (Arrivals::default(), BTreeSet::new());
            for number in numbers {
                let in_order = plain.last().map_or(0, |largest| largest + 1) == number;
                let is_new = plain.insert(number);
                prop_assert_eq!(arrivals.on_arrival(Time::ZERO, number, 0), Arrival { is_new, in_order });
                let told = arrivals.ranges(Some(number));
                prop_assert_eq!(told.largest(), plain.last().copied());
                prop_assert!(told.iter().flatten().all(|number| plain.contains(&number)));
                prop_assert!(told.iter().any(|range| range.contains(&number)));
            }
        }
    }
}
