//! Whether a scenario stays where it settles.

use super::{Refusal, Settled};
use crate::fluid::Plan;
use millpond_fluid::stability::{Linearized, Margins, Spectrum, margins, rightmost};

/// A verdict about a point of rest.
pub struct Stability {
    /// The linear network.
    pub linear: Linearized,
    /// Its rightmost roots.
    pub spectrum: Spectrum,
    /// What it tolerates.
    pub margins: Margins,
    /// Links that take part, by their place among the assembly's.
    pub bottlenecks: Vec<usize>,
}

/// Linearizes about the point of rest and finds the rightmost roots and the margins.
///
/// # Errors
/// A flow that no bottleneck speaks to, or roots that cannot be found.
pub fn judge(settled: &Settled<'_>) -> Result<Stability, Refusal> {
    judge_linear(settled.plan, Linearized::of(&settled.frozen, &settled.moment))
}

/// The same of a network that is linear already.
pub(super) fn judge_linear(plan: &Plan, linear: Linearized) -> Result<Stability, Refusal> {
    if let Some(deaf) = linear.deaf() {
        return Err(Refusal::NoBottleneck { flow: plan.loops[deaf].name.clone() });
    }
    let spectrum = rightmost(&linear.system)?;
    let margins = margins(&linear.system)?;
    let bottlenecks = linear.bottlenecks();
    Ok(Stability { linear, spectrum, margins, bottlenecks })
}
