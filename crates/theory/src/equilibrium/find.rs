//! Where a scenario settles.

use crate::Refusal;
use millpond_fluid::equilibrium::{
    self, Equilibrium, EquilibriumPoint, FlowClass, FlowLimit, NoEquilibrium, SearchMethod,
    marking_probability,
};
use millpond_fluid::stability::Linearized;
use millpond_fluid::{Accuracy, Entity, Frozen, OperatingPoint, Solver};
use millpond_law::fluid::{Allocation, Marginal, PriceSum};
use millpond_plan::fluid::{Plan, PlannedLink};

/// A scenario at rest.
pub struct Settled<'p> {
    /// What rests.
    pub plan: &'p Plan,
    /// The network with every delay collapsed.
    pub frozen: Frozen<'p>,
    /// The point of rest.
    pub moment: OperatingPoint,
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
        value(self.plan, &self.moment, entity, quantity)
    }

    /// What small disturbances do.
    #[must_use]
    pub fn linear(&self) -> Linearized {
        Linearized::of(&self.frozen, &self.frozen.holding_empty_queues(&self.moment))
    }

    /// How far the equations rest from the closed form: the largest share of a rate.
    #[must_use]
    pub fn apart(&self) -> f64 {
        apart(self.plan, self.closed.as_ref(), &self.moment)
    }

    /// A link whose buffer is full at rest.
    #[must_use]
    pub fn overflowing(&self) -> Option<&str> {
        let loses = |link: &&PlannedLink| {
            let lost = link.id.and_then(|id| self.value(Entity::Link(id.0), "loss probability"));
            lost.is_some_and(|lost| lost > 0.0)
        };
        self.plan.links.iter().find(loses).map(|link| link.entity.as_str())
    }
}

/// Time at which a scenario is looked at: all loops have started and none has stopped, where there is such a time.
pub(crate) fn present(plan: &Plan) -> f64 {
    plan.assembly.last_start()
}

/// The longest round-trip time without queues.
pub(crate) fn longest_rtt(plan: &Plan) -> f64 {
    plan.loops.iter().map(|l| l.facts.base_rtt).fold(0.0, f64::max)
}

/// The point of rest of a plan when its last flow has started.
///
/// # Errors
/// A utility that is not concave, a flow that nothing limits, or no rest.
pub fn settle(plan: &Plan) -> Result<Settled<'_>, Refusal> {
    settle_at(plan, present(plan))
}

/// The point of rest of a plan with the loops and capacities of this time, in seconds.
pub(crate) fn settle_at(plan: &Plan, time: f64) -> Result<Settled<'_>, Refusal> {
    let frozen = Frozen::new(&plan.assembly, time);
    if let Some(protocol) = plan.loops.iter().enumerate().find(|(l, _)| plan.assembly.is_clocked(*l)) {
        return Err(Refusal::Clocked { protocol: protocol.1.protocol.clone() });
    }
    let closed = closed(plan, &frozen)?;
    let EquilibriumPoint { frozen, point: moment, .. } =
        rest(plan, &frozen, closed.as_ref(), time).map_err(|reason| restless(plan, &reason))?;
    Ok(Settled { plan, frozen, moment, closed })
}

/// Boldly from the initial state, then carefully, then from where the flows are after some time and from what they swing
/// about. What agrees with the closed form and does not repel is an answer; else what does not repel; else whatever rests.
fn rest<'p>(
    plan: &Plan,
    frozen: &Frozen<'p>,
    closed: Option<&Closed>,
    time: f64,
) -> Result<EquilibriumPoint<'p>, NoEquilibrium> {
    const CLOSE: f64 = 1e-3;
    let initial = plan.assembly.initial();
    let (mut found, mut reason) = (Vec::new(), None);
    for manner in [SearchMethod::Fast, SearchMethod::Cautious] {
        match equilibrium::search(frozen, &initial, manner) {
            Ok(rest) if !rest.is_repelling && apart(plan, closed, &rest.point) < CLOSE => return Ok(rest),
            Ok(rest) => found.push(rest),
            Err(why) => reason = Some(why),
        }
    }
    if found.iter().all(|rest| rest.is_repelling) && !matches!(reason, Some(NoEquilibrium::Grows { .. })) {
        for start in later(plan, time).into_iter().flatten() {
            let searches = [SearchMethod::Fast, SearchMethod::Cautious].into_iter();
            found.extend(searches.filter_map(|manner| equilibrium::search(frozen, &start, manner).ok()));
            if found.iter().any(|rest| !rest.is_repelling) {
                break;
            }
        }
    }
    let nothing = NoEquilibrium::NotConverged { remaining: f64::INFINITY };
    found.into_iter().min_by_key(|rest| rest.is_repelling).ok_or(reason.unwrap_or(nothing))
}

/// Where the flows are after some time, or after so many steps; then what they are on the mean in the third of that time
/// which follows: a network that swings even without its delays leads every search about its rest, and not there.
fn later(plan: &Plan, time: f64) -> Option<[Vec<f64>; 2]> {
    const SECONDS: f64 = 30.0;
    const STEPS: u64 = 50_000;
    const LOOKS: u32 = 500;
    let mut solver = Solver::new(&plan.assembly, Accuracy::default()).ok()?;
    solver.advance_some(time + SECONDS, STEPS).ok()?;
    let (begun, later) = (solver.time(), solver.state().to_vec());
    let mut mean = vec![0.0; later.len()];
    for look in 1..=LOOKS {
        let until = begun + SECONDS / 3.0 * f64::from(look) / f64::from(LOOKS);
        solver.advance_some(until, STEPS / u64::from(LOOKS)).ok()?;
        mean.iter_mut().zip(solver.state()).for_each(|(mean, x)| *mean += x / f64::from(LOOKS));
    }
    Some([later, mean])
}

/// How far the rates are from the closed form, as a share of it; nothing if there is none.
fn apart(plan: &Plan, closed: Option<&Closed>, moment: &OperatingPoint) -> f64 {
    let Some(closed) = closed else { return 0.0 };
    let apart = closed.equilibrium.rates.iter().enumerate().map(|(l, expected)| {
        let found = value(plan, moment, Entity::Loop(l), "sending rate").unwrap_or(f64::NAN);
        if *expected > 0.0 { (found / expected - 1.0).abs() } else { 0.0 }
    });
    apart.fold(0.0, f64::max)
}

fn value(plan: &Plan, moment: &OperatingPoint, entity: Entity, quantity: &str) -> Option<f64> {
    let columns = plan.assembly.channel_columns();
    let found = columns.iter().position(|column| column.entity == entity && column.quantity == quantity);
    found.map(|place| moment.channels[place])
}

/// The reason, its flows and links being called what the scenario calls them.
fn restless(plan: &Plan, reason: &NoEquilibrium) -> Refusal {
    let link = |id: usize| plan.links.iter().find(|link| link.id.is_some_and(|link| link.0 == id));
    let link = |id: usize| link(id).map_or_else(|| format!("link {id}"), |link| link.entity.clone());
    Refusal::Restless(reason.describe(&|l| plan.loops[l].name.clone(), &link))
}

/// The same of the network of [`network`].
fn unsettled(plan: &Plan, active: &[usize], reason: &NoEquilibrium) -> Refusal {
    let flow = |place: usize| plan.loops[active[place]].name.clone();
    Refusal::Restless(reason.describe(&flow, &|link| plan.links[link].entity.clone()))
}

/// The allocation that all protocols of the plan promise, if it is of one kind.
fn closed(plan: &Plan, frozen: &Frozen<'_>) -> Result<Option<Closed>, Refusal> {
    let active: Vec<usize> = (0..plan.loops.len()).filter(|l| frozen.is_active(*l)).collect();
    let network = network(plan, frozen, &active);
    let shares: Option<Vec<FlowLimit>> = active.iter().map(|l| share(&plan.loops[*l].allocation)).collect();
    if let Some(shares) = shares {
        let filled = equilibrium::water_filling(&network, &shares);
        let filled = filled.map_err(|reason| unsettled(plan, &active, &reason))?;
        let equilibrium = spread(filled, &active, plan.loops.len());
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
        Err(reason) => Err(unsettled(plan, &active, &reason)),
    }
}

fn network(plan: &Plan, frozen: &Frozen<'_>, active: &[usize]) -> equilibrium::AllocationProblem {
    let capacity = |link: &millpond_plan::fluid::PlannedLink| {
        link.id.map_or(f64::INFINITY, |id| frozen.capacity(id.0) * plan.assembly.utilization(id))
    };
    let flow = |l: &usize| FlowClass { path: plan.loops[*l].links.clone(), count: plan.loops[*l].count };
    equilibrium::AllocationProblem {
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

fn share(allocation: &Allocation) -> Option<FlowLimit> {
    match allocation {
        Allocation::MaxMin { weight } => Some(FlowLimit { weight: *weight, ..FlowLimit::default() }),
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
