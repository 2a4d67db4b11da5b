//! The clock of the emulator: picoseconds since its start.

use millpond_units::{Span, Time};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock that starts at zero and never goes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// Nanoseconds from 1970 to the start.
    epoch: u64,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "real packets have the time of a clock")]
    pub(crate) fn start() -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), epoch: u64::try_from(epoch.as_nanos()).unwrap_or(u64::MAX) }
    }

    /// The time now.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        let picos = self.start.elapsed().as_nanos().saturating_mul(1000);
        Time::from_picos(u64::try_from(picos).unwrap_or(u64::MAX - 1))
    }

    /// A time as nanoseconds since 1970.
    pub(crate) fn since_1970(&self, time: Time) -> u64 {
        self.epoch.saturating_add(time.since(Time::ZERO).picos() / 1000)
    }
}

/// Processor time of this thread in seconds, since it began.
pub(crate) fn processor_time() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// A span as the timeout of a wait, rounded up to nanoseconds.
pub(crate) fn timeout(span: Span) -> rustix::event::Timespec {
    let nanos = span.picos().div_ceil(1000);
    rustix::event::Timespec {
        tv_sec: (nanos / 1_000_000_000) as i64,
        tv_nsec: (nanos % 1_000_000_000) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_never_ends_before_its_time_and_captures_count_nanoseconds() {
        let parts = |span| (timeout(span).tv_sec, timeout(span).tv_nsec);
        assert_eq!(parts(Span::from_picos(1)), (0, 1), "rounded up, or the thread would not sleep");
        assert_eq!(parts(Span::from_millis(1500)), (1, 500_000_000));
        let clock = Clock::start();
        let second = clock.since_1970(Time::from_secs(1.0)) - clock.since_1970(Time::ZERO);
        assert_eq!(second, 1_000_000_000);
    }
}
