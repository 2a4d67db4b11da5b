//! Pacing (RFC 9002, section 7.7): the departure time of the next packet, exact to the picosecond and without drift.

use millpond_units::{Bytes, PICOS, Rate, Span, Time};

/// Work in bit·ps/s: a rate of 1 bit/s does 10^12 of it in a second.
type Work = u64;

/// Spaces packets so that they leave no faster than a rate.
///
/// Each packet sent adds work that must be done before the next packet may leave. If the rate changes, the remaining
/// work is done at the new rate, so that the waiting packet is rescheduled. The fraction of a picosecond by which a
/// release time is rounded up is credited to the next packet, so that the long-run rate is exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    rate: Option<Rate>,
    remaining: Work,
    updated_at: Time,
    release: Time,
    /// A packet that leaves at most this late does not shift the schedule.
    slack: Span,
    /// How much may leave at once; zero: one packet.
    quantum: Bytes,
    /// When the current burst began, and what may still leave in it.
    burst: (Time, Bytes),
}

impl Pacer {
    /// A pacer without a rate.
    pub(crate) fn new(slack: Span) -> Self {
        Self { slack, ..Self::default() }
    }

    /// Lets packets leave this much later without a shift of the schedule.
    pub(crate) fn add_slack(&mut self, slack: Span) {
        self.slack += slack;
    }

    /// When the next packet may leave.
    #[inline]
    pub(crate) fn release(&self) -> Time {
        self.release
    }

    /// True if a packet of `bytes` bytes may leave now.
    #[inline]
    pub(crate) fn permits(&self, now: Time, bytes: Bytes) -> bool {
        now >= self.release || self.burst.0 == now && bytes <= self.burst.1
    }

    /// Sets how much may leave at once; none: one packet.
    #[inline]
    pub(crate) fn set_quantum(&mut self, quantum: Option<Bytes>) {
        self.quantum = quantum.unwrap_or_default();
    }

    /// Sets the pacing rate; none disables pacing.
    pub(crate) fn set_rate(&mut self, now: Time, rate: Option<Rate>) {
        if now < self.release {
            self.remaining = self.remaining.saturating_sub(self.done_by(now));
            self.updated_at = now;
        } else {
            self.remaining = 0;
            self.updated_at = self.release;
        }
        self.rate = rate;
        self.schedule();
    }

    /// Accounts for a packet of `bytes` bytes that leaves now.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, bytes: Bytes) {
        let Some(rate) = self.rate else { return };
        let work = bytes.bits().saturating_mul(PICOS);
        if now < self.release {
            self.remaining = self.remaining.saturating_add(work);
            self.burst.1 = self.burst.1.saturating_sub(bytes);
        } else {
            self.burst = (now, self.quantum.saturating_sub(bytes));
            let on_schedule = now.since(self.release) <= self.slack;
            let surplus = if on_schedule { self.surplus(rate) } else { 0 };
            self.remaining = work.saturating_sub(surplus);
            self.updated_at = if on_schedule { self.release } else { now };
        }
        self.schedule();
    }

    /// Work done beyond the required amount at the release time, because that time is rounded up.
    #[inline]
    fn surplus(&self, rate: Rate) -> Work {
        let done = self.release.since(self.updated_at).picos().wrapping_mul(rate.bps());
        done.wrapping_sub(self.remaining).min(rate.bps().saturating_sub(1))
    }

    /// Work done between the last change and `now`.
    fn done_by(&self, now: Time) -> Work {
        let rate = self.rate.map_or(0, Rate::bps);
        let done = u128::from(now.since(self.updated_at).picos()) * u128::from(rate);
        u64::try_from(done).unwrap_or(u64::MAX)
    }

    #[inline]
    fn schedule(&mut self) {
        self.release = match self.rate {
            None => self.updated_at,
            Some(rate) if rate.is_zero() => Time::NEVER,
            Some(rate) => {
                Time::from_picos(self.updated_at.picos().saturating_add(self.remaining.div_ceil(rate.bps())))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    fn paced(rate: Rate) -> Pacer {
        let mut pacer = Pacer::default();
        pacer.set_rate(Time::ZERO, Some(rate));
        pacer
    }

    #[test]
    fn packets_of_a_quantum_leave_at_once_and_the_mean_rate_holds() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.set_quantum(Some(PACKET * 3));
        let mut now = Time::ZERO;
        for burst in 0..100_u64 {
            assert_eq!(now, Time::ZERO + Span::from_millis(3) * burst);
            for _ in 0..3 {
                assert!(pacer.permits(now, PACKET));
                pacer.on_sent(now, PACKET);
            }
            assert!(!pacer.permits(now, PACKET));
            now = pacer.release();
        }
    }

    #[test]
    fn a_million_packets_leave_at_exactly_the_pacing_rate() {
        // 8000 bits at 7 Mbit/s take 1142857142.857... ps each.
        let mut pacer = paced(Rate::from_mbps(7.0));
        let (mut last, mut least) = (Time::ZERO, Span::MAX);
        pacer.on_sent(Time::ZERO, PACKET);
        for _ in 0..1_000_000 {
            let now = pacer.release();
            least = least.min(now.since(last));
            last = now;
            pacer.on_sent(now, PACKET);
        }
        let exact = Rate::from_mbps(7.0).time_for(PACKET * 1_000_000);
        assert!(last.picos().abs_diff(exact.picos()) <= 1, "{last} instead of {exact}");
        assert!(least >= Span::from_picos(1_142_857_142));
    }

    #[test]
    fn a_packet_that_leaves_late_within_the_slack_does_not_shift_the_schedule() {
        let mut pacer = Pacer { rate: Some(Rate::from_mbps(8.0)), ..Pacer::new(Span::from_micros(300)) };
        pacer.on_sent(Time::ZERO, PACKET);
        pacer.on_sent(Time::from_secs(0.0013), PACKET);
        assert_eq!(pacer.release(), Time::from_secs(0.002));
        pacer.set_rate(Time::from_secs(0.0021), Some(Rate::from_mbps(4.0)));
        pacer.on_sent(Time::from_secs(0.0022), PACKET);
        assert_eq!(pacer.release(), Time::from_secs(0.004));
        pacer.on_sent(Time::from_secs(0.0044), PACKET);
        assert_eq!(pacer.release(), Time::from_secs(0.0064));
    }

    #[test]
    fn a_rate_change_reschedules_the_waiting_packet() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.on_sent(Time::ZERO, PACKET);
        assert_eq!(pacer.release(), Time::from_secs(0.001));
        // Half of the work is done; the other half takes twice, then a quarter as long.
        pacer.set_rate(Time::from_secs(0.0005), Some(Rate::from_mbps(4.0)));
        assert_eq!(pacer.release(), Time::from_secs(0.0015));
        pacer.set_rate(Time::from_secs(0.0005), Some(Rate::from_mbps(16.0)));
        assert_eq!(pacer.release(), Time::from_secs(0.00075));
    }

    #[test]
    fn a_zero_rate_blocks_the_packet_until_the_rate_is_positive() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.on_sent(Time::ZERO, PACKET);
        pacer.set_rate(Time::from_secs(0.0005), Some(Rate::ZERO));
        assert_eq!(pacer.release(), Time::NEVER);
        pacer.set_rate(Time::from_secs(1.0), Some(Rate::from_mbps(8.0)));
        assert_eq!(pacer.release(), Time::from_secs(1.0005));
        assert_eq!(paced(Rate::ZERO).release(), Time::NEVER);
    }

    #[test]
    fn a_late_packet_does_not_cause_a_burst() {
        let mut pacer = paced(Rate::from_mbps(8.0));
        pacer.on_sent(Time::ZERO, PACKET);
        pacer.on_sent(Time::from_secs(5.0), PACKET);
        assert_eq!(pacer.release(), Time::from_secs(5.001));
    }

    #[test]
    fn without_a_rate_packets_are_not_delayed() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Time::from_secs(1.0), PACKET);
        assert!(pacer.release() <= Time::from_secs(1.0));
        pacer.set_rate(Time::from_secs(1.0), Some(Rate::from_bps(8)));
        assert!(pacer.release() <= Time::from_secs(1.0));
    }
}
