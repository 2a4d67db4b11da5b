//! Link laws process any packet in any queue, and change only their own header.

use crate::any::{self, Hook, Visit};
use crate::{Laws, assert_names_a_parameter, corners, for_all};
use millpond_law::{Context, Hooks, Link, PacketView, Random, Verdict};
use millpond_units::Time;

/// Routers write only headers of their own protocol.
///
/// # Panics
/// It is not so.
pub fn a_protocols_router_writes_only_its_own_header(laws: &Laws) {
    for protocol in laws.protocols() {
        for settings in corners(protocol.card().parameters) {
            let own = protocol.needs(&settings).header;
            for_all(16, &(any::facts(), any::visits()), |(facts, visits)| {
                let mut link = match protocol.link(&settings, &facts) {
                    Ok(Some(link)) => link,
                    Ok(None) => return,
                    Err(fault) => return assert_names_a_parameter(&fault, protocol.card().parameters),
                };
                for (visit, seen) in visits.iter().zip(pass(link.as_mut(), &visits)) {
                    let is_own = visit.header.protocol() == own;
                    assert!(is_own || seen.header == visit.header, "{}", protocol.card().name);
                }
            });
        }
    }
}

/// Result of one visit to a link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) verdict: Verdict,
    pub(crate) ecn: millpond_law::Ecn,
    pub(crate) header: millpond_law::Header,
}

/// Applies visits to a link law one after the other, and calls only the functions that it requests.
pub(crate) fn pass(link: &mut dyn Link, visits: &[Visit]) -> Vec<Seen> {
    let (mut random, mut now) = (Random::stream(1, "link"), Time::ZERO);
    let hooks = link.hooks();
    visits
        .iter()
        .map(|visit| {
            now += visit.after;
            let seen = present(link, hooks, &mut Context { now, random: &mut random }, visit);
            assert_finite_quantities(|gauges| link.observe(gauges));
            seen
        })
        .collect()
}

fn present(link: &mut dyn Link, hooks: Hooks, cx: &mut Context<'_>, visit: &Visit) -> Seen {
    let (mut ecn, mut header) = (visit.ecn, visit.header);
    let flow = if hooks.flow { visit.queue.packets as u32 } else { 0 };
    let mut packet =
        PacketView { bytes: visit.bytes, kind: visit.kind, flow, ecn: &mut ecn, header: &mut header };
    let verdict = match visit.hook {
        Hook::Arrive if hooks.arrive => link.arrive(cx, &mut packet, &visit.queue),
        Hook::Depart if hooks.depart => link.depart(cx, &mut packet, &visit.queue),
        Hook::Tick if hooks.tick => {
            assert_advances(link.tick(cx, &visit.queue), cx.now);
            Verdict::Keep
        }
        _ => Verdict::Keep,
    };
    let has_room = visit.queue.packets.is_multiple_of(2);
    if visit.hook == Hook::Arrive && verdict != Verdict::Drop && !has_room {
        link.refuse(visit.bytes);
    }
    if visit.hook == Hook::Depart && hooks.release {
        assert!(link.release(cx.now, visit.bytes) >= cx.now, "a packet released in the past");
    }
    Seen { verdict, ecn, header }
}

/// Asserts that the next tick of a law, if it has one, is later than this one.
pub(crate) fn assert_advances(next: Option<Time>, now: Time) {
    assert!(next.is_none_or(|next| next > now), "a tick that does not advance time: {next:?} at {now}");
}

/// Asserts that quantities which a law reports have a name, a unit and a finite value.
pub(crate) fn assert_finite_quantities(observe: impl FnOnce(&mut Vec<(&'static str, &'static str, f64)>)) {
    let mut gauges = Vec::new();
    observe(&mut gauges);
    assert!(
        gauges
            .iter()
            .all(|(name, unit, value)| { !name.is_empty() && !unit.is_empty() && value.is_finite() }),
        "{gauges:?}"
    );
}
