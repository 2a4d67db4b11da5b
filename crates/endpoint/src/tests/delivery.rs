//! Every byte is delivered exactly once, whatever the path does to packets.

use super::pipe::{Chain, FixedPermit, Loop, PACKET, at};
use crate::{ReceiverConfig, SenderConfig};
use millpond_law::Needs;
use millpond_units::{Bytes, Span};
use proptest::prelude::*;

const MS: fn(u64) -> Span = Span::from_millis;

#[derive(Clone, Debug)]
struct Impairments {
    bytes: u64,
    window: f64,
    overhead: u64,
    loss: [f64; 2],
    duplication: f64,
    jitter: u64,
    packets_per_ack: u32,
    seed: u64,
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let loss = || prop_oneof![Just(0.0), 0.0..0.3];
    (1..60_000_u64, 0.0..30.0, 0..200_u64, loss(), loss(), 0.0..0.2, 0..15_u64, 1..4_u32, any::<u64>())
        .prop_map(
            |(bytes, window, overhead, forward, backward, duplication, jitter, packets_per_ack, seed)| {
                Impairments {
                    bytes,
                    window,
                    overhead,
                    loss: [forward, backward],
                    duplication,
                    jitter,
                    packets_per_ack,
                    seed,
                }
            },
        )
}

fn impaired_loop(impairments: &Impairments) -> Loop {
    let sender = SenderConfig {
        overhead: Bytes::new(impairments.overhead),
        max_ack_delay: MS(5),
        ..SenderConfig::new(PACKET, Needs::default())
    };
    let receiver = ReceiverConfig {
        packets_per_ack: impairments.packets_per_ack,
        max_ack_delay: MS(5),
        ..ReceiverConfig::default()
    };
    let mut impaired = Loop::with(sender, receiver, FixedPermit::window(impairments.window), MS(10));
    for (path, loss) in
        [(&mut impaired.forward, impairments.loss[0]), (&mut impaired.backward, impairments.loss[1])]
    {
        path.loss = loss;
        path.duplication = impairments.duplication;
        path.jitter = MS(impairments.jitter);
    }
    impaired
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_sized_flow_is_delivered_exactly_once(impairments in impairments()) {
        let mut chain = Chain::new(vec![impaired_loop(&impairments)], Vec::new(), impairments.seed);
        chain.start(Some(impairments.bytes));
        chain.run_until(at(2_000_000));
        let only = chain.first();
        prop_assert!(only.sender.is_complete(), "{:?}", only.sender.counters());
        prop_assert!(only.receiver.is_complete());
        let fresh: u64 = only.received.iter().map(|(_, _, received)| received.new_bytes).sum();
        prop_assert_eq!(fresh, impairments.bytes);
        prop_assert_eq!(only.receiver.counters().delivered, impairments.bytes);
        prop_assert_eq!(only.sender.acknowledged(), Bytes::new(impairments.bytes));
        prop_assert_eq!(only.sender.backlog(), Bytes::ZERO);
    }
}

#[test]
fn on_a_path_without_loss_nothing_is_sent_twice() {
    let mut chain = Chain::single(Loop::new(FixedPermit::window(10.0), MS(10)));
    chain.start(Some(100_500));
    chain.run_until(at(5000));
    let only = chain.first();
    assert!(only.sender.is_complete());
    let counters = only.sender.counters();
    assert_eq!((counters.sent_packets, counters.sent_bytes, counters.acked_packets), (101, 100_500, 101));
    assert_eq!((counters.lost_packets, counters.retransmitted_packets, counters.probe_timeouts), (0, 0, 0));
    assert_eq!(only.sender.in_flight(), Bytes::ZERO);
}

#[test]
fn the_loss_of_a_whole_window_is_detected_by_a_probe_and_repaired() {
    let mut chain = Chain::single(Loop::new(FixedPermit::window(10.0), MS(10)));
    chain.first().forward.outage = (at(20), at(21));
    chain.start(Some(40_000));
    chain.run_until(at(1000));
    let counters = *chain.first().sender.counters();
    assert_eq!(counters.probe_timeouts, 1);
    assert_eq!((counters.lost_packets, counters.retransmitted_packets), (10, 10));
    assert_eq!((counters.sent_packets, counters.spurious_losses), (50, 0));
    assert!(chain.first().sender.is_complete());
}

#[test]
fn reordering_beyond_the_threshold_causes_only_spurious_losses() {
    let mut only = Loop::new(FixedPermit::window(20.0), MS(10));
    only.forward.jitter = MS(20);
    let mut chain = Chain::single(only);
    chain.start(Some(200_000));
    chain.run_until(at(60_000));
    let counters = *chain.first().sender.counters();
    assert!(counters.spurious_losses > 0 && counters.spurious_losses <= counters.lost_packets);
    assert!(chain.first().sender.is_complete());
    assert_eq!(chain.first().receiver.counters().delivered, 200_000);
    assert_eq!(counters.sent_packets, 200 + counters.retransmitted_packets);
}

#[test]
fn the_receiver_drops_state_of_settled_packets() {
    let mut only = Loop::new(FixedPermit::window(20.0), MS(10));
    only.forward.loss = 0.05;
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(20_000));
    let (segment, next) = {
        let only = chain.first();
        (*only.sent.last().unwrap(), only.sent.len() as u64)
    };
    // A packet is settled when a packet after its retransmission is acknowledged: within two windows and a probe.
    assert_eq!(segment.number + 1, next);
    assert!(segment.number - segment.floor < 100, "{segment:?}");
}
