//! Queues process any packet, do not change its header, and mark nothing on an idle link.

use crate::any::{self, Hook, Visit};
use crate::links::{Seen, pass};
use crate::several::pass_several;
use crate::{Laws, assert_names_a_parameter, corners, for_all};
use millpond_law::{
    Ecn, Header, LinkFacts, PacketKind, Queue, QueueLaw, QueueView, SettingError, Settings, Value, Verdict,
};
use millpond_units::{Bytes, Rate, Span};

/// All tested settings of a queue: the ends of its domains and its presets.
fn tested_settings(queue: &dyn Queue) -> Vec<Settings> {
    let card = queue.card();
    let preset = |settings: &[(&'static str, Value)]| {
        Settings::check(card.parameters, settings.iter().cloned()).unwrap()
    };
    card.presets.iter().map(|(_, settings)| preset(settings)).chain(corners(card.parameters)).collect()
}

/// Applies visits to the law of a queue; none for drop-tail.
fn visited(
    queue: &dyn Queue,
    settings: &Settings,
    facts: &LinkFacts,
    visits: &[Visit],
) -> Result<Option<Vec<Seen>>, SettingError> {
    Ok(match queue.law(settings, facts)? {
        QueueLaw::DropTail => None,
        QueueLaw::Single(mut law) => Some(pass(law.as_mut(), visits)),
        QueueLaw::Multi(mut law) => Some(pass_several(law.as_mut(), visits)),
    })
}

/// Queues change neither headers nor ECN bits; they return verdicts.
///
/// # Panics
/// It is not so.
pub fn any_packet_keeps_its_header_and_its_ecn_bits_at_a_queue(laws: &Laws) {
    for queue in laws.queues() {
        for settings in tested_settings(queue) {
            for_all(16, &(any::facts(), any::visits()), |(facts, visits)| {
                let seen = match visited(queue, &settings, &facts, &visits) {
                    Ok(seen) => seen.unwrap_or_default(),
                    Err(fault) => return assert_names_a_parameter(&fault, queue.card().parameters),
                };
                for (visit, seen) in visits.iter().zip(seen) {
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
                let once = || visited(queue, &settings, &facts, &visits).ok();
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
    let facts = LinkFacts::fifo(Rate::from_mbps(8.0), None, packet);
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
            link_bytes: packet * packets,
            packets,
            head_sojourn: Span::ZERO,
        },
    };
    let idle: Vec<_> = (0..10_000).flat_map(|_| [visit(Hook::Arrive, 0), visit(Hook::Depart, 1)]).collect();
    for queue in laws.queues() {
        let defaults = Settings::check(queue.card().parameters, []).unwrap();
        let seen = visited(queue, &defaults, &facts, &idle).unwrap().unwrap_or_default();
        assert!(seen.iter().all(|seen| seen.verdict == Verdict::Keep), "{}", queue.card().name);
    }
}

/// All checks of this module.
pub fn check(laws: &Laws) {
    any_packet_keeps_its_header_and_its_ecn_bits_at_a_queue(laws);
    the_same_visits_and_seed_give_the_same_verdicts(laws);
    a_link_that_is_idle_at_each_arrival_marks_and_drops_nothing(laws);
}
