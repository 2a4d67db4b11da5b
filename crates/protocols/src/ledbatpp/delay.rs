//! The queueing delay: the least of the newest round-trip times over the least of ten minutes (RFC 6817, section 2.4.2, with
//! round-trip times instead of one-way delays).

use millpond_units::{Span, Time};
use std::collections::VecDeque;

/// CURRENT_FILTER of RFC 6817: samples of which the least is the current delay.
const CURRENT_SAMPLES: usize = 4;

/// BASE_HISTORY of RFC 6817: minutes.
const BASE_MINUTES: usize = 10;

const MINUTE: Span = Span::from_millis(60_000);

/// Round-trip times of the last minutes.
#[derive(Clone, Debug, Default)]
pub(super) struct Delays {
    current: VecDeque<Span>,
    /// The least round-trip time of each minute, the oldest first.
    minutes: VecDeque<Span>,
    /// When the current minute began.
    minute: Time,
}

impl Delays {
    pub(super) fn record(&mut self, now: Time, rtt: Span) {
        self.current.push_back(rtt);
        if self.current.len() > CURRENT_SAMPLES {
            self.current.pop_front();
        }
        match self.minutes.back_mut() {
            Some(least) if now.since(self.minute) < MINUTE => *least = rtt.min(*least),
            _ => self.begin_minute(now, rtt),
        }
    }

    fn begin_minute(&mut self, now: Time, rtt: Span) {
        self.minute = now;
        self.minutes.push_back(rtt);
        if self.minutes.len() > BASE_MINUTES {
            self.minutes.pop_front();
        }
    }

    /// The least round-trip time of the last ten minutes; zero before the first sample.
    pub(super) fn base(&self) -> Span {
        self.minutes.iter().min().copied().unwrap_or_default()
    }

    /// The queueing delay.
    pub(super) fn queueing(&self) -> Span {
        self.current.iter().min().copied().unwrap_or_default().saturating_sub(self.base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_long_sample_is_filtered_and_the_base_is_forgotten_after_ten_minutes() {
        let mut delays = Delays::default();
        let mut at = |seconds: u64, rtt: u64| {
            delays.record(Time::ZERO + Span::from_millis(1000 * seconds), Span::from_millis(rtt));
            (delays.base(), delays.queueing())
        };
        let ms = Span::from_millis;
        assert_eq!(at(0, 100), (ms(100), ms(0)));
        for (rtt, queueing) in [(150, 0), (150, 0), (150, 0), (150, 50), (120, 20)] {
            assert_eq!(at(1, rtt), (ms(100), ms(queueing)));
        }
        // The base delay of the first minute counts until ten later minutes have begun.
        for minute in 1..10 {
            assert_eq!(at(60 * minute, 130).0, ms(100));
        }
        assert_eq!(at(600, 130).0, ms(130));
    }
}
