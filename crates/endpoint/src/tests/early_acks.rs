//! Skipped packet numbers, and receivers that acknowledge them.

use super::pipe::{FixedPermit, PACKET, at};
use crate::{ACK_BYTES, AckRanges, Acknowledgement, SenderConfig, SenderEnd};
use core::ops::RangeInclusive;
use millpond_law::{Header, Needs, Random};
use millpond_units::{Span, Time};

/// A sender of 10 packets in flight that skips a number after this many packets on average.
fn sender(skip_numbers: Option<u32>) -> SenderEnd {
    let config = SenderConfig { skip_numbers, ..SenderConfig::new(PACKET, Needs::NONE) };
    let law = Box::new(FixedPermit::window(10.0));
    let mut sender = SenderEnd::new(config, law, Random::stream(1, "early acks"));
    sender.start(Time::ZERO, None);
    sender.supply_endless();
    sender
}

fn send_all(sender: &mut SenderEnd, now: Time) -> Vec<u64> {
    core::iter::from_fn(|| sender.transmit(now)).map(|segment| segment.number).collect()
}

fn acknowledge(sender: &mut SenderEnd, now: Time, ranges: impl IntoIterator<Item = RangeInclusive<u64>>) {
    let ack = Acknowledgement {
        ranges: AckRanges::newest_first(ranges),
        delay: Span::ZERO,
        ce_packets: 0,
        not_ect_packets: 0,
        ce_bytes: 0,
        credit: u64::MAX,
        stream_id: 0,
        bytes: ACK_BYTES,
        echo: Header::NONE,
    };
    sender.on_ack(now, &ack);
}

#[test]
fn an_honest_receiver_never_closes_a_sender_and_causes_no_loss() {
    let mut sender = sender(Some(4));
    let mut sent = send_all(&mut sender, at(0));
    let mut all = sent.clone();
    for round in 1..200 {
        for number in core::mem::take(&mut sent) {
            acknowledge(&mut sender, at(10 * round), [number..=number]);
        }
        sent = send_all(&mut sender, at(10 * round));
        all.extend(&sent);
        sender.check();
    }
    assert_eq!((sender.closed(), sender.counters().lost_packets), (None, 0));
    // Each fifth number is missing on average, and ten packets are always in flight.
    assert_eq!(all.len(), 2000);
    assert!(*all.last().unwrap() > 2200, "{:?}", all.last());
}

#[test]
fn a_receiver_that_acknowledges_early_closes_the_sender() {
    let mut sender = sender(Some(4));
    let sent = send_all(&mut sender, at(0));
    let newest = *sent.last().unwrap();
    assert!(newest > 9, "a number is skipped among the first");
    acknowledge(&mut sender, at(10), [0..=newest]);
    assert_eq!(sender.closed(), Some(at(10)));
    assert!(send_all(&mut sender, at(10)).is_empty());
    assert_eq!(sender.deadline(), Time::NEVER);
    sender.on_deadline(at(5000));
    acknowledge(&mut sender, at(5000), [0..=newest]);
    assert_eq!((sender.closed(), sender.deadline()), (Some(at(10)), Time::NEVER));
}

#[test]
fn a_report_of_packets_beyond_the_last_closes_a_sender_that_checks_and_is_ignored_by_others() {
    for (skip_numbers, closed) in [(None, None), (Some(1_000_000), Some(at(10)))] {
        let mut sender = sender(skip_numbers);
        assert_eq!(send_all(&mut sender, at(0)).len(), 10);
        acknowledge(&mut sender, at(10), [0..=10]);
        assert_eq!(sender.closed(), closed);
    }
}
