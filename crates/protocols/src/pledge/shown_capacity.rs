//! The capacity that the departures of the last milliseconds show.
//!
//! The capacity that a link signals may be late, or too low. A link that serves `k` packets within a time has had a
//! capacity of at least `k - 1` packets in this time, whatever it signals.

use millpond_units::{Span, Time};

/// Milliseconds of the sliding window, that of ABC's router.
const SLOTS: usize = 20;
const SLOT: Span = Span::from_millis(1);
const WINDOW: Span = Span::from_millis(SLOTS as u64);

/// Bytes that have departed in the last 20 ms.
#[derive(Default)]
pub(super) struct Departures {
    /// Those of earlier slots, and their sum. The present slot has an empty place.
    earlier: [u64; SLOTS],
    sum: u64,
    /// Those of the present slot, with the last packet.
    present: u64,
    last: u64,
    /// Place of the present slot, and its end.
    place: usize,
    end: Time,
}

impl Departures {
    /// Counts a packet of `bytes`.
    #[inline]
    pub(super) fn count(&mut self, now: Time, bytes: u64) {
        if now >= self.end {
            self.move_to(now);
        }
        self.present += bytes;
        self.last = bytes;
    }

    /// The capacity that was shown, in bytes/s: at most the true mean of the window, since the first of its packets may have
    /// been served before.
    pub(super) fn capacity(&self) -> f64 {
        (self.sum + self.present - self.last) as f64 / WINDOW.secs()
    }

    /// Begins the slot of this time, and forgets those that are too old.
    fn move_to(&mut self, now: Time) {
        if now.since(self.end) >= WINDOW {
            *self = Self { end: now, ..Self::default() };
        }
        while now >= self.end {
            self.earlier[self.place] = self.present;
            self.sum += core::mem::take(&mut self.present);
            self.place = if self.place + 1 < SLOTS { self.place + 1 } else { 0 };
            self.sum -= core::mem::take(&mut self.earlier[self.place]);
            self.end += SLOT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_capacity_approaches_the_rate_of_departures_from_below() {
        let mut departures = Departures::default();
        let mut shown = 0.0;
        // A packet of 1000 bytes each millisecond.
        for millisecond in 0..100 {
            departures.count(Time::ZERO + SLOT * millisecond, 1000);
            shown = departures.capacity();
            assert!(shown <= 1e6);
        }
        assert!((shown - 0.95e6).abs() < 1.0, "19 of 20 packets: {shown}");
    }

    #[test]
    fn packets_that_are_served_one_by_one_show_no_capacity() {
        let mut departures = Departures::default();
        let mut shown = |millisecond| {
            departures.count(Time::ZERO + SLOT * millisecond, 1500);
            departures.capacity()
        };
        assert!((0..10).all(|packet| shown(25 * packet) == 0.0));
        assert_eq!(shown(226), 1500.0 / 0.02);
    }

    #[test]
    fn departures_are_forgotten_after_20_ms_whether_others_follow_or_not() {
        for others in [0, 1, 5, 19] {
            let mut departures = Departures::default();
            (0..10).for_each(|_| departures.count(Time::ZERO, 1000));
            assert_eq!(departures.capacity(), 9000.0 / 0.02);
            (1..=others).for_each(|slot| departures.count(Time::ZERO + SLOT * slot, 500));
            departures.count(Time::ZERO + SLOT * 20, 700);
            assert_eq!(departures.capacity(), 500.0 * others as f64 / 0.02, "{others}");
        }
    }
}
