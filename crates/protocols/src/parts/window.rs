//! The window of NewReno and of laws based on it: slow start, the additive increase of Reno, the recovery period.

use millpond_law::key::{Key, from, number_or};
use millpond_law::{Ack, Cause, Congestion, Episode};
use millpond_units::Bytes;

/// Largest window in bytes, a petabyte: every sum stays finite for any feedback.
pub(crate) const MOST: f64 = 1e15;

/// Smallest window after a reduction, in packets (RFC 9002, section 7.2).
const MINIMUM_PACKETS: f64 = 2.0;

pub(crate) const INITIAL_WINDOW: Key<Option<f64>> =
    number_or("rfc9002", "initial_window", "packets", from(1.0).to(1e6))
        .source("RFC 9002, section 7.2")
        .meaning("initial window; \"rfc9002\": 10 packets, but at most 14720 bytes, or 2 packets if larger");

/// The initial window in bytes (RFC 9002, section 7.2).
fn rfc9002_initial_window(packet: f64) -> f64 {
    (10.0 * packet).min((2.0 * packet).max(14_720.0))
}

/// The initial window in bytes, for packets of this many bytes; `initial` in packets, by default RFC 9002's.
pub(crate) fn initial_window_bytes(packet: f64, initial: Option<f64>) -> f64 {
    initial.map_or_else(|| rfc9002_initial_window(packet), |packets| packets * packet)
}

/// The same in bits, for packets of this many bits.
pub(crate) fn initial_window(packet: f64, initial: Option<f64>) -> f64 {
    8.0 * initial_window_bytes(packet / 8.0, initial)
}

/// A window in bytes, with fractions of a byte; permits are rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// A full packet.
    packet: f64,
    bytes: f64,
    /// Slow-start threshold.
    threshold: f64,
    /// Delivered bytes at the last acknowledgement.
    delivered: Bytes,
    /// Delivered bytes when the newest packet that it acknowledged was sent.
    prior_delivered: Bytes,
    /// Delivered bytes when recovery began; packets sent before that do not end it.
    recovery: Bytes,
}

impl Window {
    /// A window for packets of this size; `initial` in packets, by default RFC 9002's.
    pub(crate) fn new(packet: Bytes, initial: Option<f64>) -> Self {
        let packet = packet.as_f64().clamp(1.0, MOST / MINIMUM_PACKETS);
        let bytes = initial_window_bytes(packet, initial);
        Self {
            packet,
            bytes: bytes.min(MOST),
            threshold: f64::INFINITY,
            delivered: Bytes::ZERO,
            prior_delivered: Bytes::ZERO,
            recovery: Bytes::ZERO,
        }
    }

    /// The window in packets.
    pub(crate) fn packets(&self) -> f64 {
        self.bytes / self.packet
    }

    /// The window in bytes, for a [`Permit`](millpond_law::Permit).
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::from_f64(self.bytes)
    }

    /// Converts bytes to packets.
    pub(crate) fn in_packets(&self, bytes: Bytes) -> f64 {
        bytes.as_f64() / self.packet
    }

    /// Converts packets to bytes.
    pub(crate) fn of_packets(&self, packets: f64) -> Bytes {
        Bytes::from_f64((packets * self.packet).min(MOST))
    }

    /// The slow-start threshold in packets; none before the first reduction.
    pub(crate) fn threshold(&self) -> Option<f64> {
        self.threshold.is_finite().then_some(self.threshold / self.packet)
    }

    /// Records an acknowledgement. Returns whether the window may grow on it: not if it was underutilized (RFC 9002,
    /// section 7.8), nor in recovery (section 7.3.2).
    pub(crate) fn may_grow(&mut self, ack: &Ack) -> bool {
        self.note(ack);
        !ack.window_unused() && !self.in_recovery()
    }

    /// Records an acknowledgement, which determines the end of recovery.
    pub(crate) fn note(&mut self, ack: &Ack) {
        self.delivered = self.delivered.max(ack.delivered);
        self.prior_delivered = ack.prior_delivered;
    }

    /// Whether the packet acknowledged last was sent before recovery began (RFC 9002, section 7.3.2). The endpoint
    /// reports episodes of loss and of marks separately; in recovery an episode of either kind has had its reduction.
    pub(crate) fn in_recovery(&self) -> bool {
        self.prior_delivered < self.recovery
    }

    /// Whether the window is below the slow-start threshold.
    pub(crate) fn in_slow_start(&self) -> bool {
        self.bytes < self.threshold
    }

    /// Sets the threshold to the current window.
    pub(crate) fn end_slow_start(&mut self) {
        self.threshold = self.bytes;
    }

    /// Slow start: grows by the acknowledged bytes, up to the threshold (RFC 9002, section 7.3.1). Returns the rest of
    /// them, which is left for congestion avoidance.
    pub(crate) fn slow_start(&mut self, acked: Bytes) -> Bytes {
        if !self.in_slow_start() {
            return acked;
        }
        let room = Bytes::from_f64((self.threshold.min(MOST) - self.bytes).max(0.0));
        let used = acked.min(room);
        self.grow_to(self.bytes + used.as_f64());
        acked - used
    }

    /// Congestion avoidance: grows by one packet per acknowledged window (RFC 9002, section 7.3.3).
    pub(crate) fn avoid_congestion(&mut self, acked: Bytes) {
        self.grow_to(self.bytes + self.packet * acked.as_f64() / self.bytes);
    }

    /// Grows to this number of packets.
    pub(crate) fn grow_to_packets(&mut self, packets: f64) {
        self.grow_to(packets * self.packet);
    }

    /// Shrinks to at most this number of packets, without a change of the threshold.
    pub(crate) fn shrink_to_packets(&mut self, packets: f64) {
        self.bytes = self.bytes.min(packets * self.packet);
    }

    /// Changes by this number of bytes, to at least `least` packets.
    pub(crate) fn change_by(&mut self, bytes: f64, least: f64) {
        self.bytes = (self.bytes + bytes).clamp(least * self.packet, MOST);
    }

    /// Changes by this number of packets, to at least `least` packets.
    pub(crate) fn change_packets_by(&mut self, packets: f64, least: f64) {
        self.change_by(packets * self.packet, least);
    }

    /// Multiplies by `factor`, to at least `least` packets, without a change of the threshold.
    pub(crate) fn scale(&mut self, factor: f64, least: f64) {
        self.change_by((factor - 1.0) * self.bytes, least);
    }

    fn grow_to(&mut self, bytes: f64) {
        self.bytes = bytes.clamp(self.bytes, MOST.max(self.bytes));
    }

    /// Enters recovery: sets window and threshold to `factor` times the window (RFC 9002, section 7.3.2).
    pub(crate) fn reduce(&mut self, factor: f64) {
        self.reduce_without_recovery(factor);
        self.recovery = self.delivered;
    }

    /// [`Self::reduce`] for marks, which may leave less than after a loss: at least `least` packets. The threshold has the least value of
    /// losses.
    pub(crate) fn reduce_for_mark(&mut self, factor: f64, least: f64) {
        let reduced = (self.bytes * factor).max(least * self.packet);
        self.reduce(factor);
        self.bytes = reduced;
    }

    /// [`Self::reduce`] without recovery: acknowledgements continue to grow the window.
    pub(crate) fn reduce_without_recovery(&mut self, factor: f64) {
        self.threshold = (self.bytes * factor).max(MINIMUM_PACKETS * self.packet);
        self.bytes = self.threshold;
    }

    /// Reaction to congestion for laws whose windows are controlled by routers: a loss reduces the window as in NewReno;
    /// marks and probe timeouts have no effect. Routers can reduce these windows to one packet, which is less than the
    /// minimum of NewReno: a loss leaves such a window as it is.
    pub(crate) fn reduce_on_loss(&mut self, congestion: &Congestion, factor: f64) {
        if matches!(congestion.cause, Cause::Timeout | Cause::Ecn) {
            return;
        }
        let before = self.bytes;
        if congestion.episode == Episode::New && !self.in_recovery() {
            self.reduce(factor);
        }
        if congestion.cause == Cause::NoFeedback {
            self.collapse();
        }
        self.bytes = self.bytes.min(before);
    }

    /// Persistent congestion: resets to the minimum window and slow start (RFC 9002, section 7.6.2).
    pub(crate) fn collapse(&mut self) {
        self.bytes = MINIMUM_PACKETS * self.packet;
        self.recovery = Bytes::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::LimitedBy;
    use millpond_units::Span;

    fn window(packet: u64, initial: Option<f64>) -> Window {
        Window::new(Bytes::new(packet), initial)
    }

    #[test]
    fn the_initial_window_is_that_of_rfc_9002() {
        for (packet, initial) in [(1000, 10_000), (1472, 14_720), (1500, 14_720), (9000, 18_000)] {
            assert_eq!(window(packet, None).bytes(), Bytes::new(initial));
        }
        assert_eq!(window(1500, Some(2.0)).bytes(), Bytes::new(3000));
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_returns_the_remaining_bytes() {
        let mut window = window(1000, Some(10.0));
        window.reduce(0.9);
        window.collapse();
        assert_eq!(window.slow_start(Bytes::new(6500)), Bytes::ZERO);
        assert_eq!(window.slow_start(Bytes::new(1000)), Bytes::new(500));
        assert_eq!(window.packets(), 9.0);
    }

    #[test]
    fn a_window_acknowledged_at_once_adds_one_packet() {
        let mut window = window(1000, Some(8.0));
        window.avoid_congestion(Bytes::new(8000));
        assert_eq!(window.packets(), 9.0);
    }

    /// The minimum window after a reduction is two packets. A window of a router-controlled law may be smaller.
    #[test]
    fn no_loss_increases_a_window_that_routers_control() {
        for cause in [Cause::Loss, Cause::NoFeedback] {
            for (packets, left) in [(1.0, 1.0), (1.5, 1.5), (2.0, 2.0), (3.0, 2.0)] {
                let mut window = window(1000, Some(packets));
                let congestion = Congestion {
                    cause,
                    episode: Episode::New,
                    bytes: Bytes::new(1000),
                    in_flight: Bytes::ZERO,
                    prior_in_flight: Bytes::new(1000),
                };
                window.reduce_on_loss(&congestion, 0.5);
                assert_eq!(window.packets(), left, "{cause:?} at {packets}");
            }
        }
    }

    #[test]
    fn a_packet_sent_before_recovery_does_not_grow_the_window() {
        let mut window = window(1000, None);
        let ack = |delivered, prior| Ack {
            delivered: Bytes::new(delivered),
            prior_delivered: Bytes::new(prior),
            ..Ack::plain(Bytes::new(1000), Span::from_millis(10), Bytes::ZERO)
        };
        assert!(window.may_grow(&ack(5000, 0)));
        window.reduce(0.5);
        assert!(window.in_recovery());
        assert!(!window.may_grow(&ack(6000, 4000)));
        assert!(window.may_grow(&ack(7000, 5000)));
        assert!(!window.may_grow(&Ack { limited_by: LimitedBy::Data, ..ack(8000, 6000) }));
    }
}
