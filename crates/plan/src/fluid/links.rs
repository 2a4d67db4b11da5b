//! From the links of a scenario to those of the fluid engine.

use super::plan::{FluidLinkPlan, FluidProtocol, protocol};
use super::unsupported::{self, OR_PACKETS};
use crate::buffers::buffer;
use crate::flow_instances::FlowInstance;
use crate::laws::{carries_ecn, queue, queue_place, refused, routers};
use crate::traffic::{LinkTraffic, facts, hop_name, traffic};
use millpond_fluid::{FluidNetwork, LinkId};
use millpond_law::LinkFacts;
use millpond_law::fluid::FluidQueue;
use millpond_protocols::Registry;
use millpond_scenario::{
    Capacity, ConfiguredCapacity, ConfiguredRate, Direction, Fault, Faults, Hop, Levels, Scenario, Schedule,
};
use millpond_units::{Rate, Span, Time};

/// Every direction of every link; those that data cross become links of `network`.
pub(super) fn links(
    scenario: &Scenario,
    registry: &Registry,
    models: &[FluidProtocol<'_>],
    instances: &[FlowInstance<'_>],
    network: &mut FluidNetwork,
) -> Result<Vec<FluidLinkPlan>, Faults> {
    let mut planned = Vec::new();
    let protocols = models.iter().map(|model| &model.configured);
    for (hop, traffic) in traffic(scenario, instances, protocols) {
        planned.push(link(scenario, registry, models, &traffic, hop, network)?);
    }
    Ok(planned)
}

fn link(
    scenario: &Scenario,
    registry: &Registry,
    models: &[FluidProtocol<'_>],
    traffic: &LinkTraffic<'_, '_>,
    hop: Hop,
    network: &mut FluidNetwork,
) -> Result<FluidLinkPlan, Faults> {
    let direction = scenario.links[hop.link].direction(hop.forward);
    let capacity = capacity(scenario, hop, direction)?;
    let configured_capacity = configured_capacity(scenario, hop, direction, &capacity)?;
    let facts = LinkFacts {
        capacity_changes: configured_capacity.len() > 1,
        ..facts(configured_capacity[0].1, buffer(direction, traffic, scenario.duration), traffic)
    };
    let entity = hop_name(scenario, hop);
    let id = if traffic.data.is_empty() {
        None
    } else {
        let buffer = facts.buffer.map_or(f64::INFINITY, |buffer| buffer.as_f64() * 8.0);
        let id = network.link(&entity, capacity[0].1.as_f64(), buffer);
        for (time, rate) in &capacity[1..] {
            network.set_capacity_at(time.secs(), id, rate.as_f64());
        }
        configure(direction, &configured_capacity, id, network);
        let link = NewLink { hop, id, facts: &facts };
        install(scenario, registry, models, &present(models, traffic), &link, network)?;
        Some(id)
    };
    Ok(FluidLinkPlan {
        id,
        name: scenario.links[hop.link].name.value.clone(),
        direction: format!(
            "{} -> {}",
            scenario.nodes[scenario.tail(hop)],
            scenario.nodes[scenario.head(hop)]
        ),
        entity,
        packet: facts.packet,
        capacity,
        configured_capacity,
    })
}

/// The share of the actual capacity with which laws compute; none if it is not always the same share.
fn constant_share(configured: &ConfiguredCapacity) -> Option<f64> {
    match configured.rate {
        ConfiguredRate::Percent(percent)
            if configured.delay.is_zero() && configured.levels == Levels::Exact =>
        {
            Some(percent / 100.0)
        }
        _ => None,
    }
}

/// The capacity with which the laws of a direction compute, from each time on. There is no noise in the fluid world.
fn configured_capacity(
    scenario: &Scenario,
    hop: Hop,
    direction: &Direction,
    actual: &[(Time, Rate)],
) -> Result<Vec<(Time, Rate)>, Fault> {
    if let Some(share) = constant_share(&direction.configured) {
        return Ok(actual.iter().map(|(time, rate)| (*time, rate.scale(share))).collect());
    }
    let schedule = direction.configured.schedule(&direction.rate, scenario.duration, || 0.5);
    let mut steps = schedule.unrolled(scenario.duration);
    steps.dedup_by_key(|(_, rate)| *rate);
    match steps.iter().find(|(_, rate)| rate.is_zero()) {
        Some((time, _)) => Err(outage(scenario, hop, "configured capacity", *time)),
        None => Ok(steps),
    }
}

/// Tells the engine the capacity with which the laws of a link compute.
fn configure(direction: &Direction, steps: &[(Time, Rate)], id: LinkId, network: &mut FluidNetwork) {
    if let Some(share) = constant_share(&direction.configured) {
        return network.set_configured_capacity(id, millpond_fluid::ConfiguredCapacity::Share(share));
    }
    let first = millpond_fluid::ConfiguredCapacity::Separate(steps[0].1.as_f64());
    network.set_configured_capacity(id, first);
    for (time, rate) in &steps[1..] {
        network.set_configured_capacity_at(time.secs(), id, rate.as_f64());
    }
}

/// The protocols whose data cross the direction.
fn present<'m, 's>(
    models: &'m [FluidProtocol<'s>],
    traffic: &LinkTraffic<'_, '_>,
) -> Vec<&'m FluidProtocol<'s>> {
    let crosses = |index: usize| traffic.data.iter().any(|(model, _)| *model == index);
    models.iter().enumerate().filter(|(index, _)| crosses(*index)).map(|(_, model)| model).collect()
}

/// A link of the engine that has no laws yet.
struct NewLink<'a> {
    hop: Hop,
    id: LinkId,
    facts: &'a LinkFacts,
}

/// Gives a link its queue law and its router laws.
fn install(
    scenario: &Scenario,
    registry: &Registry,
    models: &[FluidProtocol<'_>],
    present: &[&FluidProtocol<'_>],
    link: &NewLink<'_>,
    network: &mut FluidNetwork,
) -> Result<(), Faults> {
    let NewLink { hop, id, facts } = *link;
    let protocols: Vec<_> = present.iter().map(|model| &model.configured).collect();
    let facts = &LinkFacts { carries_ecn: carries_ecn(&protocols), ..*facts };
    if let Some(configured) = queue(scenario, registry, &protocols, hop)? {
        match configured
            .queue
            .fluid(&configured.settings, facts)
            .map_err(|error| refused(scenario, hop, &error))?
        {
            FluidQueue::DropTail => {}
            FluidQueue::Law { law, verdicts } => network.set_queue(id, law, verdicts),
            FluidQueue::Missing => {
                let place = queue_place(scenario, hop);
                let link = hop_name(scenario, hop);
                let queue = configured.queue;
                return Err(unsupported::queue_without_equations(
                    scenario, registry, place, &link, queue, facts,
                )
                .into());
            }
        }
    }
    let equations = |label: &str| present.iter().find(|model| model.configured.label.value == label);
    let built = routers(scenario, &protocols, hop, |configured| {
        Ok(equations(&configured.label.value).and_then(|model| model.equations.link(facts)))
    })?;
    for (configured, law) in built {
        network.add_router(id, protocol(models, configured.protocol.card().name), law);
    }
    Ok(())
}

/// The capacity of a direction from each time on, within the run. A trace of delivery opportunities is averaged over the
/// windows of its signalled capacity.
fn capacity(scenario: &Scenario, hop: Hop, direction: &Direction) -> Result<Vec<(Time, Rate)>, Fault> {
    let truth = direction.rate.schedule();
    let mut steps = match &direction.rate {
        Capacity::Trace(source) if direction.rate.configured_schedule() != truth => {
            windows(&truth, source.window, scenario.duration)
        }
        _ => truth.unrolled(scenario.duration),
    };
    steps.dedup_by_key(|(_, rate)| *rate);
    match steps.iter().find(|(_, rate)| *rate == Rate::ZERO) {
        Some((time, _)) => Err(outage(scenario, hop, "capacity", *time)),
        None => Ok(steps),
    }
}

/// The error for a capacity of zero.
fn outage(scenario: &Scenario, hop: Hop, what: &str, time: Time) -> Fault {
    let message = format!(
        "{}: the {what} is zero from {time} on, and the fluid world has no outages",
        hop_name(scenario, hop)
    );
    let place = scenario.links[hop.link].name.place;
    let fault = scenario.fault(place, message, "not possible in the fluid world");
    fault.help("give the trace a longer `window`").command_help(OR_PACKETS)
}

/// Means over consecutive windows up to the end of the run.
fn windows(schedule: &Schedule, window: Span, duration: Span) -> Vec<(Time, Rate)> {
    let end = Time::ZERO + duration;
    let steps = schedule.unrolled(duration + window);
    let ends = steps.iter().skip(1).map(|(time, _)| *time).chain([end + window]);
    let mut stretches = steps.iter().map(|(_, rate)| rate.as_f64()).zip(ends).peekable();
    let (mut now, mut means) = (Time::ZERO, Vec::new());
    while now < end {
        let (begin, until) = (now, now + window);
        let mut bits = 0.0;
        while let Some((rate, stretch_end)) = stretches.peek().copied().filter(|_| now < until) {
            let next = stretch_end.min(until);
            bits += rate * next.since(now).secs();
            now = next;
            if stretch_end <= until {
                stretches.next();
            }
        }
        means.push((begin, Rate::from_bps_f64(bits / window.secs())));
        now = until;
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::End;

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn schedule(end: End) -> Schedule {
        let steps = vec![(at(0.0), Rate::from_mbps(4.0)), (at(0.5), Rate::from_mbps(2.0))];
        Schedule { steps, length: Span::from_secs(1.0), end }
    }

    #[test]
    fn a_schedule_that_loops_goes_on_until_the_run_ends() {
        let times = |end| schedule(end).unrolled(Span::from_millis(1700));
        let mbps = |steps: Vec<(Time, Rate)>| -> Vec<(f64, f64)> {
            steps.iter().map(|(time, rate)| (time.secs(), rate.as_f64() / 1e6)).collect()
        };
        assert_eq!(mbps(times(End::Loop)), [(0.0, 4.0), (0.5, 2.0), (1.0, 4.0), (1.5, 2.0)]);
        assert_eq!(mbps(times(End::Hold)), [(0.0, 4.0), (0.5, 2.0)]);
        assert_eq!(mbps(times(End::Stop)), [(0.0, 4.0), (0.5, 2.0), (1.0, 0.0)]);
    }

    #[test]
    fn windows_have_the_mean_of_what_was_served_in_them() {
        // 0.75 s of 4 and 2 Mbps: (0.5 4 + 0.25 2) / 0.75, then 0.25 s of 2 and 0.5 s of 4.
        let means = windows(&schedule(End::Loop), Span::from_millis(750), Span::from_millis(1400));
        let mbps: Vec<f64> = means.iter().map(|(_, rate)| rate.as_f64() / 1e6).collect();
        assert_eq!(means.iter().map(|(time, _)| time.secs()).collect::<Vec<_>>(), [0.0, 0.75]);
        assert!(mbps.iter().all(|rate| (rate - 2.5 / 0.75).abs() < 1e-5), "{mbps:?}");
    }
}
