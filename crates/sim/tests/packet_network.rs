//! Networks with constant-window laws, compared with theory.

// Clippy lets tests unwrap, but not the helpers beside them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{FixedWindow, PACKET, fair_queueing, one_loop};
use millpond_law::{
    Ack, Congestion, Context, Hooks, Knowledge, Link as Law, PacketView, Permit, QueueLaw, QueueView, Sender,
    Start, Verdict,
};
use millpond_sim::{
    AtEnd, Buffer, BuildError, Builder, FlowLoop, FlowSpec, Jitter, LinkId, LinkSpec, LoopSpec, Loss,
    PacketNetwork, Propagation, RelayBuffer, Schedule, Workload,
};
use millpond_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn flow(name: &str, loops: Vec<LoopSpec>) -> FlowSpec {
    let relays = vec![RelayBuffer::Size(Bytes::new(10_000_000)); loops.len() - 1];
    FlowSpec {
        name: name.into(),
        weight: 1.0,
        loops: loops.into_iter().map(FlowLoop::from).collect(),
        relays,
        workload: Workload::Bulk,
        start: Time::ZERO,
        stop: None,
    }
}

/// A duplex link between two new nodes.
fn duplex(builder: &mut Builder, rate: Rate, delay: Span) -> (LinkId, LinkId) {
    let (a, b) = (builder.node(), builder.node());
    let there = builder.link(LinkSpec::plain("L ->", a, b, rate, delay));
    (there, builder.link(LinkSpec::plain("L <-", b, a, rate, delay)))
}

/// One flow over one duplex link of 8 Mbit/s (a packet takes 1 ms, an ack 40 us) and 10 ms each way.
fn single(sender: impl Sender + 'static, change: impl FnOnce(&mut FlowSpec)) -> PacketNetwork {
    let mut builder = Builder::new(1);
    let (there, back) = duplex(&mut builder, Rate::from_mbps(8.0), Span::from_millis(10));
    let mut spec = flow("f", vec![one_loop(sender, &[there], &[back])]);
    change(&mut spec);
    builder.flow(spec);
    builder.build().unwrap()
}

fn seconds(seconds: f64) -> Time {
    Time::from_secs(seconds)
}

#[test]
fn a_window_below_the_bandwidth_delay_product_gives_window_over_rtt() {
    // RTT: 1 ms service, 20 ms delay, 40 us service of the ack.
    let mut network = single(FixedWindow(10), |_| ());
    network.run_to(seconds(1.0));
    network.start_measuring();
    network.run_to(seconds(11.0));
    let view = network.flows().next().unwrap().first();
    assert_eq!(view.round_trip_times().mean(), 21_040_000_000.0);
    let expected = 10.0 * 10.0 / 0.02104;
    assert!((view.counters().delivered_bytes as f64 / 1000.0 - expected).abs() <= 10.0);
}

#[test]
fn a_window_above_the_bandwidth_delay_product_leaves_the_excess_in_the_queue() {
    let mut network = single(FixedWindow(50), |_| ());
    network.run_to(seconds(1.0));
    network.start_measuring();
    network.run_to(seconds(11.0));
    let link = network.links().next().unwrap();
    assert_eq!(link.counters().served, 10_000);
    assert!((link.utilization() - 1.0).abs() < 1e-12);
    // 50 packets in flight, of which 20.04 ms worth (20 ms delay, 40 us ack) are not in the queue.
    let lengths = link.queue_lengths();
    assert!((lengths.mean() - (50.0 - 20.04)).abs() < 1e-9, "{}", lengths.mean());
    let flow = network.flows().next().unwrap();
    assert_eq!(flow.queueing_delays().max(), link.queueing_delays().max());
    assert!((flow.queueing_delays().mean() / 1e9 - 28.96).abs() < 1e-9);
}

/// Five packets at 0 s wait for 0 to 4 ms, two at 100 ms for 0 and 1 ms.
fn two_bursts() -> PacketNetwork {
    let mut builder = Builder::new(1);
    let (there, back) = duplex(&mut builder, Rate::from_mbps(8.0), Span::from_millis(10));
    for (name, packets, start) in [("a", 5, 0.0), ("b", 2, 0.1)] {
        let loops = vec![one_loop(FixedWindow(packets), &[there], &[back])];
        let (workload, start) = (Workload::Sized(PACKET * packets), seconds(start));
        builder.flow(FlowSpec { workload, start, ..flow(name, loops) });
    }
    builder.build().unwrap()
}

#[test]
fn the_delay_of_an_interval_is_that_of_the_packets_served_in_it() {
    let mut network = two_bursts();
    network.run_to(seconds(0.0025));
    network.start_interval();
    network.run_to(seconds(0.2));
    // Waits of 2, 3 and 4 ms, then 0 and 1 ms.
    let delay = network.links().next().unwrap().interval_delay();
    assert_eq!((delay.packets, delay.mean, delay.max), (5, Span::from_millis(2), Span::from_millis(4)));
}

#[test]
fn statistics_of_a_link_begin_with_the_measurement() {
    let mut network = two_bursts();
    network.run_to(seconds(0.05));
    network.start_measuring();
    network.run_to(seconds(0.2));
    let link = network.links().next().unwrap();
    // 150 ms, in which the queue has two packets for one millisecond and one packet for another one.
    let lengths = link.queue_lengths();
    assert_eq!((lengths.total(), lengths.sum(), lengths.max()), (150_000_000_000, 3_000_000_000, 2));
    assert_eq!(link.queue_time(), 3_000_000_000);
    let waits = link.queueing_delays();
    assert_eq!((waits.total(), waits.sum()), (2, 1_000_000_000));
    assert_eq!((link.counters().served, link.totals().served), (2, 7));
    let delay = link.interval_delay();
    assert_eq!((delay.packets, delay.mean, delay.max), (2, Span::from_micros(500), Span::from_millis(1)));
    // 2 ms of service in 150 ms.
    assert!((link.utilization() - 2.0 / 150.0).abs() < 1e-12);
}

#[test]
fn the_extra_delay_adds_to_the_rtt_and_is_not_a_packet_hop() {
    let mut network = single(FixedWindow(1), |spec| {
        let [FlowLoop::Own(only)] = &mut spec.loops[..] else { unreachable!() };
        only.extra_delay = Span::from_millis(30);
        spec.workload = Workload::Sized(PACKET * 3);
    });
    network.run_to(seconds(1.0));
    let flow = network.flows().next().unwrap();
    assert_eq!(flow.first().round_trip_times().mean(), 51_040_000_000.0);
    assert_eq!(network.packet_hops(), 6);
    assert_eq!(network.packets_in_network(), 0);
    assert_eq!(flow.completed(), Some(seconds(2.0 * 0.05104 + 0.041)));
}

#[test]
fn a_sized_flow_delivers_every_byte_exactly_once_over_lossy_links() {
    let mut builder = Builder::new(3);
    let (a, b) = (builder.node(), builder.node());
    let lossy = |name: &str, from, to| LinkSpec {
        loss: Some(Loss::GilbertElliott { worsen: 0.05, recover: 0.3, good: 0.01, bad: 0.5 }),
        ..LinkSpec::plain(name, from, to, Rate::from_mbps(8.0), Span::from_millis(5))
    };
    let (there, back) = (builder.link(lossy("L ->", a, b)), builder.link(lossy("L <-", b, a)));
    let workload = Workload::Sized(Bytes::new(1_234_567));
    builder.flow(FlowSpec { workload, ..flow("f", vec![one_loop(FixedWindow(8), &[there], &[back])]) });
    let mut network = builder.build().unwrap();
    network.run_to(seconds(120.0));
    let flow = network.flows().next().unwrap();
    assert_eq!(flow.delivered(), Bytes::new(1_234_567));
    assert!(flow.completed().is_some() && flow.first().totals().retransmitted > 50);
    assert_eq!(network.packets_in_network(), 0);
}

#[test]
fn a_constant_rate_flow_sends_at_its_rate_until_it_stops() {
    let mut network = single(FixedWindow(100), |spec| {
        spec.workload = Workload::Produced(Arc::new(Schedule::constant(Rate::from_bps(3_000_000))));
        (spec.start, spec.stop) = (seconds(1.0), Some(seconds(9.0)));
    });
    network.run_to(seconds(12.0));
    // 8 s at 3 Mbit/s are 3000 packets of 8000 bits; the first leaves at once, the last before the stop.
    let sent = network.flows().next().unwrap().first().totals().sent;
    assert!((3000..=3001).contains(&sent), "{sent}");
}

#[test]
fn a_bulk_flow_that_stops_sends_nothing_more() {
    let mut network = single(FixedWindow(10), |spec| spec.stop = Some(seconds(2.0)));
    network.run_to(seconds(2.0));
    let sent = network.flows().next().unwrap().first().totals().sent;
    network.run_to(seconds(5.0));
    let totals = network.flows().next().unwrap().first().totals();
    assert_eq!((totals.sent, totals.delivered_bytes), (sent, sent * 1000));
    assert_eq!(network.packets_in_network(), 0);
}

#[test]
fn relays_forward_the_stream_and_add_their_queueing_delay() {
    let mut builder = Builder::new(1);
    let (a, b, c) = (builder.node(), builder.node(), builder.node());
    let mut pair = |x, y, mbps: f64, name: &str| {
        let link = |from, to, arrow| {
            LinkSpec::plain(format!("{name} {arrow}"), from, to, Rate::from_mbps(mbps), Span::from_millis(10))
        };
        (builder.link(link(x, y, "->")), builder.link(link(y, x, "<-")))
    };
    let (first, second) = (pair(a, b, 8.0, "L1"), pair(b, c, 4.0, "L2"));
    let loops = vec![
        one_loop(FixedWindow(10), &[first.0], &[first.1]),
        one_loop(FixedWindow(10), &[second.0], &[second.1]),
    ];
    let relays = vec![RelayBuffer::Size(Bytes::new(40_000))];
    builder.flow(FlowSpec { workload: Workload::Sized(PACKET * 2000), relays, ..flow("f", loops) });
    let mut network = builder.build().unwrap();
    network.run_to(seconds(5.0));
    let flow = network.flows().next().unwrap();
    assert!(flow.last().backlog() <= Bytes::new(40_000));
    network.run_to(seconds(20.0));
    let flow = network.flows().next().unwrap();
    assert_eq!(flow.delivered(), PACKET * 2000);
    assert_eq!(flow.first().totals().retransmitted + flow.last().totals().retransmitted, 0);
    // The second loop is the slower: ten packets per (2 ms + 20 ms + 80 us).
    let expected = 2000.0 / (10.0 / 0.02208);
    assert!((flow.completed().unwrap().secs() / expected - 1.0).abs() < 0.02);
    // The first packet: 1 and 2 ms of service, and 20 ms of propagation.
    assert_eq!(flow.one_way_delays().min(), 23_000_000_000);
    // Credit keeps the relay within its limit, which determines the queueing delay of the stream.
    let waits = Span::from_picos(flow.queueing_delays().quantile(0.5));
    let full = 0.04e6 / 1000.0 * 2.208e-3;
    assert!(waits.secs() > full * 0.5 && waits.secs() <= full, "{waits}");
}

#[test]
fn adding_a_flow_does_not_change_the_random_samples_of_others() {
    let draws = |others: usize| {
        let mut builder = Builder::new(9);
        let drawn = Arc::new(Mutex::new(Vec::new()));
        struct Drawing(Arc<Mutex<Vec<u32>>>);
        impl Sender for Drawing {
            fn on_start(&mut self, cx: &mut Context<'_>, _: &Start) {
                self.0.lock().unwrap().push(cx.random.bits());
            }
            fn on_ack(&mut self, cx: &mut Context<'_>, _: &Ack) {
                self.0.lock().unwrap().push(cx.random.bits());
            }
            fn on_congestion(&mut self, _: &mut Context<'_>, _: &Congestion) {}
            fn permit(&self) -> Permit {
                Permit { window: Some(PACKET), ..Permit::default() }
            }
        }
        for other in 0..others {
            let (there, back) = duplex(&mut builder, Rate::from_mbps(1.0), Span::from_millis(1));
            builder.flow(flow(&format!("other {other}"), vec![one_loop(FixedWindow(3), &[there], &[back])]));
        }
        let (a, b) = (builder.node(), builder.node());
        let jitter = Some(Jitter::Exponential(Span::from_millis(2)));
        let propagation = Propagation { jitter, ..Propagation::constant(Span::from_millis(1)) };
        let mut shaky = LinkSpec::plain("shaky", a, b, Rate::from_mbps(8.0), Span::ZERO);
        shaky.propagation = propagation;
        let there = builder.link(shaky);
        let back = builder.link(LinkSpec::plain("back", b, a, Rate::from_mbps(8.0), Span::ZERO));
        let id = builder.flow(flow("f", vec![one_loop(Drawing(drawn.clone()), &[there], &[back])]));
        let mut network = builder.build().unwrap();
        network.run_to(seconds(1.0));
        let delays = network.flow(id).first().round_trip_times().sum();
        let drawn = drawn.lock().unwrap().clone();
        (drawn, delays)
    };
    assert_eq!(draws(0), draws(3));
}

#[test]
fn a_sender_receives_the_smallest_capacity_at_the_start_and_then_live_that_of_its_first_link() {
    #[derive(Default)]
    struct CapacityLog(Arc<Mutex<Vec<(f64, u64)>>>);
    impl Sender for CapacityLog {
        fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
            self.0.lock().unwrap().push((cx.now.secs(), start.capacity.unwrap().bps()));
        }
        fn on_ack(&mut self, _: &mut Context<'_>, _: &Ack) {}
        fn on_congestion(&mut self, _: &mut Context<'_>, _: &Congestion) {}
        fn on_capacity(&mut self, cx: &mut Context<'_>, capacity: Rate) {
            self.0.lock().unwrap().push((cx.now.secs(), capacity.bps()));
        }
        fn permit(&self) -> Permit {
            Permit { window: Some(PACKET), ..Permit::default() }
        }
    }
    let received = Arc::new(Mutex::new(Vec::new()));
    let mut builder = Builder::new(1);
    let (a, b, c) = (builder.node(), builder.node(), builder.node());
    let steps =
        [(0.0, 50), (1.0, 20), (3.0, 80)].map(|(at, mbps)| (seconds(at), Rate::from_bps(mbps * 1_000_000)));
    let link = |name: &str, from, to, mbps| {
        LinkSpec::plain(name, from, to, Rate::from_mbps(mbps), Span::from_millis(1))
    };
    let mut first = link("1 ->", a, b, 50.0);
    first.rate = Arc::new(Schedule::steps(&steps).unwrap());
    let forward = [builder.link(first), builder.link(link("2 ->", b, c, 30.0))];
    let backward = [builder.link(link("2 <-", c, b, 30.0)), builder.link(link("1 <-", b, a, 30.0))];
    let mut spec = one_loop(CapacityLog(received.clone()), &forward, &backward);
    spec.sender_config.needs.capacity = Knowledge::Live;
    builder.flow(flow("f", vec![spec]));
    builder.build().unwrap().run_to(seconds(5.0));
    // The first link has 80 Mbit/s, but the second 30 Mbit/s.
    assert_eq!(*received.lock().unwrap(), [(0.0, 30_000_000), (1.0, 20_000_000), (3.0, 30_000_000)]);
}

#[test]
fn the_tick_of_a_law_is_called_at_the_requested_times() {
    struct Clock(Arc<Mutex<Vec<Time>>>);
    impl Law for Clock {
        fn hooks(&self) -> Hooks {
            Hooks { tick: true, arrive: true, ..Hooks::default() }
        }
        fn arrive(&mut self, _: &mut Context<'_>, _: &mut PacketView<'_>, _: &QueueView) -> Verdict {
            Verdict::Keep
        }
        fn tick(&mut self, cx: &mut Context<'_>, _: &QueueView) -> Option<Time> {
            self.0.lock().unwrap().push(cx.now);
            Some(cx.now + Span::from_millis(250))
        }
    }
    let ticks = Arc::new(Mutex::new(Vec::new()));
    let mut builder = Builder::new(1);
    let (a, b) = (builder.node(), builder.node());
    let plain = LinkSpec::plain("L", a, b, Rate::from_mbps(1.0), Span::ZERO);
    builder.link(LinkSpec { queue: QueueLaw::single(Clock(ticks.clone())), ..plain });
    builder.build().unwrap().run_to(seconds(1.0));
    assert_eq!(*ticks.lock().unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0].map(seconds));
}

#[test]
fn paths_that_do_not_connect_are_refused() {
    let [ab, bc, ca, ba] = [0, 1, 2, 3];
    let gap = BuildError::Disconnected { flow: "f".into() };
    let path = BuildError::Path { flow: "f".into() };
    let cases: [(&[usize], &[usize], Option<BuildError>); 6] = [
        (&[ab], &[ba], None),
        (&[ab, bc], &[ca], None),
        (&[ab, bc], &[ba], Some(gap.clone())),
        (&[bc, ab], &[ca], Some(gap)),
        (&[], &[ba], Some(path.clone())),
        (&[ab], &[], Some(path)),
    ];
    for (there, back, error) in cases {
        let mut builder = Builder::new(1);
        let (a, b, c) = (builder.node(), builder.node(), builder.node());
        let plain = |(from, to)| LinkSpec::plain("L", from, to, Rate::from_mbps(1.0), Span::ZERO);
        let links = [(a, b), (b, c), (c, a), (b, a)].map(|ends| builder.link(plain(ends)));
        let path = |links_of: &[usize]| links_of.iter().map(|link| links[*link]).collect::<Vec<_>>();
        builder.flow(flow("f", vec![one_loop(FixedWindow(1), &path(there), &path(back))]));
        assert_eq!(builder.build().err(), error, "{there:?} {back:?}");
    }
}

#[test]
fn a_network_can_be_moved_to_another_thread() {
    let mut network = single(FixedWindow(10), |_| ());
    let moved = std::thread::spawn(move || {
        network.run_to(seconds(1.0));
        network.packet_hops()
    });
    let mut here = single(FixedWindow(10), |_| ());
    here.run_to(seconds(1.0));
    assert_eq!(moved.join().unwrap(), here.packet_hops());
}

/// A chain of nodes with duplex links of any kind, and flows over any part of it in either direction.
fn any_network(
    seed: u64,
    links: &[(u64, u64, Option<u64>, bool, bool)],
    flows: &[(usize, usize, u64)],
) -> PacketNetwork {
    let mut builder = Builder::new(seed);
    let nodes: Vec<_> = (0..=links.len()).map(|_| builder.node()).collect();
    let (mut right, mut left) = (Vec::new(), Vec::new());
    for (index, &(kbps, millis, limit, lossy, fair)) in links.iter().enumerate() {
        let pieces =
            [1, 3].map(|part| (Span::from_millis(70 * part), Rate::from_bps(kbps * 1000 * part / 2)));
        let spec = |name: String, from, to| LinkSpec {
            rate: Arc::new(Schedule::table(&pieces, AtEnd::Loop).unwrap()),
            propagation: Propagation {
                jitter: lossy.then_some(Jitter::Uniform(Span::from_millis(3))),
                reorder: fair,
                ..Propagation::constant(Span::from_millis(millis))
            },
            loss: lossy.then_some(Loss::Bernoulli(0.05)),
            buffer: limit.map_or(Buffer::Unlimited, Buffer::Packets),
            queue: if fair { fair_queueing() } else { QueueLaw::DropTail },
            ..LinkSpec::plain(name, from, to, Rate::ZERO, Span::ZERO)
        };
        right.push(builder.link(spec(format!("{index} ->"), nodes[index], nodes[index + 1])));
        left.push(builder.link(spec(format!("{index} <-"), nodes[index + 1], nodes[index])));
    }
    for (index, &(from, to, window)) in flows.iter().enumerate() {
        let (low, high) = ((from % links.len()), (to % links.len()));
        let (low, high) = (low.min(high), low.max(high) + 1);
        let there = right[low..high].to_vec();
        let back: Vec<_> = left[low..high].iter().rev().copied().collect();
        let (there, back) = if from > to { (back, there) } else { (there, back) };
        builder.flow(flow(&format!("{index}"), vec![one_loop(FixedWindow(window), &there, &back)]));
    }
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn packets_are_conserved_and_the_result_does_not_depend_on_the_slices_of_a_run(
        seed in any::<u64>(),
        links in prop::collection::vec(
            (100_u64..20_000, 0_u64..30, prop::option::of(2_u64..50), any::<bool>(), any::<bool>()), 1..5),
        flows in prop::collection::vec((0_usize..8, 0_usize..8, 1_u64..40), 1..5),
    ) {
        let end = seconds(2.0);
        let mut whole = any_network(seed, &links, &flows);
        whole.run_to(end);
        let mut sliced = any_network(seed, &links, &flows);
        (1..=200).for_each(|slice| sliced.run_to(Time::from_picos(end.picos() / 200 * slice)));
        for (link, other) in whole.links().zip(sliced.links()) {
            prop_assert_eq!(link.totals(), other.totals());
            prop_assert_eq!(link.queue_lengths().sum(), other.queue_lengths().sum());
            prop_assert!(link.totals().served_bytes * 8 <= link.capacity_bits(Time::ZERO, end) + 1);
        }
        let mut sent = 0;
        for (flow, other) in whole.flows().zip(sliced.flows()) {
            prop_assert_eq!(flow.first().totals(), other.first().totals());
            prop_assert_eq!(flow.queueing_delays().sum(), other.queueing_delays().sum());
            sent += flow.first().totals().sent + flow.first().receiver().counters().acks;
        }
        let drops: u64 = whole.links().map(|link| link.totals().drops()).sum();
        let arrived: u64 = whole.flows().map(|flow| flow.first().totals().arrived).sum();
        let acks_and_data_gone = sent - drops - whole.packets_in_network() as u64;
        prop_assert!(arrived <= acks_and_data_gone && acks_and_data_gone <= 2 * arrived);
    }
}
