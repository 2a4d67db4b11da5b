//! What holds when more connect to a node than it can serve: pauses, time limits, and few lines in the log.

use millpond_units::{Span, Time};

/// Connections at a time of applications and readers of the status that have no flow. The oldest makes room for the next.
pub(super) const MOST_WITHOUT_FLOW: usize = 256;
/// How long a connection may have no flow: a client that names its target needs a round trip or two.
pub(super) const LONGEST_WITHOUT_FLOW: Span = Span::from_millis(10_000);
/// How long nothing is accepted after the kernel has refused, because file descriptors or memory are exhausted.
const ACCEPT_PAUSE: Span = Span::from_millis(100);
/// From one line of a kind in the log to the next.
const LOG_INTERVAL: Span = Span::from_millis(10_000);

/// When nothing is accepted.
#[derive(Debug, Default)]
pub(super) struct AcceptPause(Option<Time>);

impl AcceptPause {
    /// The kernel has refused.
    pub(super) fn begin(&mut self, now: Time) {
        self.0 = Some(now + ACCEPT_PAUSE);
    }

    /// Whether connections are accepted.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.0.is_none_or(|end| end <= now)
    }

    /// When the pause ends, if there is one.
    pub(super) fn end(&self, now: Time) -> Time {
        self.0.filter(|end| *end > now).unwrap_or(Time::NEVER)
    }
}

/// Decides whether an event that strangers can repeat is logged.
#[derive(Debug, Default)]
pub(super) struct RareLine(Option<Time>);

impl RareLine {
    /// True at most once in ten seconds.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.0.is_none_or(|last| now >= last + LOG_INTERVAL);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_and_a_line_is_written_once_in_its_interval() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut pause = AcceptPause::default();
        assert!(pause.is_over(at(0)) && pause.end(at(0)) == Time::NEVER);
        pause.begin(at(50));
        assert!(!pause.is_over(at(149)) && pause.end(at(50)) == at(150));
        assert!(pause.is_over(at(150)) && pause.end(at(150)) == Time::NEVER);
        let mut line = RareLine::default();
        let times = [0, 1, 9999, 10_000, 15_000, 20_000];
        assert_eq!(times.map(|time| line.is_due(at(time))), [true, false, false, true, false, true]);
    }
}
