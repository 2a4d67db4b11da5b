//! The schema of `millpond equilibrium --json`. Keys carry their units.

use super::{PlanEquilibrium, UtilityAllocation, WeightedClass};
use millpond_fluid::Entity;
use millpond_fluid::equilibrium::Uniqueness;
use millpond_plan::fluid::{FluidLinkPlan, FluidLoopPlan};
use schemars::JsonSchema;
use serde::Serialize;

/// The equilibrium of the equations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EquilibriumJson {
    /// `max-min` or `utility maximum`; null without a closed form.
    pub allocation: Option<&'static str>,
    /// Whether rates and prices of the closed form are unique; null without one.
    pub unique: Option<bool>,
    /// Largest relative violation of the optimality conditions of the closed form; null without one.
    pub optimality_gap: Option<f64>,
    /// Each loop of the plan.
    pub flows: Vec<FlowEquilibriumJson>,
    /// Each direction of a link that data crosses.
    pub links: Vec<LinkEquilibriumJson>,
}

/// A loop at the equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlowEquilibriumJson {
    /// Name of the flow, with the number of its loop if it has several.
    pub name: String,
    /// Name of its protocol.
    pub protocol: String,
    /// Number of identical flows that it stands for.
    pub count: f64,
    /// Sending rate of one flow, in bit/s.
    pub rate_bps: Option<f64>,
    /// The same of the closed form, in bit/s.
    pub closed_form_bps: Option<f64>,
    /// Round-trip time with queueing, in ms.
    pub rtt_ms: Option<f64>,
}

/// One direction of a link at the equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LinkEquilibriumJson {
    /// Name with an arrow for its direction.
    pub name: String,
    /// Capacity, in bit/s.
    pub capacity_bps: f64,
    /// Arriving rate, in bit/s.
    pub arriving_bps: Option<f64>,
    /// Queueing delay, in ms.
    pub queueing_ms: Option<f64>,
    /// Marking probability.
    pub marked: Option<f64>,
    /// Loss probability.
    pub lost: Option<f64>,
    /// Price of the closed form, in the unit of the link's law.
    pub price: Option<f64>,
    /// Whether the link is a bottleneck of the closed form.
    pub bottleneck: Option<bool>,
}

/// The JSON of an equilibrium.
#[must_use]
pub fn equilibrium_json(equilibrium: &PlanEquilibrium<'_>) -> EquilibriumJson {
    let solution = equilibrium.closed_form.as_ref().map(|closed_form| &closed_form.allocation);
    let (loops, links) = (equilibrium.plan.loops.iter(), equilibrium.plan.links.iter());
    EquilibriumJson {
        allocation: equilibrium.closed_form.as_ref().map(|closed_form| closed_form.kind),
        unique: solution.map(|solution| solution.uniqueness == Uniqueness::Unique),
        optimality_gap: solution.map(|solution| solution.certificate.worst()),
        flows: loops.enumerate().map(|(index, planned)| flow_json(equilibrium, index, planned)).collect(),
        links: links.enumerate().filter_map(|(index, link)| link_json(equilibrium, index, link)).collect(),
    }
}

fn flow_json(
    equilibrium: &PlanEquilibrium<'_>,
    index: usize,
    planned: &FluidLoopPlan,
) -> FlowEquilibriumJson {
    let value = |quantity| equilibrium.value(Entity::Loop(index), quantity);
    let closed_form = equilibrium.closed_form.as_ref();
    FlowEquilibriumJson {
        name: planned.name.clone(),
        protocol: planned.protocol.clone(),
        count: planned.count,
        rate_bps: value("sending rate"),
        closed_form_bps: closed_form.map(|closed_form| closed_form.allocation.rates[index]),
        rtt_ms: value("round-trip time").map(|rtt| rtt * 1e3),
    }
}

/// None for a link that no data crosses.
fn link_json(
    equilibrium: &PlanEquilibrium<'_>,
    index: usize,
    link: &FluidLinkPlan,
) -> Option<LinkEquilibriumJson> {
    let id = link.id?.0;
    let value = |quantity| equilibrium.value(Entity::Link(id), quantity);
    let closed_form = equilibrium.closed_form.as_ref();
    Some(LinkEquilibriumJson {
        name: link.entity.clone(),
        capacity_bps: equilibrium.frozen.capacity(id),
        arriving_bps: value("arriving rate"),
        queueing_ms: value("queueing delay").map(|delay| delay * 1e3),
        marked: value("marking probability"),
        lost: value("loss probability"),
        price: closed_form.map(|closed_form| closed_form.price(index)),
        bottleneck: closed_form.map(|closed_form| closed_form.allocation.bottlenecks.contains(&index)),
    })
}

/// An allocation under a utility: `millpond equilibrium --utility alpha=1 --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UtilityAllocationJson {
    /// Name of the utility.
    pub utility: String,
    /// Whether rates and prices are unique.
    pub unique: bool,
    /// Largest relative violation of the optimality conditions.
    pub optimality_gap: f64,
    /// Each class of flows.
    pub flows: Vec<ClassAllocationJson>,
    /// Each direction of a link that flows cross.
    pub links: Vec<LinkLoadJson>,
}

/// The rate of a class of flows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassAllocationJson {
    /// Name of the group.
    pub group: String,
    /// Number of flows.
    pub count: f64,
    /// How many flows each of them counts for.
    pub weight: f64,
    /// Rate of each of them, in bit/s.
    pub rate_bps: f64,
}

/// The load of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LinkLoadJson {
    /// Name with an arrow for its direction.
    pub name: String,
    /// Capacity, in bit/s.
    pub capacity_bps: f64,
    /// Arriving rate, in bit/s.
    pub arriving_bps: f64,
    /// Whether the link is a bottleneck.
    pub bottleneck: bool,
}

/// The JSON of an allocation under a utility.
#[must_use]
pub fn utility_allocation_json(found: &UtilityAllocation<'_>) -> UtilityAllocationJson {
    let solution = &found.allocation;
    let flow = |(class, rate): (&WeightedClass, &f64)| ClassAllocationJson {
        group: class.group.clone(),
        count: class.count,
        weight: class.weight,
        rate_bps: *rate,
    };
    let link = |(index, load): (usize, &f64)| LinkLoadJson {
        name: found.plan.links[found.links[index]].entity.clone(),
        capacity_bps: found.capacities[index],
        arriving_bps: *load,
        bottleneck: solution.bottlenecks.contains(&index),
    };
    UtilityAllocationJson {
        utility: found.utility.to_string(),
        unique: solution.uniqueness == Uniqueness::Unique,
        optimality_gap: solution.certificate.worst(),
        flows: found.classes.iter().zip(&solution.rates).map(flow).collect(),
        links: solution.loads.iter().enumerate().map(link).collect(),
    }
}
