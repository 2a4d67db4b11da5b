//! The limit cycle about a jump: a relay in a linear loop (Ya. Z. Tsypkin, Relay Control Systems, 1984).
//!
//! ```text
//!   queue  K - - - ./'\. - - - - ./'\. - -      the law emits `above` while the queue is above K, for a share
//!                /'     '\.   ./'     '\.       of the period, and otherwise `below`; the queue in response
//!             --+-------+-'-'-+-------+---      crosses K at the beginning and at the end of each pulse
//! ```

use super::{Characteristic, Complex, Linearized};
use crate::frozen::{Frozen, OperatingPoint, Sliding};
use std::f64::consts::PI;

/// The oscillation of a loop with a queue whose law has two output values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitCycle {
    /// Angular frequency, in rad/s.
    pub frequency: f64,
    /// Share of the period in which the queue is above the jump.
    pub above: f64,
    /// Peak-to-peak amplitude of the queue, in bits.
    pub peak_to_peak: f64,
}

/// Number of harmonics. Those of a queue decrease with the third power of their order.
const HARMONICS: usize = 60;
/// Range of the periods that are tried, in longest delays of the network.
const LONGEST: f64 = 1000.0;
const SHORTEST: f64 = 1.5;
const STEPS: usize = 300;

/// The limit cycle of the network linearized between jumps. None if there is none, or if several links slide on jumps.
#[must_use]
pub fn limit_cycle(frozen: &Frozen<'_>, point: &OperatingPoint) -> Option<LimitCycle> {
    let [Sliding { jump, probability, .. }] = frozen.sliding()[..] else { return None };
    let height = jump.above - jump.below;
    let slopes = [1.0, 2.0].map(|times| times * height / jump.queue);
    let [one, two] = slopes.map(|slope| linear(frozen, point, slope));
    let (one, two) = (one?, two?);
    let functions = [&one, &two].map(|linear| Characteristic::new(&linear.system));
    // With a ramp, the characteristic function is f (1 + slope H), where f is that of the network without the law.
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

/// Pulses of one period, and the plant's response of the queue.
struct Pulses<'a> {
    /// Decrease of the queue per unit of the pulse, at a complex frequency.
    plant: &'a dyn Fn(Complex<f64>) -> Option<Complex<f64>>,
    /// Length of the pulse at equilibrium, as a share of the period.
    share: f64,
}

impl Pulses<'_> {
    /// The harmonics of the queue without the shape of the pulse: `-H(i k w) / (i k pi)`.
    fn harmonics(&self, frequency: f64) -> Option<Vec<Complex<f64>>> {
        let harmonic = |k: usize| {
            let i_k = Complex::new(0.0, k as f64);
            Some(-(self.plant)(i_k * frequency)? / (i_k * PI))
        };
        (1..=HARMONICS).map(harmonic).collect()
    }

    /// The queue minus its mean at an angle of the period, for a pulse from 0 to `pulse`.
    fn queue(harmonics: &[Complex<f64>], pulse: f64, angle: f64) -> f64 {
        let one = |(index, value): (usize, &Complex<f64>)| {
            let k = (index + 1) as f64;
            let shape = Complex::from_polar(1.0, k * angle) - Complex::from_polar(1.0, k * (angle - pulse));
            (value * shape).re
        };
        harmonics.iter().enumerate().map(one).sum()
    }

    /// The pulse length that is consistent with the mean queue. If the plant is not an integrator, the mean queue
    /// differs from the jump, which changes the share.
    fn pulse(&self, harmonics: &[Complex<f64>], still: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let share = (low + high) / 2.0;
            let off = -Self::queue(harmonics, 2.0 * PI * share, 0.0);
            // The mean queue is `off` from the jump; in steady state the plant gives -H(0) (share - self.share).
            if share + off / still < self.share { low = share } else { high = share }
        }
        PI * (low + high)
    }

    /// The response of the queue at a frequency; none where the plant has no value.
    fn response(&self, frequency: f64) -> Option<PulseResponse> {
        let harmonics = self.harmonics(frequency)?;
        let still = (self.plant)(Complex::new(0.0, frequency * 1e-6))?.norm();
        let pulse = self.pulse(&harmonics, still.max(f64::MIN_POSITIVE));
        let [begins, ends] = [0.0, pulse].map(|angle| Self::queue(&harmonics, pulse, angle));
        Some(PulseResponse { mismatch: begins - ends, pulse, harmonics })
    }
}

/// The response of the queue to pulses.
struct PulseResponse {
    /// Zero if the queue crosses the jump at both ends of the pulse.
    mismatch: f64,
    /// Angle of the end of the pulse.
    pulse: f64,
    harmonics: Vec<Complex<f64>>,
}

/// The slowest limit cycle whose queue is above the jump exactly during the pulse.
fn cycle(plant: &dyn Fn(Complex<f64>) -> Option<Complex<f64>>, share: f64, delay: f64) -> Option<LimitCycle> {
    let pulses = Pulses { plant, share };
    let slowest = 2.0 * PI / (LONGEST * delay);
    let at = |step: usize| slowest * (LONGEST / SHORTEST).powf(step as f64 / STEPS as f64);
    let mismatch = |frequency: f64| pulses.response(frequency).map(|response| response.mismatch);
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

/// The limit cycle of this frequency, if its queue is on the right side of the jump throughout.
fn valid(pulses: &Pulses<'_>, frequency: f64) -> Option<LimitCycle> {
    const LOOKS: usize = 200;
    let PulseResponse { pulse, harmonics, .. } = pulses.response(frequency)?;
    let jump = Pulses::queue(&harmonics, pulse, 0.0);
    let angles = (0..LOOKS).map(|look| 2.0 * PI * (look as f64 + 0.5) / LOOKS as f64);
    let queue: Vec<(f64, f64)> =
        angles.map(|angle| (angle, Pulses::queue(&harmonics, pulse, angle) - jump)).collect();
    let least = queue.iter().map(|(_, queue)| *queue).fold(f64::INFINITY, f64::min);
    let greatest = queue.iter().map(|(_, queue)| *queue).fold(f64::NEG_INFINITY, f64::max);
    // Overshoot of a truncated Fourier series.
    let slack = 0.01 * (greatest - least);
    let is_right = |&(angle, queue): &(f64, f64)| if angle < pulse { queue > -slack } else { queue < slack };
    let peak_to_peak = greatest - least;
    queue.iter().all(is_right).then_some(LimitCycle { frequency, above: pulse / (2.0 * PI), peak_to_peak })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inflow exceeds the outflow by 1. From one delay after the queue has passed the jump until one delay after it
    /// has returned, it exceeds the outflow by -m instead. The queue rises for 1 more, falls for 1 / m and 1 more, and
    /// returns in m. Share 1 / (1 + m).
    #[test]
    fn the_limit_cycle_of_an_integrator_with_a_delay_agrees_with_its_closed_form() {
        for m in [1.0, 3.0, 6.0] {
            let plant = |s: Complex<f64>| Some((-s).exp() * (1.0 + m) / s);
            let LimitCycle { frequency, above, peak_to_peak } = cycle(&plant, 1.0 / (1.0 + m), 1.0).unwrap();
            assert!((2.0 * PI / frequency / (2.0 + m + 1.0 / m) - 1.0).abs() < 1e-3, "{m}: {frequency}");
            assert!(
                (above - 1.0 / (1.0 + m)).abs() < 1e-3 && (peak_to_peak / (1.0 + m) - 1.0).abs() < 0.02,
                "{peak_to_peak}"
            );
        }
    }

    #[test]
    fn a_first_order_plant_has_no_limit_cycle() {
        let plant = |s: Complex<f64>| Some((s + 1.0).inv());
        assert_eq!(cycle(&plant, 0.3, 1.0), None);
    }
}
