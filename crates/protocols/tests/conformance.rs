//! The conformance battery on every registered protocol and queue, and what concerns the registry and its pages.

// Tests and their helper functions only.
#![allow(clippy::unwrap_used, clippy::panic)]

use millpond_conformance::fluid::{derivatives, equilibrium};
use millpond_conformance::{Laws, cards, links, queues as queue_laws, receivers, senders};
use millpond_protocols::{Registry, queues};
use std::fs;

fn all() -> Laws {
    let registry = Registry::builtin();
    Laws::new(registry.protocols(), registry.queues())
}

#[test]
fn cards_are_complete() {
    cards::check(&all());
}

#[test]
fn each_parameter_at_the_ends_of_its_domain_builds_or_is_rejected_by_name() {
    senders::each_parameter_at_the_ends_of_its_domain_builds_or_is_rejected_by_name(&all());
}

#[test]
fn for_any_events_a_sender_returns_valid_permits() {
    senders::for_any_events_a_sender_returns_valid_permits(&all());
}

#[test]
fn for_any_settings_a_sender_returns_valid_permits() {
    senders::for_any_settings_a_sender_returns_valid_permits(&all());
}

#[test]
fn the_same_events_and_seed_give_the_same_permits() {
    senders::the_same_events_and_seed_give_the_same_permits(&all());
}

#[test]
fn for_any_bytes_the_echo_has_the_receivers_header_or_is_unchanged() {
    receivers::for_any_bytes_the_echo_has_the_receivers_header_or_is_unchanged(&all());
}

#[test]
fn a_protocols_router_writes_only_its_own_header() {
    links::a_protocols_router_writes_only_its_own_header(&all());
}

#[test]
fn queues_process_any_packet_reproducibly_and_mark_nothing_on_an_idle_link() {
    queue_laws::check(&all());
}

#[test]
fn equations_are_finite_for_all_inputs() {
    derivatives::equations_are_finite_for_all_inputs(&all());
}

#[test]
fn exact_derivatives_are_the_limits_of_difference_quotients() {
    derivatives::exact_derivatives_are_the_limits_of_difference_quotients(&all());
}

#[test]
fn with_a_constant_price_a_flow_sends_its_demand() {
    let seen = equilibrium::with_a_constant_price_a_flow_sends_its_demand(&all());
    assert!(seen.contains(&"paganini-ecn") && seen.contains(&"paganini-delay"), "{seen:?}");
}

#[test]
fn with_a_constant_signalled_rate_a_max_min_flow_sends_at_it() {
    let seen = equilibrium::with_a_constant_signalled_rate_a_max_min_flow_sends_at_it(&all());
    assert_eq!(seen, ["rcp", "acp", "cltcp", "pledge"]);
}

#[test]
fn a_router_with_constant_load_and_queue_reaches_its_equilibrium() {
    let seen = equilibrium::a_router_with_constant_load_and_queue_reaches_its_equilibrium(&all());
    assert!(seen.contains(&"cltcp") && seen.contains(&"acp") && seen.contains(&"rcp"), "{seen:?}");
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
fn every_protocol_and_queue_has_a_page_with_a_drawing() {
    let registry = Registry::builtin();
    // Forms of one protocol share its folder: `paganini-ecn`, `paganini-delay`.
    let folder = |name: &'static str| name.split('-').next().unwrap_or(name).to_owned();
    let protocols = registry.protocols().map(|protocol| folder(protocol.card().name));
    let queues = registry.queues().map(|queue| format!("queues/{}", queue.card().name.replace('-', "_")));
    for folder in protocols.chain(queues) {
        let file = format!("{}/src/{folder}/README.md", env!("CARGO_MANIFEST_DIR"));
        let page = fs::read_to_string(&file).unwrap_or_else(|fault| panic!("{file}: {fault}"));
        assert!(page.contains("\n```"), "{file} has no drawing");
    }
}
