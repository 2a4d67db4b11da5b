//! Pacing, windows, round-trip times, rounds and rate samples of a loop in a steady state.

use super::pipe::{Chain, FixedPermit, Loop, PACKET, at};
use crate::{ReceiverConfig, Segment, SenderConfig};
use millpond_law::{Needs, Permit};
use millpond_units::{Bytes, Rate, Span, Time};

const MS: fn(u64) -> Span = Span::from_millis;

#[test]
fn a_paced_sender_sends_at_exactly_its_rate_with_no_shorter_gap() {
    let rate = Rate::from_bps(7_000_001);
    let mut chain = Chain::single(Loop::new(FixedPermit::pace(rate), MS(10)));
    chain.start(None);
    chain.run_until(at(60_000));
    let sent = &chain.first().sent;
    let span = sent.last().unwrap().sent_at.since(Time::ZERO);
    let exact = rate.time_for(PACKET * (sent.len() as u64 - 1));
    assert!(span.picos().abs_diff(exact.picos()) <= 1, "{span} instead of {exact}");
    let gap = rate.time_for(PACKET);
    let closest = sent.windows(2).map(|pair| pair[1].sent_at.since(pair[0].sent_at)).min().unwrap();
    assert!(closest + Span::from_picos(1) >= gap, "{closest} < {gap}");
}

#[test]
fn a_fractional_window_permits_the_whole_packets_that_fit() {
    for (window, per_round) in [(0.0, 1), (0.4, 1), (1.0, 1), (1.9, 1), (2.0, 2), (9.999, 9), (10.0, 10)] {
        let mut chain = Chain::single(Loop::new(FixedPermit::window(window), MS(10)));
        chain.start(None);
        chain.run_until(at(19));
        assert_eq!(chain.first().sent.len(), per_round, "window {window}");
        chain.run_until(at(20 * 50 - 1));
        assert_eq!(chain.first().sent.len(), per_round * 50, "window {window}");
    }
}

#[test]
fn a_slowly_paced_sender_sends_packets_without_data_so_that_it_receives_feedback() {
    // A packet of data every 10 s, and between them one without data every 100 ms.
    let permit =
        Permit { pace: Some(Rate::from_bps(800)), feedback_within: Some(MS(100)), ..Permit::default() };
    let mut chain = Chain::single(Loop::new(FixedPermit(permit), MS(10)));
    chain.start(None);
    chain.run_until(at(30_050));
    let of_data = |segment: &&Segment| segment.payload > 0;
    let data: Vec<Time> = chain.first().sent.iter().filter(of_data).map(|segment| segment.sent_at).collect();
    assert_eq!(data, [at(0), at(10_000), at(20_000), at(30_000)]);
    let empty = chain.first().sent.len() - data.len();
    assert!((294..=300).contains(&empty), "{empty} packets without data");
    assert_eq!(chain.first().sender.silences(at(30_050)).count(), 0);
    // Data that may leave needs no such packets, and neither does a sender without data.
    let mut chain = Chain::single(Loop::new(FixedPermit(permit), MS(10)));
    chain.start(Some(1000));
    chain.run_until(at(30_000));
    assert_eq!(chain.first().sent.len(), 1);
}

#[test]
fn a_silence_is_a_time_without_a_packet_of_a_sender_that_has_data() {
    let silences = |bps, bytes, end| {
        let mut chain = Chain::single(Loop::new(FixedPermit::pace(Rate::from_bps(bps)), MS(10)));
        chain.start(bytes);
        chain.run_until(end);
        let times = chain.first().sender.silences(end).map(|silence| (silence.from, silence.to));
        times.collect::<Vec<_>>()
    };
    // A packet every 4 s; the last silence lasts when the run ends.
    assert_eq!(
        silences(2_000, None, at(9_500)),
        [(at(0), at(4_000)), (at(4_000), at(8_000)), (at(8_000), at(9_500))]
    );
    assert_eq!(silences(2_000, Some(2000), at(30_000)), [(at(0), at(4_000))], "nothing more to send");
    assert_eq!(silences(16_000, None, at(9_500)), [], "a packet every 500 ms");
}

/// A packet of 1000 bytes every 10 s. The first one leaves at once, and the application has data again after 4 s.
#[test]
fn a_silence_begins_when_a_sender_has_data_again() {
    let mut chain = Chain::single(Loop::new(FixedPermit::pace(Rate::from_bps(800)), MS(10)));
    chain.first().sender.start(Time::ZERO, None);
    chain.first().sender.supply(PACKET);
    chain.poll_sender(0);
    chain.run_until(at(4_000));
    chain.first().sender.supply(PACKET);
    chain.poll_sender(0);
    chain.run_until(at(20_000));
    let silences = chain.first().sender.silences(at(20_000)).map(|silence| (silence.from, silence.to));
    assert_eq!(silences.collect::<Vec<_>>(), [(at(4_000), at(10_000))]);
}

/// A round trip takes 2 s, and the application has a packet at 20 s and one at 21.5 s, which leave at once. That of 30 s is lost,
/// and so are the probes for it.
#[test]
fn a_sender_whose_packets_are_under_way_is_silent_only_if_its_probe_timeout_expires() {
    let mut only = Loop::new(FixedPermit::window(100.0), MS(1_000));
    only.forward.outage = (at(30_000), Time::NEVER);
    let mut chain = Chain::single(only);
    chain.first().sender.start(Time::ZERO, None);
    for millis in [0, 20_000, 21_500, 30_000] {
        chain.run_until(at(millis));
        chain.first().sender.supply(PACKET);
        chain.poll_sender(0);
    }
    chain.run_until(at(60_000));
    let begin = chain.first().sender.silences(at(60_000)).map(|silence| silence.from);
    let later: Vec<Time> = begin.filter(|from| *from >= at(20_000)).collect();
    assert!(later.len() > 1 && later[0] == at(30_000), "{later:?}");
}

#[test]
fn window_and_pace_apply_together() {
    let permit = Permit { window: Some(PACKET * 4), pace: Some(Rate::from_mbps(8.0)), ..Permit::default() };
    let mut chain = Chain::single(Loop::new(FixedPermit(permit), MS(10)));
    chain.start(None);
    chain.run_until(at(19));
    let times: Vec<_> = chain.first().sent.iter().map(|segment| segment.sent_at).collect();
    assert_eq!(times, [at(0), at(1), at(2), at(3)]);
    // No feedback for 19 ms, so the RTT estimate is at least that.
    assert_eq!(chain.first().sender.allowed_rate(at(0)), Rate::from_mbps(8.0));
    assert_eq!(chain.first().sender.allowed_rate(at(19)), (PACKET * 4).per(MS(19)));
    chain.run_until(at(1000));
    // 4 packets per 20 ms are less than the pace.
    assert_eq!(chain.first().sender.allowed_rate(at(1000)), (PACKET * 4).per(MS(20)));
}

#[test]
fn the_configured_maximum_in_flight_bounds_any_law() {
    let config = SenderConfig { max_in_flight: PACKET * 7, ..SenderConfig::new(PACKET, Needs::default()) };
    let law = FixedPermit(Permit::default());
    let mut chain = Chain::single(Loop::with(config, ReceiverConfig::default(), law, MS(10)));
    chain.start(None);
    chain.run_until(at(19));
    assert_eq!(chain.first().sent.len(), 7);
    assert_eq!(chain.first().sender.in_flight(), PACKET * 7);
}

#[test]
fn the_minimum_rtt_is_that_of_an_empty_path() {
    let mut only = Loop::new(FixedPermit::window(30.0), MS(10));
    only.forward.rate = Rate::from_mbps(8.0);
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(5000));
    // 20 ms of propagation and 1 ms of service; a window of 30 packets keeps 30 ms worth in flight.
    assert_eq!(chain.first().sender.min_rtt(), Some(MS(21)));
    // The average in whole picoseconds stops changing when an eighth of the difference rounds to zero.
    let smoothed = chain.first().sender.smoothed_rtt().unwrap();
    assert!(smoothed.picos().abs_diff(MS(30).picos()) <= 4, "{smoothed}");
    let (_, last) = chain.first().acks().pop().unwrap();
    assert_eq!((last.rtt, last.min_rtt), (Some(MS(30)), MS(21)));
    assert_eq!((last.in_flight, last.prior_in_flight), (PACKET * 29, PACKET * 30));
}

#[test]
fn rounds_count_elapsed_round_trips() {
    let mut only = Loop::new(FixedPermit::window(30.0), MS(10));
    only.forward.rate = Rate::from_mbps(8.0);
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(30 * 200));
    let (_, last) = chain.first().acks().pop().unwrap();
    // The first round takes 21 ms, each later one a window of 30 packets, 1 ms each.
    assert!(last.round.abs_diff(200) <= 1, "{}", last.round);
}

#[test]
fn rate_samples_are_the_bottleneck_rate() {
    let mut only = Loop::new(FixedPermit::window(30.0), MS(10));
    only.forward.rate = Rate::from_mbps(8.0);
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(2000));
    let acks = chain.first().acks();
    let rates: Vec<_> = acks.iter().skip(60).map(|(_, ack)| ack.delivery_rate().unwrap().bps()).collect();
    assert!(rates.len() > 1800 && rates.iter().all(|rate| *rate == 8_000_000));
    assert!(acks.iter().all(|(_, ack)| !ack.app_limited && !ack.window_unused()));
}

#[test]
fn delayed_acks_halve_the_number_of_acks_and_do_not_change_the_rtt() {
    let sender = SenderConfig { max_ack_delay: MS(25), ..SenderConfig::new(PACKET, Needs::default()) };
    let receiver = ReceiverConfig {
        packets_per_ack: 2,
        max_ack_delay: MS(25),
        ack_size: Bytes::new(60),
        ..ReceiverConfig::default()
    };
    // Paced at 1 ms, so that every second packet waits for the next.
    let law = FixedPermit::pace(Rate::from_mbps(8.0));
    let mut chain = Chain::single(Loop::with(sender, receiver, law, MS(10)));
    chain.start(Some(1_001_000));
    chain.run_until(at(5000));
    let only = chain.first();
    assert!(only.sender.is_complete());
    assert_eq!(only.receiver.counters().acks, 501);
    assert_eq!(only.sender.counters().probe_timeouts, 0);
    assert!(only.acks().iter().all(|(_, ack)| ack.rtt == Some(MS(20))));
}

#[test]
fn a_single_packet_is_acknowledged_within_the_maximum_delay() {
    let sender = SenderConfig { max_ack_delay: MS(25), ..SenderConfig::new(PACKET, Needs::default()) };
    let receiver = ReceiverConfig { packets_per_ack: 2, max_ack_delay: MS(25), ..ReceiverConfig::default() };
    let mut chain = Chain::single(Loop::with(sender, receiver, FixedPermit::window(1.0), MS(10)));
    chain.first().sender.supply(PACKET * 2);
    chain.start(None);
    chain.run_until(at(100));
    let acks = chain.first().acks();
    assert_eq!(acks[0].0, at(45));
    // The first sample is the minimum RTT, from which no delay is subtracted: RFC 9002, section 5.3.
    assert_eq!(acks[0].1.rtt, Some(MS(45)));
}
