//! The limit cycle about a jump of a marking law.

use crate::equilibrium::PlanEquilibrium;
use millpond_fluid::Sliding;
use millpond_fluid::stability::{LimitCycle, limit_cycle};
use std::f64::consts::PI;

/// The limit cycle about a jump on which the equilibrium lies.
pub(crate) struct JumpLimitCycle {
    /// The jump and the amplitude, as a clause.
    pub(crate) reason: String,
    /// The period of the fluid equations in seconds; none if their describing function has no limit cycle.
    pub(crate) fluid_period: Option<f64>,
}

/// The limit cycle about the jump on which a queue slides.
pub(crate) fn limit_cycle_of(equilibrium: &PlanEquilibrium<'_>, sliding: &Sliding) -> JumpLimitCycle {
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
        Some(LimitCycle { frequency, peak_to_peak, above }) => JumpLimitCycle {
            reason: format!(
                "{clause}: {:.1} packets peak to peak in the fluid equations, {:.0} % of the time above",
                peak_to_peak / packet,
                100.0 * above
            ),
            fluid_period: Some(2.0 * PI / frequency),
        },
        None => JumpLimitCycle { reason: clause, fluid_period: None },
    }
}
