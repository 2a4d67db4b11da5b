//! Queues process any packet, do not change its header, and mark nothing on an idle link.

use crate::any::{self, Hook, Visit};
use crate::links::pass;
use crate::{assert_names_a_parameter, corners, for_all};
use millpond_law::{Ecn, Header, LinkFacts, PacketKind, Queue, QueueView, Settings, Value, Verdict};
use millpond_protocols::{Registry, queues};
use millpond_units::{Bytes, Rate, Span};

/// All tested settings of a queue: the ends of its domains and its presets.
fn tested_settings(queue: &dyn Queue) -> Vec<Settings> {
    let card = queue.card();
    let preset = |name| queues::settings(queue, [(queues::PRESET, Value::text(name))]).unwrap();
    card.presets.iter().map(|(name, _)| preset(name)).chain(corners(card.parameters)).collect()
}

#[test]
fn any_packet_keeps_its_header_and_its_ecn_bits_at_a_queue() {
    for queue in Registry::builtin().queues() {
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

#[test]
fn the_same_visits_and_seed_give_the_same_verdicts() {
    for queue in Registry::builtin().queues() {
        for settings in tested_settings(queue) {
            for_all(16, &(any::facts(), any::visits()), |(facts, visits)| {
                let once = || Some(pass(queue.link(&settings, &facts).ok()??.as_mut(), &visits));
                assert_eq!(once(), once(), "{}", queue.card().name);
            });
        }
    }
}

#[test]
fn a_link_that_is_idle_at_each_arrival_marks_and_drops_nothing() {
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
    for queue in Registry::builtin().queues() {
        let defaults = queues::settings(queue, []).unwrap();
        if let Some(mut link) = queue.link(&defaults, &facts).unwrap() {
            assert!(pass(link.as_mut(), &idle).iter().all(|seen| seen.verdict == Verdict::Keep));
        }
    }
}
