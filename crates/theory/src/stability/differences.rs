//! Differences between equal flows, which are one class in the linear network.

use crate::AnalysisError;
use millpond_fluid::Entity;
use millpond_fluid::stability::{Linearized, Root, Spectrum, groups_without_links, roots_of_differences};
use millpond_plan::fluid::{FluidLoopPlan, FluidPlan};
use millpond_units::format::duration;

/// How differences between the flows of a class decay or grow.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// Name of the flows.
    pub flows: String,
    /// Their number.
    pub count: usize,
    /// The rightmost characteristic root of the differences.
    pub root: Root,
}

impl Differences {
    /// What the root means, as a clause. `spectrum`: the roots of the network, which set the accuracy of zero.
    pub fn clause(&self, spectrum: &Spectrum) -> String {
        let Self { flows, count, root } = self;
        let time = || duration(1.0 / root.s.re.abs());
        let change = match root.s.re {
            _ if spectrum.is_zero(root) => "neither grow nor decay in the linear equations".to_owned(),
            growth if growth > 0.0 => format!("grow by a factor of e in {}", time()),
            _ => format!("decay by a factor of e in {}", time()),
        };
        format!("differences between the {count} flows of {flows} {change}")
    }
}

/// The differences within each class of several flows whose senders have states. Classes whose loops differ in number, as
/// before a shared loop, have none.
///
/// # Errors
/// Roots that cannot be computed.
pub(super) fn differences(plan: &FluidPlan, linear: &Linearized) -> Result<Vec<Differences>, AnalysisError> {
    let mut found = Vec::new();
    for blocks in groups_without_links(&linear.system) {
        let Some(first) = class_of(plan, linear, &blocks) else { continue };
        let spectrum = roots_of_differences(&linear.system, &blocks)?;
        found.extend(spectrum.roots.first().map(|root| Differences {
            flows: first.name.clone(),
            count: first.count as usize,
            root: *root,
        }));
    }
    Ok(found)
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
