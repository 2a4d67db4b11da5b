//! A law in charge of one QUIC connection.
//!
//! The library detects acknowledgements and losses and calls a controller for each packet. Here these calls become the
//! events of a law, with the facts of the [`Ledger`]. The library's own pacing and window are not used: the controller is a
//! gate, which our event loop opens for one datagram when window and pacer of the law permit it.
//!
//! ```text
//!   Connection --- on_packet_sent, on_ack, on_packet_lost ---> Control: facts of packets
//!        ^                                                        |  settle: once per datagram received
//!        |  window(): all or nothing                              v
//!      gate <------ next_packet: window, pacer, silence <----- law::Sender
//! ```

use crate::clock::Clock;
use millpond_endpoint::{Ledger, LostPackets, Marks, RttEstimator, SendStamp};
use millpond_law::{
    Ack, Cause, Congestion, Context, Header, LimitedBy, LostPacket, Needs, Permit, Random, Sender,
    SpuriousLoss, Start,
};
use millpond_stats::Histogram;
use millpond_units::{Bytes, Rate, Span, Time};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Settings of a loop's sender.
#[derive(Clone, Copy, Debug)]
pub struct ControlConfig {
    /// Size of a full packet with its IP header.
    pub packet: Bytes,
    /// Bytes of IP and UDP headers.
    pub overhead: Bytes,
    /// Delay of the hosts: acknowledgements and wake-ups. The window is larger by what is sent in this time, because a law
    /// computes it from the base RTT; and packets that leave at most this late do not shift the pacing schedule.
    pub slack: Span,
    /// Capacity of the outgoing link, if it is known.
    pub capacity: Option<Rate>,
    /// What the law declares that it needs.
    pub needs: Needs,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Record {
    sent_at: Time,
    bytes: Bytes,
    delivered: Bytes,
    app_limited: bool,
    stamp: SendStamp,
}

/// Packets acknowledged since the law received its last acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Acked {
    newest: u64,
    record: Record,
    bytes: Bytes,
    packets: u64,
    prior_in_flight: Bytes,
    rtt: Option<Span>,
}

/// Counters of a loop's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlCounters {
    /// Packets sent that ask for an acknowledgement.
    pub sent_packets: u64,
    /// Packets acknowledged.
    pub acked_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// CE marks that the law has received.
    pub marked_packets: u64,
    /// Times at which the rate messages of the peer ceased.
    pub silences: u64,
}

/// What the library may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// Acknowledgements and probes.
    Closed,
    /// Anything; the packet is accounted for by the pacer.
    Open,
    /// Anything; the packet is not paced, because it carries only control messages.
    Control,
}

/// The sender of one loop: a law, and the facts of which its events consist.
pub struct Control {
    config: ControlConfig,
    clock: Clock,
    law: Box<dyn Sender>,
    random: Random,
    ledger: Ledger,
    rtt: RttEstimator,
    permit: Permit,
    /// Set when the handshake is confirmed: packets before have other packet numbers and are left to the library.
    started: bool,
    gate: Gate,
    sent: BTreeMap<u64, Record>,
    next_number: u64,
    in_flight: Bytes,
    lost: Bytes,
    acked: Option<Acked>,
    newly_lost: LostPackets,
    newly_lost_bytes: Bytes,
    lost_records: Vec<Record>,
    /// Bytes lost in the current loss episode.
    episode_bytes: Bytes,
    is_spurious: bool,
    is_persistent: bool,
    marks: Marks,
    echo: Header,
    limited_by: LimitedBy,
    /// The pacer delays the next packet, perhaps one with control messages.
    waits_for_pace: bool,
    is_silent: bool,
    last_wake: Option<Time>,
    counters: ControlCounters,
    lateness: Histogram,
}

impl Control {
    /// The sender of a loop whose connection is not established yet.
    pub fn new(config: ControlConfig, clock: Clock, law: Box<dyn Sender>, random: Random) -> Self {
        Self {
            config,
            clock,
            law,
            random,
            ledger: Ledger::new(config.slack),
            rtt: RttEstimator::new(Span::from_millis(333), Span::from_millis(1), Span::ZERO),
            permit: Permit::default(),
            started: false,
            gate: Gate::Open,
            sent: BTreeMap::new(),
            next_number: 0,
            in_flight: Bytes::ZERO,
            lost: Bytes::ZERO,
            acked: None,
            newly_lost: LostPackets::default(),
            newly_lost_bytes: Bytes::ZERO,
            lost_records: Vec::new(),
            episode_bytes: Bytes::ZERO,
            is_spurious: false,
            is_persistent: false,
            marks: Marks::default(),
            echo: Header::NONE,
            limited_by: LimitedBy::Data,
            waits_for_pace: false,
            is_silent: false,
            last_wake: None,
            counters: ControlCounters::default(),
            lateness: Histogram::of_delays(),
        }
    }

    /// Starts the law, when the handshake is confirmed.
    pub fn start(&mut self, now: Time) {
        let ControlConfig { packet, capacity, needs, .. } = self.config;
        let known = capacity.filter(|_| needs.capacity != millpond_law::Knowledge::Nothing);
        let interface = capacity.filter(|_| needs.interface);
        let start = Start { capacity: known, interface, ..Start::plain(packet) };
        self.started = true;
        self.gate = Gate::Closed;
        self.law.on_start(&mut Context { now, random: &mut self.random }, &start);
        self.update_permit(now);
    }

    /// Passes a new capacity of the outgoing link to the law, if it declares that it needs changes of it.
    pub fn on_capacity(&mut self, now: Time, capacity: Rate) {
        self.config.capacity = Some(capacity);
        if self.started && self.config.needs.capacity == millpond_law::Knowledge::Live {
            self.law.on_capacity(&mut Context { now, random: &mut self.random }, capacity);
            self.update_permit(now);
        }
    }

    /// The sum of the weights of the flows that have data.
    pub fn on_weight(&mut self, now: Time, weight: f64) {
        self.law.on_weight(&mut Context { now, random: &mut self.random }, weight);
        self.update_permit(now);
    }

    /// Why no full packet may leave now, or that one may.
    pub fn next_packet(&self, now: Time) -> Result<(), LimitedBy> {
        let packet = self.config.packet;
        if !self.started || self.is_silent {
            return Err(LimitedBy::NoFeedback);
        }
        if self.in_flight > Bytes::ZERO && self.in_flight + packet > self.window() {
            return Err(LimitedBy::Window);
        }
        if !self.ledger.pace_permits(now, packet) {
            return Err(LimitedBy::Pace);
        }
        Ok(())
    }

    /// The window of the law, larger by what leaves in the allowance.
    fn window(&self) -> Bytes {
        // Before the first RTT sample no rate is known, and the window alone counts.
        let has_rate = !self.allowance().is_zero() && self.rtt.is_known();
        let more = if has_rate { self.allowed_rate().bytes_in(self.allowance()) } else { Bytes::ZERO };
        self.permit.window.map_or(Bytes::MAX, |window| window + more)
    }

    /// By how much an RTT without queueing may exceed the base RTT, from which a law computes its window: the delay of the
    /// hosts, and at a known capacity the time of two packets, because the base RTT may be that of a small packet, and
    /// each second packet is acknowledged.
    fn allowance(&self) -> Span {
        let two_packets = |capacity: Rate| capacity.time_for(self.config.packet * 2);
        let capacity = self.config.capacity.filter(|capacity| !capacity.is_zero());
        self.config.slack + capacity.map_or(Span::ZERO, two_packets)
    }

    /// The rate at which it can send with data: the smaller of pace and window over smoothed RTT; [`Rate::MAX`] before the
    /// first RTT sample.
    pub fn allowed_rate(&self) -> Rate {
        let pace = self.permit.pace.unwrap_or(Rate::MAX);
        if !self.rtt.is_known() {
            return pace;
        }
        let packet = self.config.packet;
        let windowed =
            self.permit.window.map_or(Rate::MAX, |window| window.max(packet).per(self.rtt.smoothed()));
        pace.min(windowed)
    }

    /// When window, pacer or law need another look, unless an event comes first.
    pub fn deadline(&self) -> Time {
        let paced = if self.waits_for_pace { self.ledger.pace_release() } else { Time::NEVER };
        let wake = self.permit.wake.filter(|wake| Some(*wake) > self.last_wake).unwrap_or(Time::NEVER);
        if self.started { paced.min(wake) } else { Time::NEVER }
    }

    /// Calls the timer of the law if it has expired.
    pub fn on_deadline(&mut self, now: Time) {
        if self.started && self.permit.wake.is_some_and(|wake| wake <= now && Some(wake) > self.last_wake) {
            self.last_wake = self.permit.wake;
            self.law.on_timer(&mut Context { now, random: &mut self.random });
            self.update_permit(now);
        }
    }

    /// Opens the gate for the next packet.
    pub fn open(&mut self) {
        if self.started {
            self.gate = Gate::Open;
        }
    }

    /// Opens the gate for a packet with control messages.
    pub fn open_for_control(&mut self) {
        if self.started {
            self.gate = Gate::Control;
        }
    }

    /// Closes the gate: only acknowledgements and probes leave.
    pub fn close(&mut self) {
        if self.started {
            self.gate = Gate::Closed;
        }
    }

    /// Records why no packet left. Without data that waits, it is the data that limits the sender.
    pub fn on_blocked(&mut self, reason: LimitedBy, has_data: bool) {
        self.waits_for_pace = reason == LimitedBy::Pace;
        self.limited_by = if has_data { reason } else { LimitedBy::Data };
        if matches!(reason, LimitedBy::Data | LimitedBy::Credit) {
            self.ledger.on_app_limited(self.in_flight);
        }
    }

    /// Data leaves after there was none: the law may want to restart.
    pub fn on_data(&mut self, now: Time) {
        if self.in_flight == Bytes::ZERO
            && self.limited_by == LimitedBy::Data
            && self.counters.acked_packets > 0
        {
            self.law.on_idle_restart(&mut Context { now, random: &mut self.random });
            self.update_permit(now);
        }
    }

    /// All CE marks that the peer has counted, and the echo of its law.
    pub fn on_message(&mut self, marks: Marks, echo: Header) {
        self.marks = marks;
        self.echo = echo;
        self.is_silent = false;
    }

    /// The rate messages of the peer have ceased: the last value has expired.
    pub fn on_silence(&mut self, now: Time) {
        if self.started && !self.is_silent {
            self.is_silent = true;
            self.echo = Header::NONE;
            self.counters.silences += 1;
            self.notify(now, Cause::NoFeedback, millpond_law::Episode::New, Bytes::ZERO, self.in_flight);
            self.update_permit(now);
        }
    }

    /// True if the rate messages of the peer have ceased.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Bytes in flight, counted with IP headers.
    pub fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// The last permit of the law.
    pub fn permit(&self) -> Permit {
        self.permit
    }

    /// Smoothed RTT, after the first sample.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.rtt.is_known().then(|| self.rtt.smoothed())
    }

    /// Minimum RTT, after the first sample.
    pub fn min_rtt(&self) -> Option<Span> {
        self.rtt.is_known().then(|| self.rtt.min())
    }

    /// How late the packets left that waited for the pacer: median and 99th percentile; none without such a packet.
    pub fn pacing_lateness(&self) -> Option<(Span, Span)> {
        let quantile = |share| Span::from_picos(self.lateness.quantile(share));
        (self.lateness.total() > 0).then(|| (quantile(0.5), quantile(0.99)))
    }

    /// Counters since the loop began.
    pub fn counters(&self) -> ControlCounters {
        self.counters
    }

    /// Delivers what the library reported since the last call to the law, in the order that laws expect: lost packets,
    /// acknowledgement, losses, marks. Call it after each received datagram and each timer.
    pub fn settle(&mut self, now: Time) {
        if !self.started {
            return;
        }
        if std::mem::take(&mut self.is_spurious) {
            let loss = SpuriousLoss { bytes: self.episode_bytes, whole_episode: true };
            self.law.on_spurious_loss(&mut Context { now, random: &mut self.random }, &loss);
        }
        self.report_lost_packets(now);
        let acked = self.acked.take();
        let (lost, lost_bytes) =
            (std::mem::take(&mut self.newly_lost), std::mem::take(&mut self.newly_lost_bytes));
        let marks = acked.as_ref().map(|acked| self.report_ack(now, acked, lost_bytes));
        if lost.packets > 0 {
            let episode = self.ledger.on_lost(&lost, self.next_number);
            let before = if episode == millpond_law::Episode::New { Bytes::ZERO } else { self.episode_bytes };
            self.episode_bytes = before + lost_bytes;
            self.notify(now, Cause::Loss, episode, lost_bytes, self.in_flight + lost_bytes);
        }
        if std::mem::take(&mut self.is_persistent) {
            self.ledger.begin_loss_episode(self.next_number);
            self.notify(now, Cause::NoFeedback, millpond_law::Episode::New, Bytes::ZERO, self.in_flight);
        }
        if let (Some(acked), Some(marks)) = (acked, marks)
            && marks.packets > 0
        {
            self.counters.marked_packets += marks.packets;
            let episode = self.ledger.on_marked(acked.newest, self.next_number);
            self.notify(now, Cause::Ecn, episode, marks.bytes, self.in_flight);
        }
        self.update_permit(now);
    }

    fn report_lost_packets(&mut self, now: Time) {
        for record in std::mem::take(&mut self.lost_records) {
            if self.config.needs.samples {
                let lost = LostPacket {
                    bytes: record.bytes,
                    in_flight_at_send: record.stamp.in_flight,
                    lost_since: self.lost.saturating_sub(record.stamp.lost),
                    delivered: self.ledger.delivered(),
                    app_limited: record.app_limited,
                };
                self.law.on_lost_packet(&mut Context { now, random: &mut self.random }, &lost);
            }
        }
    }

    /// Reports an acknowledgement; returns the marks that belong to it.
    fn report_ack(&mut self, now: Time, acked: &Acked, newly_lost: Bytes) -> Marks {
        let rtt = acked.rtt.map(|rtt| self.rtt.update(rtt, Span::ZERO));
        if !self.rtt.is_known() {
            return Marks::default();
        }
        let record = acked.record;
        self.ledger.on_delivered(acked.bytes);
        let delivery_span = self.ledger.sample_span(now, record.sent_at, &record.stamp, self.rtt.min());
        if self.ledger.ends_recovery(acked.newest) {
            self.law.on_recovery_end(&mut Context { now, random: &mut self.random });
        }
        let marks = self.ledger.new_marks(self.marks, acked.packets, acked.bytes);
        let ack = Ack {
            bytes: acked.bytes,
            packets: acked.packets,
            rtt,
            min_rtt: self.rtt.min(),
            smoothed_rtt: self.rtt.smoothed(),
            prior_in_flight: acked.prior_in_flight,
            in_flight: self.in_flight,
            ce_packets: marks.packets,
            ce_bytes: marks.bytes,
            delivered: self.ledger.delivered(),
            prior_delivered: record.delivered,
            delivery_span,
            round: self.ledger.rounds(record.delivered),
            newly_lost,
            lost: self.lost,
            prior_lost: record.stamp.lost,
            in_flight_at_send: record.stamp.in_flight,
            app_limited: record.app_limited,
            limited_by: self.limited_by,
            header: self.echo,
        };
        self.counters.acked_packets += acked.packets;
        self.law.on_ack(&mut Context { now, random: &mut self.random }, &ack);
        marks
    }

    fn notify(
        &mut self,
        now: Time,
        cause: Cause,
        episode: millpond_law::Episode,
        bytes: Bytes,
        prior: Bytes,
    ) {
        let congestion =
            Congestion { cause, episode, bytes, in_flight: self.in_flight, prior_in_flight: prior };
        self.law.on_congestion(&mut Context { now, random: &mut self.random }, &congestion);
    }

    fn update_permit(&mut self, now: Time) {
        let permit = self.law.permit();
        if permit.pace != self.permit.pace {
            self.ledger.set_pace(now, permit.pace);
        }
        self.ledger.set_quantum(permit.quantum);
        self.permit = permit;
    }

    fn on_packet_sent(&mut self, now: Time, payload: u16, number: u64) {
        if !self.started {
            return;
        }
        let bytes = Bytes::new(payload.into()) + self.config.overhead;
        let idle = self.in_flight == Bytes::ZERO;
        self.in_flight += bytes;
        if self.gate == Gate::Open {
            // Only for packets that waited for the pacer: others had another reason not to leave earlier.
            if self.limited_by == LimitedBy::Pace {
                self.lateness.add(now.since(self.ledger.pace_release()).picos(), 1);
            }
            self.ledger.on_paced(now, bytes);
        }
        let record = Record {
            sent_at: now,
            bytes,
            delivered: self.ledger.delivered(),
            app_limited: self.ledger.is_app_limited(),
            stamp: self.ledger.stamp(now, idle, self.in_flight, self.lost),
        };
        self.sent.insert(number, record);
        self.next_number = self.next_number.max(number + 1);
        self.counters.sent_packets += 1;
        if self.config.needs.sent {
            self.law.on_sent(&mut Context { now, random: &mut self.random }, bytes, self.in_flight);
            self.update_permit(now);
        }
    }

    /// Removes a packet from those in flight. Packets from before the start are unknown; numbers of the handshake may be
    /// those of other packets, which left at other times.
    fn settle_packet(&mut self, number: u64, is_same: impl Fn(&Record) -> bool) -> Option<Record> {
        let record = self.sent.get(&number).copied().filter(|record| is_same(record))?;
        self.sent.remove(&number);
        self.in_flight = self.in_flight.saturating_sub(record.bytes);
        Some(record)
    }

    fn on_packet_acked(&mut self, now: Time, sent_at: Time, number: u64) {
        let prior_in_flight = self.in_flight;
        let Some(record) = self.settle_packet(number, |record| record.sent_at == sent_at) else { return };
        let rtt = Some(now.since(sent_at));
        let acked = self.acked.get_or_insert(Acked {
            newest: number,
            record,
            bytes: Bytes::ZERO,
            packets: 0,
            prior_in_flight,
            rtt,
        });
        acked.bytes += record.bytes;
        acked.packets += 1;
        if number >= acked.newest {
            (acked.newest, acked.record, acked.rtt) = (number, record, rtt);
        }
    }

    fn on_packet_lost(&mut self, payload: u16, number: u64) {
        let bytes = Bytes::new(payload.into()) + self.config.overhead;
        let Some(record) = self.settle_packet(number, |record| record.bytes == bytes) else { return };
        let lost = &mut self.newly_lost;
        lost.oldest = if lost.packets == 0 { number } else { lost.oldest.min(number) };
        lost.newest = lost.newest.max(number);
        lost.packets += 1;
        self.newly_lost_bytes += bytes;
        self.lost += bytes;
        self.counters.lost_packets += 1;
        self.lost_records.push(record);
    }
}

/// A sender that the library's controller and the event loop share. One thread uses both.
#[derive(Clone)]
pub struct SharedControl(Arc<Mutex<Control>>);

impl SharedControl {
    /// Shares this sender.
    pub fn new(control: Control) -> Self {
        Self(Arc::new(Mutex::new(control)))
    }

    /// Access to the sender.
    pub fn get(&self) -> MutexGuard<'_, Control> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SharedControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedControl")
    }
}

/// A pacing rate and a window that never stop the library.
const UNLIMITED: u64 = 1 << 50;

impl noq_proto::congestion::Controller for SharedControl {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let mut control = self.get();
        let now = control.clock.time(now);
        control.on_packet_sent(now, bytes, pn);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        _bytes: u64,
        pn: u64,
        _app_limited: bool,
        _rtt: &noq_proto::RttEstimator,
    ) {
        let mut control = self.get();
        let (now, sent) = (control.clock.time(now), control.clock.time(sent));
        control.on_packet_acked(now, sent, pn);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, _now: Instant) {
        self.get().on_packet_lost(lost_bytes, pn);
    }

    /// Losses have been reported one by one. The flag of marks is not used: the peer counts them in its rate messages.
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        _is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        self.get().is_persistent |= is_persistent_congestion;
    }

    fn on_spurious_congestion_event(&mut self) {
        self.get().is_spurious = true;
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        if self.get().gate == Gate::Closed { 0 } else { UNLIMITED }
    }

    fn metrics(&self) -> noq_proto::congestion::ControllerMetrics {
        let mut metrics = noq_proto::congestion::ControllerMetrics::default();
        metrics.congestion_window = UNLIMITED;
        metrics.pacing_rate = Some(UNLIMITED);
        metrics
    }

    fn clone_box(&self) -> Box<dyn noq_proto::congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        UNLIMITED
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl noq_proto::congestion::ControllerFactory for SharedControl {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn noq_proto::congestion::Controller> {
        Box::new((*self).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Episode;

    /// What a law has received.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Received {
        /// Packets, bytes in flight before and after, and whether there is an echo of the peer's law.
        Ack(u64, u64, u64, bool),
        /// Cause, bytes lost, and bytes in flight before and after.
        Congestion(Cause, Episode, u64, u64, u64),
    }

    /// A law with a constant window, which records its events.
    struct Recorder(Bytes, Arc<Mutex<Vec<Received>>>);

    impl Sender for Recorder {
        fn on_ack(&mut self, _: &mut Context<'_>, ack: &Ack) {
            let event = Received::Ack(
                ack.packets,
                ack.prior_in_flight.get(),
                ack.in_flight.get(),
                ack.header != Header::NONE,
            );
            self.1.lock().unwrap().push(event);
        }

        fn on_congestion(&mut self, _: &mut Context<'_>, congestion: &Congestion) {
            let Congestion { cause, episode, bytes, in_flight, prior_in_flight } = congestion;
            let [bytes, prior, after] = [bytes, prior_in_flight, in_flight].map(|bytes| bytes.get());
            self.1.lock().unwrap().push(Received::Congestion(*cause, *episode, bytes, prior, after));
        }

        fn permit(&self) -> Permit {
            Permit { window: Some(self.0), ..Permit::default() }
        }
    }

    const MS: fn(u64) -> Time = |ms| Time::ZERO + Span::from_millis(ms);

    /// A sender with a window of two packets at a link of 12 Mbit/s, and what its law has received.
    #[allow(clippy::disallowed_methods, reason = "any instant is a start: results do not depend on it")]
    fn started() -> (Control, Arc<Mutex<Vec<Received>>>) {
        let config = ControlConfig {
            packet: Bytes::new(1500),
            overhead: Bytes::new(28),
            slack: Span::ZERO,
            capacity: Some(Rate::from_mbps(12.0)),
            needs: Needs::default(),
        };
        let received = Arc::new(Mutex::new(Vec::new()));
        let law = Box::new(Recorder(Bytes::new(3000), Arc::clone(&received)));
        let mut control = Control::new(config, Clock::new(Instant::now()), law, Random::stream(1, "control"));
        control.start(MS(0));
        control.open();
        (control, received)
    }

    #[test]
    fn a_law_receives_acknowledgements_and_losses_with_the_bytes_in_flight() {
        let (mut control, received) = started();
        (0..4).for_each(|number| control.on_packet_sent(MS(0), 1472, number));
        (0..2).for_each(|number| control.on_packet_acked(MS(10), MS(0), number));
        control.settle(MS(10));
        control.on_packet_lost(1472, 2);
        control.settle(MS(12));
        let expected = [
            Received::Ack(2, 6000, 3000, false),
            Received::Congestion(Cause::Loss, Episode::New, 1500, 3000, 1500),
        ];
        assert_eq!(*received.lock().unwrap(), expected);
        assert_eq!(control.counters().lost_packets, 1);
    }

    #[test]
    fn the_echo_of_the_peer_expires_with_its_rate_messages() {
        let (mut control, received) = started();
        (0..2).for_each(|number| control.on_packet_sent(MS(0), 1472, number));
        control.on_message(Marks::default(), Header::new(millpond_law::HeaderId(7), &[1]));
        control.on_packet_acked(MS(10), MS(0), 0);
        control.settle(MS(10));
        control.on_silence(MS(11));
        control.on_packet_acked(MS(12), MS(0), 1);
        control.settle(MS(12));
        let echoes = received
            .lock()
            .unwrap()
            .iter()
            .map(|event| match event {
                Received::Ack(_, _, _, has_echo) => Some(*has_echo),
                Received::Congestion(cause, ..) => (*cause == Cause::NoFeedback).then_some(false),
            })
            .collect::<Vec<_>>();
        assert_eq!(
            echoes,
            [Some(true), Some(false), Some(false)],
            "acknowledgement, silence, acknowledgement"
        );
    }

    #[test]
    fn the_window_allows_for_two_packets_at_the_newest_capacity() {
        let (mut control, _) = started();
        control.on_packet_sent(MS(0), 1472, 0);
        control.on_packet_acked(MS(10), MS(0), 0);
        control.settle(MS(10));
        (1..3).for_each(|number| control.on_packet_sent(MS(10), 1472, number));
        // 3000 bytes in 10 ms are 2.4 Mbit/s: 600 bytes in the 2 ms of two packets at 12 Mbit/s, 6000 in 20 ms at 1.2 Mbit/s.
        assert_eq!(control.next_packet(MS(10)), Err(LimitedBy::Window));
        control.on_capacity(MS(10), Rate::from_mbps(1.2));
        assert_eq!(control.next_packet(MS(10)), Ok(()));
    }
}
