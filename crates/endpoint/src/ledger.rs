//! The facts about a loop from which the events of a law are built, without the packets themselves.

use crate::Acknowledgement;
use crate::episode::{Episodes, MissingPackets};
use crate::marks::{MarkCount, Marks};
use crate::pace::Pacer;
use crate::rate::{DeliveryRate, SendStamp};
use crate::round::Rounds;
use millpond_law::Episode;
use millpond_units::{Bytes, Rate, Span, Time};

/// Delivery-rate samples, round trips, congestion episodes, CE marks and pacing of one loop.
///
/// [`SenderEnd`](crate::SenderEnd) keeps its packets itself and these facts here. A carrier with packets of its own, such as
/// a QUIC library, uses a ledger directly, so that a law receives the same events from each of them. For each packet the
/// carrier stores when it left, [`Self::delivered`] and [`Self::is_app_limited`] at that time, and [`Self::stamp`].
///
/// Packets have increasing numbers. `next_number` is the number of the next packet to be sent.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    rate: DeliveryRate,
    rounds: Rounds,
    loss_episodes: Episodes,
    missing: MissingPackets,
    mark_episodes: Episodes,
    marks: MarkCount,
    pacer: Pacer,
}

/// Packets that were declared lost at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostPackets {
    /// How many.
    pub packets: u64,
    /// The smallest of their numbers.
    pub oldest: u64,
    /// The largest of their numbers.
    pub newest: u64,
}

impl Ledger {
    /// The ledger of a loop that has sent nothing. Packets that leave at most `timer_slack` late do not shift the schedule
    /// of the pacer.
    pub fn new(timer_slack: Span) -> Self {
        Self { pacer: Pacer::new(timer_slack), ..Self::default() }
    }

    /// Lets packets leave this much later without a shift of the pacing schedule.
    pub fn add_slack(&mut self, slack: Span) {
        self.pacer.add_slack(slack);
    }

    /// Sets the pacing rate; none disables pacing.
    pub fn set_pace(&mut self, now: Time, pace: Option<Rate>) {
        self.pacer.set_rate(now, pace);
    }

    /// Sets how much may leave at once; none: one packet.
    #[inline]
    pub fn set_quantum(&mut self, quantum: Option<Bytes>) {
        self.pacer.set_quantum(quantum);
    }

    /// True if the pacer permits a packet of this size now.
    #[inline]
    pub fn pace_permits(&self, now: Time, bytes: Bytes) -> bool {
        self.pacer.permits(now, bytes)
    }

    /// When the pacer permits the next packet.
    #[inline]
    pub fn pace_release(&self) -> Time {
        self.pacer.release()
    }

    /// Accounts for a paced packet that leaves now.
    #[inline]
    pub fn on_paced(&mut self, now: Time, bytes: Bytes) {
        self.pacer.on_sent(now, bytes);
    }

    /// All bytes delivered so far, counted on the wire.
    #[inline]
    pub fn delivered(&self) -> Bytes {
        self.rate.delivered()
    }

    /// True if packets sent now count as application-limited.
    #[inline]
    pub fn is_app_limited(&self) -> bool {
        self.rate.is_app_limited()
    }

    /// Records that the application has no more data, with `in_flight` bytes in flight.
    pub fn on_app_limited(&mut self, in_flight: Bytes) {
        self.rate.on_app_limited(in_flight);
    }

    /// The state to store with a packet that leaves now. `idle`: nothing was in flight before it. `in_flight` counts it.
    /// `lost`: all bytes declared lost so far.
    #[inline]
    pub fn stamp(&mut self, now: Time, idle: bool, in_flight: Bytes, lost: Bytes) -> SendStamp {
        self.rate.stamp(now, idle, in_flight, lost)
    }

    /// Counts newly acknowledged bytes.
    #[inline]
    pub fn on_delivered(&mut self, bytes: Bytes) {
        self.rate.on_delivered(bytes);
    }

    /// Length of the delivery-rate sample that ends with an acknowledgement, the newest packet of which was sent at
    /// `sent_at` with `stamp`. Zero if the sample is not valid. Call [`Self::on_delivered`] before.
    #[inline]
    pub fn sample_span(&mut self, now: Time, sent_at: Time, stamp: &SendStamp, min_rtt: Span) -> Span {
        self.sample_span_by(now, sent_at, stamp, min_rtt, |start, end| end.since(start))
    }

    /// The same with a clock: `measured` is the time from one time to another as the clock measures it.
    #[inline]
    pub fn sample_span_by(
        &mut self,
        now: Time,
        sent_at: Time,
        stamp: &SendStamp,
        min_rtt: Span,
        measured: impl Fn(Time, Time) -> Span,
    ) -> Span {
        self.rate.sample_span(now, sent_at, stamp, min_rtt, measured)
    }

    /// Number of completed round trips after the acknowledgement of a packet that was sent when `prior_delivered` bytes had
    /// been delivered. Call [`Self::on_delivered`] before.
    #[inline]
    pub fn rounds(&mut self, prior_delivered: Bytes) -> u64 {
        self.rounds.on_ack(prior_delivered, self.rate.delivered())
    }

    /// As [`Self::new_marks`], from the counters of an acknowledgement.
    #[inline]
    pub(crate) fn reported_marks(&mut self, ack: &Acknowledgement, packets: u64, bytes: Bytes) -> Marks {
        if self.marks.are_reported(ack.ce_packets, Bytes::new(ack.ce_bytes)) {
            return Marks::default();
        }
        let total =
            Marks { packets: self.marks.total_packets(ack.ce_packets), bytes: Bytes::new(ack.ce_bytes) };
        self.new_marks(total, packets, bytes)
    }

    /// The marks that an acknowledgement of `packets` packets with `bytes` bytes reports for the first time; `total`: all
    /// marks that the receiver has counted.
    #[inline]
    pub fn new_marks(&mut self, total: Marks, packets: u64, bytes: Bytes) -> Marks {
        self.marks.on_ack(total, packets, bytes)
    }

    /// The episode of a CE mark on packet `number`.
    pub fn on_marked(&mut self, number: u64, next_number: u64) -> Episode {
        self.mark_episodes.on_congestion(number, next_number)
    }

    /// The episode of these losses.
    pub fn on_lost(&mut self, lost: &LostPackets, next_number: u64) -> Episode {
        let episode = self.loss_episodes.on_congestion(lost.newest, next_number);
        self.missing.on_lost(episode, lost.oldest, lost.packets);
        episode
    }

    /// Starts a loss episode that includes all packets before `next_number`.
    pub fn begin_loss_episode(&mut self, next_number: u64) {
        self.loss_episodes.begin(next_number);
    }

    /// Records the acknowledgement of packet `number`. Returns true if it ends the recovery after a loss episode.
    #[inline]
    pub fn ends_recovery(&mut self, number: u64) -> bool {
        self.loss_episodes.ends_recovery(number)
    }

    /// Records that packet `number`, declared lost before, was acknowledged. Returns true if with it every packet declared
    /// lost in the current episode has been acknowledged.
    pub fn is_whole_episode_spurious(&mut self, number: u64) -> bool {
        self.missing.on_acked(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    #[test]
    fn a_carrier_with_its_own_packets_receives_the_facts_of_a_loop() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut ledger = Ledger::new(Span::ZERO);
        ledger.set_pace(at(0), Some(Rate::from_mbps(8.0)));
        // A packet each ms, acknowledged 10 ms later.
        let mut sent = Vec::new();
        let mut last = (Span::ZERO, 0);
        for ms in 0..40_u64 {
            if let Some((sent_at, prior, stamp)) = ms.checked_sub(10).map(|n| sent[n as usize]) {
                ledger.on_delivered(PACKET);
                let span = ledger.sample_span(at(ms), sent_at, &stamp, Span::from_millis(10));
                last = (span, ledger.rounds(prior));
                if ms >= 20 {
                    assert_eq!((ledger.delivered() - prior).per(span), Rate::from_mbps(8.0));
                }
            }
            assert!(ledger.pace_permits(at(ms), PACKET));
            let idle = ms == 0;
            sent.push((at(ms), ledger.delivered(), ledger.stamp(at(ms), idle, PACKET * 10, Bytes::ZERO)));
            ledger.on_paced(at(ms), PACKET);
            assert_eq!(ledger.pace_release(), at(ms + 1));
        }
        assert_eq!(last, (Span::from_millis(10), 3));
    }

    #[test]
    fn losses_and_marks_have_separate_episodes() {
        let mut ledger = Ledger::default();
        let lost = LostPackets { packets: 2, oldest: 3, newest: 4 };
        assert_eq!(ledger.on_lost(&lost, 10), Episode::New);
        assert_eq!(ledger.on_marked(4, 10), Episode::New);
        assert_eq!(ledger.on_lost(&LostPackets { packets: 1, oldest: 9, newest: 9 }, 12), Episode::Same);
        assert!(!ledger.ends_recovery(9) && ledger.ends_recovery(10));
        assert!(!ledger.is_whole_episode_spurious(3) && !ledger.is_whole_episode_spurious(4));
        assert!(ledger.is_whole_episode_spurious(9));
    }
}
