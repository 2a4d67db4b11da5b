//! Where a network settles: who gets what, at which prices, and which links decide it.
//!
//! Two questions have closed answers whatever the protocol's dynamics are. Protocols that hand out a fair rate settle at a
//! weighted **max-min** allocation ([`water_filling`]); protocols whose senders weigh a path's price against a marginal
//! utility settle at a **utility maximum** ([`maximize`]), whose prices are the multipliers of the capacity constraints
//! (Paganini et al., section II). Everything else is a zero of the vector field ([`zero`]).

mod certificate;
mod max_min;
mod point;
mod rank;
mod utility_maximum;
mod zero;

pub use certificate::{Certificate, certify};
pub use max_min::{FlowLimit, water_filling};
pub use point::{EquilibriumPoint, rest, search};
pub use rank::{Uniqueness, uniqueness};
pub use utility_maximum::maximize;
pub use zero::{Failed, Residual, SearchMethod, Zero, zero};

/// Links and flows, without laws. Rates and capacities share one unit, whichever the caller likes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllocationProblem {
    /// What each link can carry of these flows: its capacity times the utilization its law aims at, less what others take.
    pub capacities: Vec<f64>,
    /// Each class of equal flows.
    pub flows: Vec<FlowClass>,
}

/// A class of equal flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowClass {
    /// The links of its path, by number, each at most once.
    pub path: Vec<usize>,
    /// How many flows it stands for.
    pub count: f64,
}

impl AllocationProblem {
    /// The load of each link when flows send at these rates (of one flow of each class).
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

    /// The sum of prices along a path: Eq. (2) of Paganini et al. at rest.
    #[must_use]
    pub fn path_price(&self, flow: &FlowClass, prices: &[f64]) -> f64 {
        flow.path.iter().map(|&link| prices[link]).sum()
    }

    /// What the flow through this link with the cheapest path pays.
    fn least_path_price(&self, link: usize, prices: &[f64]) -> f64 {
        let users = self.flows.iter().filter(|flow| flow.path.contains(&link));
        users.map(|flow| self.path_price(flow, prices)).fold(f64::INFINITY, f64::min)
    }
}

/// The marking probability of a link whose price is -ln(1 - p): these prices add where marks combine as 1 - prod(1 - p).
#[must_use]
pub fn marking_probability(price: f64) -> f64 {
    -(-price).exp_m1()
}

/// Where a network settles.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The rate of one flow of each class.
    pub rates: Vec<f64>,
    /// The price of each link, zero where it is no bottleneck. Under max-min: the fair share it offers per unit of weight.
    pub prices: Vec<f64>,
    /// The traffic of each link.
    pub loads: Vec<f64>,
    /// The links that decide somebody's rate, in their order.
    pub bottlenecks: Vec<usize>,
    /// How far this is from the optimum: zero would be perfect.
    pub certificate: Certificate,
    /// Whether another equilibrium exists.
    pub uniqueness: Uniqueness,
}

/// Why a network settles nowhere, or why nobody can say where.
#[derive(Clone, Debug, PartialEq)]
pub enum NoEquilibrium {
    /// Nothing limits this class: no bottleneck on its path, no limit of its own.
    Unlimited {
        /// The class of flows.
        flow: usize,
    },
    /// A link cannot carry anything.
    NoCapacity {
        /// The link.
        link: usize,
    },
    /// The marginal utility rises somewhere: the flow would rather take all or nothing, and a price does not settle it.
    NotConcave {
        /// The class of flows.
        flow: usize,
        /// A rate at which it rises.
        rate: f64,
    },
    /// The marginal utility is flat: flows do not mind who gets the capacity.
    NotUnique {
        /// The class of flows.
        flow: usize,
        /// A rate at which it is flat.
        rate: f64,
    },
    /// A queue grows for ever: nothing tells its flows of it.
    Grows {
        /// The link.
        link: usize,
    },
    /// The search did not end.
    NotConverged {
        /// What remained when it gave up: the largest change, as a share of what changes, per second.
        remaining: f64,
    },
}

impl NoEquilibrium {
    /// In words, flows and links being called what the caller calls them.
    #[must_use]
    pub fn describe(&self, flow: &dyn Fn(usize) -> String, link: &dyn Fn(usize) -> String) -> String {
        match *self {
            Self::Unlimited { flow: f } => format!(
                "no equilibrium: {} meets no bottleneck and has no limit of its own; give a link on its path a rate that is finite",
                flow(f)
            ),
            Self::NoCapacity { link: l } => format!("no equilibrium: {} has no capacity", link(l)),
            Self::NotConcave { flow: f, rate } => format!(
                "no equilibrium by prices: the utility of {} is not concave (its marginal utility rises near {rate:.4e}); \
                 a parameter of its protocol makes it so",
                flow(f)
            ),
            Self::NotUnique { flow: f, rate } => format!(
                "not unique: the utility of {} is not strictly concave (flat near {rate:.4e}), so rates may be traded between \
                 flows at no cost",
                flow(f)
            ),
            Self::Grows { link: l } => format!(
                "no equilibrium: the queue of {} grows without end, since its flows answer to losses or marks and nothing there \
                 loses or marks; give it a buffer, or a queue that marks",
                link(l)
            ),
            Self::NotConverged { remaining } => format!(
                "no point of rest found: where the search stopped, something still changes by {} of itself per second; \
                 integrate it and see: millpond run --world fluid",
                share(remaining)
            ),
        }
    }
}

/// As a percentage while that says something.
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
