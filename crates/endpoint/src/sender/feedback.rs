//! What an acknowledgement does.

use super::{AckOutcome, SenderEnd};
use crate::marks::Marks;
use crate::send_buffer::Stop;
use crate::sent::{Record, State};
use crate::{AckRanges, Acknowledgement};
use millpond_law::{Ack, Cause, Congestion, Context, Episode};
use millpond_units::{Bytes, Time};
use std::ops::RangeInclusive;

/// The sum of what an acknowledgement newly acknowledges.
#[derive(Default)]
struct Acked {
    bytes: Bytes,
    packets: u64,
    /// The largest number of these packets.
    newest: u64,
}

/// The sum of what is declared lost at one time.
#[derive(Default)]
pub(super) struct Lost {
    bytes: Bytes,
    newest: u64,
}

impl SenderEnd {
    /// An acknowledgement arrived. One that tells of packets that were never sent is ignored.
    pub fn on_ack(&mut self, now: Time, ack: &Acknowledgement) -> AckOutcome {
        if ack.ranges.largest().is_some_and(|largest| largest >= self.sent.next_number()) {
            return AckOutcome::default();
        }
        if self.stream.grant(ack.member, ack.credit) {
            self.timeouts.on_credit();
        }
        let prior_in_flight = self.sent.in_flight();
        let acked = self.settle(&ack.ranges);
        if acked.packets == 0 {
            return AckOutcome::default();
        }
        let number = acked.newest;
        let Some(&Record { sent_at, stamp, .. }) = self.sent.get(number) else {
            return AckOutcome::default();
        };
        self.sent.retire(self.loss.largest_acked());
        let window_unused = matches!(self.stop, Stop::Data | Stop::Credit);
        if self.timeouts.on_heard(now) {
            self.loss_episodes.begin(self.sent.next_number());
        }
        let rtt =
            (ack.ranges.largest() == Some(number)).then(|| self.rtt.update(now.since(sent_at), ack.delay));
        let sample = self.rate.on_delivered(now, acked.bytes, sent_at, &stamp, self.rtt.min());
        let in_flight_with_lost = self.sent.in_flight();
        let lost = self.lose_overdue(now);
        let marks = self.marks.on_ack(ack, acked.packets, acked.bytes);
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
            delivered: self.rate.delivered(),
            prior_delivered: sample.prior_delivered,
            delivery_span: sample.span,
            round: self.rounds.on_ack(sample.prior_delivered, self.rate.delivered()),
            newly_lost: lost.bytes,
            app_limited: sample.app_limited,
            window_unused,
            header: ack.echo,
        };
        self.law.on_ack(&mut Context { now, random: &mut self.random }, &event);
        self.report_loss(now, &lost, in_flight_with_lost);
        self.report_marks(now, number, &marks);
        self.ask_law(now);
        AckOutcome { rtt, acked: acked.bytes, lost: lost.bytes }
    }

    /// Marks packets as acknowledged.
    #[inline]
    fn settle(&mut self, ranges: &AckRanges) -> Acked {
        let mut acked = Acked::default();
        match ranges.extension_of(&self.told) {
            Some(range) => self.settle_range(range, &mut acked),
            None => self.settle_anew(ranges, &mut acked),
        }
        if acked.packets > 0 {
            self.loss.on_acked(acked.newest);
        }
        self.told = *ranges;
        self.counters.acked_packets += acked.packets;
        acked
    }

    /// Marks packets as acknowledged in whatever is not told for the second time.
    #[inline(never)]
    fn settle_anew(&mut self, ranges: &AckRanges, acked: &mut Acked) {
        let told = self.told;
        ranges.for_each_beyond(&told, |range| self.settle_range(range, acked));
    }

    /// Marks one range of packets as acknowledged.
    #[inline]
    fn settle_range(&mut self, range: RangeInclusive<u64>, acked: &mut Acked) {
        let first = (*range.start()).max(self.sent.base());
        for number in first..range.end() + 1 {
            let Some((before, record)) = self.sent.acknowledge(number) else { continue };
            let (payload, sole_bearer) = (record.piece.payload, record.is_sole_bearer());
            acked.bytes += Bytes::new(record.bytes.into());
            acked.packets += 1;
            acked.newest = acked.newest.max(number);
            self.counters.spurious_losses += u64::from(before == State::Lost);
            if sole_bearer || !self.sent.disinherit(number) {
                self.stream.on_acked(payload);
            }
        }
    }

    /// Declares lost what is overdue.
    #[inline]
    pub(super) fn lose_overdue(&mut self, now: Time) -> Lost {
        let Self { sent, stream, loss, rtt, counters, .. } = self;
        let mut lost = Lost::default();
        loss.detect(sent, now, rtt.loss_delay(), |number, record| {
            lost.newest = number;
            lost.bytes += Bytes::new(record.bytes.into());
            counters.lost_packets += 1;
            stream.on_lost(number);
        });
        lost
    }

    #[inline]
    pub(super) fn report_loss(&mut self, now: Time, lost: &Lost, prior_in_flight: Bytes) {
        if lost.bytes > Bytes::ZERO {
            let episode = self.loss_episodes.on_congested(lost.newest, self.sent.next_number());
            self.report(now, Cause::Loss, episode, lost.bytes, prior_in_flight);
        }
    }

    #[inline]
    fn report_marks(&mut self, now: Time, newest: u64, marks: &Marks) {
        if marks.packets > 0 {
            let episode = self.mark_episodes.on_congested(newest, self.sent.next_number());
            self.report(now, Cause::Ecn, episode, marks.bytes, self.sent.in_flight());
        }
    }

    #[inline(never)]
    pub(super) fn report(
        &mut self,
        now: Time,
        cause: Cause,
        episode: Episode,
        bytes: Bytes,
        prior_in_flight: Bytes,
    ) {
        let in_flight = self.sent.in_flight();
        let congestion = Congestion { cause, episode, bytes, in_flight, prior_in_flight };
        self.law.on_congestion(&mut Context { now, random: &mut self.random }, &congestion);
    }
}
