//! Whether a scenario stays where it settles.

use crate::Refusal;
use crate::equilibrium::Settled;
use millpond_fluid::Sliding;
use millpond_fluid::equilibrium::Uniqueness;
use millpond_fluid::stability::{
    LimitCycle, Linearized, Margins, Spectrum, System, limit_cycle, margins, rightmost, search_boundaries,
};
use millpond_law::fluid::Allocation;
use millpond_plan::fluid::Plan;
use std::f64::consts::PI;

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
    /// Why a root is at zero, if one is: some disturbance neither grows nor dies out.
    pub marginal: Option<String>,
    /// By which factor the gain of all loops must fall for an unstable network to be stable; none if it is stable, or if
    /// no lower gain helps.
    pub gain_to_calm: Option<f64>,
    /// The same of all delays.
    pub delay_to_calm: Option<f64>,
}

impl Stability {
    /// Whether every disturbance dies out, but for what stays where it is put.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        self.spectrum.rightmost_nonzero() < 0.0
    }
}

/// Linearizes about the point of rest and finds the rightmost roots and the margins.
///
/// # Errors
/// A flow that no bottleneck speaks to, a law that jumps at rest, or roots that cannot be found.
pub fn judge(settled: &Settled<'_>) -> Result<Stability, Refusal> {
    let unique = settled.closed.as_ref().map(|closed| &closed.equilibrium.uniqueness);
    judged(settled.plan, unique, smooth(settled)?)
}

/// Whether there is a verdict at all: all errors of [`judge`], without its margins.
pub(super) fn answerable(settled: &Settled<'_>) -> Result<(), Refusal> {
    let linear = smooth(settled)?;
    heard(settled.plan, &linear)?;
    rightmost(&linear.system)?;
    Ok(())
}

/// The linear network about the point of rest, if no law jumps there.
fn smooth(settled: &Settled<'_>) -> Result<Linearized, Refusal> {
    match settled.frozen.sliding().first() {
        Some(sliding) => Err(Refusal::Cycles(cycle(settled, sliding))),
        None => Ok(settled.linear()),
    }
}

fn heard(plan: &Plan, linear: &Linearized) -> Result<(), Refusal> {
    match linear.loop_without_feedback() {
        Some(deaf) => Err(Refusal::NoBottleneck { flow: plan.loops[deaf].name.clone() }),
        None => Ok(()),
    }
}

/// The same of a network that is linear already.
pub(crate) fn judge_linear(plan: &Plan, linear: Linearized) -> Result<Stability, Refusal> {
    judged(plan, None, linear)
}

fn judged(plan: &Plan, unique: Option<&Uniqueness>, linear: Linearized) -> Result<Stability, Refusal> {
    heard(plan, &linear)?;
    let spectrum = rightmost(&linear.system)?;
    let margins = margins(&linear.system)?;
    let bottlenecks = linear.bottlenecks();
    let marginal = spectrum.roots.iter().any(|root| spectrum.is_zero(root)).then(|| why_zero(plan, unique));
    let calm = spectrum.rightmost_nonzero() < 0.0;
    let to_calm = |scaled: fn(System, f64) -> System| {
        (!calm).then(|| least_factor(|factor| scaled(linear.system.clone(), factor))).flatten()
    };
    let (gain_to_calm, delay_to_calm) = (to_calm(System::amplified), to_calm(System::stretched));
    Ok(Stability { linear, spectrum, margins, bottlenecks, marginal, gain_to_calm, delay_to_calm })
}

/// The largest factor below one at which a system is stable.
fn least_factor(system: impl Fn(f64) -> System) -> Option<f64> {
    let growth = |factor: f64| Some(rightmost(&system(factor)).ok()?.rightmost_nonzero());
    search_boundaries(1.0, |factor| if factor > 1.0 { None } else { growth(factor) })[1]
        .boundary
        .map(|found| found.value)
}

/// Why some disturbance stays where it is put.
fn why_zero(plan: &Plan, unique: Option<&Uniqueness>) -> String {
    if let Some(Uniqueness::Prices { rank, bottlenecks, .. }) = unique {
        return format!(
            "the bottlenecks are not of full rank ({rank} of {bottlenecks}), so that a combination of prices has no feedback"
        );
    }
    let told = plan.loops.iter().find_map(|l| match l.allocation {
        Allocation::Numeric { reason } => Some(reason),
        _ => None,
    });
    told.map_or_else(
        || "points of rest lie side by side".to_owned(),
        |reason| format!("points of rest lie side by side ({reason})"),
    )
}

/// The cycle about a jump, in a sentence.
fn cycle(settled: &Settled<'_>, sliding: &Sliding) -> String {
    let link = settled.plan.links.iter().find(|link| link.id.is_some_and(|id| id.0 == sliding.link));
    let (name, packet) = link.map_or(("a link", 1.0), |link| (&link.entity[..], link.packet.bits() as f64));
    let Sliding { jump, probability, .. } = sliding;
    let packets = jump.queue / packet;
    let sentence = format!(
        "cycles: {name} marks with a probability of {} below a queue of {packets:.1} packets and {} above, while rest asks for \
         {probability:.3}, so that the queue goes to and fro about its jump",
        jump.below, jump.above
    );
    match limit_cycle(&settled.frozen, &settled.moment) {
        Some(LimitCycle { frequency, swing, above }) => format!(
            "{sentence}: {:.1} packets from trough to crest every {:.4} s, {:.0} % of it above",
            swing / packet,
            2.0 * PI / frequency,
            100.0 * above
        ),
        None => sentence,
    }
}
