//! What the fluid world cannot honour, refused by name and line, with what would work.

use super::plan::{Plan, place_of};
use crate::flow_instances::Member;
use crate::protocols::Role;
use crate::traffic::{hop_name, traffic};
use millpond_fluid::Error;
use millpond_law::{Settings, fluid::FluidQueue};
use millpond_protocols::{Registry, queues};
use millpond_scenario::{
    Delay, Direction, Fault, FlowGroup, Link, Loss, Method, Place, Scenario, Scheduler, Workload,
};
use millpond_units::Span;

const PACKETS: &str = "run it with --world packets";

/// What no equations could honour whatever the protocols are.
pub(super) fn scenario(scenario: &Scenario) -> Result<(), Fault> {
    for link in &scenario.links {
        let reason = [Some(&link.forward), link.backward.as_ref()].into_iter().flatten().find_map(unheard_of);
        if let Some((what, instead)) = reason {
            return Err(refusal(
                scenario,
                link.name.place,
                &format!("link \"{}\"", link.name.value),
                what,
                instead,
            ));
        }
    }
    for group in &scenario.flows {
        if let Some((what, instead)) = unspoken(group) {
            let name = format!("flows \"{}\"", group.name.value);
            return Err(refusal(scenario, group.name.place, &name, what, instead));
        }
    }
    Ok(())
}

fn refusal(scenario: &Scenario, place: Place, name: &str, what: &str, instead: &str) -> Fault {
    let message = format!("{name}: the fluid world has no {what}");
    let fault = scenario.fault(place, message, "cannot be honoured");
    fault.help(format!("{instead}, or {PACKETS}"))
}

/// What a link has that a fluid has not, and what would work.
fn unheard_of(direction: &Direction) -> Option<(&'static str, &'static str)> {
    let Direction { told, delay, jitter, loss, .. } = direction;
    match () {
        () if *loss != Loss::None => Some(("random loss", "leave out `loss`")),
        () if !jitter.is_zero() => Some(("jitter", "leave out `jitter`")),
        () if matches!(delay, Delay::Steps(_)) => Some(("delays that change", "give one `delay`")),
        () if told.is_some() => {
            Some(("router that is told another capacity than its own", "leave out `told`"))
        }
        () => None,
    }
}

/// What a group asks that a fluid cannot give, and what would work.
fn unspoken(group: &FlowGroup) -> Option<(&'static str, &'static str)> {
    match &group.workload {
        Workload::Bulk => {}
        Workload::Sized(_) => {
            return Some(("transfers of a given size", "say `workload = \"bulk\"` and when to `stop`"));
        }
        Workload::Transfers { .. } => {
            return Some(("transfers that come one by one", "say `workload = \"bulk\"`"));
        }
        Workload::Produced(..) => {
            return Some(("applications that limit their flow", "say `workload = \"bulk\"`"));
        }
    }
    group.delayed_acks.map(|_| ("acknowledgements that wait", "leave out `delayed_acks`"))
}

/// A queue of its own for each flow: the same as first come, first served only where one flow is all there is.
pub(super) fn fair_sharing(
    scenario: &Scenario,
    members: &[Member<'_>],
    roles: &[Role<'_>],
) -> Result<(), Fault> {
    for (hop, traffic) in traffic(scenario, members, roles.iter().map(|role| role.label.value.as_str())) {
        let link: &Link = &scenario.links[hop.link];
        let is_fair = link.direction(hop.forward).scheduler == Scheduler::Fair;
        if is_fair && traffic.data.len() > 1 {
            let name = format!("link \"{}\"", hop_name(scenario, hop));
            let instead = "say `scheduler = \"fifo\"`";
            return Err(refusal(
                scenario,
                link.name.place,
                &name,
                "fair queueing among several flows",
                instead,
            ));
        }
    }
    Ok(())
}

/// A protocol without a fluid model.
pub(super) fn without_equations(scenario: &Scenario, registry: &Registry, role: &Role<'_>) -> Fault {
    let has = |protocol: &&'static dyn millpond_law::Protocol| {
        let settings = Settings::check(protocol.card().parameters, std::iter::empty());
        settings.is_ok_and(|settings| matches!(protocol.fluid(&settings), Ok(Some(_))))
    };
    let names: Vec<&str> = registry.protocols().filter(has).map(|protocol| protocol.card().name).collect();
    let name = &role.label.value;
    let fault = scenario.fault(role.label.place, format!("{name} has no fluid model"), "no equations");
    fault.help(format!("these have one: {}; or {PACKETS}", names.join(", ")))
}

/// A queue without a fluid model, at the link with this place.
pub(super) fn queue_without_equations(
    scenario: &Scenario,
    registry: &Registry,
    place: Place,
    (link, queue): (&str, &str),
    facts: &millpond_law::LinkFacts,
) -> Fault {
    let has = |queue: &&'static dyn millpond_law::Queue| {
        let settings = queues::settings(*queue, std::iter::empty());
        settings.is_ok_and(|s| !matches!(queue.fluid(&s, facts), Ok(FluidQueue::Missing) | Err(_)))
    };
    let names: Vec<&str> = registry.queues().filter(has).map(|queue| queue.card().name).collect();
    let fault =
        scenario.fault(place, format!("{link}: the queue {queue} has no fluid model"), "no equations");
    fault.help(format!("these have one: {}; or {PACKETS}", names.join(", ")))
}

/// Steps of one length where the planned equations need others.
pub(super) fn method(scenario: &Scenario, plan: &Plan) -> Result<(), Fault> {
    const ADAPTIVE: &str = "say fluid.method = \"adaptive\"";
    let Method::FixedStep(step) = &scenario.fluid else { return Ok(()) };
    plan.assembly.allows_steps_of(step.secs()).map_err(|error| match &error {
        Error::InvalidNetwork { name, reason } => {
            let place = place_of(scenario, &plan.links, &plan.loops, name);
            let fault = scenario.fault(place, format!("{name}: {reason}"), "cannot be honoured");
            fault.help(format!("{ADAPTIVE}, or {PACKETS}"))
        }
        Error::StepTooLong { longest, .. } => {
            let longest = Span::from_picos((longest * 1e12) as u64);
            let fault = scenario.fault(step.place, error.to_string(), "too long");
            fault.help(format!("write a step of at most \"{longest}\", or {ADAPTIVE}"))
        }
        _ => {
            let fault = scenario.fault(step.place, error.to_string(), "too short");
            fault.help(format!("write a longer step, or {ADAPTIVE}"))
        }
    })
}
