//! The same answers for programs. Keys carry their units.

use super::{Class, Settled, Shared};
use millpond_fluid::Entity;
use millpond_fluid::equilibrium::Uniqueness;
use serde_json::{Value, json};

/// Where it settles.
#[must_use]
pub fn equilibrium_json(settled: &Settled<'_>) -> Value {
    let closed = settled.closed.as_ref();
    let of = |entity, quantity| settled.value(entity, quantity);
    let flow = |(index, l): (usize, &millpond_plan::fluid::PlannedLoop)| {
        json!({
            "name": l.name,
            "protocol": l.protocol,
            "count": l.count,
            "rate_bps": of(Entity::Loop(index), "sending rate"),
            "closed_form_bps": closed.map(|closed| closed.equilibrium.rates[index]),
            "rtt_ms": of(Entity::Loop(index), "round-trip time").map(|rtt| rtt * 1e3),
        })
    };
    let link = |(index, link): (usize, &millpond_plan::fluid::PlannedLink)| {
        let id = link.id?.0;
        Some(json!({
            "name": link.entity,
            "capacity_bps": settled.frozen.capacity(id),
            "arriving_bps": of(Entity::Link(id), "arriving rate"),
            "queueing_ms": of(Entity::Link(id), "queueing delay").map(|delay| delay * 1e3),
            "marked": of(Entity::Link(id), "marking probability"),
            "lost": of(Entity::Link(id), "loss probability"),
            "price": closed.map(|closed| closed.price(index)),
            "bottleneck": closed.map(|closed| closed.equilibrium.bottlenecks.contains(&index)),
        }))
    };
    json!({
        "allocation": closed.map(|closed| closed.kind),
        "unique": closed.map(|closed| closed.equilibrium.uniqueness == Uniqueness::Unique),
        "optimality_gap": closed.map(|closed| closed.equilibrium.certificate.worst()),
        "flows": settled.plan.loops.iter().enumerate().map(flow).collect::<Vec<_>>(),
        "links": settled.plan.links.iter().enumerate().filter_map(link).collect::<Vec<_>>(),
    })
}

/// The same for programs.
#[must_use]
pub fn shared_json(shared: &Shared<'_>) -> Value {
    let found = &shared.equilibrium;
    let flow = |(class, rate): (&Class, &f64)| json!({ "group": class.group, "count": class.count, "weight": class.weight, "rate_bps": rate });
    let link = |(index, load): (usize, &f64)| {
        json!({
            "name": shared.plan.links[shared.links[index]].entity,
            "capacity_bps": shared.capacities[index],
            "arriving_bps": load,
            "bottleneck": found.bottlenecks.contains(&index),
        })
    };
    json!({
        "utility": shared.utility.to_string(),
        "unique": found.uniqueness == Uniqueness::Unique,
        "optimality_gap": found.certificate.worst(),
        "flows": shared.classes.iter().zip(&found.rates).map(flow).collect::<Vec<_>>(),
        "links": found.loads.iter().enumerate().map(link).collect::<Vec<_>>(),
    })
}
