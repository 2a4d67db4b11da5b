//! Equilibria: of a plan's equations, in the quantities of a run's summary, and under an alpha-fair utility.

mod closed_form;
mod find;
mod json;
mod summary;
mod utility;

pub use closed_form::ClosedForm;
pub(crate) use closed_form::max_min_rates;
pub use find::{PlanEquilibrium, find_equilibrium};
pub(crate) use find::{find_equilibrium_at, longest_rtt};
pub use json::{
    ClassAllocationJson, EquilibriumJson, FlowEquilibriumJson, LinkEquilibriumJson, LinkLoadJson,
    UtilityAllocationJson, equilibrium_json, utility_allocation_json,
};
pub use summary::{EquilibriumSummary, GroupEquilibrium, LinkOperatingPoint, equilibrium_summary};
pub use utility::{AlphaFair, GroupWeight, UtilityAllocation, WeightedClass, allocate_by_utility};
