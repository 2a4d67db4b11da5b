//! The time of the library and the time of the laws.

use millpond_units::{Span, Time};
use std::time::{Duration, Instant};

const PICOS_PER_NANO: u64 = 1000;

/// Converts between the instants of the QUIC library and the times of the laws, which begin at zero. It reads no clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock whose time zero is `start`.
    pub fn new(start: Instant) -> Self {
        Self { start }
    }

    /// The first instant at or after `time`: instants are whole nanoseconds.
    pub fn instant(self, time: Time) -> Instant {
        self.start + Duration::from_nanos(time.picos().div_ceil(PICOS_PER_NANO))
    }

    /// The time of an instant.
    pub fn time(self, instant: Instant) -> Time {
        Time::ZERO + span(instant.saturating_duration_since(self.start))
    }
}

/// A duration of the library as a span.
pub fn span(duration: Duration) -> Span {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    Span::from_picos(nanos.saturating_mul(PICOS_PER_NANO))
}

/// A span as a duration of the library, rounded up.
pub fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.picos().div_ceil(PICOS_PER_NANO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "any instant is a start")]
    fn a_time_between_two_nanoseconds_is_the_later_one() {
        let start = Instant::now();
        let clock = Clock::new(start);
        assert_eq!(clock.instant(Time::from_picos(1_001)), start + Duration::from_nanos(2));
        assert_eq!(clock.time(start + Duration::from_nanos(2)), Time::from_picos(2_000));
        assert_eq!(clock.time(start), Time::ZERO);
    }
}
