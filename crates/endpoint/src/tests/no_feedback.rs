//! A sender without feedback.

use super::event_log::{EventLog, EventRecorder};
use super::pipe::{Chain, FixedPermit, Loop, PACKET, at};
use crate::{ACK_BYTES, AckRanges, Acknowledgement, SenderConfig, SenderEnd};
use millpond_law::{Cause, Episode, Event, Header, Needs, Permit, Probes, Random};
use millpond_units::{Bytes, Rate, Span, Time};

const MS: fn(u64) -> Span = Span::from_millis;

#[test]
fn persistent_congestion_stops_a_law_that_only_paces_until_feedback_returns() {
    let rate = Rate::from_mbps(8.0);
    let mut only = Loop::new(FixedPermit::pace(rate), MS(10));
    only.forward.outage = (at(1000), at(30_000));
    let mut chain = Chain::single(only);
    chain.start(None);
    chain.run_until(at(29_999));
    let during = chain.first().sent.iter().filter(|segment| segment.sent_at >= at(1000)).count();
    // A steady RTT of 20 ms has no variation: the probe timeout is 20 ms + 1 ms of granularity, persistent congestion
    // three times that after the last acknowledgement, at 1020 ms. Probe intervals double: 11 of them last 43 s.
    let reported = chain.first().congestion();
    let persistent_congestions: Vec<_> =
        reported.iter().filter(|(_, c)| c.cause == Cause::NoFeedback).collect();
    assert_eq!(persistent_congestions.len(), 1);
    assert!((at(1082)..at(1085)).contains(&persistent_congestions[0].0));
    assert!(during <= 83 + 1 + 20, "{during} packets in an outage");
    // The probe after 2047 timeouts is the first after the outage: 1020 ms + 2047 times 21 ms.
    chain.run_until(at(44_000));
    assert_eq!(chain.first().sent.iter().filter(|segment| segment.sent_at >= at(30_000)).count(), 0);
    chain.run_until(at(52_100));
    let only = chain.first();
    let after = only.sent.iter().filter(|segment| segment.sent_at >= at(44_000)).count();
    assert!(after >= 7999, "{after} packets in the 8 s after it");
    let reported = only.congestion();
    assert!(reported.iter().all(|(_, c)| c.cause != Cause::NoFeedback));
    // The losses of the outage belong to the episode of persistent congestion.
    assert!(reported.iter().filter(|(_, c)| c.cause == Cause::Loss).all(|(_, c)| c.episode == Episode::Same));
}

/// A sender that the test drives, one packet per `send`, as in the example of RFC 9002, section 7.6.3.
struct ManualSender {
    sender: SenderEnd,
    log: EventLog,
}

impl ManualSender {
    fn new() -> Self {
        Self::with(FixedPermit::window(100.0))
    }

    fn with(permit: FixedPermit) -> Self {
        let log = EventLog::default();
        let law = Box::new(EventRecorder::new(Box::new(permit), log.clone()));
        let config = SenderConfig::new(PACKET, Needs::default());
        let mut sender = SenderEnd::new(config, law, Random::stream(1, "manual sender"));
        sender.start(Time::ZERO, None);
        Self { sender, log }
    }

    fn send(&mut self, now: Time) -> u64 {
        self.sender.supply(PACKET);
        self.sender.transmit(now).unwrap().number
    }

    fn ack(&mut self, now: Time, number: u64) {
        let ack = Acknowledgement {
            stream_id: 0,
            ranges: AckRanges::newest_first([number..=number]),
            delay: Span::ZERO,
            ce_packets: 0,
            not_ect_packets: 0,
            ce_bytes: 0,
            credit: u64::MAX,
            bytes: ACK_BYTES,
            echo: Header::NONE,
        };
        self.sender.on_ack(now, &ack);
    }

    /// Handles all deadlines up to `end`; returns the times of the probes.
    fn pass(&mut self, end: Time) -> Vec<Time> {
        let mut probes = Vec::new();
        while self.sender.deadline() <= end {
            let now = self.sender.deadline();
            self.sender.on_deadline(now);
            probes.extend(self.sender.transmit(now).map(|_| now));
        }
        probes
    }

    /// Handles the next deadline after which packets leave; returns it and their number.
    fn packets_at_deadline(&mut self) -> (Time, usize) {
        loop {
            let now = self.sender.deadline();
            self.sender.on_deadline(now);
            let packets = core::iter::from_fn(|| self.sender.transmit(now)).count();
            if packets > 0 {
                return (now, packets);
            }
        }
    }

    fn causes(&self) -> Vec<(Cause, Episode)> {
        let events = self.log.take().into_iter();
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
fn probes_back_off_until_an_ack_ends_persistent_congestion() {
    let mut manual = ManualSender::new();
    let first = manual.send(at(0));
    manual.ack(at(100), first);
    // Smoothed RTT 100 ms, variation 50 ms: the probe timeout is 300 ms.
    manual.send(at(200));
    assert_eq!(manual.pass(at(2000)), [at(500), at(1100)]);
    assert_eq!(manual.sender.counters().probe_timeouts, 2);
    let silence = (Cause::NoFeedback, Episode::New);
    let timeouts = [(Cause::Timeout, Episode::New), (Cause::Timeout, Episode::Same)];
    // 900 ms after the packet sent when nothing was in flight: the time of the second probe, 1100 ms.
    assert_eq!(manual.causes(), [timeouts[0], timeouts[1], silence]);
    let last = manual.sender.counters().sent_packets - 1;
    manual.ack(at(2100), last);
    // The packet and its first retransmission are lost; the loss belongs to the same episode.
    assert_eq!(manual.causes(), [(Cause::Loss, Episode::Same)]);
    assert_eq!((manual.sender.in_flight(), manual.sender.acknowledged()), (Bytes::ZERO, PACKET * 2));
    assert_eq!(manual.pass(at(100_000)), []);
}

/// A law whose window is hardly more than a packet: probes must not add data to what waits.
#[test]
fn a_law_may_have_one_probe_without_data_at_a_time_of_its_own() {
    let permit = Permit { window: Some(PACKET), probes: Probes::Empty(MS(1000)), ..Permit::default() };
    let mut manual = ManualSender::with(FixedPermit(permit));
    let first = manual.send(at(0));
    manual.ack(at(100), first);
    let waits = manual.send(at(200));
    manual.sender.supply(PACKET);
    assert_eq!(manual.packets_at_deadline(), (at(1200), 1));
    assert_eq!(manual.sender.in_flight(), PACKET + Bytes::new(ACK_BYTES.into()));
    assert_eq!(manual.packets_at_deadline(), (at(3200), 1));
    // Persistent congestion lasts three of these timeouts.
    let timeouts = [(Cause::Timeout, Episode::New), (Cause::Timeout, Episode::Same)];
    assert_eq!(manual.causes(), [timeouts[0], timeouts[1], (Cause::NoFeedback, Episode::New)]);
    // The acknowledgement of a probe shows that the data is lost: it leaves again.
    manual.ack(at(3300), waits + 2);
    let repaired = manual.sender.transmit(at(3300)).unwrap();
    assert_eq!((repaired.payload, manual.sender.counters().retransmitted_packets), (1000, 1));
}

/// Of two probes, a buffer for one packet drops the second each time. It would cause the next timeout for ever.
#[test]
fn a_probe_without_data_is_the_only_one_of_its_timeout() {
    let mut manual = ManualSender::new();
    let first = manual.send(at(0));
    manual.ack(at(100), first);
    let lost = manual.send(at(200));
    assert_eq!(manual.packets_at_deadline(), (at(500), 2));
    // The first probe delivers the data; the second is lost.
    manual.ack(at(600), lost + 1);
    assert!(manual.sender.in_flight() > Bytes::ZERO);
    let (probed, probes) = manual.packets_at_deadline();
    assert_eq!(probes, 1);
    manual.ack(probed + MS(100), lost + 3);
    assert_eq!((manual.sender.in_flight(), manual.sender.deadline()), (Bytes::ZERO, Time::NEVER));
}

#[test]
fn an_ack_of_a_packet_never_sent_is_ignored() {
    let mut manual = ManualSender::new();
    let number = manual.send(at(0));
    manual.ack(at(1), u64::MAX);
    manual.ack(at(1), number + 1);
    assert_eq!((manual.sender.in_flight(), manual.sender.min_rtt()), (PACKET, None));
    manual.ack(at(2), number);
    assert_eq!((manual.sender.in_flight(), manual.sender.min_rtt()), (Bytes::ZERO, Some(MS(2))));
}

/// RFC 9002, section 6.2.1: with a constant RTT of 100 ms a probe would be due after 101 ms, and the time threshold of an older
/// packet is 112.5 ms.
#[test]
fn no_probe_timeout_runs_while_the_time_threshold_does() {
    let mut manual = ManualSender::new();
    for round in 0..100 {
        let number = manual.send(at(100 * round));
        manual.ack(at(100 * (round + 1)), number);
    }
    let lost = manual.send(at(10_000));
    manual.send(at(10_001));
    manual.ack(at(10_101), lost + 1);
    assert_eq!(manual.sender.deadline(), at(10_000) + Span::from_micros(112_500));
}

#[test]
fn a_tail_loss_is_repaired_by_probes_alone() {
    let mut only = Loop::new(FixedPermit::window(10.0), MS(10));
    only.forward.outage = (at(20), at(21));
    let mut chain = Chain::single(only);
    chain.start(Some(11_000));
    chain.run_until(at(1000));
    let only = chain.first();
    assert!(only.sender.is_complete());
    let counters = only.sender.counters();
    // Two probes carry the data of the lost packet.
    assert_eq!((counters.probe_timeouts, counters.retransmitted_packets), (1, 2));
}

#[test]
fn before_the_first_rtt_sample_a_probe_is_sent_after_one_second() {
    let mut manual = ManualSender::new();
    manual.send(at(0));
    // 333 ms + 4 times half of that, RFC 9002, section 6.2.2.
    assert_eq!(manual.pass(at(1000)), [at(999)]);
}

/// RFC 9002, section 7.6.2: persistent congestion needs a prior RTT sample. Without one a path of more than three seconds would halve
/// the window of its flows before the first acknowledgement.
#[test]
fn before_the_first_rtt_sample_there_is_no_persistent_congestion_but_only_probes_leave() {
    let mut manual = ManualSender::new();
    let first = manual.send(at(0));
    // Probe timeouts of 999 ms, then of twice and four times that.
    assert_eq!(manual.pass(at(6000)), [at(999), at(2997)]);
    assert!(manual.causes().iter().all(|(cause, _)| *cause == Cause::Timeout));
    assert_eq!(manual.sender.counters().persistent_congestions, 0);
    while manual.sender.transmit(at(6000)).is_some() {}
    manual.sender.supply(PACKET);
    assert_eq!(manual.sender.transmit(at(6000)), None);
    manual.ack(at(6001), first);
    assert!(manual.sender.transmit(at(6001)).is_some());
    assert_eq!(manual.causes(), []);
}

#[test]
fn losses_of_one_episode_are_reported_as_one_episode() {
    let mut manual = ManualSender::new();
    let numbers: Vec<_> = (0..12).map(|n| manual.send(at(n))).collect();
    for acked in [4, 5, 6] {
        manual.ack(at(100), numbers[acked]);
    }
    let loss = |episode| (Cause::Loss, episode);
    assert_eq!(manual.causes(), [loss(Episode::New), loss(Episode::Same), loss(Episode::Same)]);
    // Packet 12 is sent after the start of the episode; its loss starts another.
    let later: Vec<_> = (0..4).map(|n| manual.send(at(101 + n))).collect();
    (7..12).for_each(|acked| manual.ack(at(110), numbers[acked]));
    assert_eq!(manual.causes(), []);
    manual.ack(at(200), later[3]);
    assert_eq!(manual.causes(), [loss(Episode::New)]);
    assert_eq!(manual.sender.in_flight(), Bytes::new(2000));
}
