//! The sending end of a loop.

use crate::episode::Episodes;
use crate::loss::LossDetector;
use crate::marks::{MarkCount, Marks};
use crate::pace::Pacer;
use crate::rate::DeliveryRate;
use crate::round::Rounds;
use crate::rtt::Rtt;
use crate::sent::{Piece, Record, SentRing, State};
use crate::stream::{Origin, Stop, Stream};
use crate::timeout::Timeouts;
use crate::{ACK_BYTES, AckRanges, Acknowledgement, Segment};
use millpond_law::{
    Ack, Cause, Congestion, Context, Ecn, Episode, Header, HeaderId, Knowledge, Needs, Permit, Random,
    Sender, Start,
};
use millpond_units::{Bytes, Rate, Span, Time};
use std::num::NonZeroU64;
use std::ops::RangeInclusive;

/// What a sending end is told when it is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// A full packet on the wire.
    pub packet: Bytes,
    /// How much of it is not payload.
    pub overhead: Bytes,
    /// This flow's weight among others.
    pub weight: f64,
    /// What the protocol asks for; what it does not ask for, it is not called for.
    pub needs: Needs,
    /// How much of the stream the receiver has room for before its first acknowledgement; `u64::MAX` unless it is a
    /// relay's.
    pub credit: u64,
    /// A packet is lost if one with a number higher by this was acknowledged (RFC 9002: 3).
    pub packet_threshold: u64,
    /// No timer is finer than this (RFC 9002: 1 ms).
    pub granularity: Span,
    /// The round-trip time assumed before it is known (RFC 9002: 333 ms).
    pub initial_rtt: Span,
    /// The longest the receiver may hold back an acknowledgement.
    pub max_ack_delay: Span,
    /// No more than this is in flight, whatever the law says.
    pub max_in_flight: Bytes,
}

impl SenderConfig {
    /// The usual configuration for packets of this size on the wire, all of it payload.
    pub const fn new(packet: Bytes, needs: Needs) -> Self {
        Self {
            packet,
            overhead: Bytes::ZERO,
            weight: 1.0,
            needs,
            credit: u64::MAX,
            packet_threshold: 3,
            granularity: Span::from_millis(1),
            initial_rtt: Span::from_millis(333),
            max_ack_delay: Span::ZERO,
            max_in_flight: Bytes::new(1 << 28),
        }
    }
}

/// What a sending end has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Packets sent, retransmissions and probes included.
    pub sent_packets: u64,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Packets sent whose piece of the stream had been sent before.
    pub retransmitted_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Packets acknowledged.
    pub acked_packets: u64,
    /// Packets declared lost and acknowledged after all.
    pub spurious_losses: u64,
    /// Probe timeouts.
    pub probe_timeouts: u64,
    /// Times that nothing came back for the persistent-congestion span.
    pub silences: u64,
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOutcome {
    /// A round-trip time sample, if it gave one.
    pub rtt: Option<Span>,
    /// Newly acknowledged, on the wire.
    pub acked: Bytes,
    /// Declared lost because of it, on the wire.
    pub lost: Bytes,
}

/// The sending end of a loop. It knows no clock and no socket: the driver tells it the time, hands it what arrives,
/// and after each call polls [`transmit`](Self::transmit) until there is nothing, then reads
/// [`deadline`](Self::deadline).
pub struct SenderEnd {
    config: SenderConfig,
    law: Box<dyn Sender>,
    random: Random,
    permit: Permit,
    /// The window, and never more than the configured cap.
    most_in_flight: Bytes,
    started: bool,
    stream: Stream,
    sent: SentRing,
    /// The ranges of the newest acknowledgement, which need no second look.
    told: AckRanges,
    loss: LossDetector,
    loss_episodes: Episodes,
    mark_episodes: Episodes,
    marks: MarkCount,
    rtt: Rtt,
    timeouts: Timeouts,
    probe_wanted: bool,
    rate: DeliveryRate,
    rounds: Rounds,
    pacer: Pacer,
    /// Why it last stopped sending.
    stop: Stop,
    /// The last time for which the law was woken.
    woken_for: Option<Time>,
    counters: SenderCounters,
}

/// The sum of what an acknowledgement newly acknowledges.
#[derive(Default)]
struct Acked {
    bytes: Bytes,
    packets: u64,
    newest: Option<u64>,
}

/// The sum of what is declared lost at one time.
#[derive(Default)]
struct Lost {
    bytes: Bytes,
    newest: u64,
}

/// What the next packet carries.
enum Next {
    /// The piece of this lost packet.
    Again(u64),
    /// A new piece of this length.
    New(u32),
}

impl SenderEnd {
    /// A sending end that has not begun.
    pub fn new(config: SenderConfig, law: Box<dyn Sender>, random: Random) -> Self {
        let payload = config.packet.saturating_sub(config.overhead).get();
        Self {
            law,
            random,
            permit: Permit::default(),
            most_in_flight: config.max_in_flight,
            started: false,
            stream: Stream::new(u32::try_from(payload).unwrap_or(u32::MAX), config.credit),
            sent: SentRing::default(),
            told: AckRanges::default(),
            loss: LossDetector::new(config.packet_threshold),
            loss_episodes: Episodes::default(),
            mark_episodes: Episodes::default(),
            marks: MarkCount::default(),
            rtt: Rtt::new(config.initial_rtt, config.granularity, config.max_ack_delay),
            timeouts: Timeouts::default(),
            probe_wanted: false,
            rate: DeliveryRate::default(),
            rounds: Rounds::default(),
            pacer: Pacer::default(),
            stop: Stop::Data,
            woken_for: None,
            counters: SenderCounters::default(),
            config,
        }
    }

    /// The loop begins; `capacity` is the least of its links, told to the law only if it asks for it.
    pub fn start(&mut self, now: Time, capacity: Option<Rate>) {
        let capacity = capacity.filter(|_| self.config.needs.capacity != Knowledge::Nothing);
        let start = Start { packet: self.config.packet, capacity, weight: self.config.weight };
        self.started = true;
        self.law.on_start(&mut Context { now, random: &mut self.random }, &start);
        self.ask_law(now);
    }

    /// The application adds this much to the stream.
    pub fn supply(&mut self, bytes: Bytes) {
        self.stream.supply(bytes.get());
    }

    /// The application will never run out of data.
    pub fn supply_endless(&mut self) {
        self.stream.supply(u64::MAX);
    }

    /// The application adds nothing more. A receiver learns where the stream ends only if this is said before the
    /// last byte is sent.
    pub fn finish(&mut self) {
        self.stream.finish();
    }

    /// The application withdraws what was not yet sent and adds nothing more: the stream ends where it is.
    pub fn withdraw(&mut self) {
        self.stream.withdraw();
    }

    /// An earlier loop hands on a part of the stream.
    pub(crate) fn forward(&mut self, offset: u64, len: u64, last: bool, origin: Origin) {
        self.stream.forward(offset, len, last, origin);
    }

    /// An acknowledgement arrived.
    pub fn on_ack(&mut self, now: Time, ack: &Acknowledgement) -> AckOutcome {
        self.stream.grant(ack.credit);
        let prior_in_flight = self.sent.in_flight();
        let acked = self.settle(&ack.ranges);
        let Some(number) = acked.newest else { return AckOutcome::default() };
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

    /// The capacity of the link that this sender feeds is now this.
    pub fn on_capacity(&mut self, now: Time, capacity: Rate) {
        if self.started && self.config.needs.capacity == Knowledge::Live {
            self.law.on_capacity(&mut Context { now, random: &mut self.random }, capacity);
            self.ask_law(now);
        }
    }

    /// The time of [`Self::deadline`] has come (or any time: what is not due does not happen).
    pub fn on_deadline(&mut self, now: Time) {
        if !self.started {
            return;
        }
        self.wake_law(now);
        if self.loss.due() <= now {
            let prior_in_flight = self.sent.in_flight();
            let lost = self.lose_overdue(now);
            self.report_loss(now, &lost, prior_in_flight);
        }
        if self.probe_due() <= now {
            self.on_probe_timeout(now);
        }
        if self.silence_due() <= now {
            self.on_silence(now);
        }
        self.ask_law(now);
    }

    /// When [`Self::on_deadline`] is to be called, and [`Self::transmit`] polled, if nothing happens before;
    /// [`Time::NEVER`] if there is no such time.
    #[inline]
    pub fn deadline(&self) -> Time {
        let paced = if self.stop == Stop::Pace { self.pacer.release() } else { Time::NEVER };
        paced.min(self.wake_due()).min(self.loss.due()).min(self.probe_due()).min(self.silence_due())
    }

    /// The next packet to leave now, if any. The driver polls until there is none.
    #[inline]
    pub fn transmit(&mut self, now: Time) -> Option<Segment> {
        if !self.started {
            return None;
        }
        if self.probe_wanted {
            self.probe_wanted = false;
            return Some(self.send_probe(now));
        }
        match self.next(now) {
            Ok(Next::New(payload)) => {
                let piece = self.stream.take(now, payload);
                Some(self.send(now, piece, self.wire_size(payload), false))
            }
            Ok(Next::Again(number)) => {
                self.stream.pop_lost();
                Some(self.send_again(now, number))
            }
            Err(stop) => {
                self.stop = stop;
                if matches!(stop, Stop::Data | Stop::Credit) && self.window_holds(self.config.packet) {
                    self.rate.on_app_limited(self.sent.in_flight());
                }
                None
            }
        }
    }

    /// The law, to observe.
    pub fn law(&self) -> &dyn Sender {
        &*self.law
    }

    /// The rate at which it really sends if it has data: its window over its smoothed round-trip time, or its pace if
    /// that is less; [`Rate::MAX`] if neither is known yet.
    pub fn allowed_rate(&self) -> Rate {
        let window = self.permit.window.filter(|_| self.rtt.is_known());
        let windowed =
            window.map_or(Rate::MAX, |window| window.max(self.config.packet).per(self.rtt.smoothed()));
        self.permit.pace.unwrap_or(Rate::MAX).min(windowed)
    }

    /// Bytes in flight, on the wire.
    #[inline]
    pub fn in_flight(&self) -> Bytes {
        self.sent.in_flight()
    }

    /// What the law permits.
    pub fn permit(&self) -> Permit {
        self.permit
    }

    /// The law's window, if it has one.
    pub fn window(&self) -> Option<Bytes> {
        self.permit.window
    }

    /// The smoothed round-trip time, once it is known.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.is_known().then(|| self.rtt.smoothed())
    }

    /// The least round-trip time so far.
    pub fn min_rtt(&self) -> Option<Span> {
        self.rtt.is_known().then(|| self.rtt.min())
    }

    /// Bytes of the stream that wait to be sent for the first time.
    #[inline]
    pub fn backlog(&self) -> Bytes {
        Bytes::new(self.stream.backlog())
    }

    /// Bytes of the stream that were sent at least once.
    #[inline]
    pub fn handed_out(&self) -> Bytes {
        Bytes::new(self.stream.taken())
    }

    /// Bytes of the stream that were acknowledged, each counted once.
    pub fn acknowledged(&self) -> Bytes {
        Bytes::new(self.stream.acked())
    }

    /// Has every byte of a finished stream been acknowledged?
    pub fn is_complete(&self) -> bool {
        self.stream.is_complete()
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }
}

/// What arrives.
impl SenderEnd {
    /// Marks packets as acknowledged.
    #[inline]
    fn settle(&mut self, ranges: &AckRanges) -> Acked {
        let mut acked = Acked::default();
        match ranges.extension_of(&self.told) {
            Some(range) => self.settle_range(range, &mut acked),
            None => self.settle_anew(ranges, &mut acked),
        }
        if let Some(number) = acked.newest {
            self.loss.on_acked(number);
        }
        if ranges.largest() >= self.told.largest() {
            self.told = *ranges;
        }
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
        let end = range.end().saturating_add(1).min(self.sent.next_number());
        for number in first..end {
            let Some((before, record)) = self.sent.acknowledge(number) else { continue };
            let (payload, sole_bearer) = (record.piece.payload, record.is_sole_bearer());
            acked.bytes += Bytes::new(record.bytes.into());
            acked.packets += 1;
            acked.newest = acked.newest.max(Some(number));
            self.counters.spurious_losses += u64::from(before == State::Lost);
            if sole_bearer || !self.sent.disinherit(number) {
                self.stream.on_acked(payload);
            }
        }
    }

    /// Declares lost what is overdue.
    #[inline]
    fn lose_overdue(&mut self, now: Time) -> Lost {
        let Self { sent, stream, loss, rtt, counters, .. } = self;
        let mut lost = Lost::default();
        loss.detect(sent, now, rtt.loss_delay(), |number, record| {
            lost.newest = number;
            lost.bytes += Bytes::new(record.bytes.into());
            counters.lost_packets += 1;
            if record.is_sole_bearer() {
                stream.on_lost(number);
            }
        });
        lost
    }
}

/// What leaves.
impl SenderEnd {
    /// What the next packet carries, or why none may leave.
    #[inline]
    fn next(&mut self, now: Time) -> Result<Next, Stop> {
        let (next, bytes) = match self.next_lost() {
            Some((number, bytes)) => (Next::Again(number), bytes),
            None => {
                let payload = self.stream.next_payload()?;
                (Next::New(payload), self.wire_size(payload))
            }
        };
        if self.timeouts.is_silent() {
            return Err(Stop::Silence);
        }
        if !self.window_holds(Bytes::new(bytes.into())) {
            return Err(Stop::Window);
        }
        if now < self.pacer.release() {
            return Err(Stop::Pace);
        }
        Ok(next)
    }

    /// The first lost packet whose piece still has to be sent again, and its size.
    #[inline]
    fn next_lost(&mut self) -> Option<(u64, u32)> {
        loop {
            let number = self.stream.first_lost()?;
            match self
                .sent
                .get(number)
                .filter(|record| record.state == State::Lost && record.is_sole_bearer())
            {
                Some(record) => return Some((number, record.bytes)),
                None => self.stream.pop_lost(),
            }
        }
    }

    /// Does a packet of this size fit into the window? One packet may always be in flight.
    #[inline]
    fn window_holds(&self, bytes: Bytes) -> bool {
        let in_flight = self.sent.in_flight();
        in_flight == Bytes::ZERO || in_flight + bytes <= self.most_in_flight
    }

    #[inline]
    fn wire_size(&self, payload: u32) -> u32 {
        payload.saturating_add(self.config.overhead.get() as u32)
    }

    /// A probe asks for an acknowledgement. It carries what is lost, what is new, or what is in flight, if there is
    /// any of these (RFC 9002, section 6.2.4), and otherwise nothing: then it asks for credit.
    #[cold]
    fn send_probe(&mut self, now: Time) -> Segment {
        if let Some((number, _)) = self.next_lost() {
            self.stream.pop_lost();
            return self.send_again(now, number);
        }
        if let Ok(payload) = self.stream.next_payload() {
            let piece = self.stream.take(now, payload);
            return self.send(now, piece, self.wire_size(payload), false);
        }
        match self.sent.oldest_needed() {
            Some(number) => self.send_again(now, number),
            None => self.send_empty(now),
        }
    }

    /// Sends a packet that carries nothing.
    fn send_empty(&mut self, now: Time) -> Segment {
        let piece =
            Piece { offset: self.stream.taken(), payload: 0, last: false, birth: now, queueing: Span::ZERO };
        self.send(now, piece, ACK_BYTES, false)
    }

    /// Sends the piece of an earlier packet again.
    #[cold]
    fn send_again(&mut self, now: Time, number: u64) -> Segment {
        let heir = NonZeroU64::new(self.sent.next_number());
        let Some(earlier) = self.sent.get_mut(number) else { return self.send_empty(now) };
        earlier.heir = heir;
        let (piece, bytes) = (earlier.piece, earlier.bytes);
        self.send(now, piece, bytes, true)
    }

    #[inline]
    fn send(&mut self, now: Time, piece: Piece, bytes: u32, again: bool) -> Segment {
        let (number, size) = (self.sent.next_number(), Bytes::new(bytes.into()));
        let idle = self.sent.in_flight() == Bytes::ZERO;
        self.timeouts.on_sent(now, idle);
        self.pacer.on_sent(now, size);
        self.sent.push(Record {
            piece,
            bytes,
            sent_at: now,
            stamp: self.rate.on_sent(now, idle),
            heir: None,
            state: State::InFlight,
            redundant: piece.payload == 0,
        });
        self.counters.sent_packets += 1;
        self.counters.sent_bytes += size.get();
        self.counters.retransmitted_packets += u64::from(again);
        let header = self.stamp(now);
        self.tell_sent(now, size);
        Segment {
            number,
            floor: self.sent.base(),
            offset: piece.offset,
            payload: piece.payload,
            bytes,
            sent_at: now,
            birth: piece.birth,
            queueing: piece.queueing,
            ecn: self.ecn(),
            last: piece.last,
            header,
        }
    }

    fn ecn(&self) -> Ecn {
        match self.config.needs.ecn {
            None => Ecn::NotCapable,
            Some(true) => Ecn::Ect1,
            Some(false) => Ecn::Ect0,
        }
    }
}

/// What the law is told.
impl SenderEnd {
    /// Asks what may be sent from now on.
    #[inline]
    fn ask_law(&mut self, now: Time) {
        let permit = self.law.permit();
        if permit.pace != self.permit.pace {
            self.pacer.set_rate(now, permit.pace);
        }
        self.permit = permit;
        self.most_in_flight = permit.window.unwrap_or(Bytes::MAX).min(self.config.max_in_flight);
    }

    /// The law's header for a packet about to leave.
    #[inline]
    fn stamp(&mut self, now: Time) -> Header {
        let mut header = Header::NONE;
        if self.config.needs.header != HeaderId::NONE {
            self.law.stamp(&mut Context { now, random: &mut self.random }, &mut header);
        }
        header
    }

    #[inline]
    fn tell_sent(&mut self, now: Time, bytes: Bytes) {
        if self.config.needs.sent {
            self.law.on_sent(&mut Context { now, random: &mut self.random }, bytes, self.sent.in_flight());
            self.ask_law(now);
        }
    }

    #[inline(never)]
    fn report(&mut self, now: Time, cause: Cause, episode: Episode, bytes: Bytes, prior_in_flight: Bytes) {
        let in_flight = self.sent.in_flight();
        let congestion = Congestion { cause, episode, bytes, in_flight, prior_in_flight };
        self.law.on_congestion(&mut Context { now, random: &mut self.random }, &congestion);
    }

    #[inline]
    fn report_loss(&mut self, now: Time, lost: &Lost, prior_in_flight: Bytes) {
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

    /// A probe goes out; if something is in flight, the law hears of a timeout.
    fn on_probe_timeout(&mut self, now: Time) {
        self.probe_wanted = true;
        let first = self.timeouts.on_timeout();
        if self.sent.in_flight() > Bytes::ZERO {
            self.counters.probe_timeouts += 1;
            let episode = if first { Episode::New } else { Episode::Same };
            self.report(now, Cause::Timeout, episode, Bytes::ZERO, self.sent.in_flight());
        }
    }

    /// Only probes leave until something is heard; what is lost by then belongs to this episode.
    fn on_silence(&mut self, now: Time) {
        self.timeouts.on_silence();
        self.counters.silences += 1;
        self.report(now, Cause::NoFeedback, Episode::New, Bytes::ZERO, self.sent.in_flight());
    }

    /// Wakes the law if its time has come; for one and the same time only once.
    fn wake_law(&mut self, now: Time) {
        if self.wake_due() <= now {
            self.woken_for = self.permit.wake;
            self.law.on_timer(&mut Context { now, random: &mut self.random });
            self.ask_law(now);
        }
    }
}

/// When something is due.
impl SenderEnd {
    #[inline]
    fn wake_due(&self) -> Time {
        self.permit.wake.filter(|wake| Some(*wake) > self.woken_for).unwrap_or(Time::NEVER)
    }

    /// No probe while the loss timer runs (RFC 9002, section 6.2.1), nor without anything to ask for.
    #[inline]
    fn probe_due(&self) -> Time {
        let waits = self.sent.in_flight() > Bytes::ZERO || self.stop == Stop::Credit;
        if waits && self.loss.due() == Time::NEVER { self.timeouts.probe_due(&self.rtt) } else { Time::NEVER }
    }

    #[inline]
    fn silence_due(&self) -> Time {
        let waits = self.sent.in_flight() > Bytes::ZERO;
        if waits { self.timeouts.silence_due(&self.rtt) } else { Time::NEVER }
    }
}

#[cfg(test)]
impl SenderEnd {
    /// What must hold after every step.
    pub(crate) fn check(&self) {
        assert_eq!(self.sent.in_flight(), self.sent.recount());
        assert!(self.stream.acked() <= self.stream.taken());
    }
}
