//! Equilibria of networks: rates, prices and bottlenecks.
//!
//! Two kinds have closed forms that do not depend on the protocol's dynamics. Protocols that signal a fair rate have a
//! weighted **max-min** allocation ([`water_filling`]). Protocols whose senders respond to a path price by a marginal
//! utility have a **utility maximum** ([`maximize`]), whose prices are the multipliers of the capacity constraints
//! (Paganini et al., section II). Every other equilibrium is a zero of the vector field ([`zero`]).

mod certificate;
mod max_min;
mod point;
mod rank;
mod utility_maximum;
mod zero;

pub use certificate::{Certificate, certify};
pub use max_min::{FlowLimit, water_filling};
pub use point::{EquilibriumPoint, equilibrium_near, search};
pub use rank::{Uniqueness, uniqueness};
pub use utility_maximum::maximize;
pub use zero::{Failed, Residual, SearchLimits, SearchMethod, Zero, zero};

/// Links and flows without laws. Rates and capacities share one unit, chosen by the caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllocationProblem {
    /// Capacity of each link for these flows: capacity times target utilization, minus other traffic.
    pub capacities: Vec<f64>,
    /// The classes of flows.
    pub flows: Vec<FlowClass>,
}

/// A class of equal flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowClass {
    /// Indices of the links of its path, each at most once.
    pub path: Vec<usize>,
    /// Number of flows.
    pub count: f64,
}

impl AllocationProblem {
    /// The load of each link; `rates` has the rate of one flow of each class.
    #[must_use]
    pub fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for (flow, rate) in self.flows.iter().zip(rates) {
            for &link in &flow.path {
                loads[link] += flow.count * rate;
            }
        }
        loads
    }

    /// The sum of prices along a path: Eq. (2) of Paganini et al. at equilibrium.
    #[must_use]
    pub fn path_price(&self, flow: &FlowClass, prices: &[f64]) -> f64 {
        flow.path.iter().map(|&link| prices[link]).sum()
    }

    /// The smallest path price of a flow through this link.
    fn least_path_price(&self, link: usize, prices: &[f64]) -> f64 {
        let users = self.flows.iter().filter(|flow| flow.path.contains(&link));
        users.map(|flow| self.path_price(flow, prices)).fold(f64::INFINITY, f64::min)
    }
}

/// The marking probability of a link with price -ln(1 - p). These prices add if marks combine as 1 - prod(1 - p).
#[must_use]
pub fn marking_probability(price: f64) -> f64 {
    -(-price).exp_m1()
}

/// An equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The rate of one flow of each class.
    pub rates: Vec<f64>,
    /// The price of each link; zero if it is not a bottleneck. For max-min fairness: the fair share per unit of weight.
    pub prices: Vec<f64>,
    /// The load of each link.
    pub loads: Vec<f64>,
    /// Indices of the links that limit at least one flow, in ascending order.
    pub bottlenecks: Vec<usize>,
    /// Bounds on the distance from the optimum.
    pub certificate: Certificate,
    /// Whether another equilibrium exists.
    pub uniqueness: Uniqueness,
}

/// Why there is no equilibrium, or why it was not found.
#[derive(Clone, Debug, PartialEq)]
pub enum NoEquilibrium {
    /// A class of flows has neither a bottleneck on its path nor a limit of its own.
    Unlimited {
        /// The class of flows.
        flow: usize,
    },
    /// A link has no capacity.
    NoCapacity {
        /// The link.
        link: usize,
    },
    /// The marginal utility increases somewhere, so that a price does not determine the rate.
    NotConcave {
        /// The class of flows.
        flow: usize,
        /// A rate at which it increases.
        rate: f64,
    },
    /// The marginal utility is constant somewhere, so that flows may exchange capacity without cost.
    NotUnique {
        /// The class of flows.
        flow: usize,
        /// A rate at which it is constant.
        rate: f64,
    },
    /// A queue grows without bound, because its flows receive no feedback from it.
    Grows {
        /// The link.
        link: usize,
    },
    /// The search did not converge.
    NotConverged {
        /// The largest remaining derivative, relative to its state, per second.
        remaining: f64,
    },
}

impl NoEquilibrium {
    /// The reason as a sentence; `flow` and `link` give the names of flows and links.
    #[must_use]
    pub fn describe(&self, flow: &dyn Fn(usize) -> String, link: &dyn Fn(usize) -> String) -> String {
        match *self {
            Self::Unlimited { flow: f } => format!(
                "no equilibrium: {} has no bottleneck and no limit of its own; set a finite rate for a link of its path",
                flow(f)
            ),
            Self::NoCapacity { link: l } => format!("no equilibrium: {} has no capacity", link(l)),
            Self::NotConcave { flow: f, rate } => format!(
                "no equilibrium by prices: the utility of {} is not concave (its marginal utility increases near \
                 {rate:.4e}); a parameter of its protocol causes this",
                flow(f)
            ),
            Self::NotUnique { flow: f, rate } => format!(
                "not unique: the utility of {} is not strictly concave (its marginal utility is constant near {rate:.4e}), \
                 so flows may exchange capacity without cost",
                flow(f)
            ),
            Self::Grows { link: l } => format!(
                "no equilibrium: the queue of {} grows without bound, because its flows respond only to losses or marks and the \
                 link has neither; set a buffer, or a queue that marks",
                link(l)
            ),
            Self::NotConverged { remaining } => format!(
                "no equilibrium found: where the search stopped, a state still changes by {} of its value per second; \
                 the fluid world shows what the network does instead",
                share(remaining)
            ),
        }
    }
}

/// A percentage, or a factor above 1000 %.
fn share(remaining: f64) -> String {
    if remaining < 10.0 {
        format!("{:.2} %", 100.0 * remaining)
    } else {
        format!("a factor of {remaining:.1}")
    }
}

impl std::fmt::Display for NoEquilibrium {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = |kind: &'static str| move |number: usize| format!("{kind} {number}");
        f.write_str(&self.describe(&named("flow"), &named("link")))
    }
}

impl std::error::Error for NoEquilibrium {}

#[cfg(test)]
mod tests;
