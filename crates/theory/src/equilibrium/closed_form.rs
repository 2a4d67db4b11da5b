//! The allocation that the protocols of a plan promise, where it has a closed form.

use crate::AnalysisError;
use millpond_fluid::Frozen;
use millpond_fluid::equilibrium::{
    self, AllocationProblem, Equilibrium, FlowClass, FlowLimit, NoEquilibrium, marking_probability,
};
use millpond_law::fluid::{Allocation, Marginal, PriceSum};
use millpond_plan::fluid::{FluidLinkPlan, FluidPlan};

/// An equilibrium in closed form.
pub struct ClosedForm {
    /// `max-min` or `utility maximum`.
    pub kind: &'static str,
    /// Rates by loop of [`FluidPlan::loops`], prices and loads by link of [`FluidPlan::links`].
    pub allocation: Equilibrium,
    /// Whether prices are -ln(1 - p) of marking probabilities p.
    pub prices_are_marks: bool,
}

impl ClosedForm {
    /// The price of a link in the unit of its law: a marking probability where prices stand for marks.
    #[must_use]
    pub fn price(&self, link: usize) -> f64 {
        let price = self.allocation.prices[link];
        if self.prices_are_marks { marking_probability(price) } else { price }
    }

    /// The allocation that all protocols of the plan promise; none if they promise different kinds, or none at all, or if
    /// laws compute with another capacity than the actual one, because they promise it for the actual one.
    ///
    /// # Errors
    /// A utility that is not concave, or a flow that no link limits.
    pub(super) fn of(plan: &FluidPlan, frozen: &Frozen<'_>) -> Result<Option<Self>, AnalysisError> {
        let misconfigured = |id: usize| frozen.configured_capacity(id) != frozen.capacity(id);
        if plan.links.iter().filter_map(|link| link.id).any(|id| misconfigured(id.0)) {
            return Ok(None);
        }
        let active: Vec<usize> = (0..plan.loops.len()).filter(|l| frozen.is_active(*l)).collect();
        let problem = allocation_problem(plan, frozen, &active);
        let limits: Option<Vec<FlowLimit>> =
            active.iter().map(|l| max_min_limit(&plan.loops[*l].allocation)).collect();
        if let Some(limits) = limits {
            let filled = equilibrium::water_filling(&problem, &limits);
            let filled = filled.map_err(|reason| unlimited(plan, &active, &reason))?;
            let allocation = rates_by_loop(filled, &active, plan.loops.len());
            return Ok(Some(Self { kind: "max-min", allocation, prices_are_marks: false }));
        }
        let utilities: Option<Vec<(LawUtility<'_>, bool)>> =
            active.iter().map(|l| utility(&plan.loops[*l].allocation)).collect();
        let Some(utilities) = utilities else { return Ok(None) };
        let prices_are_marks = utilities.iter().any(|(_, marks)| *marks);
        let utilities: Vec<LawUtility<'_>> = utilities.into_iter().map(|(utility, _)| utility).collect();
        match equilibrium::maximize(&problem, &utilities) {
            Ok(found) => {
                let allocation = rates_by_loop(found, &active, plan.loops.len());
                Ok(Some(Self { kind: "utility maximum", allocation, prices_are_marks }))
            }
            // The equations themselves may still have an equilibrium.
            Err(NoEquilibrium::NotConverged { .. }) => Ok(None),
            Err(reason) => Err(unlimited(plan, &active, &reason)),
        }
    }
}

/// Max-min fair rates by loop with the weights of the flows, in bit/s, whatever the protocols promise; none if no link
/// limits a flow.
pub(crate) fn max_min_rates(plan: &FluidPlan, frozen: &Frozen<'_>) -> Option<Vec<f64>> {
    let active: Vec<usize> = (0..plan.loops.len()).filter(|l| frozen.is_active(*l)).collect();
    let mut problem = allocation_problem(plan, frozen, &active);
    for (capacity, link) in problem.capacities.iter_mut().zip(&plan.links) {
        *capacity = link.id.map_or(f64::INFINITY, |id| frozen.capacity(id.0));
    }
    let limit = |l: &usize| FlowLimit { weight: plan.loops[*l].facts.weight, ..FlowLimit::default() };
    let limits: Vec<FlowLimit> = active.iter().map(limit).collect();
    let filled = equilibrium::water_filling(&problem, &limits).ok()?;
    Some(rates_by_loop(filled, &active, plan.loops.len()).rates)
}

/// Capacities of all links and the paths of the active loops.
fn allocation_problem(plan: &FluidPlan, frozen: &Frozen<'_>, active: &[usize]) -> AllocationProblem {
    let capacity = |link: &FluidLinkPlan| {
        link.id.map_or(f64::INFINITY, |id| frozen.capacity(id.0) * plan.assembly.utilization(id))
    };
    let flow = |l: &usize| FlowClass { path: plan.loops[*l].links.clone(), count: plan.loops[*l].count };
    AllocationProblem {
        capacities: plan.links.iter().map(capacity).collect(),
        flows: active.iter().map(flow).collect(),
    }
}

/// The error with flows and links named as in the scenario; flows are counted among the active loops.
fn unlimited(plan: &FluidPlan, active: &[usize], reason: &NoEquilibrium) -> AnalysisError {
    let flow = |index: usize| plan.loops[active[index]].name.clone();
    AnalysisError::NoEquilibrium(reason.describe(&flow, &|link| plan.links[link].entity.clone()))
}

/// The same allocation with a rate for each loop of the plan: zero for inactive ones.
fn rates_by_loop(mut found: Equilibrium, active: &[usize], loops: usize) -> Equilibrium {
    let mut rates = vec![0.0; loops];
    for (rate, l) in found.rates.iter().zip(active) {
        rates[*l] = *rate;
    }
    found.rates = rates;
    found
}

fn max_min_limit(allocation: &Allocation) -> Option<FlowLimit> {
    match allocation {
        Allocation::MaxMin { weight } => Some(FlowLimit { weight: *weight, ..FlowLimit::default() }),
        _ => None,
    }
}

/// The utility of a loop, and whether its prices stand for marks.
fn utility(allocation: &Allocation) -> Option<(LawUtility<'_>, bool)> {
    match allocation {
        Allocation::Utility { marginal, prices } => {
            Some((LawUtility(marginal.as_ref()), *prices == PriceSum::Marked))
        }
        _ => None,
    }
}

/// The utility of a law, borrowed.
struct LawUtility<'a>(&'a dyn Marginal);

impl Marginal for LawUtility<'_> {
    fn marginal(&self, rate: f64) -> f64 {
        self.0.marginal(rate)
    }

    fn demand(&self, price: f64) -> f64 {
        self.0.demand(price)
    }

    fn is_concave(&self) -> bool {
        self.0.is_concave()
    }
}
