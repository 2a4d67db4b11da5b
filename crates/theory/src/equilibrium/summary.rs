//! A point of rest in the numbers of a run's summary, to be laid beside one.

use super::{Settled, settle};
use crate::Refusal;
use millpond_fluid::Entity;
use millpond_plan::fluid::{self, Plan, PlannedFlow, PlannedLink};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_stats::mean;

/// What runs would show if nothing moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtRest {
    /// By group, in the order of the scenario.
    pub groups: Vec<GroupAtRest>,
    /// By direction of a link, in the order of a summary; none where no data crosses.
    pub links: Vec<Option<LinkAtRest>>,
}

/// A group of flows at rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupAtRest {
    /// Its name.
    pub name: String,
    /// Mean over its flows.
    pub goodput_bps: f64,
}

/// One direction of a link at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkAtRest {
    /// Departing rate over capacity.
    pub utilization: f64,
    /// Its queue, in its largest packets.
    pub queue_packets: f64,
    /// Probability of a mark.
    pub marked: f64,
}

/// Where a scenario rests when its last flow has started.
///
/// # Errors
/// It is wrong, or does not rest.
pub fn at_rest(scenario: &Scenario, registry: &Registry) -> Result<AtRest, Refusal> {
    let plan = fluid::plan(scenario, registry)?;
    let settled = settle(&plan)?;
    let groups = scenario.flows.iter().map(|group| group_at_rest(&plan, &settled, &group.name.value));
    Ok(AtRest {
        groups: groups.collect(),
        links: plan.links.iter().map(|link| link_at_rest(&settled, link)).collect(),
    })
}

fn group_at_rest(plan: &Plan, settled: &Settled<'_>, name: &str) -> GroupAtRest {
    let goodput = |flow: &PlannedFlow| {
        let last = flow.loops.last().map(|l| Entity::Loop(l.0));
        let delivered = last.and_then(|last| settled.value(last, "delivered rate"));
        delivered.unwrap_or(f64::NAN) * flow.payload
    };
    let goodputs: Vec<f64> = plan.flows.iter().filter(|flow| flow.group == name).map(goodput).collect();
    GroupAtRest { name: name.to_owned(), goodput_bps: mean(&goodputs) }
}

fn link_at_rest(settled: &Settled<'_>, link: &PlannedLink) -> Option<LinkAtRest> {
    let id = link.id?.0;
    let value = |quantity| settled.value(Entity::Link(id), quantity).unwrap_or(f64::NAN);
    let capacity = settled.frozen.capacity(id);
    Some(LinkAtRest {
        utilization: value("departing rate") / capacity,
        queue_packets: value("queueing delay") * capacity / link.packet.bits() as f64,
        marked: value("marking probability"),
    })
}
