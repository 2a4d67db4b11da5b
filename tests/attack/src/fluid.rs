//! What must hold for every run of the fluid world.

use crate::ensure;
use millpond_plan::fluid::{FluidLinkPlan, FluidPlan};
use millpond_results::{EntityKind, Run, Series, quantity};

/// Share by which sums of rates may exceed a capacity: the error of the solver.
const SOLVER_ERROR: f64 = 1e-3;

/// Checks the results of a run of this plan.
///
/// # Errors
/// The first invariant that does not hold, with its numbers.
pub(crate) fn check(plan: &FluidPlan, run: &Run) -> Result<(), String> {
    links_serve_at_most_their_capacity(plan, run)?;
    goodputs_fit_into_links(plan, run)
}

/// The integral of a series: the sum of its values times the length of their intervals.
fn integral(run: &Run, kind: EntityKind, entity: &str, name: &str) -> Option<f64> {
    let series = run.series.iter().find(|s| s.kind == kind && s.entity == entity && s.quantity == name)?;
    let starts = std::iter::once(0.0).chain(series.times.iter().copied());
    let parts = series.values.iter().zip(&series.times).zip(starts);
    Some(parts.map(|((value, end), start)| if value.is_nan() { 0.0 } else { value * (end - start) }).sum())
}

fn links_serve_at_most_their_capacity(plan: &FluidPlan, run: &Run) -> Result<(), String> {
    for link in plan.links.iter().filter(|link| link.id.is_some()) {
        let of = |name| integral(run, EntityKind::Link, &link.entity, name).unwrap_or_default();
        let (served, capacity) = (of(quantity::THROUGHPUT), of(quantity::CAPACITY));
        ensure!(
            served <= capacity * (1.0 + SOLVER_ERROR),
            "{} served {served} bits with a capacity of {capacity}",
            link.entity
        );
    }
    Ok(())
}

/// The bits in the queue of a link at the end of a run.
fn queue_at_end(run: &Run, link: &FluidLinkPlan) -> f64 {
    let is_it =
        |s: &&Series| s.kind == EntityKind::Link && s.entity == link.entity && s.quantity == quantity::QUEUE;
    let packets = run.series.iter().find(is_it).and_then(|series| series.values.last().copied());
    packets.unwrap_or_default() * link.packet.as_f64() * 8.0
}

/// What flows deliver has crossed each link of their paths. Loops that credit limits deliver what they have had in the queue, and the
/// others by their arrivals: no flow delivers more than has arrived, and of the arrivals the queue is left.
fn goodputs_fit_into_links(plan: &FluidPlan, run: &Run) -> Result<(), String> {
    for (index, link) in plan.links.iter().enumerate().filter(|(_, link)| link.id.is_some()) {
        let crossing = || plan.flows.iter().filter(|flow| flow.links.contains(&index));
        let has_relays = crossing().any(|flow| !flow.relays.is_empty());
        let bytes =
            |name: &str| run.transfers.iter().find(|t| t.name == name).map_or(0, |t| t.delivered_bytes);
        let delivered: f64 = crossing().map(|flow| bytes(&flow.name) as f64 * 8.0).sum();
        let capacity = integral(run, EntityKind::Link, &link.entity, quantity::CAPACITY).unwrap_or_default();
        let queued = if has_relays { queue_at_end(run, link) } else { 0.0 };
        ensure!(
            delivered <= capacity * (1.0 + SOLVER_ERROR) + queued,
            "{}: {delivered} bits were delivered with a capacity of {capacity}",
            link.entity
        );
    }
    Ok(())
}
