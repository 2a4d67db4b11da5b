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

#[cfg(test)]
mod tests {
    use super::super::{Block, BlockInput, BlockOutput, Connection};
    use super::*;
    use nalgebra::DMatrix;

    /// `L = k s^2 / (s + 1)^3` has its greatest absolute value, `2 k / 27^(1/2)`, at the square root of 2, where its phase is
    /// positive.
    fn leading(k: f64) -> System {
        let plant = Block {
            a: DMatrix::from_row_slice(3, 3, &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, -3.0, -3.0]),
            b: DMatrix::from_column_slice(3, 1, &[0.0, 0.0, 1.0]),
            c: DMatrix::from_row_slice(1, 3, &[0.0, 0.0, k]),
            d: DMatrix::zeros(1, 1),
            is_link: true,
        };
        let connection = |from, to| Connection {
            from: BlockOutput::new(from, 0),
            to: BlockInput::new(to, 0),
            gain: 1.0,
            delay: 0.0,
        };
        System {
            blocks: vec![plant, Block::gain(DMatrix::from_element(1, 1, -1.0))],
            connections: vec![connection(0, 1), connection(1, 0)],
        }
    }

    /// The frequency above the square root of 2 with `|L| = 1`.
    fn last_unit_gain(k: f64) -> f64 {
        let gain = |w: f64| k * w * w / (1.0 + w * w).powf(1.5);
        let (mut low, mut high) = (2.0_f64.sqrt(), 100.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if gain(middle) > 1.0 { low = middle } else { high = middle }
        }
        low
    }

    /// A delay must turn a locus with a positive phase by more than half a turn, and a lead of the phase by less.
    #[test]
    fn the_delay_margin_of_a_locus_with_a_positive_phase_is_more_than_half_a_turn() {
        let k = 1.01 * 27.0_f64.sqrt() / 2.0;
        let frequency = last_unit_gain(k);
        let phase = PI - 3.0 * frequency.atan();
        assert!(phase > 0.1, "{phase}");
        let Margins { delay: Some(delay), phase: Some(by_phase), gain } = margins(&leading(k)).unwrap()
        else {
            panic!("two margins")
        };
        assert!((delay.margin / ((PI + phase) / frequency) - 1.0).abs() < 1e-6, "{delay:?}");
        assert!((delay.frequency / frequency - 1.0).abs() < 1e-6, "{delay:?}");
        // The other frequency of gain one is lower, and its phase is greater.
        assert!(by_phase.frequency < frequency && by_phase.margin < PI - phase, "{by_phase:?}");
        assert_eq!(gain, None);
    }
}
