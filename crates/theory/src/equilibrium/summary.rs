//! An equilibrium in the quantities of a run's summary, so that the two can be compared.

use super::{PlanEquilibrium, find_equilibrium};
use crate::AnalysisError;
use millpond_fluid::Entity;
use millpond_plan::fluid::{self, FluidFlowPlan, FluidLinkPlan, FluidPlan};
use millpond_protocols::Registry;
use millpond_scenario::Scenario;
use millpond_stats::mean;

/// The summary of a run that stays at the equilibrium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EquilibriumSummary {
    /// By group, in the order of the scenario.
    pub groups: Vec<GroupEquilibrium>,
    /// By direction of a link, in the order of a run's summary; none where no data crosses.
    pub links: Vec<Option<LinkOperatingPoint>>,
}

/// A group of flows at the equilibrium.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupEquilibrium {
    /// Name of the group.
    pub name: String,
    /// Mean goodput of its flows, in bit/s.
    pub goodput_bps: f64,
}

/// One direction of a link at the equilibrium.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkOperatingPoint {
    /// Departing rate over capacity.
    pub utilization: f64,
    /// Queue length, in packets of the largest size that crosses the link.
    pub queue_packets: f64,
    /// Share of arriving packets that are marked: none of those that find no room.
    pub marked_share: f64,
}

/// The equilibrium of a scenario after its last flow has started.
///
/// # Errors
/// The scenario is wrong, or has no equilibrium.
pub fn equilibrium_summary(
    scenario: &Scenario,
    registry: &Registry,
) -> Result<EquilibriumSummary, AnalysisError> {
    let plan = fluid::plan(scenario, registry)?;
    let equilibrium = find_equilibrium(&plan)?;
    let groups = scenario.flows.iter().map(|group| group_equilibrium(&plan, &equilibrium, &group.name.value));
    Ok(EquilibriumSummary {
        groups: groups.collect(),
        links: plan.links.iter().map(|link| link_equilibrium(&equilibrium, link)).collect(),
    })
}

fn group_equilibrium(plan: &FluidPlan, equilibrium: &PlanEquilibrium<'_>, name: &str) -> GroupEquilibrium {
    let goodput = |flow: &FluidFlowPlan| {
        let last = flow.loops.last().map(|l| Entity::Loop(l.0));
        let delivered = last.and_then(|last| equilibrium.value(last, "delivered rate"));
        delivered.unwrap_or(f64::NAN) * flow.payload
    };
    let goodputs: Vec<f64> = plan.flows.iter().filter(|flow| flow.group == name).map(goodput).collect();
    GroupEquilibrium { name: name.to_owned(), goodput_bps: mean(&goodputs) }
}

fn link_equilibrium(equilibrium: &PlanEquilibrium<'_>, link: &FluidLinkPlan) -> Option<LinkOperatingPoint> {
    let id = link.id?.0;
    let value = |quantity| equilibrium.value(Entity::Link(id), quantity).unwrap_or(f64::NAN);
    let capacity = equilibrium.frozen.capacity(id);
    Some(LinkOperatingPoint {
        utilization: value("departing rate") / capacity,
        queue_packets: value("queueing delay") * capacity / link.packet.bits() as f64,
        marked_share: (1.0 - value("loss probability")) * value("marking probability"),
    })
}
