//! Rejects networks that cannot be expressed as equations; errors name the loop, link or relay.

use crate::error::Error;
use crate::network::{FluidLinkSpec, FluidNetwork, Loop, LoopId, Relay};

fn refuse<T>(name: &str, reason: impl Into<String>) -> Result<T, Error> {
    Err(Error::InvalidNetwork { name: name.to_owned(), reason: reason.into() })
}

pub(super) fn check(network: &FluidNetwork) -> Result<(), Error> {
    network.links.iter().try_for_each(check_link)?;
    network.loops.iter().try_for_each(|l| check_loop(network, l))?;
    network.relays.iter().try_for_each(|relay| check_relay(network, relay))?;
    (0..network.loops.len()).try_for_each(|l| check_share(network, l))?;
    for step in &network.steps {
        let Some(link) = network.links.get(step.link.0) else {
            return refuse("capacity", "it changes at a link that does not exist");
        };
        if !(step.capacity > 0.0 && step.capacity.is_finite()) {
            return refuse(
                &link.name,
                "its capacity must stay above zero: an outage requires the packet world",
            );
        }
    }
    Ok(())
}

fn check_link(link: &FluidLinkSpec) -> Result<(), Error> {
    if !(link.capacity > 0.0 && link.capacity.is_finite()) {
        return refuse(&link.name, "its capacity must be above zero: an outage requires the packet world");
    }
    let configured = link.configured.initial(link.capacity);
    if !(configured > 0.0 && configured.is_finite()) {
        return refuse(&link.name, "its configured capacity must be above zero");
    }
    if link.buffer.is_nan() || link.buffer <= 0.0 {
        return refuse(&link.name, "its buffer must be above zero");
    }
    Ok(())
}

fn check_loop(network: &FluidNetwork, l: &Loop) -> Result<(), Error> {
    if l.path.is_empty() {
        return refuse(&l.name, "its path has no link, so that nothing limits its rate");
    }
    if !(l.base_rtt > 0.0 && l.base_rtt.is_finite()) {
        return refuse(
            &l.name,
            "its round-trip time must be above zero: set the delay of a link or the `rtt` of the flow",
        );
    }
    if !(l.count > 0.0 && l.count.is_finite()) {
        return refuse(&l.name, "it must represent more than zero flows");
    }
    if l.sender.count() != 1 {
        return refuse(&l.name, "its law object must contain exactly one flow");
    }
    if l.start.zip(l.stop).is_some_and(|(start, stop)| start >= stop) {
        return refuse(&l.name, "it stops before it starts");
    }
    let mut last = 0.0;
    for hop in &l.path {
        let Some(link) = network.links.get(hop.link.0) else {
            return refuse(&l.name, "it crosses a link that does not exist");
        };
        if !(hop.forward >= last && hop.forward < l.base_rtt) {
            let reason = format!(
                "the return delay from {} must be above zero: forward delays must not decrease along the path and must be \
                 shorter than the round-trip time of {} s",
                link.name, l.base_rtt
            );
            return refuse(&l.name, reason);
        }
        last = hop.forward;
        if l.share.is_none() {
            check_router(l, link)?;
        }
    }
    Ok(())
}

/// A flow's share of a loop begins at a relay. The shared loop itself has no relay; only its flows have.
fn check_share(network: &FluidNetwork, loop_index: usize) -> Result<(), Error> {
    let part = &network.loops[loop_index];
    let Some(share) = part.share else { return Ok(()) };
    let begins = |loop_index: usize| network.relays.iter().any(|relay| relay.downstream.0 == loop_index);
    let ends = |loop_index: usize| network.relays.iter().any(|relay| relay.upstream.0 == loop_index);
    let whole = &network.loops[share.shared_loop.0];
    match () {
        () if !begins(loop_index) => {
            refuse(&part.name, "it is a flow of a shared loop, so it must begin at a relay")
        }
        () if begins(share.shared_loop.0) || ends(share.shared_loop.0) => {
            refuse(&whole.name, "it is a shared loop: relays belong to its flows and not to the loop itself")
        }
        () if whole.share.is_some() || whole.count != 1.0 => refuse(
            &whole.name,
            "it is a shared loop, so it must be a single loop that is not a flow of another one",
        ),
        () if !(share.weight > 0.0 && share.weight.is_finite()) => {
            refuse(&part.name, "it is a flow of a shared loop, so its weight must be above zero")
        }
        () => Ok(()),
    }
}

fn check_router(l: &Loop, link: &FluidLinkSpec) -> Result<(), Error> {
    let wanted = l.sender.feedback().len();
    let router = link.routers.iter().find(|(protocol, _)| *protocol == l.protocol);
    match router {
        None if wanted > 0 => refuse(&l.name, format!("{} has no router of its protocol", link.name)),
        Some((_, law)) if !l.sender.maps_signals() && law.signal_names().len() != wanted => refuse(
            &l.name,
            format!(
                "it requires {wanted} signals, but the router at {} emits {}",
                link.name,
                law.signal_names().len()
            ),
        ),
        _ => Ok(()),
    }
}

fn check_relay(network: &FluidNetwork, relay: &Relay) -> Result<(), Error> {
    let of = |id: LoopId| network.loops.get(id.0);
    let (Some(upstream), Some(downstream)) = (of(relay.upstream), of(relay.downstream)) else {
        return refuse("relay", "it connects a loop that does not exist");
    };
    let last = upstream.path.last().map_or(0.0, |hop| hop.forward);
    if !(relay.forward > last && relay.forward < upstream.base_rtt) {
        let reason =
            format!("the relay at its end must be after its last link and before {} s", upstream.base_rtt);
        return refuse(&upstream.name, reason);
    }
    if !(relay.buffer.size > 0.0 && relay.buffer.delay > 0.0 && relay.buffer.least >= 0.0) {
        return refuse(&upstream.name, "the buffer of the relay at its end must be above zero");
    }
    if downstream.stop.is_some() {
        return refuse(
            &downstream.name,
            "it begins at a relay, so it stops with the loop before it, once the relay is empty",
        );
    }
    if upstream.count != downstream.count {
        return refuse(&downstream.name, "it must represent as many flows as its upstream loop");
    }
    let shared = |r: &&Relay| r.upstream == relay.upstream || r.downstream == relay.downstream;
    if network.relays.iter().filter(shared).count() > 1 {
        return refuse(&upstream.name, "a loop has at most one relay at each end");
    }
    Ok(())
}
