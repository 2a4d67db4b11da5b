//! How a network would be shared under a utility that somebody chose, whatever its protocols do.

use super::find::present;
use crate::Refusal;
use millpond_fluid::equilibrium::{
    AllocationProblem, Equilibrium, FlowClass, FlowLimit, NoEquilibrium, maximize, water_filling,
};
use millpond_law::fluid::Marginal;
use millpond_plan::fluid::{Plan, PlannedLink};
use millpond_units::{Rate, Time};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The alpha-fair utilities (Mo and Walrand, IEEE/ACM Trans. Networking 8(5), 2000): U'(x) = x^-alpha. At 1 the proportional
/// fairness of Kelly, at 2 the least sum of 1 / x, towards infinity max-min.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaFair {
    alpha: f64,
}

impl AlphaFair {
    /// Above it, prices of flows whose rates lie far apart leave the range of numbers, and shares are those of infinity.
    const GREATEST: f64 = 32.0;

    fn share(self, network: &AllocationProblem, classes: &[Class]) -> Result<Equilibrium, NoEquilibrium> {
        if self.alpha.is_infinite() {
            let share = |class: &Class| FlowLimit { weight: class.weight, ..FlowLimit::default() };
            return water_filling(network, &classes.iter().map(share).collect::<Vec<_>>());
        }
        let own = |class: &Class| Weighted { alpha: self.alpha, weight: class.weight };
        maximize(network, &classes.iter().map(own).collect::<Vec<_>>())
    }
}

impl FromStr for AlphaFair {
    type Err = String;

    /// `alpha=2`, or `alpha=inf`.
    fn from_str(text: &str) -> Result<Self, String> {
        let value = text.strip_prefix("alpha=").ok_or_else(|| {
            format!(
                "expected alpha=NUMBER, such as alpha=1 (proportional) or alpha=inf (max-min), found {text}"
            )
        })?;
        let alpha: f64 = value
            .trim()
            .parse()
            .map_err(|_| format!("expected a number or inf after alpha=, found {value}"))?;
        if alpha.is_nan() {
            return Err("expected a number or inf after alpha=, found nan".to_owned());
        }
        if alpha < 0.0 {
            return Err(format!(
                "the utility of alpha = {alpha} is not concave: its marginal utility x^{} rises with the rate, so each flow \
                 would rather take all or nothing and no prices settle it; take alpha > 0",
                -alpha
            ));
        }
        if alpha == 0.0 {
            return Err("the utility of alpha = 0, the sum of rates, is not strictly concave: rates may be traded between \
                        flows at no cost, and the answer is not unique; take a small alpha such as 0.05"
                .to_owned());
        }
        if alpha > Self::GREATEST && alpha.is_finite() {
            return Err(format!(
                "alpha = {alpha} is beyond {}, where shares are those of max-min to a few per cent; take alpha=inf",
                Self::GREATEST
            ));
        }
        Ok(Self { alpha })
    }
}

impl fmt::Display for AlphaFair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.alpha {
            1.0 => f.write_str("proportionally fair (alpha = 1)"),
            f64::INFINITY => f.write_str("max-min fair (alpha = inf)"),
            alpha => write!(f, "alpha-fair (alpha = {alpha})"),
        }
    }
}

/// One flow's: a flow of weight w counts as w flows, w U(x / w).
struct Weighted {
    alpha: f64,
    weight: f64,
}

impl Marginal for Weighted {
    fn marginal(&self, rate: f64) -> f64 {
        (rate / self.weight).powf(-self.alpha)
    }

    fn demand(&self, price: f64) -> f64 {
        price.powf(-1.0 / self.alpha) * self.weight
    }
}

/// Flows of a group that cross the same links.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The group.
    pub group: String,
    /// How many they are.
    pub count: f64,
    /// So many flows each counts for.
    pub weight: f64,
    links: Vec<usize>,
}

/// A plan's network, shared.
pub struct Shared<'p> {
    /// Whose network.
    pub plan: &'p Plan,
    /// By which utility.
    pub utility: AlphaFair,
    /// Who shares it.
    pub classes: Vec<Class>,
    /// The links that anybody crosses, as indices of [`Plan::links`].
    pub links: Vec<usize>,
    /// Rates by class; prices, loads and bottlenecks by the place of a link among those.
    pub equilibrium: Equilibrium,
    /// In bit/s, of those.
    pub capacities: Vec<f64>,
}

/// Shares the network of a plan among the flows that are there when the last has started. `weights` are of groups by name;
/// others weigh 1.
///
/// # Errors
/// A weight of a group that is not there, a flow that no link limits, or no convergence.
pub fn share_out<'p>(
    plan: &'p Plan,
    utility: AlphaFair,
    weights: &[(String, f64)],
) -> Result<Shared<'p>, Refusal> {
    let classes = classes(plan, weights)?;
    let used: BTreeSet<usize> = classes.iter().flat_map(|class| class.links.iter().copied()).collect();
    let links: Vec<usize> = used.into_iter().collect();
    let capacities: Vec<f64> = links.iter().map(|link| capacity(&plan.links[*link], present(plan))).collect();
    // A power of bit/s is no number any more: the widest link is one.
    let unit = capacities.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let path = |class: &Class| class.links.iter().filter_map(|link| links.binary_search(link).ok()).collect();
    let flow = |class: &Class| FlowClass { path: path(class), count: class.count };
    let network = AllocationProblem {
        capacities: capacities.iter().map(|capacity| capacity / unit).collect(),
        flows: classes.iter().map(flow).collect(),
    };
    let found = utility.share(&network, &classes);
    let name = |class: usize| classes[class].group.clone();
    let link = |link: usize| plan.links[links[link]].entity.clone();
    let mut equilibrium = found.map_err(|reason| Refusal::Restless(why(&reason, &name, &link)))?;
    equilibrium.rates.iter_mut().chain(&mut equilibrium.loads).for_each(|rate| *rate *= unit);
    Ok(Shared { plan, utility, classes, links, equilibrium, capacities })
}

/// Why there are no shares.
fn why(reason: &NoEquilibrium, flow: &dyn Fn(usize) -> String, link: &dyn Fn(usize) -> String) -> String {
    match reason {
        NoEquilibrium::NotConverged { remaining } => format!(
            "the convex solver stopped {remaining:.1e} from the optimum; take a utility less extreme, or weights nearer to each other"
        ),
        other => other.describe(flow, link),
    }
}

/// What a link carries at this time, in seconds.
fn capacity(link: &PlannedLink, time: f64) -> f64 {
    let at = |(from, _): &&(Time, Rate)| from.secs() <= time;
    link.capacity.iter().rev().find(at).map_or(f64::INFINITY, |(_, rate)| rate.bps() as f64)
}

fn classes(plan: &Plan, weights: &[(String, f64)]) -> Result<Vec<Class>, Refusal> {
    let groups: BTreeSet<&str> = plan.flows.iter().map(|flow| flow.group.as_str()).collect();
    if let Some((unknown, _)) = weights.iter().find(|(group, _)| !groups.contains(group.as_str())) {
        let groups: Vec<&str> = groups.into_iter().collect();
        return Err(Refusal::Weight(format!(
            "no group of flows is called {unknown}; there are {}",
            groups.join(", ")
        )));
    }
    let mut classes: Vec<Class> = Vec::new();
    let now = present(plan);
    for flow in plan.flows.iter().filter(|flow| flow.stop.is_none_or(|stop| stop.secs() > now)) {
        match classes.iter_mut().find(|class| class.group == flow.group && class.links == flow.links) {
            Some(class) => class.count += 1.0,
            None => {
                let given = weights.iter().rev().find(|(group, _)| *group == flow.group);
                let weight = given.map_or(1.0, |(_, weight)| *weight);
                let (group, links) = (flow.group.clone(), flow.links.clone());
                classes.push(Class { group, count: 1.0, weight, links });
            }
        }
    }
    Ok(classes)
}

/// `long=2`: a group and how many flows each of its flows counts for.
///
/// # Errors
/// What was expected.
pub fn weight(text: &str) -> Result<(String, f64), String> {
    let expected = || format!("expected GROUP=NUMBER with a number above zero, such as long=2, found {text}");
    let (group, value) = text.split_once('=').ok_or_else(expected)?;
    let value: f64 = value.trim().parse().map_err(|_| expected())?;
    if group.is_empty() || !(value > 0.0 && value.is_finite()) {
        return Err(expected());
    }
    Ok((group.trim().to_owned(), value))
}
