//! Loops that several flows share: every byte is delivered once to its flow, no flow starves, no flow blocks another.

// Clippy lets tests unwrap, but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_law::{Ack, Congestion, Context, Needs, Permit, PlainReceiver, Sender};
use millpond_sim::{
    AggregateSpec, BuildError, Builder, FlowId, FlowLoop, FlowSpec, LinkId, LinkSpec, LoopSpec, Loss, NodeId,
    PacketNetwork, RelayBuffer, Workload,
};
use millpond_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const PACKET: Bytes = Bytes::new(1000);

/// A law with a constant window in packets.
struct FixedWindow(u64);

impl Sender for FixedWindow {
    fn on_ack(&mut self, _: &mut Context<'_>, _: &Ack) {}
    fn on_congestion(&mut self, _: &mut Context<'_>, _: &Congestion) {}
    fn permit(&self) -> Permit {
        Permit { window: Some(PACKET * self.0), ..Permit::default() }
    }
}

/// Both directions of a link.
type LinkPair = (LinkId, LinkId);

fn one_loop(window: u64, link_pair: LinkPair) -> LoopSpec {
    LoopSpec {
        sender: Box::new(FixedWindow(window)),
        receiver: Box::new(PlainReceiver),
        sender_config: SenderConfig::new(PACKET, Needs::default()),
        receiver_config: ReceiverConfig::default(),
        forward: vec![link_pair.0],
        backward: vec![link_pair.1],
        extra_delay: Span::ZERO,
        host_processing: Span::ZERO,
    }
}

fn link_pair(builder: &mut Builder, loss: f64, (from, to): (NodeId, NodeId), rate: Rate) -> LinkPair {
    let loss = (loss > 0.0).then_some(Loss::Bernoulli(loss));
    let plain = |from, to| LinkSpec::plain("L", from, to, rate, Span::from_millis(1));
    let there = builder.link(LinkSpec { loss, ..plain(from, to) });
    (there, builder.link(LinkSpec { loss, ..plain(to, from) }))
}

/// Sources that use one shared loop. From its end each flow continues alone.
///
/// ```text
///   source 0 --+                          +-- destination 0
///   source 1 --+-- A ==== shared ==== B --+-- destination 1
/// ```
struct Net {
    builder: Builder,
    loss: f64,
    nodes: (NodeId, NodeId),
    shared: LinkPair,
}

impl Net {
    fn new(seed: u64, loss: f64, shared: Rate) -> Self {
        let mut builder = Builder::new(seed);
        let nodes = (builder.node(), builder.node());
        let shared = link_pair(&mut builder, loss, nodes, shared);
        Self { builder, loss, nodes, shared }
    }

    /// A loop over the shared link.
    fn aggregate(&mut self, window: u64) -> FlowLoop {
        let shared = one_loop(window, self.shared);
        FlowLoop::Shared(self.builder.aggregate(AggregateSpec { name: "shared".into(), shared }))
    }

    /// A flow of three loops, the last with rate `last`; of two loops without it.
    fn flow(&mut self, member: Member, number: usize, flow_loop: FlowLoop) -> FlowId {
        let rate = Rate::from_mbps(8.0);
        let (source, sink) = (self.builder.node(), self.builder.node());
        let first = link_pair(&mut self.builder, self.loss, (source, self.nodes.0), rate);
        let mut loops = vec![one_loop(member.window, first).into(), flow_loop];
        if let Some(last) = member.last {
            let last = link_pair(&mut self.builder, self.loss, (self.nodes.1, sink), last);
            loops.push(one_loop(member.window, last).into());
        }
        self.builder.flow(FlowSpec {
            name: format!("{number}"),
            weight: member.weight,
            relays: vec![RelayBuffer::Size(PACKET * member.limit); loops.len() - 1],
            loops,
            workload: member.bytes.map_or(Workload::Bulk, |bytes| Workload::Sized(Bytes::new(bytes))),
            start: Time::ZERO + Span::from_millis(member.start),
            stop: member.stop.map(|stop| Time::ZERO + Span::from_millis(member.start + stop)),
        })
    }
}

/// Parameters of a flow in the shared loop.
#[derive(Clone, Copy, Debug)]
struct Member {
    bytes: Option<u64>,
    window: u64,
    limit: u64,
    weight: f64,
    start: u64,
    stop: Option<u64>,
    last: Option<Rate>,
}

const BULK: Member = Member {
    bytes: None,
    window: 30,
    limit: 50,
    weight: 1.0,
    start: 0,
    stop: None,
    last: Some(Rate::from_bps(8_000_000)),
};

fn shared(seed: u64, loss: f64, window: u64, members: &[Member]) -> PacketNetwork {
    let mut net = Net::new(seed, loss, Rate::from_mbps(8.0));
    let FlowLoop::Shared(id) = net.aggregate(window) else { unreachable!() };
    for (number, member) in members.iter().enumerate() {
        net.flow(*member, number, FlowLoop::Shared(id));
    }
    net.builder.build().unwrap()
}

fn member() -> impl Strategy<Value = Member> {
    let last = prop::option::of((1_u64..16).prop_map(|mbps| Rate::from_bps(mbps * 1_000_000)));
    let stop = prop::option::weighted(0.3, 0_u64..800);
    (1_u64..60_000, 1_u64..40, 0_u64..30, 0.2..5.0, 0_u64..1500, stop, last).prop_map(
        |(bytes, window, limit, weight, start, stop, last)| Member {
            bytes: Some(bytes),
            window,
            limit,
            weight,
            start,
            stop,
            last,
        },
    )
}

/// Bytes delivered and completion time of each flow.
fn outcome(network: &PacketNetwork) -> Vec<(Bytes, Option<Time>)> {
    network.flows().map(|flow| (flow.delivered(), flow.completed())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn flows_that_share_a_loop_deliver_every_byte_once_to_their_destination(
        members in prop::collection::vec(member(), 1..7),
        loss in prop_oneof![Just(0.0), 0.0..0.2],
        window in 1_u64..60,
        seed: u64,
    ) {
        let run = || {
            let mut network = shared(seed, loss, window, &members);
            network.run_to(Time::from_secs(4000.0));
            network
        };
        let network = run();
        prop_assert_eq!(network.packets_in_network(), 0);
        for (flow, member) in network.flows().zip(&members) {
            let (asked, sent) = (member.bytes.unwrap(), flow.first().stream_bytes_sent().get());
            // A flow stopped before its end delivers what it had sent by then.
            prop_assert!(sent == asked || member.stop.is_some() && sent < asked);
            prop_assert_eq!(flow.delivered().get(), sent);
            prop_assert!(flow.completed().is_some() || sent < asked);
            for pair in flow.loops().collect::<Vec<_>>().windows(2) {
                prop_assert_eq!(pair[0].arrived(), pair[1].stream_bytes_sent());
                prop_assert_eq!(pair[1].backlog(), Bytes::ZERO);
            }
        }
        prop_assert_eq!(outcome(&network), outcome(&run()));
        // Counts of the shared loop are divided among its flows without a rest.
        for count in [1, 7, 1000] {
            let parts = network.flows().map(|flow| flow.loops().nth(1).map_or(0, |shared| shared.part(count)));
            prop_assert_eq!(parts.sum::<u64>(), count);
        }
    }

    #[test]
    fn flows_that_share_a_loop_get_service_by_weight_and_none_starves(
        weights in prop::collection::vec(0.5..4.0, 2..6),
        loss in prop_oneof![Just(0.0), 0.0..0.02],
    ) {
        let bulk = |weight: &f64| Member { weight: *weight, ..BULK };
        let members: Vec<_> = weights.iter().map(bulk).collect();
        let mut network = shared(1, loss, 30, &members);
        network.run_to(Time::from_secs(2.0));
        network.start_measuring();
        network.run_to(Time::from_secs(22.0));
        let delivered: Vec<f64> = network.flows().map(|flow| flow.delivered_measured().as_f64()).collect();
        let (all, sum) = (delivered.iter().sum::<f64>(), weights.iter().sum::<f64>());
        for (delivered, weight) in delivered.iter().zip(&weights) {
            // Fair queueing differs by a packet per flow; a stream that waits for a retransmission misses some service.
            prop_assert!((delivered / all / (weight / sum) - 1.0).abs() < 0.02 + 5.0 * loss, "{weights:?} {delivered:?}");
        }
    }
}

#[test]
fn a_flow_that_is_slow_behind_the_shared_loop_blocks_no_other() {
    let slow = Member { last: Some(Rate::from_bps(400_000)), ..BULK };
    let mut network = shared(1, 0.0, 30, &[slow, BULK]);
    network.run_to(Time::from_secs(2.0));
    network.start_measuring();
    network.run_to(Time::from_secs(12.0));
    let mbps: Vec<f64> =
        network.flows().map(|flow| flow.delivered_measured().as_f64() * 8.0 / 10.0 / 1e6).collect();
    assert!((mbps[0] - 0.4).abs() < 0.01 && (mbps[1] - 7.6).abs() < 0.05, "{mbps:?}");
    // Each relay holds at most its limit of the slow flow.
    assert!(network.flows().all(|flow| flow.loops().skip(1).all(|one| one.backlog() <= PACKET * 50)));
}

#[test]
fn a_flow_starts_and_stops_without_loss_of_service_for_others() {
    let guest = Member { start: 4000, stop: Some(4000), ..BULK };
    let mut network = shared(1, 0.0, 30, &[BULK, guest]);
    let mut goodput = |from: f64, to: f64| {
        network.run_to(Time::from_secs(from));
        network.start_measuring();
        network.run_to(Time::from_secs(to));
        let mbps = |bytes: Bytes| bytes.as_f64() * 8.0 / (to - from) / 1e6;
        network.flows().map(|flow| mbps(flow.delivered_measured())).collect::<Vec<_>>()
    };
    let (before, during, after) = (goodput(2.0, 4.0), goodput(4.1, 8.0), goodput(8.2, 10.0));
    assert!((before[0] - 8.0).abs() < 0.05, "{before:?}");
    assert!(during.iter().all(|mbps| (mbps - 4.0).abs() < 0.05), "{during:?}");
    assert!((after[0] - 8.0).abs() < 0.05 && after[1] == 0.0, "{after:?}");
}

#[test]
fn the_first_loop_of_a_flow_cannot_be_shared() {
    let mut net = Net::new(1, 0.0, Rate::from_mbps(8.0));
    let flow_loop = net.aggregate(10);
    net.builder.flow(FlowSpec {
        name: "f".into(),
        weight: 1.0,
        loops: vec![flow_loop],
        relays: vec![],
        workload: Workload::Bulk,
        start: Time::ZERO,
        stop: None,
    });
    let refused = net.builder.build().err();
    assert_eq!(refused, Some(BuildError::Shared { flow: "f".into() }));
}
