//! Senders, told anything at all, permit something sensible after each event.

use crate::{any, assert_names_a_parameter, corners, for_all};
use millpond_law::{
    Context, Event, Header, HeaderId, Needs, Permit, Protocol, Random, Sender, Settings, Start, deliver,
};
use millpond_protocols::Registry;
use millpond_units::{Bytes, Rate, Span, Time};

#[test]
fn each_parameter_at_the_ends_of_its_domain_builds_or_is_refused_by_name() {
    for protocol in Registry::builtin().protocols() {
        let card = protocol.card();
        protocol.sender(&Settings::check(card.parameters, []).unwrap()).unwrap();
        for settings in corners(card.parameters) {
            protocol.warnings(&settings);
            if let Err(fault) = protocol.sender(&settings) {
                assert_names_a_parameter(&fault, card.parameters);
            }
        }
    }
}

#[test]
fn whatever_a_sender_is_told_it_permits_something_sensible() {
    for protocol in Registry::builtin().protocols() {
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        for_all(256, &any::life(), |(start, events)| {
            live(protocol, &settings, &start, &events, start.packet);
        });
    }
}

#[test]
fn whatever_its_settings_a_sender_permits_something_sensible() {
    for protocol in Registry::builtin().protocols() {
        for settings in corners(protocol.card().parameters) {
            if protocol.sender(&settings).is_ok() {
                // A window may be set up to be less than a packet: the endpoint lets one be in flight all the same.
                for_all(16, &any::life(), |(start, events)| {
                    live(protocol, &settings, &start, &events, Bytes::ZERO);
                });
            }
        }
    }
}

#[test]
fn the_same_events_and_seed_give_the_same_permits() {
    for protocol in Registry::builtin().protocols() {
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        for_all(64, &any::life(), |(start, events)| {
            let once = || live(protocol, &settings, &start, &events, start.packet);
            assert_eq!(once(), once(), "{}", protocol.card().name);
        });
    }
}

/// Lets a sender live through events and looks at it after each of them; returns what it permitted.
fn live(
    protocol: &dyn Protocol,
    settings: &Settings,
    start: &Start,
    events: &[(Span, Event)],
    floor: Bytes,
) -> Vec<Permit> {
    let mut sender = protocol.sender(settings).unwrap();
    let (needs, mut random, mut now) = (protocol.needs(settings), Random::stream(1, "sender"), Time::ZERO);
    let first = (Span::ZERO, Event::Start(*start));
    let mut permits = Vec::new();
    for (after, event) in std::iter::once(&first).chain(events) {
        now += *after;
        if !is_told(&needs, event) {
            continue;
        }
        let mut cx = Context { now, random: &mut random };
        wake_if_due(sender.as_mut(), &mut cx);
        deliver(sender.as_mut(), &mut cx, event);
        let permit = sender.permit();
        assert_sensible(protocol.card().name, &permit, floor, now, event);
        assert_stamps_its_own_header(sender.as_mut(), &mut cx, needs.header);
        assert_shows_finite_quantities(protocol.card().name, sender.as_ref());
        permits.push(permit);
    }
    permits
}

/// The endpoint wakes a sender that asked for it before it tells anything else; here perhaps late.
fn wake_if_due(sender: &mut dyn Sender, cx: &mut Context<'_>) {
    if sender.permit().wake.is_some_and(|wake| wake <= cx.now) {
        sender.on_timer(cx);
    }
}

/// Would the endpoint tell a sender with these needs of this event?
fn is_told(needs: &Needs, event: &Event) -> bool {
    match event {
        Event::Capacity(_) => needs.capacity == millpond_law::Knowledge::Live,
        Event::Sent { .. } => needs.sent,
        _ => true,
    }
}

fn assert_sensible(name: &str, permit: &Permit, floor: Bytes, now: Time, event: &Event) {
    let say = || format!("{name} permits {permit:?} at {now} after {event:?}");
    assert!(permit.window.is_some() || permit.pace.is_some(), "nothing holds it: {}", say());
    if let Some(window) = permit.window {
        assert!(window >= floor, "{}", say());
    }
    assert!(permit.pace != Some(Rate::ZERO), "{}", say());
    if let Some(wake) = permit.wake {
        assert!(wake >= now, "a wake in the past: {}", say());
        assert!(wake > now || *event != Event::Timer, "a timer that never ends: {}", say());
    }
}

fn assert_stamps_its_own_header(sender: &mut dyn Sender, cx: &mut Context<'_>, own: HeaderId) {
    if own != HeaderId::NONE {
        let mut header = Header::NONE;
        sender.stamp(cx, &mut header);
        assert!([HeaderId::NONE, own].contains(&header.protocol()));
    }
}

fn assert_shows_finite_quantities(name: &str, sender: &dyn Sender) {
    let mut gauges: Vec<(&'static str, &'static str, f64)> = Vec::new();
    sender.observe(&mut gauges);
    for (quantity, unit, value) in gauges {
        assert!(!quantity.is_empty() && !unit.is_empty());
        assert!(value.is_finite(), "{name}: {quantity} is {value}");
    }
}
