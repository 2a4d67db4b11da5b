//! Senders return a valid permit after any event.

use crate::{Laws, any, assert_names_a_parameter, corners, for_all};
use millpond_law::{
    Context, Event, Header, HeaderId, Needs, Permit, Protocol, Random, Sender, Settings, Start, deliver,
};
use millpond_units::{Bytes, Rate, Span, Time};

/// Each parameter at the ends of its domain builds a sender, or an error names it.
///
/// # Panics
/// It is not so.
pub fn each_parameter_at_the_ends_of_its_domain_builds_or_is_rejected_by_name(laws: &Laws) {
    for protocol in laws.protocols() {
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

/// Permits are valid after any events.
///
/// # Panics
/// It is not so.
pub fn for_any_events_a_sender_returns_valid_permits(laws: &Laws) {
    for protocol in laws.protocols() {
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        for_all(256, &any::events(), |(start, events)| {
            permits_after(protocol, &settings, &start, &events, start.packet);
        });
    }
}

/// Permits are valid with any settings.
///
/// # Panics
/// It is not so.
pub fn for_any_settings_a_sender_returns_valid_permits(laws: &Laws) {
    for protocol in laws.protocols() {
        for settings in corners(protocol.card().parameters) {
            if protocol.sender(&settings).is_ok() {
                // Settings may permit a window below one packet; the endpoint still sends one packet.
                for_all(16, &any::events(), |(start, events)| {
                    permits_after(protocol, &settings, &start, &events, Bytes::ZERO);
                });
            }
        }
    }
}

/// Permits depend on the events and the seed alone.
///
/// # Panics
/// It is not so.
pub fn the_same_events_and_seed_give_the_same_permits(laws: &Laws) {
    for protocol in laws.protocols() {
        let settings = Settings::check(protocol.card().parameters, []).unwrap();
        for_all(64, &any::events(), |(start, events)| {
            let once = || permits_after(protocol, &settings, &start, &events, start.packet);
            assert_eq!(once(), once(), "{}", protocol.card().name);
        });
    }
}

/// Applies events to a sender and checks it after each of them; returns its permits.
fn permits_after(
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
        if !is_reported(&needs, event) {
            continue;
        }
        let mut cx = Context { now, random: &mut random };
        wake_if_due(sender.as_mut(), &mut cx);
        deliver(sender.as_mut(), &mut cx, event);
        let permit = sender.permit();
        assert_valid(protocol.card().name, &permit, floor, now, event);
        assert_stamps_its_own_header(sender.as_mut(), &mut cx, needs.header);
        assert_reports_finite_quantities(protocol.card().name, sender.as_ref());
        permits.push(permit);
    }
    permits
}

/// Like the endpoint, calls the timer of a sender before its next event; here possibly late.
fn wake_if_due(sender: &mut dyn Sender, cx: &mut Context<'_>) {
    if sender.permit().wake.is_some_and(|wake| wake <= cx.now) {
        sender.on_timer(cx);
    }
}

/// Whether the endpoint reports this event to a sender with these needs.
fn is_reported(needs: &Needs, event: &Event) -> bool {
    match event {
        Event::Capacity(_) => needs.capacity == millpond_law::Knowledge::Live,
        Event::Sent { .. } => needs.sent,
        Event::LostPacket(_) => needs.samples,
        _ => true,
    }
}

fn assert_valid(name: &str, permit: &Permit, floor: Bytes, now: Time, event: &Event) {
    let context = || format!("{name} permits {permit:?} at {now} after {event:?}");
    assert!(permit.window.is_some() || permit.pace.is_some(), "no limit: {}", context());
    if let Some(window) = permit.window {
        assert!(window >= floor, "{}", context());
    }
    let stands_still = permit.pace == Some(Rate::ZERO) && permit.wake.is_none();
    assert!(!stands_still, "no rate, and no timer that ends it: {}", context());
    if let Some(wake) = permit.wake {
        assert!(wake >= now, "a wake time in the past: {}", context());
        assert!(wake > now || *event != Event::Timer, "a timer that does not advance time: {}", context());
    }
}

fn assert_stamps_its_own_header(sender: &mut dyn Sender, cx: &mut Context<'_>, own: HeaderId) {
    if own != HeaderId::NONE {
        let mut header = Header::NONE;
        sender.stamp(cx, &mut header);
        assert!([HeaderId::NONE, own].contains(&header.protocol()));
    }
}

fn assert_reports_finite_quantities(name: &str, sender: &dyn Sender) {
    let mut gauges: Vec<(&'static str, &'static str, f64)> = Vec::new();
    sender.observe(&mut gauges);
    for (quantity, unit, value) in gauges {
        assert!(!quantity.is_empty() && !unit.is_empty());
        assert!(value.is_finite(), "{name}: {quantity} is {value}");
    }
}

/// All checks of this module.
pub fn check(laws: &Laws) {
    each_parameter_at_the_ends_of_its_domain_builds_or_is_rejected_by_name(laws);
    for_any_events_a_sender_returns_valid_permits(laws);
    for_any_settings_a_sender_returns_valid_permits(laws);
    the_same_events_and_seed_give_the_same_permits(laws);
}
