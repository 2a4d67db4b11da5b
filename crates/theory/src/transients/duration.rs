//! How long transients are simulated.

use crate::equilibrium::longest_rtt;
use millpond_fluid::stability::{Linearized, Root, rightmost};
use millpond_fluid::{Frozen, OperatingPoint};
use millpond_plan::fluid::FluidPlan;

/// The greatest number of round-trip times in a simulation whose trajectories are drawn.
pub(super) const MOST_DRAWN_RTTS: f64 = 600.0;

/// The simulated time in seconds: until a disturbance that decays like `root` is `e^-time_constants` of itself, but between
/// 30 and `most_rtts` of the longest round-trip times; 100 of them without a root.
pub(super) fn simulated_time(
    root: Option<&Root>,
    plan: &FluidPlan,
    time_constants: f64,
    most_rtts: f64,
) -> f64 {
    const LEAST: f64 = 30.0;
    const UNKNOWN: f64 = 100.0;
    let rtt = longest_rtt(plan);
    let slow = root.map_or(UNKNOWN * rtt, |root| time_constants / root.s.re.abs());
    slow.clamp(LEAST * rtt, most_rtts * rtt)
}

/// The rightmost root about an equilibrium except those at zero, along which nothing moves.
pub(super) fn rightmost_nonzero_root(frozen: &Frozen<'_>, equilibrium: &OperatingPoint) -> Option<Root> {
    rightmost(&Linearized::of(frozen, equilibrium).system).ok()?.first_nonzero().copied()
}
