//! Roots and margins of the linear network about an equilibrium.

use super::limit_cycle::limit_cycle_sentence;
use crate::AnalysisError;
use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::equilibrium::Uniqueness;
use millpond_fluid::stability::{
    Linearized, Margins, Spectrum, System, margins, rightmost, search_boundaries,
};
use millpond_law::fluid::Allocation;
use millpond_plan::fluid::FluidPlan;

/// The stability of an equilibrium.
pub struct Stability {
    /// The linear network.
    pub linear: Linearized,
    /// Its rightmost roots.
    pub spectrum: Spectrum,
    /// Gain, phase and delay margins.
    pub margins: Margins,
    /// Links that take part in a loop, by the number of the link in the assembly.
    pub bottlenecks: Vec<usize>,
    /// Why a root is at zero, if one is: a disturbance along its mode neither grows nor decays.
    pub marginal: Option<String>,
    /// The factor by which the gain of all loops must fall for an unstable network to be stable; none if it is stable, or
    /// if no lower gain helps.
    pub stabilizing_gain: Option<f64>,
    /// The same factor of all delays.
    pub stabilizing_delay: Option<f64>,
}

impl Stability {
    /// Whether all roots except those at zero have negative real parts.
    #[must_use]
    pub fn nonzero_roots_decay(&self) -> bool {
        self.spectrum.rightmost_nonzero() < 0.0
    }
}

/// Linearizes about the equilibrium and computes rightmost roots and margins.
///
/// # Errors
/// A flow without feedback, a law that jumps at the equilibrium, or roots that cannot be computed.
pub fn analyze_stability(equilibrium: &PlanEquilibrium<'_>) -> Result<Stability, AnalysisError> {
    let uniqueness = equilibrium.closed_form.as_ref().map(|closed_form| &closed_form.allocation.uniqueness);
    analyze(equilibrium.plan, uniqueness, linearize(equilibrium)?)
}

/// Returns the errors of [`analyze_stability`] without computing margins.
pub(super) fn check_analyzable(equilibrium: &PlanEquilibrium<'_>) -> Result<(), AnalysisError> {
    let linear = linearize(equilibrium)?;
    check_feedback(equilibrium.plan, &linear)?;
    rightmost(&linear.system)?;
    Ok(())
}

/// The linear network about the equilibrium, if no law jumps there.
fn linearize(equilibrium: &PlanEquilibrium<'_>) -> Result<Linearized, AnalysisError> {
    match equilibrium.frozen.sliding().first() {
        Some(sliding) => Err(AnalysisError::LimitCycle(limit_cycle_sentence(equilibrium, sliding))),
        None => Ok(equilibrium.linearize()),
    }
}

fn check_feedback(plan: &FluidPlan, linear: &Linearized) -> Result<(), AnalysisError> {
    match linear.loop_without_feedback() {
        Some(l) => Err(AnalysisError::NoBottleneck { flow: plan.loops[l].name.clone() }),
        None => Ok(()),
    }
}

/// The stability of a network that is linear already.
pub(crate) fn analyze_linear(plan: &FluidPlan, linear: Linearized) -> Result<Stability, AnalysisError> {
    analyze(plan, None, linear)
}

fn analyze(
    plan: &FluidPlan,
    uniqueness: Option<&Uniqueness>,
    linear: Linearized,
) -> Result<Stability, AnalysisError> {
    check_feedback(plan, &linear)?;
    let spectrum = rightmost(&linear.system)?;
    let margins = margins(&linear.system)?;
    let bottlenecks = linear.bottlenecks();
    let has_zero = spectrum.roots.iter().any(|root| spectrum.is_zero(root));
    let marginal = has_zero.then(|| reason_of_zero_root(plan, uniqueness));
    let is_stable = spectrum.rightmost_nonzero() < 0.0;
    let stabilizing = |scaled: fn(System, f64) -> System| {
        (!is_stable).then(|| stabilizing_factor(|factor| scaled(linear.system.clone(), factor))).flatten()
    };
    let (stabilizing_gain, stabilizing_delay) =
        (stabilizing(System::amplified), stabilizing(System::stretched));
    Ok(Stability { linear, spectrum, margins, bottlenecks, marginal, stabilizing_gain, stabilizing_delay })
}

/// The largest factor below one at which a system is stable.
fn stabilizing_factor(system: impl Fn(f64) -> System) -> Option<f64> {
    let growth = |factor: f64| Some(rightmost(&system(factor)).ok()?.rightmost_nonzero());
    search_boundaries(1.0, |factor| if factor > 1.0 { None } else { growth(factor) })[1]
        .boundary
        .map(|found| found.value)
}

/// Why a root is at zero.
fn reason_of_zero_root(plan: &FluidPlan, uniqueness: Option<&Uniqueness>) -> String {
    if let Some(Uniqueness::Prices { rank, bottlenecks, .. }) = uniqueness {
        return format!(
            "the bottlenecks are not of full rank ({rank} of {bottlenecks}), so a combination of prices has no feedback"
        );
    }
    let reason = plan.loops.iter().find_map(|l| match l.allocation {
        Allocation::Numeric { reason } => Some(reason),
        _ => None,
    });
    reason.map_or_else(
        || "the equilibria form a continuum".to_owned(),
        |reason| format!("the equilibria form a continuum ({reason})"),
    )
}
