//! Transfers, and applications that produce data at a rate over time: every byte is delivered once, and finished transfers
//! leave no state.

// Clippy lets tests unwrap, but not the helpers beside them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{FixedWindow, PACKET, fair_queueing, one_loop};
use millpond_endpoint::SenderConfig;
use millpond_law::{Ack, Congestion, Context, Knowledge, Needs, Permit, QueueLaw, Sender, Start};
use millpond_sim::{
    Buffer, Builder, FlowSpec, Jitter, LinkId, LinkSpec, Loss, PacketNetwork, Schedule, TransfersId,
    TransfersSpec, Workload,
};
use millpond_units::{Rate, Span, Time};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// A duplex link of 8 Mbit/s (a packet takes 1 ms) and 10 ms each way between two new nodes.
fn duplex(builder: &mut Builder, change: impl Fn(&mut LinkSpec)) -> (LinkId, LinkId) {
    let (a, b) = (builder.node(), builder.node());
    let mut link = |name, from, to| {
        let mut spec = LinkSpec::plain(name, from, to, Rate::from_mbps(8.0), Span::from_millis(10));
        change(&mut spec);
        builder.link(spec)
    };
    (link("L ->", a, b), link("L <-", b, a))
}

/// Transfers of these sizes in packets, one every `gap`, each with the same window.
fn every(gap: Span, sizes: Vec<u64>, (there, back): (LinkId, LinkId), window: u64) -> TransfersSpec {
    let arrivals =
        sizes.into_iter().enumerate().map(move |(n, size)| (Time::ZERO + gap * n as u64, PACKET * size));
    TransfersSpec {
        name: "short".into(),
        weight: 1.0,
        loops: Box::new(move || vec![one_loop(FixedWindow(window), &[there], &[back])]),
        relays: vec![],
        arrivals: Box::new(arrivals),
    }
}

/// A network of one link and one source of transfers.
fn single(
    gap: Span,
    sizes: Vec<u64>,
    window: u64,
    change: impl Fn(&mut LinkSpec),
) -> (PacketNetwork, TransfersId) {
    let mut builder = Builder::new(1);
    let links = duplex(&mut builder, change);
    let id = builder.transfers(every(gap, sizes, links, window));
    (builder.build().unwrap(), id)
}

fn seconds(seconds: f64) -> Time {
    Time::from_secs(seconds)
}

#[test]
fn a_transfer_on_an_idle_path_takes_its_service_time_and_the_one_way_delay() {
    // Five packets at once: 5 ms of service, 10 ms on the wire.
    let (mut network, id) = single(Span::from_millis(100), vec![5, 5], 10, |_| ());
    network.run_to(seconds(1.0));
    let all = network.transfers(id).all();
    let completed: Vec<_> = all.iter().map(|transfer| transfer.completed.unwrap()).collect();
    assert_eq!(completed, [seconds(0.015), seconds(0.115)]);
}

#[test]
fn each_transfer_starts_with_a_new_sender() {
    // A window of one packet: the n-th packet leaves a round trip of 21.04 ms after the one before.
    let (mut network, id) = single(Span::from_secs(1.0), vec![3; 4], 1, |_| ());
    network.run_to(seconds(5.0));
    for (n, transfer) in network.transfers(id).all().iter().enumerate() {
        let took = transfer.completed.unwrap().since(seconds(n as f64)).millis();
        assert!((took - (2.0 * 21.04 + 11.0)).abs() < 1e-6, "transfer {n}: {took} ms");
    }
}

#[test]
fn the_memory_of_many_transfers_is_that_of_the_running_ones_and_every_byte_arrives_once() {
    // 1, 2 or 3 packets every 3 ms at 8 Mbit/s: a load of two thirds. A transfer lasts 11 to 33 ms: 4 to 12 run at a time.
    let sizes: Vec<u64> = (0..100_000).map(|n| n % 3 + 1).collect();
    let (mut network, id) = single(Span::from_millis(3), sizes.clone(), 10, |_| ());
    network.run_to(seconds(305.0));
    let view = network.transfers(id);
    assert!(view.slots() <= 64 + 2 * 12, "{} slots", view.slots());
    let delivered: Vec<u64> = view.all().iter().map(|one| one.delivered.get() / PACKET.get()).collect();
    assert_eq!(delivered, sizes);
    assert_eq!(view.totals().delivered_bytes, sizes.iter().sum::<u64>() * PACKET.get());
    assert_eq!(view.totals().sent, sizes.iter().sum::<u64>());
    // One sample of each distribution for each packet.
    for samples in [view.queueing_delays(), view.one_way_delays(), view.round_trip_times()] {
        assert_eq!(samples.total(), view.totals().sent);
    }
    assert_eq!((view.running(), network.packets_in_network()), (0, 0));
}

#[test]
fn statistics_of_finished_transfers_start_with_the_measurement() {
    let (mut network, id) = single(Span::from_millis(10), vec![2; 2000], 10, |_| ());
    network.run_to(seconds(9.999));
    network.start_measuring();
    network.run_to(seconds(30.0));
    let view = network.transfers(id);
    assert_eq!((view.totals().sent, view.counters().sent), (4000, 2000));
    // The second packet of each transfer waits for the first.
    assert_eq!(view.queueing_delays().mean(), 0.5e9);
    assert!((view.round_trip_times().mean() - (21.54e9)).abs() < 1e6);
    // One or two services of 1 ms, and 10 ms of propagation.
    assert_eq!(view.one_way_delays().mean(), 11.5e9);
}

#[test]
fn transfers_share_a_fair_link_with_flows() {
    let mut builder = Builder::new(1);
    let links = duplex(&mut builder, |spec| spec.queue = fair_queueing());
    let id = builder.transfers(every(Span::from_millis(50), vec![1; 100], links, 10));
    builder.flow(FlowSpec {
        name: "long".into(),
        weight: 1.0,
        loops: vec![one_loop(FixedWindow(200), &[links.0], &[links.1]).into()],
        relays: vec![],
        workload: Workload::Bulk,
        start: Time::ZERO,
        stop: None,
    });
    let mut network = builder.build().unwrap();
    network.run_to(seconds(10.0));
    // A packet of a new flow waits for the one in service and one of the other flow, not for 180.
    let waits = network.transfers(id).queueing_delays();
    assert_eq!(waits.total(), 100);
    assert!(waits.max() <= 2_000_000_000, "{} ps", waits.max());
    assert_eq!(network.flows().len(), 1);
}

#[test]
fn a_sender_with_live_knowledge_receives_the_capacity_at_the_arrival_of_its_transfer_and_changes() {
    struct CapacityLog(Arc<Mutex<Vec<u64>>>);
    impl Sender for CapacityLog {
        fn on_start(&mut self, _: &mut Context<'_>, start: &Start) {
            self.0.lock().unwrap().extend(start.capacity.map(|rate| rate.bps() / 1_000_000));
        }
        fn on_capacity(&mut self, _: &mut Context<'_>, capacity: Rate) {
            self.0.lock().unwrap().push(capacity.bps() / 1_000_000);
        }
        fn on_ack(&mut self, _: &mut Context<'_>, _: &Ack) {}
        fn on_congestion(&mut self, _: &mut Context<'_>, _: &Congestion) {}
        fn permit(&self) -> Permit {
            Permit { window: Some(PACKET), ..Permit::default() }
        }
    }
    let received = Arc::new(Mutex::new(Vec::new()));
    let mut builder = Builder::new(1);
    let steps = [(Time::ZERO, Rate::from_mbps(8.0)), (seconds(1.5), Rate::from_mbps(4.0))];
    let (there, back) = duplex(&mut builder, |spec| spec.rate = Arc::new(Schedule::steps(&steps).unwrap()));
    let log = received.clone();
    let loops = move || {
        let mut one = one_loop(CapacityLog(log.clone()), &[there], &[back]);
        one.sender_config =
            SenderConfig::new(PACKET, Needs { capacity: Knowledge::Live, ..Needs::default() });
        vec![one]
    };
    // The first needs 200 round trips of 21 ms, the second starts after the change.
    let spec = every(Span::from_secs(2.0), vec![200, 1], (there, back), 1);
    builder.transfers(TransfersSpec { loops: Box::new(loops), ..spec });
    builder.build().unwrap().run_to(seconds(3.0));
    assert_eq!(*received.lock().unwrap(), [8, 4, 4]);
}

#[test]
fn an_on_off_application_produces_its_rate_while_on() {
    // 3.2 Mbit/s while on: a packet every 2.5 ms, for 1 s of every 4 s from 0.5 s on.
    let on = |start: f64| [(seconds(start), Rate::from_bps(3_200_000)), (seconds(start + 1.0), Rate::ZERO)];
    let steps: Vec<_> =
        std::iter::once((Time::ZERO, Rate::ZERO)).chain([0.5, 4.5, 8.5].into_iter().flat_map(on)).collect();
    let mut builder = Builder::new(1);
    let (there, back) = duplex(&mut builder, |_| ());
    let id = builder.flow(FlowSpec {
        name: "bursts".into(),
        weight: 1.0,
        loops: vec![one_loop(FixedWindow(100), &[there], &[back]).into()],
        relays: vec![],
        workload: Workload::Produced(Arc::new(Schedule::steps(&steps).unwrap())),
        start: Time::ZERO,
        stop: None,
    });
    let mut network = builder.build().unwrap();
    // Half a millisecond after each burst all of its data has been sent.
    for (time, packets) in [(0.4, 0), (1.55, 400), (4.4, 400), (5.55, 800), (20.0, 1200)] {
        network.run_to(seconds(time));
        let sent = network.flow(id).first().totals().sent;
        assert!(sent.abs_diff(packets) <= 1, "{sent} at {time} s");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn over_links_with_loss_jitter_and_reordering_every_transfer_gets_exactly_its_own_bytes(
        sizes in prop::collection::vec(1_u64..30, 100..300), gap in 1_u64..40, window in 1_u64..20,
        loss in 0.0_f64..0.2, jitter in 0_u64..30, buffer in 2_u64..40, fair: bool,
    ) {
        let wanted = sizes.clone();
        let (mut network, id) = single(Span::from_millis(gap), sizes, window, |spec| {
            spec.loss = Some(Loss::Bernoulli(loss));
            spec.propagation.jitter = (jitter > 0).then(|| Jitter::Uniform(Span::from_millis(jitter)));
            spec.propagation.reorder = true;
            spec.buffer = Buffer::Packets(buffer);
            spec.queue = if fair { fair_queueing() } else { QueueLaw::DropTail };
        });
        network.run_to(seconds(900.0));
        let delivered: Vec<u64> =
            network.transfers(id).all().iter().map(|one| one.delivered.get() / PACKET.get()).collect();
        prop_assert_eq!(delivered, wanted);
        prop_assert_eq!(network.transfers(id).running(), 0);
    }
}
