//! Relays: no acknowledged byte is lost, queues respect their limit, queueing delay accumulates.

use super::pipe::{Chain, FixedPermit, Loop, PACKET, at};
use crate::{ReceiverConfig, ReceiverEnd, Relay, RelayBuffer, SenderConfig, SenderEnd, StreamConfig};
use millpond_law::{
    Ack, Congestion, Context, Data, Echo, Header, HeaderId, Needs, Permit, Random, Receiver, RelayView,
    Sender, Sharing,
};
use millpond_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const MS: fn(u64) -> Span = Span::from_millis;

/// A loop of 2 ms that feeds a relay with this limit.
fn feeding(law: FixedPermit, limit: Bytes) -> Loop {
    let config = SenderConfig { credit: limit.get(), ..SenderConfig::new(PACKET, Needs::default()) };
    Loop::with(config, ReceiverConfig::default(), law, MS(1))
}

/// A fast loop, a relay with a limit in packets, and a slower loop.
fn fast_then_slow(limit: u64) -> Chain {
    let limit = PACKET * limit;
    let first = feeding(FixedPermit::pace(Rate::from_mbps(80.0)), limit);
    let second = Loop::new(FixedPermit::pace(Rate::from_mbps(8.0)), MS(10));
    Chain::new(vec![first, second], vec![Relay::new(RelayBuffer::Size(limit), PACKET)], 1)
}

#[test]
fn credit_limits_a_fast_loop_to_the_rate_of_the_next_without_loss() {
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
fn a_buffer_limited_by_delay_holds_what_the_next_loop_sends_in_that_time_and_at_least_five_packets() {
    let buffer = RelayBuffer::Limited { size: PACKET * 15, delay: MS(20) };
    // 20 ms of 1000, 500 and 50 packets per second are 20, 10 and 1 packets.
    for (rate, held) in [(8.0, 15), (4.0, 10), (0.4, 5)] {
        let first = feeding(FixedPermit::pace(Rate::from_mbps(80.0)), buffer.initial(PACKET));
        let second = Loop::new(FixedPermit::pace(Rate::from_mbps(rate)), MS(10));
        let mut chain = Chain::new(vec![first, second], vec![Relay::new(buffer, PACKET)], 1);
        chain.start(None);
        chain.run_until(at(5_000));
        let relay = &chain.relays[0];
        assert_eq!(relay.limit(&chain.loops[1].sender), PACKET * held, "{rate} Mbit/s");
        // The next loop always has data, and the queue is full.
        assert!(chain.loops[1].sender.backlog() >= PACKET * (held - 2), "{rate} Mbit/s");
        let sent = chain.loops[1].sent.len() as f64;
        assert!((sent / (rate * 625.0) - 1.0).abs() < 0.01, "{rate} Mbit/s: {sent} packets in 5 s");
    }
}

/// 8 Mbit/s are 10,000 bytes in 10 ms, which streams with weights of 1 and 3 share while both receive data.
#[test]
fn a_stream_may_send_its_share_of_the_pace_of_all_active_streams() {
    let stream = |weight, incoming_loop| StreamConfig { weight, incoming_loop, credit: u64::MAX };
    let (config, random) = (SenderConfig::new(PACKET, Needs::default()), Random::stream(1, "shared"));
    let law = Box::new(FixedPermit::pace(Rate::from_mbps(8.0)));
    let mut sender = SenderEnd::with_streams(config, vec![stream(1.0, 0), stream(3.0, 1)], law, random);
    sender.start(Time::ZERO, None);
    let allowed = |sender: &SenderEnd| [0, 1].map(|stream| sender.allowed_within(MS(10), stream));
    let bytes = |bytes: [u64; 2]| bytes.map(|bytes| Some(Bytes::new(bytes)));
    sender.on_relay_arrival(at(0), 0, PACKET, false);
    // The second stream would have three quarters if it became active.
    assert_eq!(allowed(&sender), bytes([10_000, 7_500]));
    sender.on_relay_arrival(at(0), 1, PACKET, false);
    assert_eq!(allowed(&sender), bytes([2_500, 7_500]));
    // A stream that has received nothing for more than 200 ms leaves its share to the other one.
    sender.on_relay_arrival(at(201), 1, PACKET, false);
    assert_eq!(allowed(&sender), bytes([2_500, 10_000]));
}

#[test]
fn a_sender_without_pace_and_window_does_not_reduce_the_buffer_before_it() {
    let unlimited = || Loop::new(FixedPermit(Permit::default()), MS(10));
    for held in [PACKET * 40, Bytes::MAX] {
        let buffer = RelayBuffer::Limited { size: held, delay: MS(20) };
        let first = feeding(FixedPermit::pace(Rate::from_mbps(8.0)), buffer.initial(PACKET));
        let mut chain = Chain::new(vec![first, unlimited()], vec![Relay::new(buffer, PACKET)], 1);
        chain.start(Some(100_000));
        chain.run_until(at(1000));
        assert_eq!(chain.relays[0].limit(&chain.loops[1].sender), held);
        assert!(chain.loops[1].receiver.is_complete());
    }
}

#[test]
fn new_credit_is_advertised_to_a_blocked_sender_without_a_probe() {
    let limit = PACKET * 2;
    let second = Loop::new(FixedPermit::pace(Rate::from_mbps(3.2)), MS(10));
    let loops = vec![feeding(FixedPermit::window(10.0), limit), second];
    let mut chain = Chain::new(loops, vec![Relay::new(RelayBuffer::Size(limit), PACKET)], 1);
    chain.start(Some(100_000));
    chain.run_until(at(1000));
    assert!(chain.loops[1].receiver.is_complete());
    assert_eq!(chain.loops[0].sent.len(), 100);
    // New credit and the packet that it permits take 2 ms together; the next packet leaves after 2.5 ms.
    let last = at(1) + Span::from_micros(2500) * 99;
    assert_eq!(chain.loops[1].sent.last().unwrap().sent_at, last);
}

/// RFC 9293, section 3.8.6.2.2: the receiver advertises no window update below the size of a segment. The packets of the next loop
/// are a quarter as large as those of the previous loop, which has used its credit.
#[test]
fn credit_for_less_than_a_packet_is_not_advertised() {
    let limit = PACKET * 2;
    let config = SenderConfig::new(PACKET / 4, Needs::default());
    let law = FixedPermit::pace(Rate::from_mbps(0.8));
    let second = Loop::with(config, ReceiverConfig::default(), law, MS(10));
    let loops = vec![feeding(FixedPermit::window(10.0), limit), second];
    let mut chain = Chain::new(loops, vec![Relay::new(RelayBuffer::Size(limit), PACKET)], 1);
    chain.start(Some(100_000));
    chain.run_until(at(1500));
    assert!(chain.loops[1].receiver.is_complete());
    let sent = chain.loops[0].sent.iter().filter(|segment| segment.payload > 0).count() as u64;
    let probes = chain.loops[0].sent.len() as u64 - sent;
    // An acknowledgement for each packet, and an update for each packet that it permits.
    let acks = chain.loops[0].receiver.counters().acks;
    assert!(acks <= 2 * sent + probes, "{acks} acknowledgements of {sent} packets and {probes} probes");
}

#[test]
fn a_sender_without_credit_probes_with_exponential_backoff() {
    let limit = PACKET * 2;
    let loops =
        vec![feeding(FixedPermit::window(10.0), limit), Loop::new(FixedPermit::pace(Rate::ZERO), MS(10))];
    let mut chain = Chain::new(loops, vec![Relay::new(RelayBuffer::Size(limit), PACKET)], 1);
    chain.start(None);
    chain.run_until(at(10_000));
    let probes = chain.loops[0].sent.iter().filter(|segment| segment.payload == 0).count();
    assert_eq!(chain.loops[0].sent.len() - probes, 2);
    // After 3 ms, twice that, ...: 11 of them last 6 s, 12 last 12 s.
    assert!((11..=12).contains(&probes), "{probes}");
    assert_eq!(chain.loops[0].sender.counters().probe_timeouts, 0);
}

/// Sends two packets until the first acknowledgement, and again after each update.
struct UntilAcknowledged {
    pace: Rate,
}

impl Sender for UntilAcknowledged {
    fn on_ack(&mut self, _cx: &mut Context<'_>, _ack: &Ack) {
        self.pace = Rate::ZERO;
    }
    fn on_update(&mut self, _cx: &mut Context<'_>, header: &Header) -> bool {
        assert_eq!(header.of(HeaderId(2)), Some(&[9][..]));
        self.pace = Rate::from_mbps(80.0);
        true
    }
    fn on_congestion(&mut self, _cx: &mut Context<'_>, _congestion: &Congestion) {}
    fn permit(&self) -> Permit {
        Permit { window: Some(PACKET * 2), pace: Some(self.pace), ..Permit::default() }
    }
}

/// Sends an update when the relay is empty.
struct UpdatesWhenEmpty(bool);

impl Receiver for UpdatesWhenEmpty {
    fn on_data(&mut self, _cx: &mut Context<'_>, _data: &Data, _relay: Option<&RelayView>, _echo: &mut Echo) {
    }
    fn on_relay_departure(&mut self, relay: &RelayView, echo: &mut Echo) -> bool {
        echo.header.set(HeaderId(2), &[9]);
        relay.backlog == Bytes::ZERO
    }
    fn sends_updates(&self) -> bool {
        self.0
    }
}

#[test]
fn an_update_of_a_relay_reaches_a_sender_that_waits_and_lets_it_send() {
    for (sends_updates, sent) in [(true, 10), (false, 2)] {
        let law = UntilAcknowledged { pace: Rate::from_mbps(80.0) };
        let config = SenderConfig { credit: u64::MAX, ..SenderConfig::new(PACKET, Needs::default()) };
        let mut first = Loop::with(config, ReceiverConfig::default(), law, MS(1));
        let updates = Box::new(UpdatesWhenEmpty(sends_updates));
        first.receiver = ReceiverEnd::new(ReceiverConfig::default(), updates, Random::stream(1, "receiver"));
        let second = Loop::new(FixedPermit::pace(Rate::from_mbps(3.2)), MS(10));
        let relay = Relay::new(RelayBuffer::Size(PACKET * 50), PACKET);
        let mut chain = Chain::new(vec![first, second], vec![relay], 1);
        chain.start(Some(10_000));
        chain.run_until(at(1000));
        assert_eq!(chain.loops[0].sent.len(), sent);
    }
}

#[test]
fn queueing_delay_accumulates_over_loops_from_the_time_of_origin() {
    let mut chain = fast_then_slow(1000);
    chain.start(Some(500_000));
    chain.run_until(at(2000));
    for (index, (arrived, segment, _)) in chain.loops[1].received.iter().enumerate() {
        // Packet n is first sent at n * 0.1 ms, waits only in the relay, and leaves it at 1 ms + n * 1 ms.
        let (n, origin_time) = (index as u64, Time::ZERO + Span::from_micros(100) * index as u64);
        assert_eq!(segment.origin_time, origin_time);
        assert_eq!(segment.queueing, Span::from_micros(900) * n);
        assert_eq!(arrived.since(origin_time), segment.queueing + MS(11));
    }
}

#[test]
fn the_relay_view_is_the_actual_rate_of_the_next_loop() {
    let limit = PACKET * 50;
    let second = Loop::new(FixedPermit::window(4.0), MS(10));
    let relay = Relay::new(RelayBuffer::Size(limit), PACKET);
    assert_eq!(relay.view(at(0), &second.sender).next_rate, Rate::MAX);
    let mut chain = Chain::new(vec![feeding(FixedPermit::window(20.0), limit), second], vec![relay], 1);
    chain.start(None);
    chain.run_until(at(2000));
    let view = chain.relays[0].view(at(2000), &chain.loops[1].sender);
    assert_eq!(view.next_rate, (PACKET * 4).per(MS(20)));
    assert_eq!((view.next_rtt, view.next_base_rtt), (MS(20), MS(20)));
    assert_eq!((view.limit, view.sharing), (limit, Sharing::ALONE));
    assert!(view.backlog > Bytes::ZERO && view.backlog <= limit);
}

#[test]
fn data_is_forwarded_without_waiting_for_lost_data() {
    let mut chain = fast_then_slow(1000);
    // The second packet of the first loop, sent at 0.1 ms, is lost.
    chain.loops[0].forward.outage =
        (Time::ZERO + Span::from_micros(100), Time::ZERO + Span::from_micros(101));
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
struct Impairments {
    bytes: u64,
    limit: u64,
    windows: [f64; 3],
    loss: f64,
    jitter: u64,
    seed: u64,
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let window = || 0.5..40.0;
    (1..80_000_u64, 0..20_u64, [window(), window(), window()], 0.0..0.25, 0..5_u64, any::<u64>()).prop_map(
        |(bytes, limit, windows, loss, jitter, seed)| Impairments {
            bytes,
            limit,
            windows,
            loss,
            jitter,
            seed,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn three_lossy_loops_deliver_every_byte_exactly_once(impairments in impairments()) {
        let limit = PACKET * impairments.limit;
        let relays = vec![Relay::new(RelayBuffer::Size(limit), PACKET), Relay::new(RelayBuffer::Size(limit), PACKET)];
        let mut loops: Vec<_> =
            impairments.windows.map(|window| feeding(FixedPermit::window(window), relays[0].initial_credit())).into_iter().collect();
        loops[2] = Loop::new(FixedPermit::window(impairments.windows[2]), MS(5));
        for each in &mut loops {
            for path in [&mut each.forward, &mut each.backward] {
                path.loss = impairments.loss;
                path.jitter = MS(impairments.jitter);
            }
        }
        let mut chain = Chain::new(loops, relays, impairments.seed);
        chain.start(Some(impairments.bytes));
        chain.run_until(at(2_000_000));
        for each in &chain.loops {
            prop_assert!(each.sender.is_complete(), "{:?} {:?}", each.sender.counters(), each.receiver.counters());
            let fresh: u64 = each.received.iter().map(|(_, _, received)| received.new_bytes).sum();
            prop_assert_eq!(fresh, impairments.bytes);
        }
        for (arrived, segment, _) in &chain.loops[2].received {
            prop_assert!(segment.queueing <= arrived.since(segment.origin_time));
        }
    }
}
