//! Differences between equal flows, which are one class in the linear network.

use millpond_fluid::Entity;
use millpond_fluid::stability::{Linearized, Root, RootError, groups_without_links, roots_of_differences};
use millpond_plan::fluid::{FluidLoopPlan, FluidPlan};
use millpond_units::format::duration;

/// How differences between the flows of a class decay or grow.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// Name of the flows.
    pub flows: String,
    /// Their number.
    pub count: usize,
    /// The rightmost characteristic root of the differences; none if it could not be computed.
    pub root: Option<Root>,
}

impl Differences {
    /// What the root means, as a clause. `at_zero`: what differences do if the root is at zero; none if it is not.
    pub(super) fn clause(&self, at_zero: Option<&str>) -> String {
        let change = match (&self.root, at_zero) {
            (None, _) => "have roots that could not be computed".to_owned(),
            (Some(_), Some(change)) => change.to_owned(),
            (Some(Root { s, .. }), None) => {
                let verb = if s.re > 0.0 { "grow" } else { "decay" };
                format!("{verb} by a factor of e in {}", duration(1.0 / s.re.abs()))
            }
        };
        format!("differences between the {} flows of {} {change}", self.count, self.flows)
    }
}

/// The differences within each class.
pub(super) fn differences(plan: &FluidPlan, linear: &Linearized) -> Vec<Differences> {
    let of_class = |(class, blocks): (&FluidLoopPlan, Vec<usize>)| {
        let root = match roots_of_differences(&linear.system, &blocks) {
            Ok(spectrum) => Some(*spectrum.with_zero_root(0).roots.first()?),
            Err(_) => None,
        };
        Some(Differences { flows: class.name.clone(), count: class.count as usize, root })
    };
    classes(plan, linear).filter_map(of_class).collect()
}

/// The greatest growth rate of differences within the classes, in 1/s; minus infinity without a class. Differences that a law
/// declares to decay slowly have a root at zero and do not count.
///
/// # Errors
/// Roots that cannot be computed.
pub(super) fn growth_of_differences(plan: &FluidPlan, linear: &Linearized) -> Result<f64, RootError> {
    classes(plan, linear)
        .filter(|(class, _)| class.steady_state.slow_decay.is_none())
        .map(|(_, blocks)| Ok(roots_of_differences(&linear.system, &blocks)?.rightmost_nonzero()))
        .try_fold(f64::NEG_INFINITY, |greatest, growth| Ok(greatest.max(growth?)))
}

/// The first loop of each class of several flows whose senders have states, with the blocks of these senders and their relays.
/// Classes whose loops differ in number, as before a shared loop, are left out.
fn classes<'p>(
    plan: &'p FluidPlan,
    linear: &Linearized,
) -> impl Iterator<Item = (&'p FluidLoopPlan, Vec<usize>)> {
    let class = |blocks: Vec<usize>| Some((class_of(plan, linear, &blocks)?, blocks));
    groups_without_links(&linear.system).into_iter().filter_map(class)
}

/// The first loop of a class of several flows, if all loops among these blocks have the same number of flows.
fn class_of<'p>(plan: &'p FluidPlan, linear: &Linearized, blocks: &[usize]) -> Option<&'p FluidLoopPlan> {
    let loops = blocks.iter().filter_map(|block| match linear.owners[*block] {
        Entity::Loop(l) => Some(&plan.loops[l]),
        _ => None,
    });
    let loops: Vec<&FluidLoopPlan> = loops.collect();
    let first = *loops.first()?;
    (first.count > 1.0 && loops.iter().all(|other| other.count == first.count)).then_some(first)
}
