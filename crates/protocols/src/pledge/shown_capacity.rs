//! The capacity that the departures of the last milliseconds show.
//!
//! The capacity that a link signals may be late, or too low. A link that serves `k` packets within a time has had a
//! capacity of at least `k - 1` packets in this time, whatever it signals.

use millpond_units::{Span, Time};

/// Milliseconds of the sliding window, that of ABC's router.
const SLOTS: usize = 20;
const SLOT: Span = Span::from_millis(1);

/// Bytes that have departed in the last 20 ms.
#[derive(Default)]
pub(super) struct Departures {
    bytes: [f64; SLOTS],
    sum: f64,
    /// Number of the newest slot.
    newest: u64,
}

impl Departures {
    /// Counts a packet of `bytes`, and returns the capacity that was shown, in bytes/s: at most the true mean of the window,
    /// since the first of its packets may have been served before.
    #[inline]
    pub(super) fn count(&mut self, now: Time, bytes: f64) -> f64 {
        let slot = now.since(Time::ZERO).picos() / SLOT.picos();
        if slot != self.newest {
            self.move_to(slot);
        }
        self.bytes[slot as usize % SLOTS] += bytes;
        self.sum += bytes;
        (self.sum - bytes).max(0.0) / (SLOT * SLOTS as u64).secs()
    }

    fn move_to(&mut self, slot: u64) {
        if slot.saturating_sub(self.newest) >= SLOTS as u64 {
            (self.bytes, self.sum) = ([0.0; SLOTS], 0.0);
            self.newest = slot;
        }
        while self.newest < slot {
            self.newest += 1;
            self.sum -= std::mem::take(&mut self.bytes[self.newest as usize % SLOTS]);
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
            shown = departures.count(Time::ZERO + SLOT * millisecond, 1000.0);
            assert!(shown <= 1e6);
        }
        assert!((shown - 0.95e6).abs() < 1.0, "19 of 20 packets: {shown}");
    }

    #[test]
    fn packets_that_are_served_one_by_one_show_no_capacity() {
        let mut departures = Departures::default();
        for packet in 0..10 {
            assert_eq!(departures.count(Time::ZERO + SLOT * (25 * packet), 1500.0), 0.0);
        }
        assert_eq!(departures.count(Time::ZERO + SLOT * 226, 1500.0), 1500.0 / 0.02);
    }
}
