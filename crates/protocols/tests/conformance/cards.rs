//! Descriptions are complete.

use crate::corners;
use millpond_law::key::Keys;
use millpond_law::{Domain, HeaderId, LinkFacts, Settings};
use millpond_protocols::{Registry, queues};
use millpond_units::{Bytes, Rate, Span};
use std::collections::BTreeSet;
use std::fs;

fn assert_complete(owner: &str, keys: Keys) {
    let mut names = BTreeSet::new();
    for parameter in keys.iter().map(|key| key.parameter()) {
        let place = format!("{owner}.{}", parameter.name);
        assert!(names.insert(parameter.name), "{place} is declared twice");
        assert!(!parameter.source.is_empty(), "{place} has no source");
        assert!(!parameter.meaning.is_empty(), "{place} has no meaning");
        if matches!(parameter.domain, Domain::Number(_) | Domain::Whole(_) | Domain::WordOrNumber(..)) {
            assert!(!parameter.unit.is_empty(), "{place} has no unit");
        }
    }
}

#[test]
fn every_protocol_has_a_title_a_source_and_a_meaning_of_each_parameter() {
    let mut names = BTreeSet::new();
    for protocol in Registry::builtin().protocols() {
        let card = protocol.card();
        assert!(names.insert(card.name), "{} is registered twice", card.name);
        for text in [card.name, card.title, card.summary, card.source] {
            assert!(!text.trim().is_empty(), "{} leaves something unsaid", card.name);
        }
        assert_complete(card.name, card.parameters);
    }
}

#[test]
fn every_queue_has_a_title_a_source_and_a_meaning_of_each_parameter() {
    let mut names = BTreeSet::new();
    for queue in Registry::builtin().queues() {
        let card = queue.card();
        assert!(names.insert(card.name), "{} is registered twice", card.name);
        for text in [card.name, card.title, card.source] {
            assert!(!text.trim().is_empty(), "{} leaves something unsaid", card.name);
        }
        assert_complete(card.name, card.parameters);
    }
}

#[test]
fn no_two_protocols_share_a_header_number() {
    let mut numbers = BTreeSet::new();
    for protocol in Registry::builtin().protocols() {
        let number = protocol.card().needs.header;
        assert!(number == HeaderId::NONE || numbers.insert(number), "{}", protocol.card().name);
    }
}

#[test]
fn the_queue_that_a_protocol_expects_is_registered_and_takes_its_settings() {
    let registry = Registry::builtin();
    for protocol in registry.protocols() {
        let choice = &protocol.card().queue;
        let queue = registry.queue(choice.name).unwrap();
        queues::settings(queue, queues::expected(choice)).unwrap();
    }
}

#[test]
fn the_default_needs_of_a_protocol_are_those_of_its_card() {
    for protocol in Registry::builtin().protocols() {
        let defaults = Settings::check(protocol.card().parameters, []).unwrap();
        assert_eq!(protocol.needs(&defaults), protocol.card().needs, "{}", protocol.card().name);
    }
}

/// [`Settings::get`] panics here on a key that is missing from the table.
#[test]
fn protocols_and_queues_read_only_the_keys_of_their_own_tables() {
    let (base_rtt, packet) = (Span::from_millis(40), Bytes::new(1500));
    let facts = LinkFacts { capacity: Rate::from_mbps(10.0), buffer: None, packet };
    for protocol in Registry::builtin().protocols() {
        for settings in corners(protocol.card().parameters) {
            let _ =
                (protocol.sender(&settings), protocol.receiver(&settings), protocol.link(&settings, &facts));
            let _ = (protocol.needs(&settings), protocol.fluid(&settings), protocol.warnings(&settings));
            protocol.path_warnings(&settings, base_rtt);
            let _ = protocol.least_rate(&settings, packet, base_rtt);
        }
    }
    for queue in Registry::builtin().queues() {
        for settings in corners(queue.card().parameters) {
            let _ = (queue.link(&settings, &facts), queue.fluid(&settings, &facts));
        }
    }
}

#[test]
fn every_protocol_and_queue_has_a_page_with_a_drawing() {
    let registry = Registry::builtin();
    // Forms of one protocol share its folder: `paganini-ecn`, `paganini-delay`.
    let folder = |name: &'static str| name.split('-').next().unwrap_or(name).to_owned();
    let protocols = registry.protocols().map(|protocol| folder(protocol.card().name));
    let queues = registry.queues().map(|queue| format!("queues/{}", queue.card().name));
    for folder in protocols.chain(queues) {
        let file = format!("{}/src/{folder}/README.md", env!("CARGO_MANIFEST_DIR"));
        let page = fs::read_to_string(&file).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        assert!(page.contains("\n```"), "{file} has no drawing");
    }
}
