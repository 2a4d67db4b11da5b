//! The limit cycle about a jump of a marking law.

use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::Sliding;
use millpond_fluid::stability::{LimitCycle, limit_cycle};
use std::f64::consts::PI;

/// The jump on which the equilibrium lies, with the amplitude of the limit cycle about it, as a clause; and the period of
/// the fluid equations in seconds, if their describing function has one.
pub(crate) fn limit_cycle_of(equilibrium: &PlanEquilibrium<'_>, sliding: &Sliding) -> (String, Option<f64>) {
    let link = equilibrium.plan.links.iter().find(|link| link.id.is_some_and(|id| id.0 == sliding.link));
    let (name, packet) = link.map_or(("a link", 1.0), |link| (&link.entity[..], link.packet.bits() as f64));
    let Sliding { jump, probability, .. } = sliding;
    let packets = jump.queue / packet;
    let clause = format!(
        "{name} marks with a probability of {} below a queue of {packets:.1} packets and {} above, while the equilibrium \
         needs {probability:.3}, so the queue oscillates about this threshold",
        jump.below, jump.above
    );
    match limit_cycle(&equilibrium.frozen, &equilibrium.point) {
        Some(LimitCycle { frequency, peak_to_peak, above }) => (
            format!(
                "{clause}: {:.1} packets peak to peak in the fluid equations, {:.0} % of the time above",
                peak_to_peak / packet,
                100.0 * above
            ),
            Some(2.0 * PI / frequency),
        ),
        None => (clause, None),
    }
}
