//! The classification of the steady state of a plan.

use super::cycle::{periods_at, periods_of_fair_shares};
use crate::AnalysisError;
use crate::equilibrium::{PlanEquilibrium, find_equilibrium_at};
use crate::stability::{
    JumpLimitCycle, LinearAnalysis, Stability, analyze_stability, chains, limit_cycle_of,
};
use crate::steady_state::{FixedPoint, Oscillation, SteadyState};
use millpond_fluid::{Entity, Frozen};
use millpond_plan::fluid::{FluidLoopPlan, FluidPlan};

/// The steady state of a plan, and what it was concluded from.
pub struct SteadyStateAnalysis<'p> {
    /// The plan.
    pub plan: &'p FluidPlan,
    /// The steady state.
    pub state: SteadyState,
    /// The equilibrium of the equations, about which a sawtooth or a limit cycle oscillates; none if they have none.
    pub equilibrium: Option<PlanEquilibrium<'p>>,
    /// The roots of the linear network about it; only for a fixed point or a continuum.
    pub(crate) linear: Option<LinearAnalysis<'p>>,
}

impl<'p> SteadyStateAnalysis<'p> {
    /// The stability of the equilibrium of a fixed point or a continuum; `Ok(None)` if the network oscillates.
    ///
    /// # Errors
    /// There is no equilibrium, a flow receives no feedback, or the roots cannot be computed.
    pub fn stability(&mut self) -> Result<Option<Stability>, AnalysisError> {
        if let Some(linear) = self.linear.take() {
            let stability = linear.with_margins()?;
            let chains = self.equilibrium.as_ref().map(|found| chains(found, &stability.linear));
            return Ok(Some(Stability { chains: chains.unwrap_or_default(), ..stability }));
        }
        match &self.state {
            SteadyState::None { reason } => Err(AnalysisError::NoEquilibrium(reason.clone())),
            SteadyState::LimitCycle(_) | SteadyState::Sawtooth(_) => Ok(None),
            SteadyState::FixedPoint(_) | SteadyState::Continuum { .. } => match &self.equilibrium {
                Some(equilibrium) => analyze_stability(equilibrium).map(Some),
                None => Ok(None),
            },
        }
    }
}

/// The steady state of a plan after its last flow has started.
///
/// # Errors
/// A utility that is not concave, or a flow that no link limits.
pub fn analyze_steady_state(plan: &FluidPlan) -> Result<SteadyStateAnalysis<'_>, AnalysisError> {
    analyze_steady_state_at(plan, plan.assembly.last_start())
}

/// The steady state with the loops and capacities of this time, in seconds.
///
/// # Errors
/// As [`analyze_steady_state`].
pub fn analyze_steady_state_at(
    plan: &FluidPlan,
    time: f64,
) -> Result<SteadyStateAnalysis<'_>, AnalysisError> {
    let frozen = Frozen::new(&plan.assembly, time);
    if let Some(reason) = limit_cycle_by_design(plan, &frozen) {
        let periods = periods_of_fair_shares(plan, &frozen);
        let state = SteadyState::LimitCycle(Oscillation { reason, periods, fluid_period: None });
        return Ok(SteadyStateAnalysis { plan, state, equilibrium: None, linear: None });
    }
    match find_equilibrium_at(plan, time) {
        Ok(equilibrium) => Ok(classify(plan, equilibrium)),
        Err(AnalysisError::NoEquilibrium(reason)) => {
            let state = SteadyState::None { reason };
            Ok(SteadyStateAnalysis { plan, state, equilibrium: None, linear: None })
        }
        Err(other) => Err(other),
    }
}

/// Why a law oscillates whatever its links do; none if no active law does.
fn limit_cycle_by_design(plan: &FluidPlan, frozen: &Frozen<'_>) -> Option<String> {
    let active = || plan.loops.iter().enumerate().filter(|(l, _)| frozen.is_active(*l));
    let declared = |(_, planned): (usize, &FluidLoopPlan)| {
        planned.steady_state.limit_cycle.map(|reason| format!("under {}, {reason}", planned.protocol))
    };
    let clocked = |(l, planned): (usize, &FluidLoopPlan)| {
        plan.assembly.is_clocked(l).then(|| format!("{} decides at discrete times", planned.protocol))
    };
    active().find_map(declared).or_else(|| active().find_map(clocked))
}

fn classify<'p>(plan: &'p FluidPlan, equilibrium: PlanEquilibrium<'p>) -> SteadyStateAnalysis<'p> {
    let (state, linear) = match cycle(&equilibrium) {
        Some(state) => (state, None),
        None => match LinearAnalysis::of(&equilibrium) {
            Ok(linear) => (linear.steady_state(), Some(linear)),
            Err(AnalysisError::NoBottleneck { flow }) => {
                (SteadyState::FixedPoint(FixedPoint::WithoutFeedback { flow }), None)
            }
            Err(reason) => {
                (SteadyState::FixedPoint(FixedPoint::Unknown { reason: reason.to_string() }), None)
            }
        },
    };
    SteadyStateAnalysis { plan, state, equilibrium: Some(equilibrium), linear }
}

/// The cycle about an equilibrium at a jump of a queue law, or at a full buffer whose losses reduce windows at once.
fn cycle(equilibrium: &PlanEquilibrium<'_>) -> Option<SteadyState> {
    let plan = equilibrium.plan;
    if let Some(sliding) = equilibrium.frozen.sliding().first() {
        let link = plan.links.iter().position(|link| link.id.is_some_and(|id| id.0 == sliding.link));
        let JumpLimitCycle { reason, fluid_period } = limit_cycle_of(equilibrium, sliding);
        let periods = periods_at(equilibrium, link.as_slice());
        return Some(SteadyState::LimitCycle(Oscillation { reason, periods, fluid_period }));
    }
    let full = full_buffers(equilibrium);
    let reduces = |(l, planned): (usize, &FluidLoopPlan)| {
        let crosses = planned.links.iter().any(|link| full.contains(link));
        equilibrium.frozen.is_active(l) && crosses && planned.steady_state.cycle.is_some()
    };
    plan.loops.iter().enumerate().any(reduces).then(|| {
        let names: Vec<&str> = full.iter().map(|link| plan.links[*link].entity.as_str()).collect();
        let reason = match names.as_slice() {
            [one] => {
                format!(
                    "windows fall when the buffer of {one} overflows, and then grow until it is full again"
                )
            }
            several => format!(
                "windows fall when the buffers of {} overflow, and then grow until they are full again",
                several.join(", ")
            ),
        };
        let periods = periods_at(equilibrium, &full);
        SteadyState::Sawtooth(Oscillation { reason, periods, fluid_period: None })
    })
}

/// The links whose buffer is full and loses packets, as indices of the plan.
fn full_buffers(equilibrium: &PlanEquilibrium<'_>) -> Vec<usize> {
    let plan = equilibrium.plan;
    let columns = plan.assembly.state_columns();
    let is_full = |link: usize| {
        let is_queue = |entity: Entity, quantity: &str| entity == Entity::Link(link) && quantity == "queue";
        let queue = columns.iter().position(|column| is_queue(column.entity, column.quantity));
        let lost = equilibrium.value(Entity::Link(link), "loss probability");
        queue.is_some_and(|queue| equilibrium.point.x[queue] > 0.0 && equilibrium.point.is_held(queue))
            && lost.is_some_and(|lost| lost > 0.0)
    };
    (0..plan.links.len()).filter(|index| plan.links[*index].id.is_some_and(|id| is_full(id.0))).collect()
}
