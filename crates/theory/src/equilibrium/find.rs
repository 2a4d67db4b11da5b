//! The equilibrium of a plan's equations.

use super::closed_form::ClosedForm;
use crate::AnalysisError;
use millpond_fluid::equilibrium::{self, EquilibriumPoint, NoEquilibrium, SearchMethod};
use millpond_fluid::stability::Linearized;
use millpond_fluid::{Accuracy, Entity, Frozen, LoopId, OperatingPoint, Solver};
use millpond_plan::fluid::{FluidFlowPlan, FluidLinkPlan, FluidPlan};

/// The equilibrium of a plan.
pub struct PlanEquilibrium<'p> {
    /// The plan.
    pub plan: &'p FluidPlan,
    /// Its network with all delays set to zero.
    pub frozen: Frozen<'p>,
    /// States and channels at the equilibrium.
    pub point: OperatingPoint,
    /// The allocation that the protocols promise, where it has a closed form.
    pub closed_form: Option<ClosedForm>,
}

impl PlanEquilibrium<'_> {
    /// A channel at the equilibrium, by the name of its quantity: what a sender sends or a link signals; in the units of
    /// the equations.
    #[must_use]
    pub fn value(&self, entity: Entity, quantity: &str) -> Option<f64> {
        channel(self.plan, &self.point, entity, quantity)
    }

    /// The linear network about the equilibrium.
    #[must_use]
    pub fn linearize(&self) -> Linearized {
        Linearized::of(&self.frozen, &self.frozen.holding_empty_queues(&self.point))
    }

    /// The largest relative difference between a sending rate and the closed form; zero without one.
    #[must_use]
    pub fn closed_form_error(&self) -> f64 {
        closed_form_error(self.plan, self.closed_form.as_ref(), &self.point)
    }

    /// Why a relay has no steady state at this point, if there is one.
    fn relay_without_steady_state(&self) -> Option<String> {
        let short = self.frozen.loop_after_short_buffer(&self.point);
        let mut relays = self.plan.flows.iter().flat_map(FluidFlowPlan::relay_ends);
        relays.find_map(|(relay, ends @ [before, after])| {
            let is_active = self.frozen.is_active(before.0) && self.frozen.is_active(after.0);
            let rates = self.relay_rates(ends).filter(|_| is_active)?;
            self.growth(&relay, ends, rates)
                .or_else(|| (short == Some(after)).then(|| self.short_buffer(&relay, before, rates[0])))
        })
    }

    /// The rates in bit/s at which data arrive at the relay between two loops and leave it.
    fn relay_rates(&self, [before, after]: [LoopId; 2]) -> Option<[f64; 2]> {
        let arrives = self.value(Entity::Loop(before.0), "delivered rate")?;
        Some([arrives, self.value(Entity::Loop(after.0), "sending rate")?])
    }

    /// What is said of a relay that receives more than it sends.
    fn growth(
        &self,
        relay: &str,
        [before, after]: [LoopId; 2],
        [arrives, leaves]: [f64; 2],
    ) -> Option<String> {
        /// A smaller relative difference of the rates is an error of the search.
        const DIFFERENCE: f64 = 1e-3;
        let limit = match self.plan.assembly.relay_between(before, after) {
            Some(relay) if relay.buffer.is_limited() => "only relay_buffer limits it",
            _ => "its queue grows without bound",
        };
        (arrives > leaves * (1.0 + DIFFERENCE)).then(|| {
            format!(
                "no equilibrium: the relay {relay} would receive {:.2} Mbit/s more than it sends, because the law of {} receives \
                 nothing from the loop after it: {limit}; give that loop a law that does, such as lgcc, or analyze the loops as \
                 flows of their own",
                (arrives - leaves) * 1e-6,
                self.plan.loops[before.0].name,
            )
        })
    }

    /// What is said of a relay whose buffer is too short for what is under way to it.
    fn short_buffer(&self, relay: &str, before: LoopId, arrives: f64) -> String {
        format!(
            "no equilibrium of the laws: at {:.2} Mbit/s, what is under way to the relay {relay} and waits in it is more than \
             relay_buffer, which therefore limits {}; with a longer one there is a steady state",
            arrives * 1e-6,
            self.plan.loops[before.0].name,
        )
    }

    /// Name of a link that loses packets at the equilibrium because its buffer is full.
    #[must_use]
    pub fn overflowing_link(&self) -> Option<&str> {
        let loses = |link: &&FluidLinkPlan| {
            let lost = link.id.and_then(|id| self.value(Entity::Link(id.0), "loss probability"));
            lost.is_some_and(|lost| lost > 0.0)
        };
        self.plan.links.iter().find(loses).map(|link| link.entity.as_str())
    }
}

/// The longest round-trip time of a plan's loops without queueing, in seconds.
pub(crate) fn longest_rtt(plan: &FluidPlan) -> f64 {
    plan.loops.iter().map(|l| l.facts.base_rtt).fold(0.0, f64::max)
}

/// The equilibrium of a plan after its last flow has started.
///
/// # Errors
/// A law in discrete time, a utility that is not concave, a flow that no link limits, or no equilibrium.
pub fn find_equilibrium(plan: &FluidPlan) -> Result<PlanEquilibrium<'_>, AnalysisError> {
    find_equilibrium_at(plan, plan.assembly.last_start())
}

/// The equilibrium of a plan with the loops and capacities of this time, in seconds.
///
/// # Errors
/// As [`find_equilibrium`].
pub(crate) fn find_equilibrium_at(plan: &FluidPlan, time: f64) -> Result<PlanEquilibrium<'_>, AnalysisError> {
    let frozen = Frozen::new(&plan.assembly, time);
    if let Some(protocol) = plan.loops.iter().enumerate().find(|(l, _)| plan.assembly.is_clocked(*l)) {
        return Err(AnalysisError::DiscreteTime { protocol: protocol.1.protocol.clone() });
    }
    let closed_form = ClosedForm::of(plan, &frozen)?;
    let EquilibriumPoint { frozen, point, .. } =
        search(plan, &frozen, closed_form.as_ref(), time).map_err(|reason| named(plan, &reason))?;
    let found = PlanEquilibrium { plan, frozen, point, closed_form };
    found.relay_without_steady_state().map_or(Ok(found), |reason| Err(AnalysisError::NoEquilibrium(reason)))
}

/// Searches from the initial state with both methods, then from simulated states. An equilibrium that agrees with the
/// closed form and does not repel ends the search; otherwise one that does not repel is preferred.
fn search<'p>(
    plan: &FluidPlan,
    frozen: &Frozen<'p>,
    closed_form: Option<&ClosedForm>,
    time: f64,
) -> Result<EquilibriumPoint<'p>, NoEquilibrium> {
    /// Largest relative difference to the closed form that counts as agreement.
    const AGREEMENT: f64 = 1e-3;
    let initial = plan.assembly.initial();
    let (mut found, mut reason) = (Vec::new(), None);
    for method in [SearchMethod::Fast, SearchMethod::Cautious] {
        match equilibrium::search(frozen, &initial, method) {
            Ok(rest)
                if !rest.is_repelling && closed_form_error(plan, closed_form, &rest.point) < AGREEMENT =>
            {
                return Ok(rest);
            }
            Ok(rest) => found.push(rest),
            Err(why) => reason = Some(why),
        }
    }
    if found.iter().all(|rest| rest.is_repelling) && !matches!(reason, Some(NoEquilibrium::Grows { .. })) {
        for start in simulated_states(plan, time).into_iter().flatten() {
            let searches = [SearchMethod::Fast, SearchMethod::Cautious].into_iter();
            found.extend(searches.filter_map(|method| equilibrium::search(frozen, &start, method).ok()));
            if found.iter().any(|rest| !rest.is_repelling) {
                break;
            }
        }
    }
    let not_converged = NoEquilibrium::NotConverged { remaining: f64::INFINITY };
    found.into_iter().min_by_key(|rest| rest.is_repelling).ok_or(reason.unwrap_or(not_converged))
}

/// The states 30 s after `time` (or after a limit on steps), then their mean over the 10 s that follow. The mean helps
/// where the network oscillates even without delays, so that no search from a single state converges.
fn simulated_states(plan: &FluidPlan, time: f64) -> Option<[Vec<f64>; 2]> {
    const SECONDS: f64 = 30.0;
    const STEPS: u64 = 50_000;
    const SAMPLES: u32 = 500;
    let mut solver = Solver::new(&plan.assembly, Accuracy::default()).ok()?;
    solver.advance_some(time + SECONDS, STEPS).ok()?;
    let (start, states) = (solver.time(), solver.state().to_vec());
    let mut mean = vec![0.0; states.len()];
    for sample in 1..=SAMPLES {
        let until = start + SECONDS / 3.0 * f64::from(sample) / f64::from(SAMPLES);
        solver.advance_some(until, STEPS / u64::from(SAMPLES)).ok()?;
        mean.iter_mut().zip(solver.state()).for_each(|(mean, x)| *mean += x / f64::from(SAMPLES));
    }
    Some([states, mean])
}

/// The largest relative difference between a sending rate and the closed form; zero without one.
fn closed_form_error(plan: &FluidPlan, closed_form: Option<&ClosedForm>, point: &OperatingPoint) -> f64 {
    let Some(closed_form) = closed_form else { return 0.0 };
    let errors = closed_form.allocation.rates.iter().enumerate().map(|(l, expected)| {
        let found = channel(plan, point, Entity::Loop(l), "sending rate").unwrap_or(f64::NAN);
        if *expected > 0.0 { (found / expected - 1.0).abs() } else { 0.0 }
    });
    errors.fold(0.0, f64::max)
}

fn channel(plan: &FluidPlan, point: &OperatingPoint, entity: Entity, quantity: &str) -> Option<f64> {
    let columns = plan.assembly.channel_columns();
    let found = columns.iter().position(|column| column.entity == entity && column.quantity == quantity);
    found.map(|index| point.channels[index])
}

/// The error with flows and links named as in the scenario.
fn named(plan: &FluidPlan, reason: &NoEquilibrium) -> AnalysisError {
    let link = |id: usize| plan.links.iter().find(|link| link.id.is_some_and(|link| link.0 == id));
    let link = |id: usize| link(id).map_or_else(|| format!("link {id}"), |link| link.entity.clone());
    AnalysisError::NoEquilibrium(reason.describe(&|l| plan.loops[l].name.clone(), &link))
}
