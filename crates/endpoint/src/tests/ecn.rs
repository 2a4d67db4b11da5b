//! Paths that change the ECN field (RFC 9000, section 13.4.2.1).

use super::pipe::{FixedPermit, PACKET, at};
use crate::{ReceiverConfig, ReceiverEnd, SenderConfig, SenderEnd};
use alloc::boxed::Box;
use alloc::vec::Vec;
use millpond_law::{Ecn, Needs, PlainReceiver, Random};
use millpond_units::Time;

/// A sender that keeps four packets in flight and its receiver.
fn ends(ecn: Option<bool>, validate_ecn: bool) -> (SenderEnd, ReceiverEnd) {
    let config = SenderConfig { validate_ecn, ..SenderConfig::new(PACKET, Needs { ecn, ..Needs::NONE }) };
    let mut sender = SenderEnd::new(config, Box::new(FixedPermit::window(4.0)), Random::stream(1, "ecn"));
    sender.start(Time::ZERO, None);
    sender.supply_endless();
    let receiver =
        ReceiverEnd::new(ReceiverConfig::default(), Box::new(PlainReceiver), Random::stream(2, "ecn"));
    (sender, receiver)
}

/// Sends all packets that may leave, over a path that changes the ECN field; returns the fields that they left with.
fn round(
    (sender, receiver): &mut (SenderEnd, ReceiverEnd),
    now: Time,
    path: impl Fn(u64, Ecn) -> Ecn,
) -> Vec<Ecn> {
    let sent: Vec<_> = core::iter::from_fn(|| sender.transmit(now)).collect();
    for mut segment in sent.clone() {
        segment.ecn = path(segment.number, segment.ecn);
        assert!(receiver.on_data(now, &segment, None).ack_due);
        let ack = receiver.acknowledge(now, segment.stream_id, Some(segment.number));
        sender.on_ack(now, &ack);
    }
    sent.iter().map(|segment| segment.ecn).collect()
}

#[test]
fn a_cleared_ecn_field_ends_ecn_with_the_first_acknowledgement() {
    for (needs, field) in [(false, Ecn::Ect0), (true, Ecn::Ect1)] {
        let mut ends = ends(Some(needs), true);
        assert_eq!(round(&mut ends, at(10), |_, ecn| ecn), [field; 4]);
        assert_eq!(ends.0.ecn_stopped(), None);
        // Packet 6, the third of this round, loses its field.
        let clear = |number, ecn| if number == 6 { Ecn::NotCapable } else { ecn };
        assert_eq!(round(&mut ends, at(20), clear), [field; 4]);
        assert_eq!(ends.0.ecn_stopped(), Some(at(20)));
        // It is not tried again on a path that has become clean.
        for later in 3..6 {
            assert_eq!(round(&mut ends, at(10 * later), |_, ecn| ecn), [Ecn::NotCapable; 4]);
        }
        assert_eq!(ends.0.ecn_stopped(), Some(at(20)), "the time is that of the first");
    }
}

#[test]
fn marks_and_another_ect_codepoint_are_no_cleared_field() {
    let mut ends = ends(Some(true), true);
    let path = |number: u64, _| if number.is_multiple_of(2) { Ecn::Ce } else { Ecn::Ect0 };
    for now in 1..4 {
        assert_eq!(round(&mut ends, at(now), path), [Ecn::Ect1; 4]);
    }
    assert_eq!((ends.0.ecn_stopped(), ends.1.counters().marked_packets), (None, 6));
}

#[test]
fn without_validation_a_sender_goes_on_with_ecn_and_one_without_ecn_never_stops_it() {
    let clear = |_, _| Ecn::NotCapable;
    let mut trusting = ends(Some(false), false);
    let mut plain = ends(None, true);
    for now in 1..4 {
        assert_eq!(round(&mut trusting, at(now), clear), [Ecn::Ect0; 4]);
        assert_eq!(round(&mut plain, at(now), clear), [Ecn::NotCapable; 4]);
    }
    assert_eq!((trusting.0.ecn_stopped(), plain.0.ecn_stopped()), (None, None));
    assert_eq!(trusting.1.counters().not_ect_packets, 12);
}

#[test]
fn a_packet_that_arrives_twice_without_its_field_counts_once() {
    let (mut sender, mut receiver) = ends(Some(true), true);
    let segment = sender.transmit(at(1)).unwrap();
    let cleared = crate::Segment { ecn: Ecn::NotCapable, ..segment };
    for now in 2..4 {
        receiver.on_data(at(now), &cleared, None);
    }
    assert_eq!(receiver.counters().not_ect_packets, 1);
}
