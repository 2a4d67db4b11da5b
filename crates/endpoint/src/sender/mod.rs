//! The sender of a loop.

use alloc::boxed::Box;
use alloc::vec::Vec;

mod config;
mod departure;
mod feedback;
mod meaningless;
mod timers;

pub use config::{AckOutcome, SenderConfig, SenderCounters};
pub use departure::NextPacket;
pub use meaningless::{MeaninglessPermit, MeaninglessValue};

use crate::chunk::Origin;
use crate::chunk::RelayWait;
use crate::loss::LossDetector;
use crate::rtt::RttEstimator;
use crate::send_buffer::SendBuffer;
use crate::sent::SentRing;
use crate::silence::{Silence, Silences};
use crate::skipped::SkippedNumbers;
use crate::stream_queues::StreamConfig;
use crate::timeout::Timeouts;
use crate::{AckRanges, Ledger, SenderObserver, SenderState};
use meaningless::{NO_WINDOW, is_extreme};
use millpond_law::{Context, Ecn, Knowledge, LimitedBy, Permit, Random, Sender, Sharing, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// The sender of a loop. It has no clock and no socket: the driver passes the time and the received frames. After each
/// call the driver polls [`transmit`](Self::transmit) until it returns none, and then reads
/// [`deadline`](Self::deadline).
pub struct SenderEnd {
    config: SenderConfig,
    law: Box<dyn Sender>,
    random: Random,
    permit: Permit,
    /// The window, bounded by the configured maximum.
    in_flight_limit: Bytes,
    /// ECN field of its packets.
    ecn: Ecn,
    /// When it stopped ECN, because a packet had arrived without its ECN field.
    ecn_stopped: Option<Time>,
    started: bool,
    send_buffer: SendBuffer,
    sent: SentRing,
    /// The ranges of the last acknowledgement but for those of the usual kind. They need not be processed again.
    last_ranges: AckRanges,
    loss: LossDetector,
    rtt: RttEstimator,
    timeouts: Timeouts,
    silences: Silences,
    probes_wanted: u32,
    ledger: Ledger,
    /// Why no packet could leave when the driver last polled.
    blocked: LimitedBy,
    /// The last time at which the timer of the law was called.
    last_wake: Option<Time>,
    counters: SenderCounters,
    observer: Option<Box<dyn SenderObserver>>,
    skipped: SkippedNumbers,
    /// When it closed, because its receiver acknowledged packets that were not sent.
    closed: Option<Time>,
    /// The first permit that the law can hardly mean.
    meaningless: Option<Box<MeaninglessPermit>>,
}

/// ECN field of the packets of a sender.
fn ecn_of(config: &SenderConfig) -> Ecn {
    match config.needs.ecn {
        None => Ecn::NotCapable,
        Some(true) => Ecn::Ect1,
        Some(false) => Ecn::Ect0,
    }
}

impl SenderEnd {
    /// A sender that has not started.
    pub fn new(config: SenderConfig, law: Box<dyn Sender>, random: Random) -> Self {
        let send_buffer = SendBuffer::new(config.payload(), config.credit);
        Self::with_buffer(send_buffer, config, law, random)
    }

    /// A sender that several streams share, at most 65536. Relays supply their data.
    pub fn with_streams(
        config: SenderConfig,
        streams: Vec<StreamConfig>,
        law: Box<dyn Sender>,
        random: Random,
    ) -> Self {
        let send_buffer = SendBuffer::with_streams(config.payload(), streams);
        Self::with_buffer(send_buffer, config, law, random)
    }

    fn with_buffer(
        send_buffer: SendBuffer,
        config: SenderConfig,
        law: Box<dyn Sender>,
        mut random: Random,
    ) -> Self {
        let skipped = SkippedNumbers::new(config.skip_numbers, &mut random);
        Self {
            law,
            random,
            permit: Permit::default(),
            in_flight_limit: config.max_in_flight,
            ecn: ecn_of(&config),
            ecn_stopped: None,
            started: false,
            send_buffer,
            sent: SentRing::default(),
            last_ranges: AckRanges::default(),
            loss: LossDetector::new(config.packet_threshold),
            rtt: RttEstimator::new(config.initial_rtt, config.granularity, config.max_ack_delay),
            timeouts: Timeouts::new(config.min_probe_timeout..=config.max_probe_timeout),
            silences: Silences::default(),
            probes_wanted: 0,
            ledger: Ledger::new(config.timer_slack),
            blocked: LimitedBy::Data,
            last_wake: None,
            counters: SenderCounters::default(),
            observer: None,
            skipped,
            closed: None,
            meaningless: None,
            config,
        }
    }

    /// Reports all later events to `observer`, in place of an earlier one.
    pub fn observe(&mut self, observer: Box<dyn SenderObserver>) {
        self.observer = Some(observer);
    }

    /// True if an observer receives its events.
    pub fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Starts the loop, once. `capacity`: smallest capacity of its links, passed to the law only if
    /// [`Needs`](millpond_law::Needs) declares it.
    pub fn start(&mut self, now: Time, capacity: Option<Rate>) {
        if self.started || self.closed.is_some() {
            return;
        }
        let capacity = capacity.filter(|_| self.config.needs.capacity != Knowledge::Nothing);
        let interface = self.config.interface.filter(|_| self.config.needs.interface);
        let SenderConfig { packet, weight, hops, .. } = self.config;
        let start = Start { packet, capacity, interface, weight, hops };
        self.started = true;
        self.law.on_start(&mut Context { now, random: &mut self.random }, &start);
        self.update_permit(now);
        self.observe_state(now);
    }

    /// Closes the loop: nothing is sent any more.
    #[cold]
    fn close(&mut self, now: Time) {
        self.closed.get_or_insert(now);
        (self.started, self.blocked) = (false, LimitedBy::Data);
        self.permit.wake = None;
        self.send_buffer.discard_unsent();
        self.sent.abandon();
        self.loss = LossDetector::new(self.config.packet_threshold);
    }

    /// When it closed because its receiver acknowledged packets that were not sent; only with
    /// [`SenderConfig::skip_numbers`].
    pub fn closed(&self) -> Option<Time> {
        self.closed
    }

    /// When it stopped ECN because a packet had arrived without its ECN field; only with [`SenderConfig::validate_ecn`].
    pub fn ecn_stopped(&self) -> Option<Time> {
        self.ecn_stopped
    }

    /// Lets the driver call this much later than [`SenderConfig::timer_slack`] without a shift of the pacing schedule.
    pub fn allow_lateness(&mut self, lateness: Span) {
        self.ledger.add_slack(lateness);
    }

    /// Adds bytes of the application to the stream.
    pub fn supply(&mut self, bytes: Bytes) {
        self.send_buffer.supply(bytes.get());
    }

    /// Gives the application unlimited data.
    pub fn supply_endless(&mut self) {
        self.send_buffer.supply(u64::MAX);
    }

    /// Ends the stream at the bytes supplied so far. The receiver learns the end only if this is called before the last
    /// byte is sent.
    pub fn finish(&mut self) {
        self.send_buffer.finish();
    }

    /// Discards data that was never sent, and ends the stream there.
    pub fn discard_unsent(&mut self) {
        self.send_buffer.discard_unsent();
    }

    /// Adds data that a relay forwards to a stream.
    pub(crate) fn forward(&mut self, stream_id: u16, offset: u64, len: u64, last: bool, origin: Origin) {
        self.send_buffer.forward(stream_id, offset, len, last, origin);
    }

    /// A packet of a stream, of this size, arrives at the relay; `marked`: it has a CE mark of this or an earlier loop.
    pub(crate) fn on_relay_arrival(&mut self, now: Time, stream_id: u16, bytes: Bytes, marked: bool) {
        if self.send_buffer.queues_mut().is_some_and(|queues| queues.must_measure(now)) {
            self.measure_demands(now);
        }
        let cx = &mut Context { now, random: &mut self.random };
        if let Some(queues) = self.send_buffer.queues_mut() {
            queues.on_arrival(now, stream_id, bytes);
            if let Some(weight) = queues.changed_weight() {
                self.law.on_weight(cx, weight);
            }
        }
        self.law.on_forwarded(cx, marked);
    }

    /// Measures the demands of the loops that share it.
    fn measure_demands(&mut self, now: Time) {
        let (rate, packet) = (self.allowed_rate(now), self.config.packet);
        if let Some(queues) = self.send_buffer.queues_mut() {
            queues.measure_demands(now, rate, packet);
        }
    }

    /// How the incoming loop of a stream shares this sender, which has this rate, with other loops.
    pub(crate) fn sharing(&self, stream_id: u16, rate: Rate) -> Sharing {
        self.send_buffer.queues().map_or(Sharing::ALONE, |queues| queues.sharing(stream_id, rate))
    }

    /// Passes a new capacity of the first link to the law, if it declares live knowledge.
    pub fn on_capacity(&mut self, now: Time, capacity: Rate) {
        if self.started && self.config.needs.capacity == Knowledge::Live {
            self.law.on_capacity(&mut Context { now, random: &mut self.random }, capacity);
            self.update_permit(now);
        }
    }

    /// The law, for inspection.
    pub fn law(&self) -> &dyn Sender {
        &*self.law
    }

    /// The rate at which it can send with data: the smaller of pace and window over smoothed RTT. Before the first
    /// acknowledgement the RTT is taken as the time since the first packet was sent; before that the result is
    /// [`Rate::MAX`].
    pub fn allowed_rate(&self, now: Time) -> Rate {
        let waited = || self.sent.get(self.sent.base()).map_or(Span::ZERO, |first| now.since(first.sent_at));
        let rtt = if self.rtt.is_known() { self.rtt.smoothed() } else { waited() };
        let windowed = self.permit.window.map_or(Rate::MAX, |window| window.max(self.config.packet).per(rtt));
        self.permit.pace.unwrap_or(Rate::MAX).min(windowed)
    }

    /// The bytes of a stream that it may send in this time: its share of the smaller of pace and window over smoothed RTT,
    /// without a bound for a law without both. None if there is a window and no RTT sample.
    #[inline]
    pub(crate) fn allowed_within(&self, span: Span, stream_id: u16) -> Option<Bytes> {
        let share = self.send_buffer.queues().map_or(1.0, |queues| queues.share(stream_id));
        let paced = self.permit.pace.map_or(Bytes::MAX, |pace| pace.scale(share).bytes_in(span));
        let Some(window) = self.permit.window else { return Some(paced) };
        let windowed = window.max(self.config.packet).as_f64() * (span.secs() / self.smoothed_rtt()?.secs());
        Some(paced.min(Bytes::from_f64(windowed * share)))
    }

    /// Bytes in flight, counted on the wire.
    #[inline]
    pub fn in_flight(&self) -> Bytes {
        self.sent.in_flight()
    }

    /// The last permit of the law.
    pub fn permit(&self) -> Permit {
        self.permit
    }

    /// The window of the law, if it has one.
    pub fn window(&self) -> Option<Bytes> {
        self.permit.window
    }

    /// The smoothed RTT, after the first sample.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.is_known().then(|| self.rtt.smoothed())
    }

    /// The minimum RTT, after the first sample.
    pub fn min_rtt(&self) -> Option<Span> {
        self.rtt.is_known().then(|| self.rtt.min())
    }

    /// Bytes supplied or forwarded and never sent.
    #[inline]
    pub fn backlog(&self) -> Bytes {
        Bytes::new(self.send_buffer.backlog())
    }

    /// Bytes of stream data sent at least once.
    #[inline]
    pub fn stream_bytes_sent(&self) -> Bytes {
        Bytes::new(self.send_buffer.sent())
    }

    /// Bytes of one stream that were never sent.
    #[inline]
    pub fn backlog_of(&self, stream_id: u16) -> Bytes {
        Bytes::new(self.send_buffer.backlog_of(stream_id))
    }

    /// How long the data of one stream waited since relays forwarded it; zero if an application supplies it.
    pub fn relay_wait_of(&self, stream_id: u16) -> RelayWait {
        self.send_buffer.waited_of(stream_id)
    }

    /// Bytes of one stream sent at least once.
    #[inline]
    pub fn stream_bytes_sent_of(&self, stream_id: u16) -> Bytes {
        Bytes::new(self.send_buffer.sent_of(stream_id))
    }

    /// Bytes of stream data acknowledged, each counted once.
    pub fn acknowledged(&self) -> Bytes {
        Bytes::new(self.send_buffer.acked())
    }

    /// True if the stream has ended and every byte of it is acknowledged.
    pub fn is_complete(&self) -> bool {
        self.send_buffer.is_complete()
    }

    /// True if it has no data to send, and nothing is in flight, or all of it may still arrive, because no probe timeout has
    /// expired since the last acknowledgement.
    fn has_nothing_to_send(&self) -> bool {
        let may_be_lost = self.sent.in_flight() > Bytes::ZERO && self.timeouts.has_expired();
        self.blocked == LimitedBy::Data && !may_be_lost
    }

    /// Times longer than [`LEAST_SILENCE`](crate::LEAST_SILENCE) in which it had data, or waited for a probe timeout, and sent
    /// nothing, in order. The last one ends `now` if it still lasts.
    pub fn silences(&self, now: Time) -> impl Iterator<Item = Silence> {
        let silent = self.started && !self.has_nothing_to_send();
        let current = if silent { self.silences.current(now, self.timeouts.last_sent_at()) } else { None };
        self.silences.recorded().iter().copied().chain(current)
    }

    /// Number of echoed headers that the law could not parse.
    pub fn unread(&self) -> u64 {
        self.law.unread()
    }

    /// Counters since the loop began.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Reports window, rate and estimates to the observer.
    #[inline]
    fn observe_state(&mut self, now: Time) {
        if let Some(observer) = &mut self.observer {
            let (Permit { window, pace, .. }, rtt) = (self.permit, self.rtt.state());
            observer.on_state(now, &SenderState { window, pace, in_flight: self.sent.in_flight(), rtt });
        }
    }

    /// Reads window and pace from the law.
    #[inline]
    fn update_permit(&mut self, now: Time) {
        let permit = self.law.permit();
        if permit.pace != self.permit.pace {
            self.ledger.set_pace(now, permit.pace);
            if permit.pace.is_some_and(|pace| is_extreme(pace.bps())) {
                self.record_extreme(now, &permit);
            }
        }
        if permit.pace.is_some() {
            self.ledger.set_quantum(permit.quantum);
        }
        let window = permit.window.unwrap_or(NO_WINDOW);
        if is_extreme(window.get()) {
            self.record_extreme(now, &permit);
        }
        self.permit = permit;
        self.in_flight_limit = window.min(self.config.max_in_flight);
    }
}

#[cfg(test)]
impl SenderEnd {
    /// Invariants after every event.
    pub(crate) fn check(&self) {
        assert_eq!(self.sent.in_flight(), self.sent.count_in_flight());
        assert!(self.send_buffer.acked() <= self.send_buffer.sent());
        self.check_deadline();
    }
}
