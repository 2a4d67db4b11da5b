//! One direction of a link on its own, driven from outside: packets enter with their times, and leave with theirs.
//!
//! This is the link of [`crate::PacketNetwork`] with the same laws, queues, loss and delay, without flows and without an
//! event loop over a network. An emulator of real packets calls it with the times of a clock, a test with times of its own.
//! The results depend on the times of the arrivals alone, not on when [`SingleLink::run_to`] is called.

use crate::link::{Link, LinkAction, LinkSpec, LinkView, WireArrival};
use crate::packet_pool::{Packet, PacketHandle, PacketPool};
use millpond_endpoint::{Frame, Segment};
use millpond_law::{Ecn, Header, QueuedFlow};
use millpond_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet that enters the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnteringPacket {
    /// Its size on the wire in bytes.
    pub bytes: u32,
    /// The number of its flow, from [`SingleLink::add_flow`].
    pub flow: u32,
    /// Its ECN bits.
    pub ecn: Ecn,
}

/// A packet at the end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeavingPacket {
    /// When it reaches the end of the link.
    pub at: Time,
    /// The number that [`SingleLink::enter`] returned for it. The next packet may have the same one.
    pub slot: u32,
    /// Its ECN bits, CE if a law has marked it.
    pub ecn: Ecn,
    /// Time in the queue without its own service.
    pub queueing: Span,
}

/// What happens at the time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// A packet enters.
    Enter,
    /// The packet is at the end of the link.
    Leave,
    /// The same, and random loss may remove it.
    LeaveUnlessLost,
    /// The link requested this call.
    Call,
    /// A control interval of a law ends.
    Tick,
}

/// An event: its time, its number in the order of insertion, and what happens.
#[derive(Clone, Copy, Debug)]
struct PendingEvent {
    key: (Time, u64),
    step: Step,
    handle: PacketHandle,
}

impl PartialEq for PendingEvent {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for PendingEvent {}

impl PartialOrd for PendingEvent {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PendingEvent {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// One direction of a link, driven from outside.
pub struct SingleLink {
    link: Link,
    packets: PacketPool,
    events: BinaryHeap<Reverse<PendingEvent>>,
    inserted: u64,
    now: Time,
    /// Number of flows whose packets have arrived.
    flows: u32,
}

impl SingleLink {
    /// The link at time zero. Its random streams derive from `seed` and its name. Its processing time is not used: real
    /// packets have one of their own.
    pub fn new(spec: LinkSpec, seed: u64) -> Self {
        let link = spec.build(seed, &[]);
        let first_tick = link.first_tick();
        let mut single = Self {
            link,
            packets: PacketPool::default(),
            events: BinaryHeap::new(),
            inserted: 0,
            now: Time::ZERO,
            flows: 0,
        };
        single.schedule(first_tick, Step::Tick, PacketHandle::NONE);
        single
    }

    /// Adds a flow for its queues, before its first packet. Returns its number; the first one is zero.
    pub fn add_flow(&mut self, flow: QueuedFlow) -> u32 {
        self.link.add_flow(flow);
        self.flows += 1;
        self.flows - 1
    }

    /// A packet enters at `at`, or at the time up to which the link has run if that is later. Returns the number of its
    /// slot, which no other packet has before this one has left or was dropped.
    pub fn enter(&mut self, at: Time, packet: EnteringPacket) -> u32 {
        let frame = Frame::Data(segment(packet));
        let slot = self.packets.insert(Packet::new(frame, packet.flow, Ecn::NotCapable));
        let handle = PacketHandle { packet: slot, bytes: packet.bytes, route: 0 };
        self.schedule(at.max(self.now), Step::Enter, handle);
        slot
    }

    /// The time of the next event: a packet leaves, or a law acts. [`Time::NEVER`] if there is none.
    pub fn next_event(&self) -> Time {
        self.events.peek().map_or(Time::NEVER, |Reverse(event)| event.key.0)
    }

    /// Handles all events up to `time`, each at its own time, and passes every packet that leaves to `leave`, in order.
    pub fn run_to(&mut self, time: Time, mut leave: impl FnMut(LeavingPacket)) {
        while self.next_event() <= time
            && let Some(Reverse(PendingEvent { key: (now, _), step, handle })) = self.events.pop()
        {
            self.now = now;
            if let Some(handle) = self.handle(now, step, handle) {
                leave(leaving(now, handle, &self.packets));
                self.packets.release(handle.packet);
            }
        }
        self.now = self.now.max(time);
        self.link.settle(self.now, &mut self.packets);
    }

    /// State and statistics at the time up to which the link has run.
    pub fn view(&self) -> LinkView<'_> {
        LinkView { link: &self.link }
    }

    /// Number of packets in the queue and on the wire.
    pub fn packets(&self) -> usize {
        self.packets.len()
    }

    fn schedule(&mut self, at: Time, step: Step, handle: PacketHandle) {
        if at != Time::NEVER {
            self.inserted += 1;
            self.events.push(Reverse(PendingEvent { key: (at, self.inserted), step, handle }));
        }
    }

    /// Handles an event; returns the packet that leaves.
    fn handle(&mut self, now: Time, step: Step, handle: PacketHandle) -> Option<PacketHandle> {
        match step {
            Step::Leave => return Some(handle),
            Step::Enter => self.enqueue(now, handle),
            Step::Tick => {
                let next = self.link.tick(now, &mut self.packets);
                self.schedule(next, Step::Tick, PacketHandle::NONE);
            }
            Step::Call => {
                let next_call = self.link.on_call(now, &mut self.packets);
                self.take_served(next_call);
            }
            Step::LeaveUnlessLost => return self.link.unless_lost(handle, &mut self.packets),
        }
        None
    }

    fn enqueue(&mut self, now: Time, handle: PacketHandle) {
        if self.link.is_plain() {
            if let Some(arrives) = self.link.arrive(now, handle, &mut self.packets) {
                self.schedule(arrives, Step::Leave, handle);
            }
            return;
        }
        match self.link.enqueue_special(now, handle, &mut self.packets) {
            LinkAction::Dropped => {}
            LinkAction::Deliver(arrival) => self.deliver(arrival, handle),
            LinkAction::TakeServed(next_call) => self.take_served(next_call),
        }
    }

    fn take_served(&mut self, next_call: Time) {
        self.schedule(next_call, Step::Call, PacketHandle::NONE);
        while let Some((arrival, handle)) = self.link.take_served() {
            self.deliver(arrival, handle);
        }
    }

    fn deliver(&mut self, arrival: WireArrival, handle: PacketHandle) {
        self.schedule(
            arrival.at,
            if arrival.may_be_lost { Step::LeaveUnlessLost } else { Step::Leave },
            handle,
        );
    }
}

fn leaving(at: Time, handle: PacketHandle, packets: &PacketPool) -> LeavingPacket {
    let (ecn, queueing) = match &packets.get(handle.packet).frame {
        Frame::Data(segment) => (segment.ecn, segment.queueing),
        Frame::Ack(_) => (Ecn::NotCapable, Span::ZERO),
    };
    LeavingPacket { at, slot: handle.packet, ecn, queueing }
}

/// A packet of which a link reads size and ECN bits alone.
fn segment(packet: EnteringPacket) -> Segment {
    Segment {
        stream_id: 0,
        marked_upstream: false,
        number: 0,
        floor: 0,
        offset: 0,
        payload: packet.bytes,
        bytes: packet.bytes,
        sent_at: Time::ZERO,
        origin_time: Time::ZERO,
        queueing: Span::ZERO,
        ecn: packet.ecn,
        last: false,
        header: Header::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, Loss, NodeId, Propagation};
    use millpond_law::{
        Context, FairScheduler, FlowQueues, Hooks, Link as Law, PacketView, QueueLaw, QueueView, Verdict,
    };
    use millpond_units::Rate;

    /// 1000 bytes take a millisecond; the delay is 10 ms.
    fn spec() -> LinkSpec {
        LinkSpec::plain("L", NodeId(0), NodeId(1), Rate::from_bps(8_000_000), Span::from_millis(10))
    }

    fn packet(flow: u32) -> EnteringPacket {
        EnteringPacket { bytes: 1000, flow, ecn: Ecn::Ect0 }
    }

    fn millis(millis: f64) -> Time {
        Time::from_secs(millis / 1e3)
    }

    /// A link that two flows cross.
    fn with_flows(spec: LinkSpec) -> SingleLink {
        let mut link = SingleLink::new(spec, 1);
        let numbers = ["a", "b"].map(|name| link.add_flow(QueuedFlow::new(name, 1.0)));
        assert_eq!(numbers, [0, 1]);
        link
    }

    /// What leaves a link if a packet of these flows enters every `gap` milliseconds, and the link is called every `calls`
    /// milliseconds.
    fn run(spec: LinkSpec, flows: &[u32], gap: f64, calls: f64) -> (SingleLink, Vec<LeavingPacket>) {
        let mut link = with_flows(spec);
        for (n, flow) in flows.iter().enumerate() {
            link.enter(millis(n as f64 * gap), packet(*flow));
        }
        let mut left = Vec::new();
        for call in 1..=(1e3 / calls) as u32 {
            link.run_to(millis(f64::from(call) * calls), |packet| left.push(packet));
        }
        (link, left)
    }

    /// Marks every third departure.
    struct EveryThird(u32);

    impl Law for EveryThird {
        fn hooks(&self) -> Hooks {
            Hooks { depart: true, ..Hooks::default() }
        }
        fn depart(&mut self, _: &mut Context<'_>, _: &mut PacketView<'_>, _: &QueueView) -> Verdict {
            self.0 += 1;
            if self.0.is_multiple_of(3) { Verdict::Mark } else { Verdict::Keep }
        }
    }

    /// A plain link, one with a law at departures, one whose packets may overtake, one with several queues.
    fn kinds() -> [LinkSpec; 4] {
        let wire = Propagation { reorder: true, ..Propagation::constant(Span::from_millis(10)) };
        [
            spec(),
            LinkSpec { queue: QueueLaw::single(EveryThird(0)), ..spec() },
            LinkSpec {
                propagation: Propagation { steps: vec![(millis(900.0), Span::ZERO)], ..wire },
                ..spec()
            },
            LinkSpec {
                queue: QueueLaw::multi(FlowQueues::per_flow(FairScheduler::default(), None)),
                ..spec()
            },
        ]
    }

    #[test]
    fn packets_leave_at_the_times_of_d_d_1_whenever_the_link_is_called() {
        // One enters every 0.75 ms, so that packet n waits n/4 ms and leaves at n + 11 ms.
        for calls in [0.1, 7.0, 1000.0] {
            for spec in kinds() {
                let (link, left) = run(spec, &[0; 100], 0.75, calls);
                let expected: Vec<_> = (0..100).map(|n| millis(f64::from(n) + 11.0)).collect();
                assert_eq!(left.iter().map(|packet| packet.at).collect::<Vec<_>>(), expected);
                let waits = (0..100).map(|n| Span::from_micros(250) * n);
                assert!(left.iter().map(|packet| packet.queueing).eq(waits));
                assert_eq!((link.packets(), link.next_event()), (0, Time::NEVER));
            }
        }
    }

    #[test]
    fn the_marks_of_a_law_are_on_the_packets_that_leave() {
        let [_, marking, ..] = kinds();
        let (link, left) = run(marking, &[0; 99], 0.5, 1000.0);
        let marked: Vec<usize> = (0..99).filter(|n| left[*n].ecn == Ecn::Ce).collect();
        assert_eq!(marked, (0..33).map(|n| 3 * n + 2).collect::<Vec<_>>());
        assert_eq!(link.view().totals().marks, 33);
    }

    #[test]
    fn a_fair_scheduler_serves_flows_alternately() {
        // Flow 0 has sent 20 packets before the first of flow 1: from then on each has every second service.
        let [.., fair] = kinds();
        let flows = [[0; 20], [1; 20]].concat();
        let mut link = with_flows(fair);
        let slots: Vec<u32> = flows.iter().map(|flow| link.enter(Time::ZERO, packet(*flow))).collect();
        let mut left = Vec::new();
        link.run_to(millis(1e3), |packet| left.push(slots.iter().position(|slot| *slot == packet.slot)));
        let second: Vec<bool> = left.iter().flatten().map(|index| *index >= 20).collect();
        assert!(second[1..39].windows(2).all(|pair| pair[0] != pair[1]), "{second:?}");
    }

    #[test]
    fn every_packet_leaves_or_is_counted_as_lost() {
        let [plain, marking, reordering, fair] = kinds();
        let lossy = |spec| LinkSpec { buffer: Buffer::Packets(9), loss: Some(Loss::Bernoulli(0.2)), ..spec };
        for spec in [lossy(plain), lossy(marking), lossy(reordering), lossy(fair)] {
            let (link, left) = run(spec, &[0; 300], 0.8, 3.0);
            let totals = link.view().totals();
            assert_eq!(left.len() as u64 + totals.drops(), 300);
            assert!(totals.buffer_drops > 0 && totals.wire_losses > 0);
            assert_eq!(link.packets(), 0);
        }
    }

    #[test]
    fn a_packet_with_a_time_in_the_past_enters_now() {
        let mut link = with_flows(spec());
        link.run_to(millis(5.0), |_| {});
        link.enter(millis(1.0), packet(0));
        let mut left = Vec::new();
        link.run_to(millis(50.0), |packet| left.push(packet.at));
        assert_eq!(left, [millis(16.0)]);
    }
}
