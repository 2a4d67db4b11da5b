//! Where a scenario settles.

use super::Refusal;
use crate::fluid::Plan;
use millpond_fluid::equilibrium::{self, Equilibrium, Flow, NoEquilibrium, Share, marking_probability};
use millpond_fluid::{Accuracy, Entity, Frozen, Moment, Solver};
use millpond_law::fluid::{Allocation, Marginal, PriceSum};

/// A scenario at rest.
pub struct Settled<'p> {
    /// What rests.
    pub plan: &'p Plan,
    /// The network with every delay collapsed.
    pub frozen: Frozen<'p>,
    /// The point of rest.
    pub moment: Moment,
    /// The same from the allocation that the protocols promise, where it has a closed form.
    pub closed: Option<Closed>,
}

/// An equilibrium in closed form.
pub struct Closed {
    /// `max-min`, or `utility maximum`.
    pub kind: &'static str,
    /// Of the network of [`Plan::loops`] and [`Plan::links`].
    pub equilibrium: Equilibrium,
    /// Whether prices are -ln(1 - p) of marking probabilities p.
    pub marks: bool,
}

impl Closed {
    /// What a link charges, as its law has it.
    #[must_use]
    pub fn price(&self, link: usize) -> f64 {
        let price = self.equilibrium.prices[link];
        if self.marks { marking_probability(price) } else { price }
    }
}

impl Settled<'_> {
    /// A column of the moment: a state, or what a sender sends and a link says.
    #[must_use]
    pub fn value(&self, entity: Entity, quantity: &str) -> Option<f64> {
        let columns = self.plan.assembly.channel_columns();
        let found = columns.iter().position(|column| column.entity == entity && column.quantity == quantity);
        found.map(|place| self.moment.channels[place])
    }
}

/// Time at which a scenario is looked at: all flows have started and none has stopped, where there is such a time.
pub(crate) fn present(plan: &Plan) -> f64 {
    plan.flows.iter().map(|flow| flow.start.secs()).fold(0.0, f64::max)
}

/// The point of rest of a plan when its last flow has started.
///
/// # Errors
/// A utility that is not concave, a flow that nothing limits, or no rest.
pub fn settle(plan: &Plan) -> Result<Settled<'_>, Refusal> {
    settle_at(plan, present(plan))
}

/// The point of rest of a plan with the loops and capacities of this time, in seconds.
pub(super) fn settle_at(plan: &Plan, time: f64) -> Result<Settled<'_>, Refusal> {
    let frozen = Frozen::new(&plan.assembly, time);
    if let Some(protocol) = plan.loops.iter().enumerate().find(|(l, _)| plan.assembly.is_clocked(*l)) {
        return Err(Refusal::Clocked { protocol: protocol.1.protocol.clone() });
    }
    let closed = closed(plan, &frozen)?;
    let moment = rest(plan, &frozen, time)?;
    Ok(Settled { plan, frozen, moment, closed })
}

/// From the initial state; if that leads nowhere, from where the flows are after some time, or after so many steps.
fn rest(plan: &Plan, frozen: &Frozen<'_>, time: f64) -> Result<Moment, NoEquilibrium> {
    const SECONDS: f64 = 30.0;
    const STEPS: u64 = 50_000;
    equilibrium::rest(frozen, &plan.assembly.initial()).or_else(|reason| {
        let mut solver = Solver::new(&plan.assembly, Accuracy::default()).map_err(|_| reason.clone())?;
        solver.advance_some(time + SECONDS, STEPS).map_err(|_| reason)?;
        equilibrium::rest(frozen, solver.state())
    })
}

/// The allocation that all protocols of the plan promise, if it is of one kind.
fn closed(plan: &Plan, frozen: &Frozen<'_>) -> Result<Option<Closed>, Refusal> {
    let active: Vec<usize> = (0..plan.loops.len()).filter(|l| frozen.is_active(*l)).collect();
    let network = network(plan, frozen, &active);
    let shares: Option<Vec<Share>> = active.iter().map(|l| share(&plan.loops[*l].allocation)).collect();
    if let Some(shares) = shares {
        let equilibrium = spread(equilibrium::water_filling(&network, &shares)?, &active, plan.loops.len());
        return Ok(Some(Closed { kind: "max-min", equilibrium, marks: false }));
    }
    let utilities: Option<Vec<(Utility<'_>, bool)>> =
        active.iter().map(|l| utility(&plan.loops[*l].allocation)).collect();
    let Some(utilities) = utilities else { return Ok(None) };
    let marks = utilities.iter().any(|(_, marks)| *marks);
    let utilities: Vec<Utility<'_>> = utilities.into_iter().map(|(utility, _)| utility).collect();
    match equilibrium::maximize(&network, &utilities) {
        Ok(found) => {
            let equilibrium = spread(found, &active, plan.loops.len());
            Ok(Some(Closed { kind: "utility maximum", equilibrium, marks }))
        }
        // The equations themselves may still come to rest.
        Err(NoEquilibrium::NotConverged { .. }) => Ok(None),
        Err(reason) => Err(reason.into()),
    }
}

fn network(plan: &Plan, frozen: &Frozen<'_>, active: &[usize]) -> equilibrium::Network {
    let capacity = |link: &crate::fluid::PlannedLink| {
        link.id.map_or(f64::INFINITY, |id| frozen.capacity(id.0) * plan.assembly.utilization(id))
    };
    let flow = |l: &usize| Flow { path: plan.loops[*l].links.clone(), count: plan.loops[*l].count };
    equilibrium::Network {
        capacities: plan.links.iter().map(capacity).collect(),
        flows: active.iter().map(flow).collect(),
    }
}

/// Rates by loop, zero for those that are not there.
fn spread(mut found: Equilibrium, active: &[usize], loops: usize) -> Equilibrium {
    let mut rates = vec![0.0; loops];
    for (rate, l) in found.rates.iter().zip(active) {
        rates[*l] = *rate;
    }
    found.rates = rates;
    found
}

fn share(allocation: &Allocation) -> Option<Share> {
    match allocation {
        Allocation::MaxMin { weight } => Some(Share { weight: *weight, ..Share::default() }),
        _ => None,
    }
}

fn utility(allocation: &Allocation) -> Option<(Utility<'_>, bool)> {
    match allocation {
        Allocation::Utility { marginal, prices } => {
            Some((Utility(marginal.as_ref()), *prices == PriceSum::Marked))
        }
        _ => None,
    }
}

/// A law's utility, borrowed.
struct Utility<'a>(&'a dyn Marginal);

impl Marginal for Utility<'_> {
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
