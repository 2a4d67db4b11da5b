//! The limit cycle about a jump of a marking law.

use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::Sliding;
use millpond_fluid::stability::{LimitCycle, limit_cycle};
use std::f64::consts::PI;

/// The jump on which the equilibrium lies, and amplitude and period of the limit cycle about it, in a sentence.
pub(super) fn limit_cycle_sentence(equilibrium: &PlanEquilibrium<'_>, sliding: &Sliding) -> String {
    let link = equilibrium.plan.links.iter().find(|link| link.id.is_some_and(|id| id.0 == sliding.link));
    let (name, packet) = link.map_or(("a link", 1.0), |link| (&link.entity[..], link.packet.bits() as f64));
    let Sliding { jump, probability, .. } = sliding;
    let packets = jump.queue / packet;
    let sentence = format!(
        "has a limit cycle: {name} marks with a probability of {} below a queue of {packets:.1} packets and {} above, while the \
         equilibrium needs {probability:.3}, so the queue oscillates about this threshold",
        jump.below, jump.above
    );
    match limit_cycle(&equilibrium.frozen, &equilibrium.point) {
        Some(LimitCycle { frequency, peak_to_peak, above }) => format!(
            "{sentence}: {:.1} packets peak to peak every {:.4} s, {:.0} % of the time above",
            peak_to_peak / packet,
            2.0 * PI / frequency,
            100.0 * above
        ),
        None => sentence,
    }
}
