//! The periods of limit cycles and sawteeth, from the laws of the flows.

use crate::equilibrium::{PlanEquilibrium, max_min_rates};
use millpond_fluid::{Entity, Frozen};
use millpond_law::fluid::CyclePeak;
use millpond_plan::fluid::FluidPlan;
use millpond_units::format::duration;
use std::fmt;

/// The period of one class of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPeriod {
    /// Index of the loop in the plan.
    pub(crate) l: usize,
    /// Name of the flow or of its group.
    pub flow: String,
    /// Seconds from one reduction to the next, if all flows of the link are reduced at the same time.
    pub seconds: f64,
    /// The part of its window or rate that a reduction leaves.
    pub kept: f64,
}

/// The shortest and the longest period, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodRange {
    /// The shortest.
    pub low: f64,
    /// The longest.
    pub high: f64,
}

impl PeriodRange {
    /// The range of these periods; none if there are none.
    pub(crate) fn of(periods: &[FlowPeriod]) -> Option<Self> {
        let range =
            |low: f64, high: f64, period: &FlowPeriod| (low.min(period.seconds), high.max(period.seconds));
        let (low, high) =
            periods.iter().fold((f64::INFINITY, 0.0), |(low, high), period| range(low, high, period));
        (low <= high).then_some(Self { low, high })
    }
}

impl fmt::Display for PeriodRange {
    /// `1.89 s`, or `1.89 s to 3.2 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (duration(self.low), duration(self.high));
        if low == high { f.write_str(&low) } else { write!(f, "{low} to {high}") }
    }
}

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
