//! A path model for tests: loops in a row, each with a forward and a backward path, driven by one event queue.

use super::event_log::{EventLog, EventRecorder};
use crate::{
    AckOutcome, Acknowledgement, Received, ReceiverConfig, ReceiverEnd, Relay, Segment, SenderConfig,
    SenderEnd,
};
use millpond_law::{
    Ack, Congestion, Context, Ecn, Event, Header, Needs, Permit, PlainReceiver, Random, Sender,
};
use millpond_units::{Bytes, Rate, Span, Time};
use std::collections::BTreeMap;

pub(super) const PACKET: Bytes = Bytes::new(1000);

pub(super) fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A law with a constant permit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FixedPermit(pub(super) Permit);

impl FixedPermit {
    pub(super) fn window(packets: f64) -> Self {
        Self(Permit { window: Some(Bytes::from_f64(packets * PACKET.as_f64())), ..Permit::default() })
    }

    pub(super) fn pace(rate: Rate) -> Self {
        Self(Permit { pace: Some(rate), ..Permit::default() })
    }
}

impl Sender for FixedPermit {
    fn on_ack(&mut self, _cx: &mut Context<'_>, _ack: &Ack) {}
    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}
    fn permit(&self) -> Permit {
        self.0
    }
    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        header.set(millpond_law::HeaderId(1), &[7]);
    }
}

/// One direction of a loop.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) delay: Span,
    /// Packets are served one after another at this rate; [`Rate::MAX`] takes no time.
    pub(super) rate: Rate,
    pub(super) loss: f64,
    pub(super) duplication: f64,
    /// Upper bound of an additional random delay, which reorders packets.
    pub(super) jitter: Span,
    /// Each packet is marked with this probability.
    pub(super) marking: f64,
    /// All packets are lost between these times.
    pub(super) outage: (Time, Time),
    busy_until: Time,
}

impl Path {
    pub(super) fn new(delay: Span) -> Self {
        let never = (Time::NEVER, Time::NEVER);
        let (loss, duplication, marking) = (0.0, 0.0, 0.0);
        let busy_until = Time::ZERO;
        Self {
            delay,
            rate: Rate::MAX,
            loss,
            duplication,
            jitter: Span::ZERO,
            marking,
            outage: never,
            busy_until,
        }
    }

    /// Arrival times and queueing delays of the copies of a packet that enters now.
    fn carry(&mut self, now: Time, bytes: u32, random: &mut Random) -> Vec<(Time, Span)> {
        if (self.outage.0..self.outage.1).contains(&now) || random.chance(self.loss) {
            return Vec::new();
        }
        let start = self.busy_until.max(now);
        self.busy_until = start + self.rate.time_for(Bytes::new(bytes.into()));
        let copies = if random.chance(self.duplication) { 2 } else { 1 };
        let base = self.busy_until + self.delay;
        (0..copies).map(|_| (base + self.jitter.scale(random.uniform()), start.since(now))).collect()
    }
}

enum Arrival {
    Data(usize, Segment),
    Ack(usize, Acknowledgement),
    SenderTimer(usize),
    ReceiverTimer(usize),
}

/// One loop with its two paths.
pub(super) struct Loop {
    pub(super) sender: SenderEnd,
    pub(super) receiver: ReceiverEnd,
    pub(super) forward: Path,
    pub(super) backward: Path,
    pub(super) log: EventLog,
    /// The packets sent.
    pub(super) sent: Vec<Segment>,
    /// The packets that arrived.
    pub(super) received: Vec<(Time, Segment, Received)>,
    pub(super) outcomes: Vec<(Time, AckOutcome)>,
    armed: [Time; 2],
}

impl Loop {
    pub(super) fn new(law: impl Sender + 'static, one_way: Span) -> Self {
        let config = SenderConfig::new(PACKET, Needs { ecn: Some(false), samples: true, ..Needs::default() });
        Self::with(config, ReceiverConfig::default(), law, one_way)
    }

    pub(super) fn with(
        sender: SenderConfig,
        receiver: ReceiverConfig,
        law: impl Sender + 'static,
        one_way: Span,
    ) -> Self {
        let log = EventLog::default();
        let law = Box::new(EventRecorder::new(Box::new(law), log.clone()));
        Self {
            sender: SenderEnd::new(sender, law, Random::stream(1, "sender")),
            receiver: ReceiverEnd::new(receiver, Box::new(PlainReceiver), Random::stream(1, "receiver")),
            forward: Path::new(one_way),
            backward: Path::new(one_way),
            log,
            sent: Vec::new(),
            received: Vec::new(),
            outcomes: Vec::new(),
            armed: [Time::NEVER; 2],
        }
    }

    pub(super) fn acks(&self) -> Vec<(Time, Ack)> {
        let events = self.log.take().into_iter();
        events
            .filter_map(|(now, event)| if let Event::Ack(ack) = event { Some((now, ack)) } else { None })
            .collect()
    }

    pub(super) fn congestion(&self) -> Vec<(Time, Congestion)> {
        let events = self.log.take().into_iter();
        events
            .filter_map(|(now, event)| if let Event::Congestion(c) = event { Some((now, c)) } else { None })
            .collect()
    }
}

/// Loops in a row, joined by relays.
pub(super) struct Chain {
    pub(super) now: Time,
    pub(super) loops: Vec<Loop>,
    pub(super) relays: Vec<Relay>,
    /// The greatest limit of each relay so far: its queue shrinks no faster than it is served if the limit does.
    greatest_limits: Vec<Bytes>,
    arrivals: BTreeMap<(Time, u64), Arrival>,
    order: u64,
    random: Random,
}

impl Chain {
    pub(super) fn new(loops: Vec<Loop>, relays: Vec<Relay>, seed: u64) -> Self {
        assert_eq!(loops.len(), relays.len() + 1);
        let random = Random::stream(seed, "pipe");
        let greatest_limits = relays.iter().map(Relay::initial_credit).collect();
        Self { now: Time::ZERO, loops, relays, greatest_limits, arrivals: BTreeMap::new(), order: 0, random }
    }

    pub(super) fn single(only: Loop) -> Self {
        Self::new(vec![only], Vec::new(), 1)
    }

    pub(super) fn first(&mut self) -> &mut Loop {
        &mut self.loops[0]
    }

    /// Starts all loops; the first has `bytes` to send, or unlimited data.
    pub(super) fn start(&mut self, bytes: Option<u64>) {
        match bytes {
            Some(bytes) => {
                self.first().sender.supply(Bytes::new(bytes));
                self.first().sender.finish();
            }
            None => self.first().sender.supply_endless(),
        }
        for index in (0..self.loops.len()).rev() {
            self.loops[index].sender.start(self.now, None);
            self.poll_sender(index);
        }
    }

    pub(super) fn run_until(&mut self, end: Time) {
        while let Some(entry) = self.arrivals.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((now, _), arrival) = entry.remove_entry();
            assert!(now >= self.now);
            self.now = now;
            self.handle(arrival);
            self.check();
        }
        self.now = end;
    }

    /// Polls a sender, after its events and after a test has changed its state.
    pub(super) fn poll_sender(&mut self, index: usize) {
        while let Some(segment) = self.loops[index].sender.transmit(self.now) {
            self.loops[index].sent.push(segment);
            let copies = self.loops[index].forward.carry(self.now, segment.bytes, &mut self.random);
            for (time, waited) in copies {
                let marked = self.random.chance(self.loops[index].forward.marking);
                let ecn = if marked { Ecn::Ce } else { segment.ecn };
                let segment = Segment { queueing: segment.queueing + waited, ecn, ..segment };
                self.post(time, Arrival::Data(index, segment));
            }
        }
        if let Some(before) = index.checked_sub(1) {
            let (earlier, later) = self.loops.split_at_mut(index);
            let ack = self.relays[before].on_sent(self.now, &mut earlier[before].receiver, &later[0].sender);
            self.send_ack(before, ack);
        }
        self.arm(index);
    }

    fn handle(&mut self, arrival: Arrival) {
        let now = self.now;
        match arrival {
            Arrival::Data(index, segment) => self.on_data(index, segment),
            Arrival::Ack(index, ack) => {
                let outcome = self.loops[index].sender.on_ack(now, &ack);
                self.loops[index].outcomes.push((now, outcome));
                self.poll_sender(index);
            }
            Arrival::SenderTimer(index) => {
                self.loops[index].armed[0] = Time::NEVER;
                if self.loops[index].sender.deadline() <= now {
                    self.loops[index].sender.on_deadline(now);
                    self.poll_sender(index);
                }
                self.arm(index);
            }
            Arrival::ReceiverTimer(index) => {
                self.loops[index].armed[1] = Time::NEVER;
                let ack = self.loops[index].receiver.on_deadline(now);
                self.send_ack(index, ack);
                self.arm(index);
            }
        }
    }

    fn on_data(&mut self, index: usize, segment: Segment) {
        let received = match self.relays.get(index) {
            None => self.loops[index].receiver.on_data(self.now, &segment, None),
            Some(relay) => {
                let (earlier, later) = self.loops.split_at_mut(index + 1);
                let (sink, next) = (&mut earlier[index].receiver, &mut later[0].sender);
                relay.on_arrival(self.now, &segment, next);
                let view = relay.view(self.now, next);
                relay.on_data(self.now, &segment, Some(&view), sink, next)
            }
        };
        self.loops[index].received.push((self.now, segment, received));
        let receiver = &mut self.loops[index].receiver;
        let acked = Some(segment.number);
        let ack = received.ack_due.then(|| receiver.acknowledge(self.now, segment.stream_id, acked));
        self.send_ack(index, ack);
        self.arm(index);
        if index < self.relays.len() {
            self.poll_sender(index + 1);
        }
    }

    fn send_ack(&mut self, index: usize, ack: Option<Acknowledgement>) {
        let Some(ack) = ack else { return };
        for (time, _) in self.loops[index].backward.carry(self.now, ack.bytes, &mut self.random) {
            self.post(time, Arrival::Ack(index, ack));
        }
    }

    /// One timer per end, set again if the deadline is now earlier.
    fn arm(&mut self, index: usize) {
        let due = [self.loops[index].sender.deadline(), self.loops[index].receiver.deadline()];
        for (end, due) in due.into_iter().enumerate() {
            if due < self.loops[index].armed[end] {
                self.loops[index].armed[end] = due;
                let timer = [Arrival::SenderTimer(index), Arrival::ReceiverTimer(index)].into_iter().nth(end);
                self.post(due.max(self.now), timer.unwrap());
            }
        }
    }

    fn post(&mut self, time: Time, arrival: Arrival) {
        self.order += 1;
        self.arrivals.insert((time, self.order), arrival);
    }

    /// Invariants after every event.
    fn check(&mut self) {
        for each in &self.loops {
            each.sender.check();
        }
        for (index, (relay, greatest)) in self.relays.iter().zip(&mut self.greatest_limits).enumerate() {
            let next = &self.loops[index + 1].sender;
            *greatest = relay.limit(next).max(*greatest);
            assert!(next.backlog() <= *greatest);
        }
    }
}
