//! Queues process any packet, do not change its header, and mark nothing on an idle link.

use crate::any::{self, Hook, Visit};
use crate::links::pass;
use crate::{Laws, assert_names_a_parameter, corners, for_all};
use millpond_law::{Ecn, Header, LinkFacts, PacketKind, Queue, QueueView, Settings, Value, Verdict};
use millpond_units::{Bytes, Rate, Span};

/// All tested settings of a queue: the ends of its domains and its presets.
fn tested_settings(queue: &dyn Queue) -> Vec<Settings> {
    let card = queue.card();
    let preset = |settings: &[(&'static str, Value)]| {
        Settings::check(card.parameters, settings.iter().cloned()).unwrap()
    };
    card.presets.iter().map(|(_, settings)| preset(settings)).chain(corners(card.parameters)).collect()
}

/// Queues change neither headers nor ECN bits; they return verdicts.
///
/// # Panics
/// It is not so.
pub fn any_packet_keeps_its_header_and_its_ecn_bits_at_a_queue(laws: &Laws) {
    for queue in laws.queues() {
        for settings in tested_settings(queue) {
            for_all(16, &(any::facts(), any::visits()), |(facts, visits)| {
                let mut link = match queue.link(&settings, &facts) {
                    Ok(Some(link)) => link,
                    Ok(None) => return,
                    Err(fault) => return assert_names_a_parameter(&fault, queue.card().parameters),
                };
                for (visit, seen) in visits.iter().zip(pass(link.as_mut(), &visits)) {
                    assert_eq!((seen.ecn, seen.header), (visit.ecn, visit.header));
                }
            });
        }
    }
}

/// Verdicts depend on the visits and the seed alone.
///
/// # Panics
/// It is not so.
pub fn the_same_visits_and_seed_give_the_same_verdicts(laws: &Laws) {
    for queue in laws.queues() {
        for settings in tested_settings(queue) {
            for_all(16, &(any::facts(), any::visits()), |(facts, visits)| {
                let once = || Some(pass(queue.link(&settings, &facts).ok()??.as_mut(), &visits));
                assert_eq!(once(), once(), "{}", queue.card().name);
            });
        }
    }
}

/// An idle link marks and drops nothing.
///
/// # Panics
/// It is not so.
pub fn a_link_that_is_idle_at_each_arrival_marks_and_drops_nothing(laws: &Laws) {
    let packet = Bytes::new(1000);
    let facts = LinkFacts { capacity: Rate::from_mbps(8.0), buffer: None, packet };
    let visit = |hook, packets: u64| Visit {
        after: Span::from_millis(1),
        hook,
        bytes: packet,
        kind: PacketKind::Data,
        ecn: Ecn::Ect0,
        header: Header::NONE,
        queue: QueueView {
            configured_capacity: facts.capacity,
            bytes: packet * packets,
            packets,
            head_sojourn: Span::ZERO,
        },
    };
    let idle: Vec<_> = (0..10_000).flat_map(|_| [visit(Hook::Arrive, 0), visit(Hook::Depart, 1)]).collect();
    for queue in laws.queues() {
        let defaults = Settings::check(queue.card().parameters, []).unwrap();
        if let Some(mut link) = queue.link(&defaults, &facts).unwrap() {
            assert!(pass(link.as_mut(), &idle).iter().all(|seen| seen.verdict == Verdict::Keep));
        }
    }
}

/// All checks of this module.
pub fn check(laws: &Laws) {
    any_packet_keeps_its_header_and_its_ecn_bits_at_a_queue(laws);
    the_same_visits_and_seed_give_the_same_verdicts(laws);
    a_link_that_is_idle_at_each_arrival_marks_and_drops_nothing(laws);
}
