//! What a law learns about lost packets, recovery and idle periods.

use super::event_log::{EventLog, EventRecorder};
use super::pipe::{FixedPermit, PACKET, at};
use crate::{ACK_BYTES, AckRanges, Acknowledgement, SenderConfig, SenderEnd};
use core::ops::RangeInclusive;
use millpond_law::{Event, Header, LimitedBy, LostPacket, Needs, Random, SpuriousLoss};
use millpond_units::{Bytes, Span, Time};

/// A sender whose law permits 10 packets in flight, and the log of its events.
fn sender(needs: Needs) -> (SenderEnd, EventLog) {
    let log = EventLog::default();
    let law = Box::new(EventRecorder::new(Box::new(FixedPermit::window(10.0)), log.clone()));
    let mut sender = SenderEnd::new(SenderConfig::new(PACKET, needs), law, Random::stream(1, "loss events"));
    sender.start(Time::ZERO, None);
    (sender, log)
}

fn send_all(sender: &mut SenderEnd, now: Time) {
    while sender.transmit(now).is_some() {}
}

/// An acknowledgement of these packet numbers, newest first.
fn acknowledge(sender: &mut SenderEnd, now: Time, ranges: &[RangeInclusive<u64>]) {
    sender.on_ack(
        now,
        &Acknowledgement {
            ranges: AckRanges::newest_first(ranges.iter().cloned()),
            delay: Span::ZERO,
            ce_packets: 0,
            not_ect_packets: 0,
            ce_bytes: 0,
            credit: u64::MAX,
            stream_id: 0,
            bytes: ACK_BYTES,
            echo: Header::NONE,
        },
    );
}

fn events(log: &EventLog) -> Vec<Event> {
    log.take().into_iter().map(|(_, event)| event).collect()
}

#[test]
fn each_lost_packet_is_reported_with_the_bytes_in_flight_and_lost_since_it_left() {
    let (mut sender, log) = sender(Needs { samples: true, ..Needs::NONE });
    sender.supply_endless();
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[2..=3]);
    let lost = |in_flight, lost_since| {
        Event::LostPacket(LostPacket {
            bytes: PACKET,
            in_flight_at_send: PACKET * in_flight,
            lost_since: PACKET * lost_since,
            delivered: PACKET * 2,
            app_limited: false,
        })
    };
    let seen = events(&log);
    assert_eq!(seen[1], lost(1, 1));
    assert!(matches!(seen[2], Event::Ack(ack) if ack.lost == PACKET && ack.newly_lost == PACKET
        && (ack.in_flight_at_send, ack.prior_lost) == (PACKET * 4, Bytes::ZERO)));
    acknowledge(&mut sender, at(11), &[2..=9]);
    assert_eq!(events(&log)[0], lost_at(&lost(2, 2), 8));
    // The retransmission of packet 0 left after its loss and before that of packet 1.
    send_all(&mut sender, at(11));
    acknowledge(&mut sender, at(21), &[2..=10]);
    assert!(matches!(events(&log)[..], [Event::RecoveryEnd, Event::Ack(ack)]
        if (ack.lost, ack.prior_lost) == (PACKET * 2, PACKET * 2) && ack.in_flight_at_send == PACKET));
}

/// The same event after this number of packets was delivered.
fn lost_at(event: &Event, delivered: u64) -> Event {
    let Event::LostPacket(lost) = event else { return *event };
    Event::LostPacket(LostPacket { delivered: PACKET * delivered, ..*lost })
}

#[test]
fn a_law_that_needs_no_samples_receives_none() {
    let (mut sender, log) = sender(Needs::NONE);
    sender.supply_endless();
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[2..=3]);
    let seen = events(&log);
    assert!(!seen.iter().any(|event| matches!(event, Event::LostPacket(_))));
    assert!(matches!(seen[1], Event::Ack(ack) if ack.in_flight_at_send == Bytes::ZERO
        && ack.delivery_span.is_zero() && ack.lost == PACKET));
}

#[test]
fn a_late_packet_is_a_spurious_loss_and_the_last_one_clears_the_episode() {
    let (mut sender, log) = sender(Needs::NONE);
    sender.supply_endless();
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[4..=4]);
    events(&log);
    // Packets 0 and 1 were declared lost.
    acknowledge(&mut sender, at(11), &[4..=4, 1..=1]);
    acknowledge(&mut sender, at(12), &[4..=4, 0..=1]);
    let spurious = |whole_episode| Event::SpuriousLoss(SpuriousLoss { bytes: PACKET, whole_episode });
    let seen: Vec<Event> =
        events(&log).into_iter().filter(|event| matches!(event, Event::SpuriousLoss(_))).collect();
    assert_eq!(seen, [spurious(false), spurious(true)]);
    assert_eq!(sender.counters().spurious_losses, 2);
}

#[test]
fn recovery_ends_with_the_first_packet_sent_after_the_loss() {
    let (mut sender, log) = sender(Needs::NONE);
    sender.supply_endless();
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[1..=4]);
    send_all(&mut sender, at(10));
    acknowledge(&mut sender, at(11), &[1..=9]);
    assert!(!events(&log).contains(&Event::RecoveryEnd));
    acknowledge(&mut sender, at(20), &[1..=10]);
    assert_eq!(events(&log)[0], Event::RecoveryEnd);
    acknowledge(&mut sender, at(21), &[1..=11]);
    assert!(!events(&log).contains(&Event::RecoveryEnd));
}

#[test]
fn a_sender_that_lacked_data_is_told_before_it_sends_again() {
    let (mut sender, log) = sender(Needs { sent: true, ..Needs::NONE });
    sender.supply(PACKET * 2);
    send_all(&mut sender, at(0));
    assert!(!events(&log).contains(&Event::IdleRestart), "the first packet is no restart");
    acknowledge(&mut sender, at(10), &[0..=0]);
    sender.supply(PACKET);
    send_all(&mut sender, at(11));
    assert!(!events(&log).contains(&Event::IdleRestart), "a packet is in flight");
    acknowledge(&mut sender, at(20), &[0..=2]);
    sender.supply(PACKET * 2);
    send_all(&mut sender, at(1000));
    let seen = events(&log);
    let sent = |in_flight| Event::Sent { bytes: PACKET, in_flight: PACKET * in_flight };
    assert_eq!(seen[seen.len() - 3..], [Event::IdleRestart, sent(1), sent(2)]);
}

#[test]
fn an_acknowledgement_says_what_had_stopped_the_sender() {
    let (mut sender, log) = sender(Needs::NONE);
    sender.supply(PACKET * 12);
    let limited_by = |log: &EventLog| {
        events(log).into_iter().find_map(|event| match event {
            Event::Ack(ack) => Some(ack.limited_by),
            _ => None,
        })
    };
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[0..=0]);
    assert_eq!(limited_by(&log), Some(LimitedBy::Window));
    send_all(&mut sender, at(10));
    acknowledge(&mut sender, at(11), &[0..=3]);
    send_all(&mut sender, at(11));
    acknowledge(&mut sender, at(12), &[0..=4]);
    assert_eq!(limited_by(&log), Some(LimitedBy::Window));
    acknowledge(&mut sender, at(13), &[0..=5]);
    assert_eq!(limited_by(&log), Some(LimitedBy::Data));
}
