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

/// Packets 0 to 9 leave at once. Packets 0 and 1 are lost, and packets 10 to 12 leave after that; packet 10 is lost.
#[test]
fn bytes_that_were_lost_before_a_packet_left_are_not_lost_since() {
    let (mut sender, log) = sender(Needs { samples: true, ..Needs::NONE });
    sender.supply_endless();
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[4..=4]);
    send_all(&mut sender, at(10));
    events(&log);
    acknowledge(&mut sender, at(20), &[11..=12, 2..=9]);
    // Not yet: packet 12 is two packets after packet 10.
    assert!(!events(&log).iter().any(|event| matches!(event, Event::LostPacket(_))));
    send_all(&mut sender, at(20));
    acknowledge(&mut sender, at(30), &[11..=13, 2..=9]);
    let seen = events(&log);
    let lost =
        seen.iter().find_map(|event| if let Event::LostPacket(lost) = event { Some(lost) } else { None });
    assert_eq!(lost.map(|lost| lost.lost_since), Some(PACKET));
}

/// Of ten packets in flight two are acknowledged and one is lost.
#[test]
fn the_bytes_in_flight_before_a_loss_are_without_those_acknowledged_and_with_those_lost() {
    let (mut sender, log) = sender(Needs::NONE);
    sender.supply_endless();
    send_all(&mut sender, at(0));
    acknowledge(&mut sender, at(10), &[2..=3]);
    let congestion = events(&log).into_iter().find_map(|event| match event {
        Event::Congestion(congestion) => Some(congestion),
        _ => None,
    });
    let congestion = congestion.unwrap();
    assert_eq!((congestion.prior_in_flight, congestion.in_flight), (PACKET * 8, PACKET * 7));
}

/// RFC 9002, section 5.1: a sample needs an acknowledgement that acknowledges the largest number that it reports.
#[test]
fn an_acknowledgement_of_older_packets_alone_is_no_round_trip_time_sample() {
    let (mut sender, log) = sender(Needs::NONE);
    sender.supply_endless();
    send_all(&mut sender, at(0));
    let rtt = |log: &EventLog| {
        events(log)
            .into_iter()
            .find_map(|event| if let Event::Ack(ack) = event { Some(ack.rtt) } else { None })
    };
    acknowledge(&mut sender, at(10), &[2..=2]);
    assert_eq!(rtt(&log), Some(Some(Span::from_millis(10))));
    // Packets 0 and 1 were delayed by reordering, or their acknowledgements were lost.
    acknowledge(&mut sender, at(50), &[0..=2]);
    assert_eq!(rtt(&log), Some(None));
    assert_eq!(sender.smoothed_rtt(), Some(Span::from_millis(10)));
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

/// The delivery-rate draft, section 3.4: without data a sender is limited by the application only if the window has room.
#[test]
fn a_sender_that_lacks_data_with_a_full_window_is_not_application_limited() {
    let limited = |packets_before: u64| {
        let (mut sender, log) = sender(Needs { samples: true, ..Needs::NONE });
        sender.supply(PACKET * packets_before);
        send_all(&mut sender, at(0));
        acknowledge(&mut sender, at(10), &[0..=0]);
        sender.supply(PACKET);
        send_all(&mut sender, at(11));
        acknowledge(&mut sender, at(20), &[0..=packets_before]);
        let last = events(&log).into_iter().rev().find_map(|event| match event {
            Event::Ack(ack) => Some(ack.app_limited),
            _ => None,
        });
        last.unwrap()
    };
    assert_eq!([limited(9), limited(10)], [true, false]);
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
