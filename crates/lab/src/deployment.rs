//! Partial deployment: some flows and some routers take part in a protocol, the others do not.

use millpond_protocols::Registry;
use millpond_scenario::{
    At, Fault, FlowGroup, FlowStart, Place, QueueSpec, RouterConduct, Scenario, SettingValue, Stop,
    WrittenSetting, name_without_settings,
};
use millpond_units::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// Which flows and which routers take part.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// The shares of the flows of each group that is not pinned, in per cent, one for each row.
    pub percentages: Vec<f64>,
    /// The protocol of the flows that take no part.
    pub baseline: String,
    /// The links whose routers take part; if empty, all.
    pub links: Vec<String>,
}

impl Deployment {
    /// The label of a share in the name of a run.
    pub(crate) fn label(percentage: f64) -> String {
        format!("{percentage}%")
    }

    /// The scenario in which the routers at all other links take no part.
    ///
    /// # Errors
    /// An unknown link.
    pub(crate) fn at_routers(&self, mut scenario: Scenario) -> Result<Scenario, Fault> {
        for name in &self.links {
            if !scenario.links.iter().any(|link| link.name.value == *name) {
                return Err(unknown_link(&mut scenario, name));
            }
        }
        let takes_part = |name: &String| self.links.is_empty() || self.links.contains(name);
        for link in scenario.links.iter_mut().filter(|link| !takes_part(&link.name.value)) {
            link.forward.router = RouterConduct::Absent;
            if let Some(backward) = &mut link.backward {
                backward.router = RouterConduct::Absent;
            }
        }
        Ok(scenario)
    }

    /// The baseline, at its place in the option for errors. If it is a variant, the scenario has an entry for it.
    ///
    /// # Errors
    /// A variant whose settings cannot be read.
    pub(crate) fn baseline(&self, scenario: &mut Scenario) -> Result<At<String>, Fault> {
        let text = scenario.sources.add("--baseline", &self.baseline);
        let name = At::new(self.baseline.clone(), Place { text, start: 0, end: self.baseline.len() });
        scenario.add_variant(&name)?;
        Ok(name)
    }

    /// The scenario in which this percentage of the flows of each group that is not pinned keeps its protocol, and the others
    /// run the baseline. Links without a queue whose routers take part have the queue of the protocol, whatever the
    /// percentage is.
    ///
    /// # Errors
    /// A group of one flow, of which no part can be taken.
    pub(crate) fn at_percentage(
        scenario: &Scenario,
        percentage: f64,
        baseline: &At<String>,
        registry: &Registry,
    ) -> Result<Scenario, Fault> {
        let scenario = &scenario.clone().with_fixed_paths();
        let mut divided = with_queue_of_protocol(scenario.clone(), registry);
        let mut names: BTreeSet<String> =
            scenario.flows.iter().map(|group| group.name.value.clone()).collect();
        divided.flows.clear();
        for group in &scenario.flows {
            if group.pinned {
                divided.flows.push(group.clone());
                continue;
            }
            let taking_part = number_taking_part(scenario, group, percentage)?;
            divided.flows.extend(parts(group, taking_part, baseline, &mut names));
        }
        Ok(divided)
    }
}

fn unknown_link(scenario: &mut Scenario, name: &str) -> Fault {
    let text = scenario.sources.add("--deploy-at", name);
    let place = Place { text, start: 0, end: name.len() };
    let names: Vec<&str> = scenario.links.iter().map(|link| link.name.value.as_str()).collect();
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("the scenario has: {}", names.join(", ")),
    };
    scenario.fault(place, format!("unknown link \"{name}\""), "no such link").help(help)
}

/// The number of flows that take part: rounded, but neither none nor all of them unless that is the percentage.
fn number_taking_part(scenario: &Scenario, group: &FlowGroup, percentage: f64) -> Result<u32, Fault> {
    if percentage <= 0.0 || percentage >= 100.0 {
        return Ok(if percentage <= 0.0 { 0 } else { group.count });
    }
    if group.count < 2 {
        let name = &group.name.value;
        let message = format!("{percentage} % of the one flow of \"{name}\" cannot take part");
        let fault = scenario.fault(group.name.place, message, "a group of one flow");
        return Err(fault.help(format!("set flows.{name}.count, set pinned = true, or deploy 0,100%")));
    }
    let rounded = (f64::from(group.count) * percentage / 100.0).round() as u32;
    Ok(rounded.clamp(1, group.count - 1))
}

/// The first flows of a group, which keep the protocol, and the others, which run the baseline. Each keeps its path and its start
/// if that is not random.
fn parts(
    group: &FlowGroup,
    taking_part: u32,
    baseline: &At<String>,
    names: &mut BTreeSet<String>,
) -> Vec<FlowGroup> {
    if taking_part == 0 {
        return vec![FlowGroup { protocol: baseline.clone(), ..group.clone() }];
    }
    if taking_part == group.count {
        return vec![group.clone()];
    }
    let first = FlowGroup { count: taking_part, ..group.clone() };
    // Settings of a variant cannot be part of the name of a group.
    let protocol = name_without_settings(&baseline.value);
    let mut others = FlowGroup {
        name: At::new(free_name(&format!("{}-{protocol}", group.name.value), names), group.name.place),
        count: group.count - taking_part,
        protocol: baseline.clone(),
        start: later(&group.start, taking_part),
        stop: group.stop.as_ref().map(|stop| match stop {
            Stop::At(time) => Stop::At(later(time, taking_part)),
            Stop::After(_) => stop.clone(),
        }),
        ..group.clone()
    };
    let shift = taking_part as usize % others.paths.len().max(1);
    others.paths.rotate_left(shift);
    vec![first, others]
}

/// The times of the flows from number `first` on.
fn later(times: &FlowStart, first: u32) -> FlowStart {
    match times {
        FlowStart::Every { first: begin, interval } => {
            FlowStart::Every { first: *begin + *interval * u64::from(first), interval: *interval }
        }
        other => other.clone(),
    }
}

/// The name, with a number behind it if a group has it already.
fn free_name(name: &str, names: &mut BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| names.insert(name.clone()));
    free.unwrap_or_default()
}

/// The queue of the protocol of the first group that is not pinned, at all links that have none and whose routers take part.
/// Where loops of this group run another protocol, it is the queue of that one.
fn with_queue_of_protocol(mut scenario: Scenario, registry: &Registry) -> Scenario {
    let Some(group) = scenario.flows.iter().find(|group| !group.pinned) else { return scenario };
    let queue_of = |label| queue_of_protocol(&scenario, registry, label);
    let of_group = queue_of(&group.protocol);
    let hops = group.paths.iter().flat_map(|path| path.iter().zip(scenario.protocols_along(group, path)));
    let of_others = hops.filter(|(_, label)| label.value != group.protocol.value);
    let of_loops: BTreeMap<(usize, bool), Option<QueueSpec>> =
        of_others.map(|(hop, label)| ((hop.link, hop.forward), queue_of(label))).collect();
    for (index, link) in scenario.links.iter_mut().enumerate() {
        let directions =
            std::iter::once((true, &mut link.forward)).chain(link.backward.as_mut().map(|one| (false, one)));
        for (forward, direction) in directions {
            if direction.queue.is_none() && direction.router == RouterConduct::TakesPart {
                direction.queue = of_loops.get(&(index, forward)).unwrap_or(&of_group).clone();
            }
        }
    }
    scenario
}

fn queue_of_protocol(scenario: &Scenario, registry: &Registry, label: &At<String>) -> Option<QueueSpec> {
    let entry = scenario.protocols.get(&label.value);
    if let Some(queue) = entry.and_then(|entry| entry.queue.clone()) {
        return Some(queue);
    }
    let name = entry.map_or(&label.value, |entry| &entry.protocol.value);
    let choice = registry.protocol(name).ok()?.card().queue;
    let setting = |(name, value): &(&str, &str)| WrittenSetting {
        name: At::new((*name).to_owned(), label.place),
        value: At::new(SettingValue::Text((*value).to_owned()), label.place),
    };
    Some(QueueSpec {
        name: At::new(choice.name.to_owned(), label.place),
        settings: choice.settings.iter().map(setting).collect(),
    })
}
