//! The limit cycle about a jump, by its describing function.

use super::{Linearized, margins};
use crate::frozen::{Frozen, Moment, Sliding};
use std::f64::consts::PI;

/// The oscillation of a loop around a queue whose law knows two answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitCycle {
    /// Angular frequency, in rad/s.
    pub frequency: f64,
    /// From its mean to its crest, in bits.
    pub swing: f64,
}

/// The gain of a relay that switches by `height` and is on for this share of the time, to a sine of amplitude `swing`:
/// the first harmonic of its pulses over that amplitude.
fn describing_function(height: f64, share: f64, swing: f64) -> f64 {
    2.0 * height * (PI * share).sin() / (PI * swing)
}

/// The cycle at which the loop's gain is exactly one: the relay is replaced by the slope at which the linear network
/// begins to oscillate. None if no slope makes it, or if several links rest at jumps.
#[must_use]
pub fn limit_cycle(frozen: &Frozen<'_>, moment: &Moment) -> Option<LimitCycle> {
    const TENTHS: usize = 12;
    let [Sliding { jump, probability, .. }] = frozen.sliding()[..] else { return None };
    let height = jump.above - jump.below;
    let mut slope = height / jump.queue;
    for _ in 0..TENTHS {
        let sloping = frozen.with_slope(slope);
        let linear = Linearized::of(&sloping, &sloping.at(&moment.x).ok()?);
        if let Some(crossing) = margins(&linear.system).ok()?.gain {
            let critical = slope * crossing.margin;
            let swing = describing_function(height, (probability - jump.below) / height, 1.0) / critical;
            return Some(LimitCycle { frequency: crossing.frequency, swing });
        }
        slope /= 10.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On half of the time: 4 M / (pi A) for a relay that switches between -M and M (Atherton 1975).
    #[test]
    fn half_of_the_time_it_is_the_ideal_relay() {
        assert!((describing_function(2.0, 0.5, 3.0) - 4.0 / (3.0 * PI)).abs() < 1e-15);
        assert!(describing_function(1.0, 0.01, 1.0) < 0.0201);
    }
}
