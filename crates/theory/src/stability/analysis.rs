//! Roots and margins of the linear network about an equilibrium.

use super::differences::{Differences, differences, growth_of_differences};
use super::limit_cycle::{JumpLimitCycle, limit_cycle_of};
use super::two_sided::{Representative, TwoSided, represent};
use crate::AnalysisError;
use crate::equilibrium::PlanEquilibrium;
use crate::steady_state::{
    EquilibriumRange, FixedPoint, Oscillation, SteadyState, dimension, steady_state_sentence,
};
use millpond_fluid::equilibrium::Uniqueness;
use millpond_fluid::stability::{
    ChainGain, HopGain, Linearized, Margins, Root, Spectrum, System, chain_gain, margins, rightmost,
    search_boundaries,
};
use millpond_law::fluid::Continuum;
use millpond_plan::fluid::{FluidFlowPlan, FluidLoopPlan, FluidPlan};
use std::collections::BTreeSet;

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
    /// Why a root is at zero, if one is: a disturbance along its mode neither grows nor decays exponentially.
    pub zero_root: Option<ZeroRoot>,
    /// The factor by which the gain of all loops must fall for an unstable network to be stable; none if it is stable, or
    /// if no such gain was found.
    pub stabilizing_gain: Option<f64>,
    /// The same factor of all delays.
    pub stabilizing_delay: Option<f64>,
    /// The amplification along each chain of loops whose relays hold data.
    pub chains: Vec<FlowChainGain>,
    /// The differences between the flows of each class, whose roots are not in `spectrum`; none on a threshold.
    pub differences: Vec<Differences>,
    /// Both linearizations if the equilibrium lies on a threshold of its laws. The other fields are those of the side that
    /// trajectories follow; if they cross the threshold, of the side whose disturbances decay most slowly.
    pub two_sided: Option<TwoSided>,
}

/// The amplification along the chain of loops of one class of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowChainGain {
    /// Name of the flow.
    pub flow: String,
    /// Its amplification.
    pub chain: ChainGain,
}

impl FlowChainGain {
    /// The hop with the greatest amplification.
    #[must_use]
    pub fn greatest_hop(&self) -> Option<&HopGain> {
        self.chain.hops.iter().max_by(|a, b| a.gain.total_cmp(&b.gain))
    }
}

impl Stability {
    /// Whether all disturbances decay except those of roots at zero: by the roots, or by the simulation if trajectories cross
    /// a threshold.
    #[must_use]
    pub fn disturbances_decay(&self) -> bool {
        decays(&self.spectrum, self.two_sided.as_ref())
            && growing(&self.differences, &self.spectrum, self.zero_root.as_ref()).is_none()
    }

    /// What becomes of differences between equal flows, a clause for each class.
    pub fn difference_clauses(&self) -> impl Iterator<Item = String> {
        let kind = self.zero_root.as_ref().map_or(ZeroRootKind::Unknown, |zero| zero.kind);
        let is_slow = kind == ZeroRootKind::SlowDecay;
        let at_zero = move |root: Root| is_at_zero(&self.spectrum, &root, is_slow).then(|| kind.change());
        self.differences.iter().map(move |differences| differences.clause(differences.root.and_then(at_zero)))
    }

    /// The steady state that follows from the roots.
    #[must_use]
    pub fn steady_state(&self) -> SteadyState {
        let Self { spectrum, differences, zero_root, two_sided, .. } = self;
        steady_state(spectrum, differences, zero_root.as_ref(), two_sided.as_ref())
    }
}

/// The linear network about an equilibrium with its rightmost roots.
pub(crate) struct LinearAnalysis<'p> {
    plan: &'p FluidPlan,
    pub(crate) linear: Linearized,
    pub(crate) spectrum: Spectrum,
    /// The differences between the flows of each class.
    pub(crate) differences: Vec<Differences>,
    /// Why a root is at zero, if one is.
    pub(crate) zero_root: Option<ZeroRoot>,
    /// Both linearizations if the equilibrium lies on a threshold.
    pub(crate) two_sided: Option<TwoSided>,
}

/// What becomes of the disturbance of a root at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRootKind {
    /// It stays: there is a continuum of equilibria.
    Continuum,
    /// It decays, more slowly than an exponential.
    SlowDecay,
    /// The linear equations do not show it.
    Unknown,
}

impl ZeroRootKind {
    /// What disturbances with such a root do.
    const fn change(self) -> &'static str {
        match self {
            Self::SlowDecay => "decay more slowly than an exponential",
            Self::Continuum | Self::Unknown => "neither grow nor decay in the linear equations",
        }
    }
}

/// Why a characteristic root is at zero.
#[derive(Clone, Debug, PartialEq)]
pub struct ZeroRoot {
    /// What becomes of its disturbance.
    pub kind: ZeroRootKind,
    /// What may vary in it, flow by flow, if the law declares that.
    pub ranges: Vec<EquilibriumRange>,
    /// Why, as a clause.
    pub reason: String,
}

impl<'p> LinearAnalysis<'p> {
    /// Linearizes about an equilibrium at which no law jumps.
    ///
    /// # Errors
    /// A flow without feedback, or roots that cannot be computed.
    pub(crate) fn of(equilibrium: &PlanEquilibrium<'p>) -> Result<Self, AnalysisError> {
        let uniqueness = equilibrium.closed_form.as_ref().map(|form| &form.allocation.uniqueness);
        let is_active = |l: usize| equilibrium.frozen.is_active(l);
        let plan = equilibrium.plan;
        let linear = equilibrium.linearize();
        check_feedback(plan, &linear)?;
        let ranges = declared_ranges(plan, &is_active);
        // In a continuum the edge of one side is the edge of the continuum.
        let represented = if ranges.is_empty() { represent(equilibrium)? } else { None };
        let Representative { linear, spectrum, two_sided } = match represented {
            Some(represented) => represented,
            None => {
                let spectrum = rightmost(&linear.system)?.with_zero_root(dimension(&ranges));
                Representative { linear, spectrum, two_sided: None }
            }
        };
        // On a threshold, differences put flows on both sides of it.
        let differences = if two_sided.is_some() { Vec::new() } else { differences(plan, &linear) };
        let zero_root = zero_root(plan, &is_active, uniqueness, &spectrum, &differences);
        Ok(Self { plan, linear, spectrum, differences, zero_root, two_sided })
    }

    fn of_linear(equilibrium: &PlanEquilibrium<'p>, linear: Linearized) -> Result<Self, AnalysisError> {
        let plan = equilibrium.plan;
        let is_active = |l: usize| equilibrium.frozen.is_active(l);
        check_feedback(plan, &linear)?;
        let spectrum = rightmost(&linear.system)?.with_zero_root(0);
        let differences = differences(plan, &linear);
        let zero_root = zero_root(plan, &is_active, None, &spectrum, &differences);
        Ok(Self { plan, linear, spectrum, differences, zero_root, two_sided: None })
    }

    /// The steady state that follows from the roots.
    pub(crate) fn steady_state(&self) -> SteadyState {
        let Self { spectrum, differences, zero_root, two_sided, .. } = self;
        steady_state(spectrum, differences, zero_root.as_ref(), two_sided.as_ref())
    }

    /// The same with margins, and what would make an unstable network stable.
    ///
    /// # Errors
    /// The network has no loop.
    pub(crate) fn with_margins(self) -> Result<Stability, AnalysisError> {
        let Self { plan, linear, spectrum, differences, zero_root, two_sided } = self;
        let margins = margins(&linear.system)?;
        let bottlenecks = linear.bottlenecks();
        let is_stable = decays(&spectrum, two_sided.as_ref())
            && growing(&differences, &spectrum, zero_root.as_ref()).is_none();
        let class_plan = two_sided.is_none().then_some(plan);
        let stabilizing = |scaled: fn(System, f64) -> System| {
            let at = |factor| Linearized { system: scaled(linear.system.clone(), factor), ..linear.clone() };
            (!is_stable).then(|| stabilizing_factor(class_plan, at)).flatten()
        };
        let (stabilizing_gain, stabilizing_delay) =
            (stabilizing(System::amplified), stabilizing(System::stretched));
        Ok(Stability {
            linear,
            spectrum,
            margins,
            bottlenecks,
            zero_root,
            stabilizing_gain,
            stabilizing_delay,
            chains: Vec::new(),
            differences,
            two_sided,
        })
    }
}

/// Whether all disturbances decay except those of roots at zero.
fn decays(spectrum: &Spectrum, two_sided: Option<&TwoSided>) -> bool {
    match two_sided.and_then(TwoSided::crossing) {
        Some(motion) => motion.growth < 0.0,
        None => spectrum.rightmost_nonzero() < 0.0,
    }
}

/// The root of differences between equal flows that grow.
fn growing(differences: &[Differences], spectrum: &Spectrum, zero_root: Option<&ZeroRoot>) -> Option<Root> {
    let is_slow = zero_root.is_some_and(|zero| zero.kind == ZeroRootKind::SlowDecay);
    let grows = |root: &Root| root.s.re > 0.0 && !is_at_zero(spectrum, root, is_slow);
    differences.iter().filter_map(|differences| differences.root).find(grows)
}

/// The steady state at an equilibrium with these roots.
fn steady_state(
    spectrum: &Spectrum,
    differences: &[Differences],
    zero_root: Option<&ZeroRoot>,
    two_sided: Option<&TwoSided>,
) -> SteadyState {
    if let Some(crossed) = two_sided.filter(|two_sided| two_sided.crossing().is_some()) {
        let (is_stable, reason) = (decays(spectrum, two_sided), crossed.sentence());
        return SteadyState::FixedPoint(FixedPoint::OnThreshold { is_stable, reason });
    }
    if spectrum.rightmost_nonzero() >= 0.0 {
        return SteadyState::FixedPoint(FixedPoint::Unstable(spectrum.first_nonzero().copied()));
    }
    if let Some(root) = growing(differences, spectrum, zero_root) {
        return SteadyState::FixedPoint(FixedPoint::Unstable(Some(root)));
    }
    let Some(ZeroRoot { kind, ranges, reason }) = zero_root.cloned() else {
        return SteadyState::FixedPoint(FixedPoint::Stable);
    };
    match kind {
        ZeroRootKind::Continuum => SteadyState::Continuum { reason, ranges },
        ZeroRootKind::SlowDecay => SteadyState::FixedPoint(FixedPoint::SlowlyStable { reason }),
        ZeroRootKind::Unknown => SteadyState::FixedPoint(FixedPoint::Unknown { reason }),
    }
}

/// An error if a flow receives no feedback.
fn check_feedback(plan: &FluidPlan, linear: &Linearized) -> Result<(), AnalysisError> {
    match linear.loop_without_feedback() {
        Some(l) => Err(AnalysisError::NoBottleneck { flow: plan.loops[l].name.clone() }),
        None => Ok(()),
    }
}

/// Linearizes about the equilibrium and computes rightmost roots and margins.
///
/// # Errors
/// A flow without feedback, a law that jumps at the equilibrium, or roots that cannot be computed.
pub fn analyze_stability(equilibrium: &PlanEquilibrium<'_>) -> Result<Stability, AnalysisError> {
    check_no_jump(equilibrium)?;
    let stability = LinearAnalysis::of(equilibrium)?.with_margins()?;
    Ok(Stability { chains: chains(equilibrium, &stability.linear), ..stability })
}

/// The amplification along the chains of all classes of flows.
pub(crate) fn chains(equilibrium: &PlanEquilibrium<'_>, linear: &Linearized) -> Vec<FlowChainGain> {
    let mut seen = BTreeSet::new();
    let flows = equilibrium.plan.flows.iter();
    let chained = flows.filter(|flow| flow.loops.len() > 1 && seen.insert(flow.loops.clone()));
    let gain = |flow: &FluidFlowPlan| {
        let loops: Vec<usize> = flow.loops.iter().map(|l| l.0).collect();
        let chain = chain_gain(&equilibrium.frozen, &equilibrium.point, linear, &loops)?;
        Some(FlowChainGain { flow: flow.name.clone(), chain })
    };
    chained.filter_map(gain).collect()
}

/// An error if a queue law jumps at the equilibrium.
pub(super) fn check_no_jump(equilibrium: &PlanEquilibrium<'_>) -> Result<(), AnalysisError> {
    let Some(sliding) = equilibrium.frozen.sliding().first().copied() else { return Ok(()) };
    let JumpLimitCycle { reason, fluid_period } = limit_cycle_of(equilibrium, &sliding);
    let oscillation = Oscillation { reason, periods: Vec::new(), fluid_period };
    Err(AnalysisError::LimitCycle(steady_state_sentence(&SteadyState::LimitCycle(oscillation))))
}

/// The stability of the network about an equilibrium that is linear already.
pub fn analyze_linear(
    equilibrium: &PlanEquilibrium<'_>,
    linear: Linearized,
) -> Result<Stability, AnalysisError> {
    LinearAnalysis::of_linear(equilibrium, linear)?.with_margins()
}

/// The largest factor below one at which a network is stable; none if there is none, or none was found with this effort. Without
/// a plan differences between equal flows do not count.
fn stabilizing_factor(plan: Option<&FluidPlan>, scaled: impl Fn(f64) -> Linearized) -> Option<f64> {
    /// All searches for roots together may take as much work as this many single ones.
    const MOST_EFFORT: f64 = 2.0;
    let mut effort = 0.0;
    let mut growth = |factor: f64| {
        if effort >= MOST_EFFORT {
            return None;
        }
        let linear = scaled(factor);
        let spectrum = rightmost(&linear.system).ok()?;
        effort += spectrum.effort;
        let differences = plan.map_or(Ok(f64::NEG_INFINITY), |plan| growth_of_differences(plan, &linear));
        Some(spectrum.rightmost_nonzero().max(differences.ok()?))
    };
    search_boundaries(1.0, |factor: f64| if factor > 1.0 { None } else { growth(factor) })[1]
        .boundary
        .map(|found| found.value)
}

/// The ranges of the continuum that the laws of active loops declare, each with the number of its flows.
fn declared_ranges(plan: &FluidPlan, is_active: &dyn Fn(usize) -> bool) -> Vec<EquilibriumRange> {
    let range = |planned: &FluidLoopPlan| {
        let Continuum { quantity, low, high, .. } = planned.steady_state.continuum?;
        Some(EquilibriumRange { flow: planned.name.clone(), flows: planned.count, quantity, low, high })
    };
    active_loops(plan, is_active).filter_map(range).collect()
}

fn active_loops<'p>(
    plan: &'p FluidPlan,
    is_active: &dyn Fn(usize) -> bool,
) -> impl Iterator<Item = &'p FluidLoopPlan> {
    plan.loops.iter().enumerate().filter(|(l, _)| is_active(*l)).map(|(_, planned)| planned)
}

/// Why a fixed point with an unexplained root at zero is not called stable.
const UNKNOWN: &str = "a characteristic root is at zero, so that the linear equations do not show whether one disturbance \
                       decays; all others decay";

/// A real root is at zero under a law that declares a slow decay if its absolute value is below this value divided by the time
/// scale. At a slope of zero an equilibrium is found within a thousandth only, and the slope there is not zero.
const SLOW: f64 = 1e-3;

/// Whether a root is at zero; `is_slow`: a law declares a slow decay.
fn is_at_zero(spectrum: &Spectrum, root: &Root, is_slow: bool) -> bool {
    spectrum.is_zero(root) || is_slow && root.s.im == 0.0 && root.s.norm() * spectrum.time_scale < SLOW
}

/// Why a root is at zero. Under a law that declares a continuum there is one, even if the equilibrium found is at its edge
/// and has no root at zero.
fn zero_root(
    plan: &FluidPlan,
    is_active: &dyn Fn(usize) -> bool,
    uniqueness: Option<&Uniqueness>,
    spectrum: &Spectrum,
    differences: &[Differences],
) -> Option<ZeroRoot> {
    if let Some(Continuum { reason, .. }) =
        active_loops(plan, is_active).find_map(|planned| planned.steady_state.continuum)
    {
        let ranges = declared_ranges(plan, is_active);
        return Some(ZeroRoot { kind: ZeroRootKind::Continuum, reason: reason.to_owned(), ranges });
    }
    let declared = active_loops(plan, is_active).find_map(|planned| planned.steady_state.slow_decay);
    let is_at_zero = |root: &Root| is_at_zero(spectrum, root, declared.is_some());
    let constant = differences.iter().find(|found| found.root.is_some_and(|root| is_at_zero(&root)));
    let is_common = spectrum.roots.iter().any(is_at_zero);
    if !is_common && constant.is_none() {
        return None;
    }
    if let (true, Some(Uniqueness::Prices { rank, bottlenecks, .. })) = (is_common, uniqueness) {
        let reason = format!(
            "the bottlenecks are not of full rank ({rank} of {bottlenecks}), so a combination of prices has no feedback"
        );
        return Some(ZeroRoot { kind: ZeroRootKind::Continuum, reason, ranges: Vec::new() });
    }
    let (kind, reason) = match (declared, constant) {
        (Some(reason), _) => (ZeroRootKind::SlowDecay, reason.to_owned()),
        (None, Some(differences)) if !is_common => {
            let clause = differences.clause(Some(ZeroRootKind::Unknown.change()));
            (ZeroRootKind::Unknown, format!("{clause}; all other disturbances decay"))
        }
        _ => (ZeroRootKind::Unknown, UNKNOWN.to_owned()),
    };
    Some(ZeroRoot { kind, reason, ranges: Vec::new() })
}
