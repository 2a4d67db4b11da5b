//! Processing of an acknowledgement (RFC 9002, appendix A.7).

use super::{AckOutcome, SenderEnd};
use crate::loss::LostRecord;
use crate::marks::Marks;
use crate::sent::PacketState;
use crate::{AckRanges, Acknowledgement, LostPackets, SendStamp};
use core::ops::RangeInclusive;
use millpond_law::{Ack, Cause, Congestion, Context, Ecn, Episode, LostPacket, SpuriousLoss};
use millpond_units::{Bytes, Span, Time};

/// Sums over the packets that an acknowledgement newly acknowledges.
#[derive(Default)]
struct Acked {
    bytes: Bytes,
    packets: u64,
    /// The largest of their packet numbers.
    newest: u64,
    /// When that packet was sent.
    sent_at: Time,
    /// All bytes delivered at that time.
    prior_delivered: Bytes,
    /// True if the sender lacked data at that time.
    app_limited: bool,
}

/// Sums over the packets declared lost at one time.
#[derive(Default)]
pub(super) struct Lost {
    bytes: Bytes,
    packets: LostPackets,
}

impl Lost {
    fn add(&mut self, packet: &LostRecord) {
        let LostPackets { packets, oldest, newest } = &mut self.packets;
        if *packets == 0 {
            *oldest = packet.number;
        }
        *newest = packet.number;
        *packets += 1;
        self.bytes += Bytes::new(packet.record.bytes.into());
    }
}

/// What the law receives of a packet declared lost after `delivered` bytes were delivered.
fn lost_packet(packet: &LostRecord, delivered: Bytes) -> LostPacket {
    LostPacket {
        bytes: Bytes::new(packet.record.bytes.into()),
        in_flight_at_send: packet.stamp.in_flight,
        lost_since: packet.lost.saturating_sub(packet.stamp.lost),
        delivered,
        app_limited: packet.record.app_limited,
    }
}

impl SenderEnd {
    /// Processes an acknowledgement. One that reports packets that were never sent is ignored, or closes the loop if the
    /// sender skips packet numbers.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Acknowledgement) -> AckOutcome {
        let is_beyond = ack.ranges.largest().is_some_and(|largest| largest >= self.sent.next_number());
        if is_beyond || self.skipped.are_reported(&ack.ranges) {
            if self.config.skip_numbers.is_some() {
                self.close(now);
            }
            return AckOutcome::default();
        }
        if let Some(observer) = &mut self.observer {
            observer.on_ack(now, ack);
        }
        if self.send_buffer.grant(ack.stream_id, ack.credit) {
            self.timeouts.on_credit();
        }
        let prior_in_flight = self.sent.in_flight();
        let acked = self.acknowledge_ranges(now, &ack.ranges);
        if acked.packets == 0 {
            let cx = &mut Context { now, random: &mut self.random };
            if self.law.on_update(cx, &ack.echo) {
                self.update_permit(now);
            }
            return AckOutcome::default();
        }
        let Acked { newest: number, sent_at, prior_delivered, app_limited, .. } = acked;
        let stamp = if self.config.needs.samples { self.sent.stamp(number) } else { SendStamp::default() };
        if self.timeouts.on_ack(now) && self.rtt.is_known() {
            self.ledger.begin_loss_episode(self.sent.next_number());
        }
        let config = &self.config;
        let rtt = (ack.ranges.largest() == Some(number))
            .then(|| self.rtt.update(config.measured(sent_at, now), ack.delay));
        self.ledger.on_delivered(acked.bytes);
        let delivery_span = if config.needs.samples {
            let measured = |start, end| config.measured(start, end);
            self.ledger.sample_span_by(now, sent_at, &stamp, self.rtt.min(), measured)
        } else {
            Span::ZERO
        };
        if self.ledger.ends_recovery(number) {
            self.notify_recovery_end(now);
        }
        let in_flight_with_lost = self.sent.in_flight();
        let lost = self.detect_losses(now);
        if ack.not_ect_packets > 0 && self.ecn.is_capable() {
            self.stop_ecn(now);
        }
        let marks = self.ledger.reported_marks(ack, acked.packets, acked.bytes);
        let event = Ack {
            bytes: acked.bytes,
            packets: acked.packets,
            rtt,
            min_rtt: self.rtt.min(),
            smoothed_rtt: self.rtt.smoothed(),
            prior_in_flight,
            in_flight: self.sent.in_flight(),
            ce_packets: marks.packets,
            ce_bytes: marks.bytes,
            delivered: self.ledger.delivered(),
            prior_delivered,
            delivery_span,
            round: self.ledger.rounds(prior_delivered),
            newly_lost: lost.bytes,
            lost: self.loss.lost(),
            prior_lost: stamp.lost,
            in_flight_at_send: stamp.in_flight,
            app_limited,
            limited_by: self.blocked,
            header: ack.echo,
        };
        self.law.on_ack(&mut Context { now, random: &mut self.random }, &event);
        self.notify_loss(now, &lost, in_flight_with_lost);
        self.notify_marks(now, number, &marks);
        self.update_permit(now);
        self.observe_state(now);
        AckOutcome { rtt, acked: acked.bytes, lost: lost.bytes }
    }

    /// Marks the reported packets as acknowledged.
    #[inline]
    fn acknowledge_ranges(&mut self, now: Time, ranges: &AckRanges) -> Acked {
        match self.acknowledge_oldest(ranges) {
            Some(acked) => acked,
            None => self.acknowledge_any(now, ranges),
        }
    }

    /// The usual acknowledgement: the largest number that it reports is that of the oldest packet which is not settled, so that it
    /// acknowledges this packet and no other, and no later packet was acknowledged before. None, without a change, if it
    /// is another one.
    #[inline]
    fn acknowledge_oldest(&mut self, ranges: &AckRanges) -> Option<Acked> {
        let newest = ranges.largest().filter(|largest| self.loss.is_beyond_acked(*largest))?;
        let record = self.sent.acknowledge_oldest(newest)?;
        self.send_buffer.on_acked(record.data.payload);
        self.loss.on_acked(newest);
        self.counters.acked_packets += 1;
        Some(Acked {
            bytes: Bytes::new(record.bytes.into()),
            packets: 1,
            newest,
            sent_at: record.sent_at,
            prior_delivered: record.delivered,
            app_limited: record.app_limited,
        })
    }

    /// Marks the reported packets as acknowledged, whichever they are, and removes the settled ones.
    #[inline(never)]
    fn acknowledge_any(&mut self, now: Time, ranges: &AckRanges) -> Acked {
        let mut acked = Acked::default();
        match ranges.extension_of(&self.last_ranges) {
            Some(range) => self.acknowledge_range(now, range, &mut acked),
            None => self.acknowledge_new_parts(now, ranges, &mut acked),
        }
        if acked.packets > 0 {
            self.loss.on_acked(acked.newest);
            self.sent.remove_settled(self.loss.largest_acked());
        }
        self.last_ranges = *ranges;
        self.counters.acked_packets += acked.packets;
        acked
    }

    /// Marks packets as acknowledged in those parts of the ranges that are not in [`Self::last_ranges`].
    #[inline(never)]
    fn acknowledge_new_parts(&mut self, now: Time, ranges: &AckRanges, acked: &mut Acked) {
        let last_ranges = self.last_ranges;
        ranges.for_each_beyond(&last_ranges, |range| self.acknowledge_range(now, range, acked));
    }

    /// Marks one range of packets as acknowledged.
    #[inline]
    fn acknowledge_range(&mut self, now: Time, range: RangeInclusive<u64>, acked: &mut Acked) {
        let first = (*range.start()).max(self.sent.base());
        for number in first..range.end() + 1 {
            let Some((before, record)) = self.sent.acknowledge(number) else { continue };
            let (payload, only_copy) = (record.data.payload, record.is_only_copy());
            let bytes = Bytes::new(record.bytes.into());
            if acked.packets == 0 || number > acked.newest {
                acked.newest = number;
                acked.sent_at = record.sent_at;
                acked.prior_delivered = record.delivered;
                acked.app_limited = record.app_limited;
            }
            acked.bytes += bytes;
            acked.packets += 1;
            if before == PacketState::Lost {
                self.notify_spurious_loss(now, number, bytes);
            }
            if only_copy || !self.sent.mark_copies_redundant(number) {
                self.send_buffer.on_acked(payload);
            }
        }
    }

    /// Declares packets lost by packet and time threshold (RFC 9002, section 6.1).
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Time) -> Lost {
        if self.loss.stop_if_settled(&self.sent) { Lost::default() } else { self.declare_losses(now) }
    }

    /// Examines the packets older than an acknowledged one.
    #[inline(never)]
    fn declare_losses(&mut self, now: Time) -> Lost {
        let Self { sent, send_buffer, loss, rtt, law, random, config, ledger, observer, .. } = self;
        let mut lost = Lost::default();
        loss.detect(sent, now, rtt.loss_delay(), |packet| {
            lost.add(packet);
            send_buffer.on_lost(packet.number);
            if let Some(observer) = observer {
                observer.on_lost(now, packet.number, packet.threshold);
            }
            if config.needs.samples {
                law.on_lost_packet(&mut Context { now, random }, &lost_packet(packet, ledger.delivered()));
            }
        });
        self.counters.lost_packets += lost.packets.packets;
        lost
    }

    /// Counts the acknowledgement of a packet declared lost, and reports it to the law.
    #[cold]
    fn notify_spurious_loss(&mut self, now: Time, number: u64, bytes: Bytes) {
        self.counters.spurious_losses += 1;
        let loss = SpuriousLoss { bytes, whole_episode: self.ledger.is_whole_episode_spurious(number) };
        self.law.on_spurious_loss(&mut Context { now, random: &mut self.random }, &loss);
    }

    /// The path clears ECN fields: marks would be lost, so that the packets from now on are not ECN-capable, and queues
    /// drop them instead (RFC 9000, section 13.4.2.1).
    #[cold]
    fn stop_ecn(&mut self, now: Time) {
        if self.config.validate_ecn {
            self.ecn = Ecn::NotCapable;
            self.ecn_stopped = Some(now);
        }
    }

    #[cold]
    fn notify_recovery_end(&mut self, now: Time) {
        if let Some(observer) = &mut self.observer {
            observer.on_recovery_end(now);
        }
        self.law.on_recovery_end(&mut Context { now, random: &mut self.random });
    }

    #[inline]
    pub(super) fn notify_loss(&mut self, now: Time, lost: &Lost, prior_in_flight: Bytes) {
        if lost.bytes > Bytes::ZERO {
            let episode = self.ledger.on_lost(&lost.packets, self.sent.next_number());
            self.notify_congestion(now, Cause::Loss, episode, lost.bytes, prior_in_flight);
        }
    }

    #[inline]
    fn notify_marks(&mut self, now: Time, newest: u64, marks: &Marks) {
        if marks.packets > 0 {
            let episode = self.ledger.on_marked(newest, self.sent.next_number());
            self.notify_congestion(now, Cause::Ecn, episode, marks.bytes, self.sent.in_flight());
        }
    }

    #[inline(never)]
    pub(super) fn notify_congestion(
        &mut self,
        now: Time,
        cause: Cause,
        episode: Episode,
        bytes: Bytes,
        prior_in_flight: Bytes,
    ) {
        let in_flight = self.sent.in_flight();
        let congestion = Congestion { cause, episode, bytes, in_flight, prior_in_flight };
        if let Some(observer) = &mut self.observer {
            observer.on_congestion(now, &congestion);
        }
        self.law.on_congestion(&mut Context { now, random: &mut self.random }, &congestion);
    }
}
