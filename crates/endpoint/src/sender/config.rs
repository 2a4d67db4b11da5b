//! Configuration, counters and results of a sender.

use millpond_law::Needs;
use millpond_units::{Bytes, Rate, Span, Time};

/// Configuration of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// The part of it that is not payload.
    pub overhead: Bytes,
    /// Weight of the flow.
    pub weight: f64,
    /// Rate of the sender's own interface, if it is known.
    pub interface: Option<Rate>,
    /// Links from the sender to the receiver.
    pub hops: u32,
    /// The inputs that the protocol declares; it receives no others.
    pub needs: Needs,
    /// Initial flow-control limit in bytes; `u64::MAX` unless the receiver is a relay.
    pub credit: u64,
    /// Packet threshold of loss detection (kPacketThreshold; RFC 9002 recommends 3).
    pub packet_threshold: u64,
    /// Timer granularity (kGranularity; RFC 9002 recommends 1 ms).
    pub granularity: Span,
    /// RTT before the first sample (kInitialRtt; RFC 9002 recommends 333 ms).
    pub initial_rtt: Span,
    /// Upper bound of the acknowledgement delay of the receiver.
    pub max_ack_delay: Span,
    /// Probes that leave when a probe timeout expires: two, so that a single loss does not cause another timeout of twice
    /// the duration (RFC 9002, section 6.2.4, permits one or two).
    pub probes_per_timeout: u32,
    /// Lower bound of the probe timeout. RFC 9002 has none; RFC 6298, rule (2.4), has 1 s for the retransmission timeout of TCP.
    pub min_probe_timeout: Span,
    /// Upper bound of the time between two probe timeouts, not below `min_probe_timeout`. RFC 9002 has none (section 6.2.1: the probe timeout doubles each time,
    /// and the idle timeout limits the life of a connection). RFC 8961, section 4, permits a maximum of at least 60 s,
    /// as does RFC 6298, rule (2.5). The QUIC implementations quic-go and Chromium have 60 s.
    pub max_probe_timeout: Span,
    /// Upper bound of the bytes in flight, whatever the law permits.
    pub max_in_flight: Bytes,
    /// How late the driver may handle a deadline. Packets that leave at most this late do not shift the schedule of the
    /// pacer, so that the mean rate is exact in spite of the delay.
    pub timer_slack: Span,
    /// Mean number of packets from one skipped packet number to the next, by which a receiver that acknowledges early is
    /// detected (RFC 9000, section 21.4); none: no number is skipped, and acknowledgements are not checked.
    pub skip_numbers: Option<u32>,
    /// Whether it stops ECN when a packet has arrived without its ECN field (RFC 9000, section 13.4.2.1).
    pub validate_ecn: bool,
    /// Tick of its clock; zero: the clock is exact.
    pub clock_tick: Span,
}

impl SenderConfig {
    /// The default configuration for packets of this size on the wire, without overhead.
    pub const fn new(packet: Bytes, needs: Needs) -> Self {
        Self {
            packet,
            overhead: Bytes::ZERO,
            weight: 1.0,
            interface: None,
            hops: 1,
            needs,
            credit: u64::MAX,
            packet_threshold: 3,
            granularity: Span::from_millis(1),
            initial_rtt: Span::from_millis(333),
            max_ack_delay: Span::ZERO,
            probes_per_timeout: 2,
            min_probe_timeout: Span::ZERO,
            max_probe_timeout: Span::from_millis(60_000),
            max_in_flight: Bytes::new(1 << 28),
            timer_slack: Span::ZERO,
            skip_numbers: None,
            validate_ecn: true,
            clock_tick: Span::ZERO,
        }
    }

    /// The time from `start` to `end` that its clock measures: a whole number of ticks, at least one.
    #[inline]
    pub(super) fn measured(&self, start: Time, end: Time) -> Span {
        let tick = self.clock_tick.picos();
        if tick == 0 {
            return end.since(start);
        }
        let ticks = (end.picos() / tick).saturating_sub(start.picos() / tick);
        Span::from_picos(ticks.max(1) * tick)
    }

    /// Bytes of stream data in a full packet.
    pub(super) fn payload(&self) -> u32 {
        u32::try_from(self.packet.saturating_sub(self.overhead).get()).unwrap_or(u32::MAX)
    }
}

/// Counters of a sender since the loop began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Packets sent, retransmissions and probes included.
    pub sent_packets: u64,
    /// Bytes on the wire of these packets.
    pub sent_bytes: u64,
    /// Packets sent with data that had been sent before.
    pub retransmitted_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Packets acknowledged.
    pub acked_packets: u64,
    /// Packets declared lost that were acknowledged later.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub probe_timeouts: u64,
    /// Times that persistent congestion was declared.
    pub persistent_congestions: u64,
}

/// Result of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOutcome {
    /// RTT sample, if the newest packet was newly acknowledged.
    pub rtt: Option<Span>,
    /// Newly acknowledged bytes, counted on the wire.
    pub acked: Bytes,
    /// Bytes declared lost, counted on the wire.
    pub lost: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(tick: Span, start: u64, span: u64) -> u64 {
        let config = SenderConfig { clock_tick: tick, ..SenderConfig::new(Bytes::new(1500), Needs::NONE) };
        let start = Time::ZERO + Span::from_picos(start);
        config.measured(start, start + Span::from_picos(span)).picos()
    }

    /// The clock reads the number of ticks that have begun. Over all phases of its ticks the mean error is zero.
    #[test]
    fn a_clock_measures_whole_ticks_less_than_one_tick_from_the_time_and_right_on_average() {
        let tick = 100;
        for span in [100, 101, 150, 199, 1234] {
            let times = (0..tick).map(|phase| measured(Span::from_picos(tick), phase, span));
            let times: Vec<u64> = times.collect();
            assert!(times.iter().all(|time| time % tick == 0 && time.abs_diff(span) < tick), "{span}");
            assert_eq!(times.iter().sum::<u64>(), tick * span, "{span}");
        }
        assert_eq!(measured(Span::from_picos(tick), 10, 20), tick, "at least one tick");
        assert_eq!(measured(Span::ZERO, 10, 20), 20, "an exact clock");
    }
}
