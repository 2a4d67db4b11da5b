//! Gain, phase and delay margins from the eigenloci.

use super::{Nyquist, RootError, System};
use std::f64::consts::PI;

/// The margins of a loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Margins {
    /// Largest common factor on the gains of all loops. None if there is no limit.
    pub gain: Option<Crossing>,
    /// Largest additional phase lag of all loops, in radians.
    pub phase: Option<Crossing>,
    /// Largest additional delay of all loops, in seconds.
    pub delay: Option<Crossing>,
}

/// A margin, and the frequency of the oscillation at that margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The margin.
    pub margin: f64,
    /// Angular frequency in rad/s.
    pub frequency: f64,
}

/// The margins of a stable system, defined by its return ratio L: det(I + g e^(-i phi) e^(-i w theta) L(i w)) = 0.
///
/// # Errors
/// [`RootError::NoLoop`] if the system has no loop.
pub fn margins(system: &System) -> Result<Margins, RootError> {
    let plot = Nyquist::new(system)?;
    let mut margins = Margins::default();
    // A root at zero leaves a gain without bound at frequencies that have no meaning: nothing oscillates there.
    let slowest = NEGLIGIBLE / plot.time_scale();
    for (frequency, value) in plot.unit_crossings().filter(|(frequency, _)| *frequency > slowest) {
        let lag = (value.arg() + PI).rem_euclid(2.0 * PI);
        keep_least(&mut margins.phase, Crossing { margin: lag.min(2.0 * PI - lag), frequency });
        keep_least(&mut margins.delay, Crossing { margin: lag / frequency, frequency });
    }
    for at in plot.crossings(1.0.into()).iter().filter(|at| at.value > -1.0) {
        keep_least(&mut margins.gain, Crossing { margin: -at.value.recip(), frequency: at.frequency });
    }
    Ok(margins)
}

/// Frequencies below this value divided by the time scale of the loop bound no margin.
const NEGLIGIBLE: f64 = 1e-5;

fn keep_least(least: &mut Option<Crossing>, new: Crossing) {
    if least.is_none_or(|known| new.margin < known.margin) {
        *least = Some(new);
    }
}
