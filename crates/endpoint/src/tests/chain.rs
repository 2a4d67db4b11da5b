//! Relays: nothing acknowledged is lost, queues stay within their limit, birth and queueing accumulate.

use super::pipe::{Chain, Fixed, Loop, PACKET, at};
use crate::{ReceiverConfig, Relay, SenderConfig};
use millpond_law::{Needs, Sharing};
use millpond_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const MS: fn(u64) -> Span = Span::from_millis;

/// A loop of 2 ms that feeds a relay with this limit.
fn feeding(law: Fixed, limit: Bytes) -> Loop {
    let config = SenderConfig { credit: limit.get(), ..SenderConfig::new(PACKET, Needs::default()) };
    Loop::with(config, ReceiverConfig::default(), law, MS(1))
}

/// A fast loop, a relay of so many packets, and a slower loop.
fn fast_then_slow(limit: u64) -> Chain {
    let limit = PACKET * limit;
    let first = feeding(Fixed::pace(Rate::from_mbps(80.0)), limit);
    let second = Loop::new(Fixed::pace(Rate::from_mbps(8.0)), MS(10));
    Chain::new(vec![first, second], vec![Relay::new(limit, PACKET)], 1)
}

#[test]
fn a_fast_loop_is_held_to_the_speed_of_the_next_and_nothing_is_lost() {
    let mut chain = fast_then_slow(50);
    chain.start(Some(1_000_000));
    chain.run_until(at(1100));
    let (first, second) = (&chain.loops[0], &chain.loops[1]);
    assert!(first.sender.is_complete() && second.sender.is_complete() && second.receiver.is_complete());
    assert_eq!(second.receiver.counters().delivered, 1_000_000);
    assert_eq!(first.sender.counters().retransmitted_packets, 0);
    // The relay is full most of the time, so the last byte leaves it when 1 MB have left at 8 Mbit/s.
    let (done, ..) = second.received.last().unwrap();
    assert_eq!(*done, at(1 + 999 + 10));
}

#[test]
fn a_sender_that_ran_out_of_credit_is_told_of_new_credit_without_having_to_ask() {
    let limit = PACKET * 2;
    let second = Loop::new(Fixed::pace(Rate::from_mbps(3.2)), MS(10));
    let loops = vec![feeding(Fixed::window(10.0), limit), second];
    let mut chain = Chain::new(loops, vec![Relay::new(limit, PACKET)], 1);
    chain.start(Some(100_000));
    chain.run_until(at(1000));
    assert!(chain.loops[1].receiver.is_complete());
    assert_eq!(chain.loops[0].sent.len(), 100);
    // News of a departure and the packet that it lets in take 2 ms together; the next packet leaves after 2.5 ms.
    let last = at(1) + Span::from_micros(2500) * 99;
    assert_eq!(chain.loops[1].sent.last().unwrap().sent_at, last);
}

#[test]
fn a_sender_without_credit_asks_ever_more_seldom() {
    let limit = PACKET * 2;
    let loops = vec![feeding(Fixed::window(10.0), limit), Loop::new(Fixed::pace(Rate::ZERO), MS(10))];
    let mut chain = Chain::new(loops, vec![Relay::new(limit, PACKET)], 1);
    chain.start(None);
    chain.run_until(at(10_000));
    let asking = chain.loops[0].sent.iter().filter(|segment| segment.payload == 0).count();
    assert_eq!(chain.loops[0].sent.len() - asking, 2);
    // Every 3 ms, twice that, ... at last every 64 * 3 ms.
    assert!((7..7 + 10_000 / 192).contains(&asking), "{asking}");
    assert_eq!(chain.loops[0].sender.counters().probe_timeouts, 0);
}

#[test]
fn birth_and_queueing_accumulate_over_loops() {
    let mut chain = fast_then_slow(1000);
    chain.start(Some(500_000));
    chain.run_until(at(2000));
    for (index, (arrived, segment, _)) in chain.loops[1].received.iter().enumerate() {
        // Packet n is born at n * 0.1 ms, waits only in the relay, and leaves it at 1 ms + n * 1 ms.
        let (n, birth) = (index as u64, Time::ZERO + Span::from_micros(100) * index as u64);
        assert_eq!(segment.birth, birth);
        assert_eq!(segment.queueing, Span::from_micros(900) * n);
        assert_eq!(arrived.since(birth), segment.queueing + MS(11));
    }
}

#[test]
fn what_the_sink_sees_of_the_next_loop_is_what_it_really_sends() {
    let limit = PACKET * 50;
    let second = Loop::new(Fixed::window(4.0), MS(10));
    let relay = Relay::new(limit, PACKET);
    assert_eq!(relay.view(at(0), &second.sender).next_rate, Rate::MAX);
    let mut chain = Chain::new(vec![feeding(Fixed::window(20.0), limit), second], vec![relay], 1);
    chain.start(None);
    chain.run_until(at(2000));
    let view = chain.relays[0].view(at(2000), &chain.loops[1].sender);
    assert_eq!(view.next_rate, (PACKET * 4).per(MS(20)));
    assert_eq!((view.next_rtt, view.next_base_rtt), (MS(20), MS(20)));
    assert_eq!((view.limit, view.sharing), (limit, Sharing::ALONE));
    assert!(view.backlog > Bytes::ZERO && view.backlog <= limit);
}

#[test]
fn what_arrives_is_handed_on_without_waiting_for_what_was_lost() {
    let mut chain = fast_then_slow(1000);
    // The second packet of the first loop, which leaves at 0.1 ms, gets lost.
    chain.loops[0].forth.outage = (Time::ZERO + Span::from_micros(100), Time::ZERO + Span::from_micros(101));
    chain.start(Some(100_000));
    chain.run_until(at(2000));
    let offsets: Vec<_> = chain.loops[1].received.iter().map(|(_, segment, _)| segment.offset).collect();
    let late = offsets.iter().position(|offset| *offset == 1000).unwrap();
    assert!(late > 3 && offsets[1] == 2000, "{offsets:?}");
    assert_eq!(chain.loops[0].sender.counters().retransmitted_packets, 1);
    assert_eq!(chain.loops[1].sender.counters().retransmitted_packets, 0);
    assert!(chain.loops[1].receiver.is_complete());
}

#[derive(Clone, Debug)]
struct Trouble {
    bytes: u64,
    limit: u64,
    windows: [f64; 3],
    loss: f64,
    jitter: u64,
    seed: u64,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let window = || 0.5..40.0;
    (1..80_000_u64, 0..20_u64, [window(), window(), window()], 0.0..0.25, 0..5_u64, any::<u64>()).prop_map(
        |(bytes, limit, windows, loss, jitter, seed)| Trouble { bytes, limit, windows, loss, jitter, seed },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn three_lossy_loops_deliver_every_byte_exactly_once(trouble in trouble()) {
        let limit = PACKET * trouble.limit;
        let relays = vec![Relay::new(limit, PACKET), Relay::new(limit, PACKET)];
        let mut loops: Vec<_> =
            trouble.windows.map(|window| feeding(Fixed::window(window), relays[0].limit())).into_iter().collect();
        loops[2] = Loop::new(Fixed::window(trouble.windows[2]), MS(5));
        for each in &mut loops {
            for path in [&mut each.forth, &mut each.back] {
                path.loss = trouble.loss;
                path.jitter = MS(trouble.jitter);
            }
        }
        let mut chain = Chain::new(loops, relays, trouble.seed);
        chain.start(Some(trouble.bytes));
        chain.run_until(at(2_000_000));
        for each in &chain.loops {
            prop_assert!(each.sender.is_complete(), "{:?} {:?}", each.sender.counters(), each.receiver.counters());
            let fresh: u64 = each.received.iter().map(|(_, _, received)| received.fresh).sum();
            prop_assert_eq!(fresh, trouble.bytes);
        }
        for (arrived, segment, _) in &chain.loops[2].received {
            prop_assert!(segment.queueing <= arrived.since(segment.birth));
        }
    }
}
