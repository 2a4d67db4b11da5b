//! The limit cycle about a jump: a relay in a linear loop (Ya. Z. Tsypkin, Relay Control Systems, 1984).
//!
//! ```text
//!   queue  K - - - ./'\. - - - - ./'\. - -      the law says `above` while the queue is above K,
//!                /'     '\.   ./'     '\.       a share of the period, and `below` else; the loop makes
//!             --+-------+-'-'-+-------+---      of these pulses a queue that crosses K where they begin and end
//! ```

use super::{Characteristic, Complex, Linearized};
use crate::frozen::{Frozen, OperatingPoint, Sliding};
use std::f64::consts::PI;

/// The oscillation of a loop around a queue whose law knows two answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitCycle {
    /// Angular frequency, in rad/s.
    pub frequency: f64,
    /// The share of the time that the queue is above the jump.
    pub above: f64,
    /// From trough to crest, in bits.
    pub swing: f64,
}

/// So many harmonics: those of a queue fall as the cube of their number.
const HARMONICS: usize = 60;
/// Periods that are tried, in longest delays of the network: a relay takes a delay or two to and as long fro.
const LONGEST: f64 = 1000.0;
const SHORTEST: f64 = 1.5;
const STEPS: usize = 300;

/// The cycle of the linear network between jumps. None if it has none, or if several links rest at jumps.
#[must_use]
pub fn limit_cycle(frozen: &Frozen<'_>, point: &OperatingPoint) -> Option<LimitCycle> {
    let [Sliding { jump, probability, .. }] = frozen.sliding()[..] else { return None };
    let height = jump.above - jump.below;
    let slopes = [1.0, 2.0].map(|times| times * height / jump.queue);
    let [one, two] = slopes.map(|slope| linear(frozen, point, slope));
    let (one, two) = (one?, two?);
    let functions = [&one, &two].map(|linear| Characteristic::new(&linear.system));
    // With a slope the characteristic function is f (1 + slope H), f being that of the network without the law.
    let plant = |s: Complex<f64>| {
        let times = (functions[1].ln(s)? - functions[0].ln(s)?).exp();
        Some((times - 1.0) / (slopes[0] * (Complex::new(2.0, 0.0) - times)))
    };
    let share = (probability - jump.below) / height;
    cycle(&|s| plant(s).map(|h| h * height), share, one.system.longest_delay())
}

fn linear(frozen: &Frozen<'_>, point: &OperatingPoint, slope: f64) -> Option<Linearized> {
    let sloping = frozen.with_slope(slope);
    Some(Linearized::of(&sloping, &sloping.at(&point.x).ok()?))
}

/// Pulses of a period and the queue that a plant makes of them.
struct Pulses<'a> {
    /// What takes from the queue, per unit of the pulse, at a complex frequency.
    plant: &'a dyn Fn(Complex<f64>) -> Option<Complex<f64>>,
    /// How long the pulse must be for rest, as a share of the period.
    share: f64,
}

impl Pulses<'_> {
    /// The harmonics of the queue without the pulse's own shape: `-H(i k w) / (i k pi)`.
    fn harmonics(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        let harmonic = |k: usize| {
            let i_k = Complex::new(0.0, k as f64);
            Some(-(self.plant)(i_k * frequency)? / (i_k * PI))
        };
        (1..=HARMONICS).map(harmonic).collect()
    }

    /// The queue less its mean at an angle of the period, for a pulse from 0 to `pulse`.
    fn queue(harmonics: &[Complex<f64>], pulse: f64, angle: f64) -> f64 {
        let one = |(index, value): (usize, &Complex<f64>)| {
            let k = (index + 1) as f64;
            let shape = Complex::from_polar(1.0, k * angle) - Complex::from_polar(1.0, k * (angle - pulse));
            (value * shape).re
        };
        harmonics.iter().enumerate().map(one).sum()
    }

    /// The pulse that keeps the mean: where the plant is no integrator, a mean queue off the jump asks for another share.
    fn pulse(&self, harmonics: &[Complex<f64>], still: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let share = (low + high) / 2.0;
            let off = -Self::queue(harmonics, 2.0 * PI * share, 0.0);
            // The mean queue is `off` from the jump; a plant at rest has it at -H(0) (share - self.share).
            if share + off / still < self.share { low = share } else { high = share }
        }
        PI * (low + high)
    }

    /// Zero where the queue crosses the jump at both ends of the pulse.
    fn mismatch(&self, frequency: f64) -> Option<(f64, f64, Vec<Complex<f64>>)> {
        let harmonics = self.harmonics(frequency)?;
        let still = (self.plant)(Complex::new(0.0, frequency * 1e-6))?.norm();
        let pulse = self.pulse(&harmonics, still.max(f64::MIN_POSITIVE));
        let [begins, ends] = [0.0, pulse].map(|angle| Self::queue(&harmonics, pulse, angle));
        Some((begins - ends, pulse, harmonics))
    }
}

/// The slowest cycle in which the queue is above the jump from the beginning of a pulse to its end, and nowhere else.
fn cycle(plant: &dyn Fn(Complex<f64>) -> Option<Complex<f64>>, share: f64, delay: f64) -> Option<LimitCycle> {
    let pulses = Pulses { plant, share };
    let slowest = 2.0 * PI / (LONGEST * delay);
    let at = |step: usize| slowest * (LONGEST / SHORTEST).powf(step as f64 / STEPS as f64);
    let mismatch = |frequency: f64| pulses.mismatch(frequency).map(|(mismatch, ..)| mismatch);
    let mut before = mismatch(at(0))?;
    for step in 1..=STEPS {
        let now = mismatch(at(step))?;
        if (before < 0.0) != (now < 0.0) {
            let (mut low, mut high) = (at(step - 1), at(step));
            for _ in 0..40 {
                let middle = (low * high).sqrt();
                if (mismatch(middle)? < 0.0) == (before < 0.0) { low = middle } else { high = middle }
            }
            if let Some(found) = valid(&pulses, low) {
                return Some(found);
            }
        }
        before = now;
    }
    None
}

/// The cycle of this frequency, if its queue is on the right side of the jump throughout.
fn valid(pulses: &Pulses<'_>, frequency: f64) -> Option<LimitCycle> {
    const LOOKS: usize = 200;
    let (_, pulse, harmonics) = pulses.mismatch(frequency)?;
    let jump = Pulses::queue(&harmonics, pulse, 0.0);
    let angles = (0..LOOKS).map(|look| 2.0 * PI * (look as f64 + 0.5) / LOOKS as f64);
    let queue: Vec<(f64, f64)> =
        angles.map(|angle| (angle, Pulses::queue(&harmonics, pulse, angle) - jump)).collect();
    let least = queue.iter().map(|(_, queue)| *queue).fold(f64::INFINITY, f64::min);
    let greatest = queue.iter().map(|(_, queue)| *queue).fold(f64::NEG_INFINITY, f64::max);
    // A series that is cut short rings by this much.
    let slack = 0.01 * (greatest - least);
    let is_right = |&(angle, queue): &(f64, f64)| if angle < pulse { queue > -slack } else { queue < slack };
    let swing = greatest - least;
    queue.iter().all(is_right).then_some(LimitCycle { frequency, above: pulse / (2.0 * PI), swing })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives exceeds what leaves by 1, and by -m from a delay of 1 after the queue has passed the jump until as long
    /// after it has come back: it goes on for 1, falls for 1 / m and goes on for 1, comes back in m. Share 1 / (1 + m).
    #[test]
    fn an_integrator_with_a_delay_cycles_as_drawn_by_hand() {
        for m in [1.0, 3.0, 6.0] {
            let plant = |s: Complex<f64>| Some((-s).exp() * (1.0 + m) / s);
            let LimitCycle { frequency, above, swing } = cycle(&plant, 1.0 / (1.0 + m), 1.0).unwrap();
            assert!((2.0 * PI / frequency / (2.0 + m + 1.0 / m) - 1.0).abs() < 1e-3, "{m}: {frequency}");
            assert!(
                (above - 1.0 / (1.0 + m)).abs() < 1e-3 && (swing / (1.0 + m) - 1.0).abs() < 0.02,
                "{swing}"
            );
        }
    }

    #[test]
    fn a_loop_that_no_relay_can_drive_has_no_cycle() {
        let plant = |s: Complex<f64>| Some((s + 1.0).inv());
        assert_eq!(cycle(&plant, 0.3, 1.0), None);
    }
}
