//! Descriptions are complete.

use crate::{Laws, corners};
use millpond_law::key::Keys;
use millpond_law::{Domain, HeaderId, LinkFacts, Settings};
use millpond_units::{Bytes, Rate, Span};
use std::collections::BTreeSet;

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

/// The card of every protocol is complete.
///
/// # Panics
/// It is not so.
pub fn every_protocol_has_a_title_a_source_and_a_meaning_of_each_parameter(laws: &Laws) {
    let mut names = BTreeSet::new();
    for protocol in laws.protocols() {
        let card = protocol.card();
        assert!(names.insert(card.name), "{} is registered twice", card.name);
        for text in [card.name, card.title, card.summary, card.source] {
            assert!(!text.trim().is_empty(), "{} leaves something unsaid", card.name);
        }
        assert_complete(card.name, card.parameters);
    }
}

/// The card of every queue is complete.
///
/// # Panics
/// It is not so.
pub fn every_queue_has_a_title_a_source_and_a_meaning_of_each_parameter(laws: &Laws) {
    let mut names = BTreeSet::new();
    for queue in laws.queues() {
        let card = queue.card();
        assert!(names.insert(card.name), "{} is registered twice", card.name);
        for text in [card.name, card.title, card.source] {
            assert!(!text.trim().is_empty(), "{} leaves something unsaid", card.name);
        }
        assert_complete(card.name, card.parameters);
    }
}

/// Each protocol with a header has a number of its own.
///
/// # Panics
/// It is not so.
pub fn no_two_protocols_share_a_header_number(laws: &Laws) {
    let mut numbers = BTreeSet::new();
    for protocol in laws.protocols() {
        let number = protocol.card().needs.header;
        assert!(number == HeaderId::NONE || numbers.insert(number), "{}", protocol.card().name);
    }
}

/// The needs under default settings are those of the card.
///
/// # Panics
/// It is not so.
pub fn the_default_needs_of_a_protocol_are_those_of_its_card(laws: &Laws) {
    for protocol in laws.protocols() {
        let defaults = Settings::check(protocol.card().parameters, []).unwrap();
        assert_eq!(protocol.needs(&defaults), protocol.card().needs, "{}", protocol.card().name);
    }
}

/// Laws read only keys that their tables list: `Settings::get` panics on others.
///
/// # Panics
/// It is not so.
pub fn protocols_and_queues_read_only_the_keys_of_their_own_tables(laws: &Laws) {
    let (base_rtt, packet) = (Span::from_millis(40), Bytes::new(1500));
    let facts = LinkFacts::fifo(Rate::from_mbps(10.0), None, packet);
    for protocol in laws.protocols() {
        for settings in corners(protocol.card().parameters) {
            let _ =
                (protocol.sender(&settings), protocol.receiver(&settings), protocol.link(&settings, &facts));
            let _ = (protocol.needs(&settings), protocol.fluid(&settings), protocol.warnings(&settings));
            protocol.path_warnings(&settings, base_rtt);
            let _ = protocol.least_rate(&settings, packet, base_rtt);
        }
    }
    for queue in laws.queues() {
        for settings in corners(queue.card().parameters) {
            let _ = (queue.law(&settings, &facts), queue.fluid(&settings, &facts));
        }
    }
}

/// All checks of this module.
pub fn check(laws: &Laws) {
    every_protocol_has_a_title_a_source_and_a_meaning_of_each_parameter(laws);
    every_queue_has_a_title_a_source_and_a_meaning_of_each_parameter(laws);
    no_two_protocols_share_a_header_number(laws);
    the_default_needs_of_a_protocol_are_those_of_its_card(laws);
    protocols_and_queues_read_only_the_keys_of_their_own_tables(laws);
}
