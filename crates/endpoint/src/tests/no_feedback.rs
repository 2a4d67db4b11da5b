//! What a sender does when nothing comes back.

use super::pipe::{Chain, Fixed, Loop, PACKET, at};
use crate::{ACK_BYTES, AckRanges, Acknowledgement, Recorder, Recording, SenderConfig, SenderEnd};
use millpond_law::{Cause, Episode, Event, Header, Needs, Random};
use millpond_units::{Bytes, Rate, Span, Time};

const MS: fn(u64) -> Span = Span::from_millis;

#[test]
fn a_law_without_a_window_is_stopped_by_silence_and_goes_on_when_it_ends() {
    let rate = Rate::from_mbps(8.0);
    let mut only = Loop::new(Fixed::pace(rate), MS(10));
    only.forth.outage = (at(1000), at(30_000));
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(29_999));
    let during = chain.first().sent.iter().filter(|segment| segment.sent_at >= at(1000)).count();
    // A steady RTT of 20 ms has no variation: the probe timeout is 20 ms + 1 ms of granularity, silence thrice that
    // after the last acknowledgement, which comes at 1020 ms. Probes double their distance up to 64 timeouts.
    let told = chain.first().congestion();
    let silences: Vec<_> = told.iter().filter(|(_, c)| c.cause == Cause::NoFeedback).collect();
    assert_eq!(silences.len(), 1);
    assert!((at(1082)..at(1085)).contains(&silences[0].0));
    assert!(during < 83 + 1 + 6 + 29_000 / (64 * 21) + 1, "{during} packets in an outage");
    chain.run_until(at(40_000));
    let only = chain.first();
    let after = only.sent.iter().filter(|segment| segment.sent_at >= at(32_000)).count();
    assert!(after >= 7999, "{after} packets in the 8 s after it");
    let told = only.congestion();
    assert!(told.iter().all(|(_, c)| c.cause != Cause::NoFeedback));
    // What was lost in the outage belongs to the episode of the silence.
    assert!(told.iter().filter(|(_, c)| c.cause == Cause::Loss).all(|(_, c)| c.episode == Episode::Same));
}

/// A sender driven by hand, one packet per `send`, as in the example of RFC 9002, section 7.6.3.
struct ByHand {
    sender: SenderEnd,
    recording: Recording,
}

impl ByHand {
    fn new() -> Self {
        let recording = Recording::default();
        let law = Box::new(Recorder::new(Box::new(Fixed::window(100.0)), recording.clone()));
        let config = SenderConfig::new(PACKET, Needs::default());
        let mut sender = SenderEnd::new(config, law, Random::stream(1, "by hand"));
        sender.start(Time::ZERO, None);
        Self { sender, recording }
    }

    fn send(&mut self, now: Time) -> u64 {
        self.sender.supply(PACKET);
        self.sender.transmit(now).unwrap().number
    }

    fn ack(&mut self, now: Time, number: u64) {
        let ack = Acknowledgement {
            member: 0,
            ranges: AckRanges::newest_first([number..=number]),
            delay: Span::ZERO,
            ce_packets: 0,
            ce_bytes: 0,
            credit: u64::MAX,
            bytes: ACK_BYTES,
            echo: Header::NONE,
        };
        self.sender.on_ack(now, &ack);
    }

    /// Lets deadlines pass up to `end`; returns when probes went out.
    fn pass(&mut self, end: Time) -> Vec<Time> {
        let mut probes = Vec::new();
        while self.sender.deadline() <= end {
            let now = self.sender.deadline();
            self.sender.on_deadline(now);
            probes.extend(self.sender.transmit(now).map(|_| now));
        }
        probes
    }

    fn causes(&self) -> Vec<(Cause, Episode)> {
        let events = self.recording.take().into_iter();
        events
            .filter_map(
                |(_, event)| {
                    if let Event::Congestion(c) = event { Some((c.cause, c.episode)) } else { None }
                },
            )
            .collect()
    }
}

#[test]
fn probes_back_off_until_an_ack_ends_the_silence() {
    let mut hand = ByHand::new();
    let first = hand.send(at(0));
    hand.ack(at(100), first);
    // Smoothed RTT 100 ms, variation 50 ms: the probe timeout is 300 ms.
    hand.send(at(200));
    assert_eq!(hand.pass(at(2000)), [at(500), at(1100)]);
    assert_eq!(hand.sender.counters().probe_timeouts, 2);
    let silence = (Cause::NoFeedback, Episode::New);
    let timeouts = [(Cause::Timeout, Episode::New), (Cause::Timeout, Episode::Same)];
    // 900 ms after the packet that found nothing in flight: at the second probe's time, 1100 ms.
    assert_eq!(hand.causes(), [timeouts[0], timeouts[1], silence]);
    let last = hand.sender.counters().sent_packets - 1;
    hand.ack(at(2100), last);
    // The packet and its first repetition are overdue; their loss belongs to the silence.
    assert_eq!(hand.causes(), [(Cause::Loss, Episode::Same)]);
    assert_eq!((hand.sender.in_flight(), hand.sender.acknowledged()), (Bytes::ZERO, PACKET * 2));
    assert_eq!(hand.pass(at(100_000)), []);
}

#[test]
fn an_ack_of_what_was_never_sent_is_ignored() {
    let mut hand = ByHand::new();
    let number = hand.send(at(0));
    hand.ack(at(1), u64::MAX);
    hand.ack(at(1), number + 1);
    assert_eq!((hand.sender.in_flight(), hand.sender.min_rtt()), (PACKET, None));
    hand.ack(at(2), number);
    assert_eq!((hand.sender.in_flight(), hand.sender.min_rtt()), (Bytes::ZERO, Some(MS(2))));
}

#[test]
fn a_tail_loss_is_repaired_by_a_probe_alone() {
    let mut only = Loop::new(Fixed::window(10.0), MS(10));
    only.forth.outage = (at(20), at(21));
    let mut chain = Chain::single(only);
    chain.start(Some(11_000));
    chain.run_until(at(1000));
    let only = chain.first();
    assert!(only.sender.is_complete());
    let counters = only.sender.counters();
    assert_eq!((counters.probe_timeouts, counters.retransmitted_packets), (1, 1));
}

#[test]
fn before_any_rtt_the_first_probe_goes_out_after_a_second() {
    let mut hand = ByHand::new();
    hand.send(at(0));
    // 333 ms + 4 times half of that, RFC 9002, section 6.2.2.
    assert_eq!(hand.pass(at(1000)), [at(999)]);
}

#[test]
fn the_loss_of_one_episode_is_told_as_one() {
    let mut hand = ByHand::new();
    let numbers: Vec<_> = (0..12).map(|n| hand.send(at(n))).collect();
    for acked in [4, 5, 6] {
        hand.ack(at(100), numbers[acked]);
    }
    let loss = |episode| (Cause::Loss, episode);
    assert_eq!(hand.causes(), [loss(Episode::New), loss(Episode::Same), loss(Episode::Same)]);
    // Packet 12 leaves after the episode began; its loss begins another.
    let later: Vec<_> = (0..4).map(|n| hand.send(at(101 + n))).collect();
    (7..12).for_each(|acked| hand.ack(at(110), numbers[acked]));
    assert_eq!(hand.causes(), []);
    hand.ack(at(200), later[3]);
    assert_eq!(hand.causes(), [loss(Episode::New)]);
    assert_eq!(hand.sender.in_flight(), Bytes::new(2000));
}
