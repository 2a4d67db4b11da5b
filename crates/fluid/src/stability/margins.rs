//! Gain, phase and delay margins, from the eigenloci.

use super::{Nyquist, System, Unknown};
use std::f64::consts::PI;

/// How much the loop tolerates before it oscillates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Margins {
    /// The gains of all loops may be multiplied by this together. None: by anything.
    pub gain: Option<Crossing>,
    /// All loops may lag by this angle more, in radians.
    pub phase: Option<Crossing>,
    /// All loops may be this much longer, in seconds: the same time added to each.
    pub delay: Option<Crossing>,
}

/// A margin, and the frequency at which it is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The margin.
    pub margin: f64,
    /// Angular frequency of the oscillation there, in rad/s.
    pub frequency: f64,
}

/// The margins of a stable system, in the sense of its return ratio L: det(I + g e^(-i phi) e^(-i w theta) L(i w)) = 0.
///
/// # Errors
/// [`Unknown::NoLoop`] where there is nothing to be unstable.
pub fn margins(system: &System) -> Result<Margins, Unknown> {
    let plot = Nyquist::new(system)?;
    let mut margins = Margins::default();
    for (frequency, value) in plot.unit_crossings() {
        let lag = (value.arg() + PI).rem_euclid(2.0 * PI);
        keep_least(&mut margins.phase, Crossing { margin: lag.min(2.0 * PI - lag), frequency });
        keep_least(&mut margins.delay, Crossing { margin: lag / frequency, frequency });
    }
    for (frequency, value) in plot.crossings(1.0.into()).into_iter().filter(|(_, value)| *value > -1.0) {
        keep_least(&mut margins.gain, Crossing { margin: -value.recip(), frequency });
    }
    Ok(margins)
}

fn keep_least(least: &mut Option<Crossing>, new: Crossing) {
    if least.is_none_or(|known| new.margin < known.margin) {
        *least = Some(new);
    }
}
