//! The allocation of a network under an alpha-fair utility, whatever its protocols do.

use crate::AnalysisError;
use millpond_fluid::equilibrium::{
    AllocationProblem, Equilibrium, FlowClass, FlowLimit, NoEquilibrium, maximize, water_filling,
};
use millpond_law::fluid::Marginal;
use millpond_plan::fluid::{FluidLinkPlan, FluidPlan};
use millpond_units::{Rate, Time};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// An alpha-fair utility (Mo and Walrand, IEEE/ACM Trans. Networking 8(5), 2000): U'(x) = x^-alpha. Alpha = 1 is
/// proportional fairness (Kelly), alpha = 2 minimum potential delay, alpha = infinity max-min fairness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaFair {
    alpha: f64,
}

impl AlphaFair {
    /// The largest finite alpha. Above it prices of unequal flows leave the range of floating-point numbers, and shares
    /// equal those of infinity.
    const GREATEST: f64 = 32.0;

    fn allocate(
        self,
        problem: &AllocationProblem,
        classes: &[WeightedClass],
    ) -> Result<Equilibrium, NoEquilibrium> {
        if self.alpha.is_infinite() {
            let limit = |class: &WeightedClass| FlowLimit { weight: class.weight, ..FlowLimit::default() };
            return water_filling(problem, &classes.iter().map(limit).collect::<Vec<_>>());
        }
        let utility = |class: &WeightedClass| WeightedUtility { alpha: self.alpha, weight: class.weight };
        maximize(problem, &classes.iter().map(utility).collect::<Vec<_>>())
    }
}

impl FromStr for AlphaFair {
    type Err = String;

    /// Reads `alpha=2` or `alpha=inf`.
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
                 takes all or nothing and no prices balance the demands; take alpha > 0",
                -alpha
            ));
        }
        if alpha == 0.0 {
            return Err("the utility of alpha = 0, the sum of rates, is not strictly concave: rates can be exchanged between \
                        flows at no cost, and the allocation is not unique; take a small alpha such as 0.05"
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

/// The utility of a flow with a weight: a flow of weight w counts as w flows, w U(x / w).
struct WeightedUtility {
    alpha: f64,
    weight: f64,
}

impl Marginal for WeightedUtility {
    fn marginal(&self, rate: f64) -> f64 {
        (rate / self.weight).powf(-self.alpha)
    }

    fn demand(&self, price: f64) -> f64 {
        price.powf(-1.0 / self.alpha) * self.weight
    }
}

/// The weight of each flow of a group: `U'(x) = (x / weight)^-alpha`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupWeight {
    /// Name of the group.
    pub group: String,
    /// How many flows each of its flows counts for.
    pub weight: f64,
}

impl FromStr for GroupWeight {
    type Err = String;

    /// Reads `long=2`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("expected GROUP=NUMBER with a number above zero, such as long=2, found {text}");
        let (group, value) = text.split_once('=').ok_or_else(expected)?;
        let weight: f64 = value.trim().parse().map_err(|_| expected())?;
        if group.is_empty() || !(weight > 0.0 && weight.is_finite()) {
            return Err(expected());
        }
        Ok(Self { group: group.trim().to_owned(), weight })
    }
}

/// Flows of one group that cross the same links.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedClass {
    /// Name of the group.
    pub group: String,
    /// Name of the first of them.
    pub first: String,
    /// Number of flows.
    pub count: f64,
    /// How many flows each of them counts for.
    pub weight: f64,
    links: Vec<usize>,
}

impl WeightedClass {
    /// Its name among all classes: that of the group if it is the only one of the group, else that of its first flow.
    pub fn title(&self, classes: &[Self]) -> String {
        let others = (self.count as u64).saturating_sub(1);
        match classes.iter().filter(|class| class.group == self.group).count() {
            0 | 1 => self.group.clone(),
            _ if others == 0 => self.first.clone(),
            _ => format!("{} and {others} more", self.first),
        }
    }
}

/// The allocation of a plan's network under an alpha-fair utility.
pub struct UtilityAllocation<'p> {
    /// The plan.
    pub plan: &'p FluidPlan,
    /// The utility.
    pub utility: AlphaFair,
    /// The classes of flows.
    pub classes: Vec<WeightedClass>,
    /// The links that flows cross, as indices of [`FluidPlan::links`].
    pub links: Vec<usize>,
    /// Rates by class; prices, loads and bottlenecks by index into `links`.
    pub allocation: Equilibrium,
    /// Capacities of `links`, in bit/s.
    pub capacities: Vec<f64>,
}

/// Allocates the network of a plan among the flows that are active when the last one has started. Groups without a weight
/// have weight 1.
///
/// # Errors
/// A weight of a group that does not exist, a flow that no link limits, or no convergence.
pub fn allocate_by_utility<'p>(
    plan: &'p FluidPlan,
    utility: AlphaFair,
    weights: &[GroupWeight],
) -> Result<UtilityAllocation<'p>, AnalysisError> {
    let classes = classes(plan, weights)?;
    let used: BTreeSet<usize> = classes.iter().flat_map(|class| class.links.iter().copied()).collect();
    let links: Vec<usize> = used.into_iter().collect();
    let time = plan.assembly.last_start();
    let capacities: Vec<f64> = links.iter().map(|link| capacity(&plan.links[*link], time)).collect();
    // Rates are scaled by the greatest capacity: powers of bit/s would leave the range of floating-point numbers.
    let unit = capacities.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let path = |class: &WeightedClass| {
        class.links.iter().filter_map(|link| links.binary_search(link).ok()).collect()
    };
    let flow = |class: &WeightedClass| FlowClass { path: path(class), count: class.count };
    let problem = AllocationProblem {
        capacities: capacities.iter().map(|capacity| capacity / unit).collect(),
        flows: classes.iter().map(flow).collect(),
    };
    let found = utility.allocate(&problem, &classes);
    let name = |class: usize| classes[class].group.clone();
    let link = |link: usize| plan.links[links[link]].entity.clone();
    let mut allocation =
        found.map_err(|reason| AnalysisError::NoEquilibrium(describe(&reason, &name, &link)))?;
    allocation.rates.iter_mut().chain(&mut allocation.loads).for_each(|rate| *rate *= unit);
    Ok(UtilityAllocation { plan, utility, classes, links, allocation, capacities })
}

/// Why there is no allocation, with flows and links by name.
fn describe(
    reason: &NoEquilibrium,
    flow: &dyn Fn(usize) -> String,
    link: &dyn Fn(usize) -> String,
) -> String {
    match reason {
        NoEquilibrium::NotConverged { remaining } => format!(
            "the convex solver stopped {remaining:.1e} from the optimum; choose a smaller alpha, or weights that differ less"
        ),
        other => other.describe(flow, link),
    }
}

/// The capacity of a link at this time in seconds, in bit/s.
fn capacity(link: &FluidLinkPlan, time: f64) -> f64 {
    let is_past = |(from, _): &&(Time, Rate)| from.secs() <= time;
    link.capacity.iter().rev().find(is_past).map_or(f64::INFINITY, |(_, rate)| rate.bps() as f64)
}

fn classes(plan: &FluidPlan, weights: &[GroupWeight]) -> Result<Vec<WeightedClass>, AnalysisError> {
    let groups: BTreeSet<&str> = plan.flows.iter().map(|flow| flow.group.as_str()).collect();
    if let Some(unknown) = weights.iter().find(|weight| !groups.contains(weight.group.as_str())) {
        let groups: Vec<&str> = groups.into_iter().collect();
        return Err(AnalysisError::UnknownGroup(format!(
            "no group of flows is called {}; there are {}",
            unknown.group,
            groups.join(", ")
        )));
    }
    let mut classes: Vec<WeightedClass> = Vec::new();
    let time = plan.assembly.last_start();
    for flow in plan.flows.iter().filter(|flow| flow.stop.is_none_or(|stop| stop.secs() > time)) {
        match classes.iter_mut().find(|class| class.group == flow.group && class.links == flow.links) {
            Some(class) => class.count += 1.0,
            None => {
                let given = weights.iter().rev().find(|weight| weight.group == flow.group);
                let weight = given.map_or(1.0, |given| given.weight);
                let (group, first, links) = (flow.group.clone(), flow.name.clone(), flow.links.clone());
                classes.push(WeightedClass { group, first, count: 1.0, weight, links });
            }
        }
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(weight: f64, count: f64) -> WeightedClass {
        WeightedClass { group: String::new(), first: String::new(), count, weight, links: Vec::new() }
    }

    /// A flow of weight w over two links of capacity 1, and two flows of weight 1 over each of them. With prices p of both links,
    /// `(x / w)^-alpha = 2 p` and `y^-alpha = p`: `y = 2^(1/alpha) x / w` and `x + 2 y = 1`. A limit of alpha makes the factor 1.
    #[test]
    fn a_flow_of_a_weight_has_the_share_of_as_many_flows() {
        for alpha in [0.5, 1.0, 2.0, f64::INFINITY] {
            for weight in [0.25, 1.0, 3.0] {
                let classes = [class(weight, 1.0), class(1.0, 2.0), class(1.0, 2.0)];
                let paths = [vec![0, 1], vec![0], vec![1]];
                let flows = paths.into_iter().zip(&classes);
                let flows = flows.map(|(path, class)| FlowClass { path, count: class.count }).collect();
                let problem = AllocationProblem { capacities: vec![1.0; 2], flows };
                let found = AlphaFair { alpha }.allocate(&problem, &classes).unwrap();
                let long = 1.0 / (1.0 + 2.0 * 2.0_f64.powf(1.0 / alpha) / weight);
                let short = (1.0 - long) / 2.0;
                for (rate, theory) in found.rates.iter().zip([long, short, short]) {
                    assert!((rate / theory - 1.0).abs() < 1e-6, "{alpha} {weight}: {rate} {theory}");
                }
            }
        }
    }
}
