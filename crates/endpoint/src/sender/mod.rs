//! The sending end of a loop.

mod config;
mod departure;
mod feedback;
mod timers;

pub use config::{AckOutcome, SenderConfig, SenderCounters};

use crate::AckRanges;
use crate::episode::Episodes;
use crate::loss::LossDetector;
use crate::marks::MarkCount;
use crate::pace::Pacer;
use crate::rate::DeliveryRate;
use crate::round::Rounds;
use crate::rtt::Rtt;
use crate::send_buffer::{Origin, Stop, Stream};
use crate::sent::SentRing;
use crate::stream_queues::Member;
use crate::timeout::Timeouts;
use millpond_law::{Context, Knowledge, Permit, Random, Sender, Sharing, Start};
use millpond_units::{Bytes, Rate, Span, Time};

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
    /// The ranges of the last acknowledgement, which need no second look.
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

impl SenderEnd {
    /// A sending end that has not begun.
    pub fn new(config: SenderConfig, law: Box<dyn Sender>, random: Random) -> Self {
        let stream = Stream::new(config.payload(), config.credit);
        Self::of(stream, config, law, random)
    }

    /// One that several flows share, each of which earlier loops bring. At most 65536 of them.
    pub fn shared(config: SenderConfig, members: Vec<Member>, law: Box<dyn Sender>, random: Random) -> Self {
        let stream = Stream::shared(config.payload(), members);
        Self::of(stream, config, law, random)
    }

    fn of(stream: Stream, config: SenderConfig, law: Box<dyn Sender>, random: Random) -> Self {
        Self {
            law,
            random,
            permit: Permit::default(),
            most_in_flight: config.max_in_flight,
            started: false,
            stream,
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

    /// The loop begins, unless it has already; `capacity` is the least of its links, told to the law only if it asks
    /// for it.
    pub fn start(&mut self, now: Time, capacity: Option<Rate>) {
        if self.started {
            return;
        }
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

    /// An earlier loop hands on a part of a member's stream.
    pub(crate) fn forward(&mut self, member: u16, offset: u64, len: u64, last: bool, origin: Origin) {
        self.stream.forward(member, offset, len, last, origin);
    }

    /// A packet of a member arrives from an earlier loop; `marked`: it bore a mark there or before.
    pub(crate) fn on_arrival(&mut self, now: Time, member: u16, marked: bool) {
        let cx = &mut Context { now, random: &mut self.random };
        if let Some(shared) = self.stream.members_mut() {
            shared.on_arrival(now, member);
            if let Some(weight) = shared.renewed_weight() {
                self.law.on_weight(cx, weight);
            }
        }
        self.law.on_forwarded(cx, marked);
    }

    /// How the loop that brings a member shares this sender with others.
    pub(crate) fn sharing(&self, member: u16) -> Sharing {
        self.stream.members().map_or(Sharing::ALONE, |shared| shared.sharing(member))
    }

    /// The capacity of the link that this sender feeds is now this.
    pub fn on_capacity(&mut self, now: Time, capacity: Rate) {
        if self.started && self.config.needs.capacity == Knowledge::Live {
            self.law.on_capacity(&mut Context { now, random: &mut self.random }, capacity);
            self.ask_law(now);
        }
    }

    /// The law, to observe.
    pub fn law(&self) -> &dyn Sender {
        &*self.law
    }

    /// The rate at which it really sends if it has data: its window over its smoothed round-trip time, or its pace if
    /// that is less. As long as nothing has come back, the round-trip time is at least what has passed since the first
    /// packet left; before that, [`Rate::MAX`].
    pub fn allowed_rate(&self, now: Time) -> Rate {
        let waited = || self.sent.get(self.sent.base()).map_or(Span::ZERO, |first| now.since(first.sent_at));
        let rtt = if self.rtt.is_known() { self.rtt.smoothed() } else { waited() };
        let windowed = self.permit.window.map_or(Rate::MAX, |window| window.max(self.config.packet).per(rtt));
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

    /// Bytes of a member's stream that wait to be sent for the first time.
    #[inline]
    pub fn backlog_of(&self, member: u16) -> Bytes {
        Bytes::new(self.stream.backlog_of(member))
    }

    /// Bytes of a member's stream that were sent at least once.
    #[inline]
    pub fn handed_out_of(&self, member: u16) -> Bytes {
        Bytes::new(self.stream.taken_of(member))
    }

    /// Bytes of the stream that were acknowledged, each counted once.
    pub fn acknowledged(&self) -> Bytes {
        Bytes::new(self.stream.acked())
    }

    /// Has every byte of a finished stream been acknowledged?
    pub fn is_complete(&self) -> bool {
        self.stream.is_complete()
    }

    /// How many echoes its law could not read.
    pub fn unread(&self) -> u64 {
        self.law.unread()
    }

    /// What it has done so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

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
}

#[cfg(test)]
impl SenderEnd {
    /// What must hold after every step.
    pub(crate) fn check(&self) {
        assert_eq!(self.sent.in_flight(), self.sent.recount());
        assert!(self.stream.acked() <= self.stream.taken());
    }
}
