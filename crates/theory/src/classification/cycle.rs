//! The periods of limit cycles and sawteeth, from the laws of the flows.

use crate::equilibrium::{PlanEquilibrium, max_min_rates};
use crate::steady_state::FlowPeriod;
use millpond_fluid::{Entity, Frozen};
use millpond_law::fluid::CyclePeak;
use millpond_plan::fluid::FluidPlan;

/// The periods of the loops over these links, with the rates and round-trip times of an equilibrium at which they are
/// reduced.
pub(super) fn periods_at(equilibrium: &PlanEquilibrium<'_>, links: &[usize]) -> Vec<FlowPeriod> {
    let plan = equilibrium.plan;
    let crosses = |l: &usize| plan.loops[*l].links.iter().any(|link| links.contains(link));
    let peak = |l: usize| {
        let value = |quantity| equilibrium.value(Entity::Loop(l), quantity);
        Some(peak(plan, l, value("sending rate")?, value("round-trip time")?))
    };
    let loops = (0..plan.loops.len()).filter(|l| equilibrium.frozen.is_active(*l)).filter(crosses);
    loops.filter_map(|l| period(plan, l, &peak(l)?)).collect()
}

/// The periods of all loops, with max-min fair rates and empty queues: for laws without an equilibrium of their equations.
pub(super) fn periods_of_fair_shares(plan: &FluidPlan, frozen: &Frozen<'_>) -> Vec<FlowPeriod> {
    let Some(rates) = max_min_rates(plan, frozen) else { return Vec::new() };
    let one = |l: usize| {
        let planned = &plan.loops[l];
        let load = planned.steady_state.cycle.as_ref()?.load();
        period(plan, l, &peak(plan, l, rates[l] * load, planned.facts.base_rtt))
    };
    (0..plan.loops.len()).filter(|l| frozen.is_active(*l)).filter_map(one).collect()
}

fn peak(plan: &FluidPlan, l: usize, rate: f64, rtt: f64) -> CyclePeak {
    let facts = &plan.loops[l].facts;
    CyclePeak { window: rate * rtt / facts.packet, packet: facts.packet, base_rtt: facts.base_rtt, rtt }
}

fn period(plan: &FluidPlan, l: usize, peak: &CyclePeak) -> Option<FlowPeriod> {
    let planned = &plan.loops[l];
    let cycle = planned.steady_state.cycle.as_ref()?;
    let (seconds, kept) = (cycle.period(peak), cycle.kept(peak));
    (seconds.is_finite() && seconds > 0.0).then(|| FlowPeriod {
        l,
        flow: planned.name.clone(),
        seconds,
        kept,
    })
}
