//! A single link with given arrivals, compared with queueing theory.

use super::laws::LawHook;
use super::*;
use crate::NodeId;
use crate::event_queue::{DueEvent, EventQueue, EventTarget, TARGETS};
use crate::packet_pool::Packet;
use crate::schedule::{AtEnd, Schedule};
use crate::stats::LinkCounters;
use millpond_endpoint::{Frame, Segment};
use millpond_law::{
    Context, Ecn, FairScheduler, FlowQueues, Header, HeaderId, Hooks, Link as Law, PacketKind, PacketView,
    QueueLaw, QueueView, QueuedFlow, Random, Verdict,
};
use millpond_units::Bytes;
use proptest::prelude::*;
use std::sync::{Arc, mpsc};

/// 1000 bytes take a millisecond.
const RATE: Rate = Rate::from_bps(8_000_000);

fn spec() -> LinkSpec {
    LinkSpec::plain("L", NodeId(0), NodeId(1), RATE, Span::from_millis(10))
}

/// Fair queueing without a law of the queues.
fn fair() -> QueueLaw {
    QueueLaw::multi(FlowQueues::per_flow(FairScheduler::default(), None))
}

fn view(link: &Link) -> LinkView<'_> {
    LinkView { link }
}

fn segment(number: u64, bytes: u32) -> Segment {
    Segment {
        stream_id: 0,
        marked_upstream: false,
        number,
        floor: 0,
        offset: 0,
        payload: bytes,
        bytes,
        sent_at: Time::ZERO,
        origin_time: Time::ZERO,
        queueing: Span::ZERO,
        ecn: Ecn::NotCapable,
        last: false,
        header: Header::NONE,
    }
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    flow: u32,
    segment: Segment,
}

fn arrival(number: usize, seconds: f64, bytes: u32) -> Arrival {
    Arrival { at: Time::from_secs(seconds), flow: 0, segment: segment(number as u64, bytes) }
}

/// A link with the events of its run.
struct LinkRun {
    link: Link,
    events: EventQueue,
    packets: PacketPool,
}

impl LinkRun {
    /// The targets of events; the others, from 1 on, are arrivals.
    const DELIVER: EventTarget = 0;
    const CALL: EventTarget = TARGETS - 1;

    fn enter(&mut self, now: Time, Arrival { flow, segment, .. }: Arrival) {
        let packet = Packet::new(Frame::Data(segment), flow, Ecn::NotCapable);
        let handle = PacketHandle { packet: self.packets.insert(packet), bytes: segment.bytes, route: 0 };
        if self.link.is_plain() {
            let at = self.link.arrive(now, handle, &mut self.packets).unwrap_or(Time::NEVER);
            return self.deliver(WireArrival { at, may_be_lost: false }, handle);
        }
        match self.link.enqueue_special(now, handle, &mut self.packets) {
            LinkAction::Dropped => {}
            LinkAction::Deliver(arrival) => self.deliver(arrival, handle),
            LinkAction::TakeServed(next_call) => self.take_served(next_call),
        }
    }

    fn deliver(&mut self, arrival: WireArrival, handle: PacketHandle) {
        if arrival.at != Time::NEVER {
            self.events.push_with_packet(arrival.at, Self::DELIVER, handle);
        }
    }

    fn take_served(&mut self, next_call: Time) {
        self.events.push(next_call, Self::CALL);
        while let Some((arrival, handle)) = self.link.take_served() {
            self.deliver(arrival, handle);
        }
    }

    /// The segment of a packet at the end of the link, unless it is lost.
    fn leave(&mut self, handle: PacketHandle) -> Option<Segment> {
        let handle = self.link.unless_lost(handle, &mut self.packets)?;
        let segment = match self.packets.get(handle.packet).frame {
            Frame::Data(segment) => Some(segment),
            Frame::Ack(_) => None,
        };
        self.packets.release(handle.packet);
        segment
    }
}

/// Sends `arrivals` over a link until `end`; returns the link, and the delivered packets with their times.
fn run(spec: LinkSpec, arrivals: &[Arrival], end: Time) -> (Link, Vec<(Time, Segment)>) {
    let link = spec.build(1, &[QueuedFlow::new("a", 1.0), QueuedFlow::new("b", 3.0)]);
    let mut run = LinkRun { link, events: EventQueue::default(), packets: PacketPool::default() };
    for (index, arrival) in arrivals.iter().enumerate() {
        run.events.push(arrival.at, index as u32 + 1);
    }
    let mut delivered = Vec::new();
    while let Some(DueEvent { time: now, target, handle }) = run.events.pop_until(end) {
        match target {
            LinkRun::DELIVER => delivered.extend(run.leave(handle).map(|segment| (now, segment))),
            LinkRun::CALL => {
                let next_call = run.link.on_call(now, &mut run.packets);
                run.take_served(next_call);
            }
            arrival => run.enter(now, arrivals[arrival as usize - 1]),
        }
    }
    run.link.settle(end, &mut run.packets);
    assert_eq!(run.packets.len(), on_wire(&run.link, &delivered) + run.link.queued as usize);
    (run.link, delivered)
}

fn mode(link: &Link) -> Option<&ServiceMode> {
    link.special.as_ref().map(|special| &special.mode)
}

/// Number of packets that have left the queue and are neither delivered nor lost.
fn on_wire(link: &Link, delivered: &[(Time, Segment)]) -> usize {
    let LinkCounters { served, wire_losses, .. } = link.counters();
    (served - wire_losses) as usize - delivered.len()
}

/// A law that uses the departure hook and keeps every packet.
struct DepartureObserver;

impl Law for DepartureObserver {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, ..Hooks::default() }
    }
}

/// A law with a constant verdict.
struct ConstantVerdict(Verdict, LawHook);

impl Law for ConstantVerdict {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: self.1 == LawHook::Arrival, depart: self.1 == LawHook::Departure, ..Hooks::default() }
    }
    fn arrive(&mut self, _: &mut Context<'_>, _: &mut PacketView<'_>, _: &QueueView) -> Verdict {
        self.0
    }
    fn depart(&mut self, _: &mut Context<'_>, _: &mut PacketView<'_>, _: &QueueView) -> Verdict {
        self.0
    }
}

/// A law that drops half of the packets with a sojourn time above 3 ms at departure, and logs its inputs.
struct SojournDropper(mpsc::Sender<(Time, QueueView)>);

impl Law for SojournDropper {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, sojourn: true, ..Hooks::default() }
    }
    fn arrive(&mut self, cx: &mut Context<'_>, _: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let _ = self.0.send((cx.now, *queue));
        Verdict::Keep
    }
    fn depart(&mut self, cx: &mut Context<'_>, _: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let _ = self.0.send((cx.now, *queue));
        if queue.head_sojourn > Span::from_millis(3) && cx.random.chance(0.5) {
            Verdict::Drop
        } else {
            Verdict::Keep
        }
    }
}

/// A law that drops every second packet with a sojourn time above 3 ms at departure, and logs the queue at each hook.
#[derive(Clone)]
struct AlternateDropper {
    log: mpsc::Sender<(Time, LawHook, QueueView)>,
    late: u32,
}

impl AlternateDropper {
    fn new(log: mpsc::Sender<(Time, LawHook, QueueView)>) -> Self {
        Self { log, late: 0 }
    }
}

impl Law for AlternateDropper {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, sojourn: true, ..Hooks::default() }
    }
    fn arrive(&mut self, cx: &mut Context<'_>, _: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let _ = self.log.send((cx.now, LawHook::Arrival, *queue));
        Verdict::Keep
    }
    fn depart(&mut self, cx: &mut Context<'_>, _: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let _ = self.log.send((cx.now, LawHook::Departure, *queue));
        self.late += u32::from(queue.head_sojourn > Span::from_millis(3));
        let is_second = queue.head_sojourn > Span::from_millis(3) && self.late.is_multiple_of(2);
        if is_second { Verdict::Drop } else { Verdict::Keep }
    }
    fn for_flow(&self) -> Option<Box<dyn Law>> {
        Some(Box::new(self.clone()))
    }
}

fn poisson(n: usize, load: f64, sizes: impl Fn(&mut Random) -> u32) -> Vec<Arrival> {
    let mut random = Random::stream(11, "arrivals");
    let mut now = 0.0;
    let mut next = |number| {
        now += random.exponential(1e-3 / load);
        arrival(number, now, sizes(&mut random))
    };
    (0..n).map(&mut next).collect()
}

#[test]
fn d_d_1_arrivals_wait_only_above_the_service_rate() {
    let every = |millis: f64| (0..100).map(|n| arrival(n, n as f64 * millis / 1e3, 1000)).collect::<Vec<_>>();
    let (link, delivered) = run(spec(), &every(1.25), Time::from_secs(1.0));
    assert_eq!(view(&link).queueing_delays().max(), 0);
    assert_eq!(delivered[99].0, Time::from_secs(0.099 * 1.25 + 0.011));
    // D/D/1 with arrivals every 0.75 ms: packet n waits n * 0.25 ms.
    let (_, delivered) = run(spec(), &every(0.75), Time::from_secs(1.0));
    for (n, (_, segment)) in delivered.iter().enumerate() {
        assert_eq!(segment.queueing, Span::from_micros(250) * n as u64);
    }
}

#[test]
fn a_packet_at_an_idle_server_has_no_queueing_delay_with_a_fractional_service_time() {
    // 8000 bits take 51612903.2 ps.
    let rate = Arc::new(Schedule::constant(Rate::from_mbps(155.0)));
    let arrivals = [0.0, 1e-3].map(|at| arrival(0, at, 1000));
    let (link, delivered) = run(LinkSpec { rate, ..spec() }, &arrivals, Time::from_secs(1.0));
    assert_eq!(view(&link).queueing_delays().max(), 0);
    assert_eq!(delivered[0].0, Time::from_picos(51_612_904) + Span::from_millis(10));
}

#[test]
fn poisson_arrivals_of_equal_packets_wait_as_pollaczek_khinchine_predicts() {
    for load in [0.5, 0.8] {
        let arrivals = poisson(400_000, load, |_| 1000);
        let (link, _) = run(spec(), &arrivals, Time::from_secs(400.0 / load));
        let theory = 1e-3 * load / (2.0 * (1.0 - load));
        let measured = view(&link).queueing_delays().mean() / 1e12;
        assert!((measured / theory - 1.0).abs() < 0.03, "load {load}: {measured} s, {theory} s");
    }
}

#[test]
fn poisson_arrivals_of_exponential_packets_queue_as_m_m_1_predicts() {
    // Mean 1000 bytes; large enough that rounding to whole bytes does not show.
    let arrivals = poisson(400_000, 0.7, |random| (random.exponential(1000.0) as u32).max(1));
    let (link, _) = run(spec(), &arrivals, Time::from_secs(400.0 / 0.7));
    let mean = view(&link).queue_lengths().mean();
    assert!((mean / (0.7 / 0.3) - 1.0).abs() < 0.04, "{mean}");
    // Little: mean number = arrival rate times mean sojourn time.
    let stay = view(&link).queueing_delays().mean() / 1e12 + 1e-3;
    assert!((mean / (700.0 * stay) - 1.0).abs() < 0.01);
}

#[test]
fn a_buffer_holds_its_size_the_packet_in_service_included() {
    let burst: Vec<Arrival> = (0..10).map(|n| arrival(n, 0.0, 1000)).collect();
    for (buffer, held) in
        [(Buffer::Packets(4), 4), (Buffer::Bytes(Bytes::new(5999)), 5), (Buffer::Unlimited, 10)]
    {
        let (link, delivered) = run(LinkSpec { buffer, ..spec() }, &burst, Time::from_secs(1.0));
        assert_eq!(delivered.len(), held);
        assert_eq!(link.counters().buffer_drops, 10 - held as u64);
        assert_eq!(view(&link).queue_lengths().max(), held as u64);
    }
}

#[test]
fn a_mark_drops_a_packet_that_is_not_ecn_capable_and_drop_has_priority() {
    let mut capable = arrival(1, 0.0, 1000);
    capable.segment.ecn = Ecn::Ect0;
    let arrivals = [arrival(0, 0.0, 1000), capable];
    for hook in [LawHook::Arrival, LawHook::Departure] {
        let queue = |verdict| QueueLaw::single(ConstantVerdict(verdict, hook));
        let marking = LinkSpec { queue: queue(Verdict::Mark), ..spec() };
        let (link, delivered) = run(marking, &arrivals, Time::from_secs(1.0));
        assert_eq!(delivered.iter().map(|(_, s)| (s.number, s.ecn)).collect::<Vec<_>>(), [(1, Ecn::Ce)]);
        assert_eq!((link.counters().marks, link.counters().law_drops), (1, 1));

        let dropper: Box<dyn Law> = Box::new(ConstantVerdict(Verdict::Drop, hook));
        let routers = vec![(HeaderId(9), dropper)];
        let (link, delivered) =
            run(LinkSpec { queue: queue(Verdict::Mark), routers, ..spec() }, &arrivals, Time::from_secs(1.0));
        assert_eq!((delivered.len(), link.counters().law_drops), (0, 2));
    }
}

/// A law acts on arrivals, and another one on departures: at an idle link both are evaluated when the packet arrives.
#[test]
fn a_mark_at_arrival_is_counted_at_a_link_with_a_law_that_acts_on_departures() {
    let mut capable = arrival(1, 0.01, 1000);
    capable.segment.ecn = Ecn::Ect0;
    let observer: Box<dyn Law> = Box::new(DepartureObserver);
    let queue = QueueLaw::single(ConstantVerdict(Verdict::Mark, LawHook::Arrival));
    let link = LinkSpec { queue, routers: vec![(HeaderId(9), observer)], ..spec() };
    let (link, delivered) = run(link, &[arrival(0, 0.0, 1000), capable], Time::from_secs(1.0));
    assert_eq!(mode(&link), Some(&ServiceMode::LazyDequeue));
    assert_eq!(delivered.iter().map(|(_, s)| (s.number, s.ecn)).collect::<Vec<_>>(), [(1, Ecn::Ce)]);
    assert_eq!((link.counters().marks, link.counters().law_drops), (1, 1));
}

/// Packets arrive after 0, 0.25 and 1.5 ms, and each service takes a millisecond. The third one finds the second one in service,
/// which arrived 1.25 ms before.
#[test]
fn a_law_receives_at_arrivals_how_long_the_packet_in_service_has_been_there() {
    struct ArrivalLog(mpsc::Sender<Span>, bool);
    impl Law for ArrivalLog {
        fn hooks(&self) -> Hooks {
            Hooks { arrive: true, depart: self.1, sojourn: true, ..Hooks::default() }
        }
        fn arrive(&mut self, _: &mut Context<'_>, _: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
            let _ = self.0.send(queue.head_sojourn);
            Verdict::Keep
        }
    }
    let arrivals = [0.0, 0.25e-3, 1.5e-3].map(|at| arrival(0, at, 1000));
    for acts_on_departures in [false, true] {
        let (log, sojourns) = mpsc::channel();
        let queue = QueueLaw::single(ArrivalLog(log, acts_on_departures));
        run(LinkSpec { queue, ..spec() }, &arrivals, Time::from_secs(1.0));
        let micros = [0, 250, 1250].map(Span::from_micros);
        assert_eq!(sojourns.try_iter().collect::<Vec<_>>(), micros, "{acts_on_departures}");
    }
}

/// Five packets arrive at once at a buffer for three: the last two have no room.
#[test]
fn a_law_receives_the_size_of_each_packet_that_the_buffer_has_no_room_for() {
    struct RefusalLog(mpsc::Sender<Bytes>, Hooks);
    impl Law for RefusalLog {
        fn hooks(&self) -> Hooks {
            self.1
        }
        fn refuse(&mut self, bytes: Bytes) {
            let _ = self.0.send(bytes);
        }
    }
    let arrivals = [1000, 1000, 1000, 700, 800].map(|bytes| arrival(0, 0.0, bytes));
    for hooks in [
        Hooks::default(),
        Hooks { arrive: true, ..Hooks::default() },
        Hooks { depart: true, ..Hooks::default() },
    ] {
        let (log, refused) = mpsc::channel();
        let queue = QueueLaw::single(RefusalLog(log, hooks));
        run(LinkSpec { queue, buffer: Buffer::Packets(3), ..spec() }, &arrivals, Time::from_secs(1.0));
        assert_eq!(refused.try_iter().collect::<Vec<_>>(), [700, 800].map(Bytes::new), "{hooks:?}");
    }
}

/// Two packets of 1000 bytes of one flow and one of 500 bytes of another one arrive at once, in this order. The second flow is
/// served between the packets of the first one.
#[test]
fn the_law_of_an_internal_queue_receives_its_own_packets_and_all_bytes_with_the_one_in_service_or_departing()
{
    let (log, inputs) = mpsc::channel();
    let law = AlternateDropper::new(log);
    let queue = QueueLaw::multi(FlowQueues::per_flow(FairScheduler::default(), Some(Box::new(law))));
    let other = Arrival { flow: 1, ..arrival(2, 0.0, 500) };
    let arrivals = [arrival(0, 0.0, 1000), arrival(1, 0.0, 1000), other];
    run(LinkSpec { queue, ..spec() }, &arrivals, Time::from_secs(1.0));
    let input = |queue: QueueView| (queue.packets, queue.bytes.get(), queue.link_bytes.get());
    let inputs = inputs.try_iter().map(|(_, hook, queue)| (hook, input(queue)));
    let expected = [
        (LawHook::Arrival, (0, 0, 0)),
        (LawHook::Departure, (1, 1000, 1000)),
        (LawHook::Arrival, (1, 1000, 1000)),
        (LawHook::Arrival, (0, 0, 2000)),
        (LawHook::Departure, (1, 500, 1500)),
        (LawHook::Departure, (1, 1000, 1000)),
    ];
    assert_eq!(inputs.collect::<Vec<_>>(), expected);
}

/// Goyal, Vin and Cheng 1997, section 2: a packet of 3000 bytes of the flow of weight 1 ends at a virtual time of 3000, and the next
/// busy period begins there. Its next packet is therefore served after the one in service, before those of the flow of weight 3.
#[test]
fn after_an_idle_time_fair_queueing_charges_no_flow_for_earlier_service() {
    let other = (1..12).map(|number| Arrival { flow: 1, ..arrival(number, 1.0, 1000) });
    let arrivals: Vec<Arrival> =
        [arrival(0, 0.0, 3000)].into_iter().chain(other).chain([arrival(12, 1.0, 1000)]).collect();
    let (_, delivered) = run(LinkSpec { queue: fair(), ..spec() }, &arrivals, Time::from_secs(2.0));
    let order: Vec<u64> = delivered.iter().map(|(_, segment)| segment.number).collect();
    assert_eq!(order[..4], [0, 1, 12, 2]);
}

/// Four packets of 1500 bytes of one flow fill the buffer. One of them, which waits, makes room for fifteen packets of 100 bytes of
/// another flow: 4500 + 1500 = 6000.
#[test]
fn a_packet_that_makes_room_leaves_all_its_bytes_to_others() {
    let large = (0..4).map(|number| arrival(number, 0.0, 1500));
    let small = (4..19).map(|number| Arrival { flow: 1, ..arrival(number, 0.0, 100) });
    let arrivals: Vec<Arrival> = large.chain(small).collect();
    let link = LinkSpec { queue: fair(), buffer: Buffer::Bytes(Bytes::new(6000)), ..spec() };
    let (link, delivered) = run(link, &arrivals, Time::from_secs(1.0));
    assert_eq!((link.counters().buffer_drops, delivered.len()), (1, 18));
    assert_eq!((link.queued, link.queued_bytes), (0, 0));
}

#[test]
fn a_law_sees_an_empty_header_in_an_acknowledgement() {
    struct Eraser;
    impl Law for Eraser {
        fn hooks(&self) -> Hooks {
            Hooks { arrive: true, ..Hooks::default() }
        }
        fn arrive(&mut self, _: &mut Context<'_>, packet: &mut PacketView<'_>, _: &QueueView) -> Verdict {
            if packet.kind == PacketKind::Ack {
                assert_eq!(*packet.header, Header::NONE)
            }
            *packet.header = Header::new(HeaderId(3), &[1]);
            Verdict::Keep
        }
    }
    let echo = Header::new(HeaderId(7), &[1, 2, 3]);
    let ack = millpond_endpoint::Acknowledgement {
        stream_id: 0,
        ranges: Default::default(),
        delay: Span::ZERO,
        ce_packets: 0,
        not_ect_packets: 0,
        ce_bytes: 0,
        credit: u64::MAX,
        bytes: 40,
        echo,
    };
    let mut link = LinkSpec { queue: QueueLaw::single(Eraser), ..spec() }.build(1, &[]);
    let mut packets = PacketPool::default();
    let packet = Packet::new(Frame::Ack(ack), 0, Ecn::Ect0);
    let id = packets.insert(packet);
    link.arrive(Time::ZERO, PacketHandle { packet: id, bytes: 40, route: 0 }, &mut packets);
    assert!(matches!(packets.get(id).frame, Frame::Ack(ack) if ack.echo == echo));
}

#[test]
fn fair_queueing_shares_the_link_by_weight() {
    // Flow 0 (weight 1) and flow 1 (weight 3) each offer twice the capacity.
    let offer = |n: usize| Arrival { flow: n as u32 % 2, ..arrival(n, n as f64 * 0.25e-3, 1000) };
    let arrivals: Vec<Arrival> = (0..40_000).map(offer).collect();
    let fair = LinkSpec { queue: fair(), buffer: Buffer::Packets(100), ..spec() };
    let (link, delivered) = run(fair, &arrivals, Time::from_secs(10.0));
    let heavy = delivered.iter().filter(|(_, segment)| segment.number % 2 == 1).count() as f64;
    assert!((heavy / delivered.len() as f64 - 0.75).abs() < 0.005);
    assert!(link.counters().served > 9_990);
}

#[test]
fn an_outage_during_a_service_counts_as_queueing() {
    let steps = [(0.0, 8e6), (0.0005, 0.0), (0.1005, 8e6)];
    let steps = steps.map(|(at, bps)| (Time::from_secs(at), Rate::from_bps_f64(bps)));
    let rate = Arc::new(Schedule::steps(&steps).unwrap());
    let (_, delivered) = run(LinkSpec { rate, ..spec() }, &[arrival(0, 0.0, 1000)], Time::from_secs(1.0));
    assert_eq!(delivered[0].0, Time::from_secs(0.111));
    assert_eq!(delivered[0].1.queueing, Span::from_millis(100));
}

#[test]
fn a_packet_at_an_idle_link_does_not_overtake_those_that_the_event_loop_has_not_taken() {
    // Two packets wait for the end of an outage, after which the services end within a picosecond. The third arrives when they
    // have been served.
    let steps = [(Time::ZERO, Rate::ZERO), (Time::from_secs(1.0), Rate::MAX)];
    let rate = Arc::new(Schedule::steps(&steps).unwrap());
    let served = Time::from_secs(1.0) + Span::from_picos(1);
    let third = Arrival { at: served, ..arrival(2, 1.0, 1000) };
    let link = LinkSpec { rate, queue: QueueLaw::single(DepartureObserver), ..spec() };
    let (_, delivered) =
        run(link, &[arrival(0, 0.0, 1000), arrival(1, 0.0, 1000), third], Time::from_secs(2.0));
    let expected = [0, 1, 2].map(|number| (served + Span::from_millis(10), number));
    assert!(delivered.iter().map(|(at, segment)| (*at, segment.number)).eq(expected), "{delivered:?}");
}

#[test]
fn packets_overtake_only_if_reordering_is_enabled() {
    let arrivals: Vec<Arrival> = (0..1000).map(|n| arrival(n, n as f64 * 1e-3, 1000)).collect();
    for reorder in [false, true] {
        let jitter = Some(Jitter::Uniform(Span::from_millis(5)));
        let propagation = Propagation { jitter, reorder, ..Propagation::constant(Span::from_millis(1)) };
        let (_, delivered) = run(LinkSpec { propagation, ..spec() }, &arrivals, Time::from_secs(2.0));
        assert_eq!(delivered.len(), 1000);
        let overtakes = delivered.windows(2).filter(|pair| pair[1].1.number < pair[0].1.number).count();
        assert_eq!(overtakes > 100, reorder);
        for (at, segment) in delivered {
            let extra = at.since(arrivals[segment.number as usize].at).saturating_sub(Span::from_millis(2));
            assert!(extra <= Span::from_millis(5));
        }
    }
}

prop_compose! {
    fn traffic()(
        gaps in prop::collection::vec((0_u64..3_000_000_000, 40_u32..3000, 0_u32..2), 1..150),
    ) -> Vec<Arrival> {
        let mut at = Time::ZERO;
        let mut next = |(n, (gap, bytes, flow)): (usize, (u64, u32, u32))| {
            at += Span::from_picos(gap);
            Arrival { at, flow, segment: segment(n as u64, bytes) }
        };
        gaps.into_iter().enumerate().map(&mut next).collect()
    }
}

prop_compose! {
    fn any_link()(
        pieces in prop::collection::vec((1_u64..9_000_000_000, 0_u64..40_000_000), 1..6),
        limit in prop::option::of(1_u64..20),
        lossy in any::<bool>(),
        is_fair in any::<bool>(),
    ) -> LinkSpec {
        let piece = |(span, bps)| (Span::from_picos(span), Rate::from_bps(bps));
        let pieces: Vec<_> = pieces.into_iter().map(piece).collect();
        LinkSpec {
            rate: Arc::new(Schedule::table(&pieces, AtEnd::Loop).unwrap()),
            buffer: limit.map_or(Buffer::Unlimited, Buffer::Packets),
            loss: lossy.then_some(Loss::Bernoulli(0.3)),
            queue: if is_fair { fair() } else { QueueLaw::DropTail },
            ..spec()
        }
    }
}

proptest! {
    #[test]
    fn every_packet_is_delivered_dropped_or_in_the_link(link in any_link(), arrivals in traffic()) {
        let (link, delivered) = run(link, &arrivals, Time::from_secs(0.1));
        let LinkCounters { arrivals, .. } = link.counters();
        let gone = link.counters().drops() as usize + delivered.len();
        prop_assert_eq!(arrivals as usize, gone + on_wire(&link, &delivered) + link.queued as usize);
        let lengths = view(&link).queue_lengths();
        prop_assert_eq!((lengths.total(), lengths.sum()), (100_000_000_000, view(&link).queue_time()));
        prop_assert!(link.queued > 0 || link.queued_bytes == 0);
    }

    /// Departure times that are computed at arrivals, and lazy dequeueing with and without a call at the end of each service.
    #[test]
    fn the_service_modes_are_equivalent(link in any_link(), arrivals in traffic()) {
        let end = Time::from_secs(0.3);
        let arrivals: Vec<Arrival> = arrivals.into_iter().map(|arrival| Arrival { flow: 0, ..arrival }).collect();
        let plain = LinkSpec { queue: QueueLaw::DropTail, ..link };
        let like_plain = || LinkSpec { rate: plain.rate.clone(), loss: plain.loss, buffer: plain.buffer, ..spec() };
        let lazy = LinkSpec { queue: QueueLaw::single(DepartureObserver), ..like_plain() };
        let several = LinkSpec { queue: fair(), ..like_plain() };
        let jitter = Some(Jitter::Uniform(Span::ZERO));
        let reorder = Propagation { reorder: true, jitter, ..like_plain().propagation };
        let per_service =
            LinkSpec { propagation: reorder, queue: QueueLaw::single(DepartureObserver), ..like_plain() };
        let [lazy, several, per_service] = [lazy, several, per_service].map(|spec| run(spec, &arrivals, end));
        let plain = run(plain, &arrivals, end);
        prop_assert!(matches!(mode(&lazy.0), Some(ServiceMode::LazyDequeue)));
        prop_assert!(matches!(mode(&several.0), Some(ServiceMode::LazyDequeue)));
        for (other, delivered) in [&lazy, &several, &per_service] {
            prop_assert_eq!(&plain.1, delivered);
            prop_assert_eq!(plain.0.counters(), other.counters());
            prop_assert_eq!(view(&plain.0).queue_lengths().sum(), view(other).queue_lengths().sum());
            prop_assert_eq!(view(&plain.0).queueing_delays().sum(), view(other).queueing_delays().sum());
        }
    }

    /// A law that is evaluated lazily receives the same inputs as one that is evaluated in time.
    #[test]
    fn lazy_evaluation_gives_a_law_the_same_inputs(
        link in any_link(), arrivals in traffic(),
    ) {
        let end = Time::from_secs(0.3);
        let arrivals: Vec<Arrival> = arrivals.into_iter().map(|arrival| Arrival { flow: 0, ..arrival }).collect();
        let jitter = Some(Jitter::Uniform(Span::ZERO));
        let [lazy_run, timely_run] = [false, true].map(|reorder| {
            let (log, inputs) = mpsc::channel();
            let propagation = Propagation { reorder, jitter, ..Propagation::constant(Span::from_millis(3)) };
            let (rate, loss, queue) = (link.rate.clone(), link.loss, QueueLaw::single(SojournDropper(log)));
            let spec = LinkSpec { rate, loss, buffer: link.buffer, queue, propagation, ..spec() };
            let (link, delivered) = run(spec, &arrivals, end);
            (link.counters(), delivered, inputs.try_iter().collect::<Vec<_>>())
        });
        prop_assert_eq!(lazy_run, timely_run);
    }

    /// The packets of one flow have one of the internal queues: its law receives what it receives at a link with one queue.
    #[test]
    fn the_law_of_the_only_used_queue_receives_what_the_law_of_a_single_queue_receives(
        link in any_link(), arrivals in traffic(),
    ) {
        let end = Time::from_secs(0.3);
        let arrivals: Vec<Arrival> = arrivals.into_iter().map(|arrival| Arrival { flow: 0, ..arrival }).collect();
        let [single, several] = [false, true].map(|is_several| {
            let (log, inputs) = mpsc::channel();
            let law = AlternateDropper::new(log);
            let queue = match is_several {
                true => QueueLaw::multi(FlowQueues::per_flow(FairScheduler::default(), Some(Box::new(law)))),
                false => QueueLaw::single(law),
            };
            let (rate, loss, buffer) = (link.rate.clone(), link.loss, link.buffer);
            let (link, delivered) = run(LinkSpec { rate, loss, buffer, queue, ..spec() }, &arrivals, end);
            // At arrivals the sojourn time is that of the whole link, which a law of several queues does not receive.
            let without_sojourn = |(now, hook, queue): (Time, LawHook, QueueView)| match hook {
                LawHook::Arrival => (now, hook, QueueView { head_sojourn: Span::ZERO, ..queue }),
                LawHook::Departure => (now, hook, queue),
            };
            (link.counters(), delivered, inputs.try_iter().map(without_sojourn).collect::<Vec<_>>())
        });
        prop_assert_eq!(single, several);
    }
}
