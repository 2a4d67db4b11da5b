//! Features that the fluid world does not have: errors with name, line and alternative.

use super::plan::{FluidPlan, place_of};
use crate::flow_instances::FlowInstance;
use crate::protocols::ConfiguredProtocol;
use crate::traffic::{hop_name, traffic};
use millpond_fluid::Error;
use millpond_law::{Settings, fluid::FluidQueue};
use millpond_protocols::{Registry, queues};
use millpond_scenario::{
    Delay, Direction, Fault, FlowGroup, Link, LinkLayer, Loss, Method, Place, ReceiverConduct, RouterConduct,
    Scenario, Scheduler, SenderConduct, Workload,
};
use millpond_units::Span;

/// For readers who use the command; the playground runs the packet world beside the fluid world.
pub(super) const OR_PACKETS: &str = ", or run it with --world packets";
/// The same after a list.
const OR_PACKETS_INSTEAD: &str = "; or run it with --world packets";

/// Features of links and flows that have no equations, whatever the protocols are.
pub(super) fn scenario(scenario: &Scenario) -> Result<(), Fault> {
    for link in &scenario.links {
        let reason =
            [Some(&link.forward), link.backward.as_ref()].into_iter().flatten().find_map(unsupported_on_link);
        if let Some(feature) = reason {
            return Err(refusal(
                scenario,
                link.name.place,
                &format!("link \"{}\"", link.name.value),
                &feature,
            ));
        }
    }
    for group in &scenario.flows {
        let entries = scenario.protocols_of(group).filter_map(|label| scenario.protocols.get(&label.value));
        let code = entries.filter_map(|entry| entry.rate_code).next();
        let code = code.map(|_| Unsupported::new("codes of rates", "leave out `rate_code`"));
        if let Some(feature) = unsupported_in_group(group).or(code) {
            let name = format!("flows \"{}\"", group.name.value);
            return Err(refusal(scenario, group.name.place, &name, &feature));
        }
    }
    Ok(())
}

/// A feature that the fluid world does not have.
struct Unsupported {
    feature: &'static str,
    alternative: &'static str,
}

impl Unsupported {
    const fn new(feature: &'static str, alternative: &'static str) -> Self {
        Self { feature, alternative }
    }
}

fn refusal(scenario: &Scenario, place: Place, name: &str, unsupported: &Unsupported) -> Fault {
    let message = format!("{name}: the fluid world has no {}", unsupported.feature);
    let fault = scenario.fault(place, message, "not possible in the fluid world");
    fault.help(unsupported.alternative).command_help(OR_PACKETS)
}

/// The first feature of a link that has no equations.
fn unsupported_on_link(direction: &Direction) -> Option<Unsupported> {
    let Direction { configured, delay, jitter, loss, link_layer, router, .. } = direction;
    match () {
        () if *loss != Loss::None => Some(Unsupported::new("random loss", "leave out `loss`")),
        () if *link_layer != LinkLayer::None => {
            Some(Unsupported::new("link layers", "leave out `link_layer`"))
        }
        () if *router != RouterConduct::TakesPart => {
            Some(Unsupported::new("routers that take no part", "leave out `router`"))
        }
        () if !jitter.is_zero() => Some(Unsupported::new("jitter", "leave out `jitter`")),
        () if matches!(delay, Delay::Steps(_)) => {
            Some(Unsupported::new("delays that change", "give one `delay`"))
        }
        () if configured.noise > 0.0 => Some(Unsupported::new(
            "noise of the configured capacity, because it is random",
            "leave out `configured_noise`",
        )),
        () => None,
    }
}

/// The first feature of a group that has no equations.
fn unsupported_in_group(group: &FlowGroup) -> Option<Unsupported> {
    match &group.workload {
        Workload::Bulk => {}
        Workload::Sized(_) => {
            return Some(Unsupported::new(
                "transfers of a given size",
                "set `workload = \"bulk\"` and a `stop` time",
            ));
        }
        Workload::Transfers { .. } => {
            return Some(Unsupported::new("spawned transfers", "set `workload = \"bulk\"`"));
        }
        Workload::Pages(_) => {
            return Some(Unsupported::new("web pages", "set `workload = \"bulk\"`"));
        }
        Workload::Video(_) => {
            return Some(Unsupported::new("adaptive video", "set `workload = \"bulk\"`"));
        }
        Workload::Call(_) => {
            return Some(Unsupported::new("video calls", "set `workload = \"bulk\"`"));
        }
        Workload::Ping(_) => {
            return Some(Unsupported::new("pings", "leave out the group"));
        }
        Workload::Produced(..) => {
            return Some(Unsupported::new("applications of limited rate", "set `workload = \"bulk\"`"));
        }
    }
    if group.sender != SenderConduct::Honest {
        return Some(Unsupported::new("senders that break the rules", "set `sender = \"honest\"`"));
    }
    if group.receiver != ReceiverConduct::Honest {
        return Some(Unsupported::new("receivers that break the rules", "set `receiver = \"honest\"`"));
    }
    group.delayed_acks.map(|_| Unsupported::new("delayed acknowledgements", "leave out `delayed_acks`"))
}

/// A scheduler of flows, which has no equations unless a single flow crosses the link.
pub(super) fn fair_sharing(
    scenario: &Scenario,
    instances: &[FlowInstance<'_>],
    protocols: &[ConfiguredProtocol<'_>],
) -> Result<(), Fault> {
    for (hop, traffic) in traffic(scenario, instances, protocols) {
        let link: &Link = &scenario.links[hop.link];
        let feature = match link.direction(hop.forward).scheduler {
            Scheduler::Fifo => continue,
            Scheduler::Fair => "fair queueing among several flows",
            Scheduler::DeficitRoundRobin => "deficit round robin among several flows",
            Scheduler::Priority => "strict priority among several flows",
        };
        if traffic.data.len() > 1 {
            let name = format!("link \"{}\"", hop_name(scenario, hop));
            let feature = Unsupported::new(feature, "set `scheduler = \"fifo\"`");
            return Err(refusal(scenario, link.name.place, &name, &feature));
        }
    }
    Ok(())
}

/// The error for a protocol without a fluid model.
pub(super) fn protocol_without_equations(
    scenario: &Scenario,
    registry: &Registry,
    configured: &ConfiguredProtocol<'_>,
) -> Fault {
    let has = |protocol: &&'static dyn millpond_law::Protocol| {
        let settings = Settings::check(protocol.card().parameters, std::iter::empty());
        settings.is_ok_and(|settings| matches!(protocol.fluid(&settings), Ok(Some(_))))
    };
    let names: Vec<&str> = registry.protocols().filter(has).map(|protocol| protocol.card().name).collect();
    let name = &configured.label.value;
    let fault = scenario.fault(configured.label.place, format!("{name} has no fluid model"), "no equations");
    fault.help(format!("protocols with a fluid model: {}", names.join(", "))).command_help(OR_PACKETS_INSTEAD)
}

/// The error for a queue without a fluid model, at a link.
pub(super) fn queue_without_equations(
    scenario: &Scenario,
    registry: &Registry,
    place: Place,
    link: &str,
    queue: &dyn millpond_law::Queue,
    facts: &millpond_law::LinkFacts,
) -> Fault {
    let has = |queue: &&'static dyn millpond_law::Queue| {
        let settings = queues::settings(*queue, std::iter::empty());
        settings.is_ok_and(|s| !matches!(queue.fluid(&s, facts), Ok(FluidQueue::Missing) | Err(_)))
    };
    let names: Vec<&str> = registry.queues().filter(has).map(|queue| queue.card().name).collect();
    let fault = scenario.fault(
        place,
        format!("{link}: the queue {} has no fluid model", queue.card().name),
        "no equations",
    );
    fault.help(format!("queues with a fluid model: {}", names.join(", "))).command_help(OR_PACKETS_INSTEAD)
}

/// The error if the plan cannot be integrated with the scenario's fixed step.
pub(super) fn method(scenario: &Scenario, plan: &FluidPlan) -> Result<(), Fault> {
    const ADAPTIVE: &str = "set fluid.method = \"adaptive\"";
    let Method::FixedStep(step) = &scenario.fluid.method else { return Ok(()) };
    plan.assembly.allows_steps_of(step.secs()).map_err(|error| match &error {
        Error::InvalidNetwork { name, reason } => {
            let place = place_of(scenario, &plan.links, &plan.loops, name);
            let fault = scenario.fault(place, format!("{name}: {reason}"), "not possible with fixed steps");
            fault.help(ADAPTIVE).command_help(OR_PACKETS)
        }
        Error::StepTooLong { longest, .. } => {
            let longest = Span::from_secs(*longest);
            let fault = scenario.fault(step.place, error.to_string(), "too long");
            fault.help(format!("set a step of at most \"{longest}\", or {ADAPTIVE}"))
        }
        _ => {
            let fault = scenario.fault(step.place, error.to_string(), "too short");
            fault.help(format!("set a longer step, or {ADAPTIVE}"))
        }
    })
}
