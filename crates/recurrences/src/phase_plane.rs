//! The phase plane of ACP's loop, Eqs. (19) and (20) of its paper: the excess of arrivals over the capacity, and the queue.

use super::series;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_2, TAU};

/// The parameters of the trajectories.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasePlane {
    /// Gain of the excess, per delay.
    ki: f64,
    /// Gain of the queue, per delay squared.
    kq: f64,
    /// Round-trip times tau, in seconds: a trajectory for each, from each start.
    delays: Vec<f64>,
    /// The initial states of trajectories: excess and queue.
    starts: Vec<[f64; 2]>,
    /// The duration of trajectories, in delays.
    duration: u32,
    /// The history before the start.
    #[serde(default)]
    past: Past,
    /// The model of senders.
    #[serde(default)]
    senders: Senders,
    /// The model of the queue.
    #[serde(default)]
    queue: QueueEquation,
}

/// The history of a trajectory, which the paper leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Past {
    /// The initial state, constant.
    #[default]
    Same,
    /// The equilibrium: excess and queue are zero.
    Equilibrium,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Senders {
    /// Eq. (16): the arrival rate is the rate signalled one delay before.
    #[default]
    Rates,
    /// Eq. (3): a window of the signalled rate times the delay, sent during a round trip that includes the queueing delay.
    Windows,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum QueueEquation {
    /// Eq. (20): never negative.
    #[default]
    Projected,
    /// Linear, may be negative.
    Linear,
}

/// Integration steps per delay.
const STEPS: usize = 1000;
/// The number of integration steps per recorded point.
const THINNED: usize = 20;

/// A trajectory: excess and queue at every step.
struct Trajectory {
    excess: Vec<f64>,
    queue: Vec<f64>,
}

impl PhasePlane {
    pub(super) fn check(&self) -> Result<u64, String> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !(positive(self.ki) && positive(self.kq) && self.delays.iter().copied().all(positive)) {
            return Err("ki, kq and delays: expected numbers above zero".into());
        }
        let trajectories = (self.starts.len() * self.delays.len()) as u64;
        Ok(2 * trajectories * u64::from(self.duration) * (STEPS / THINNED) as u64)
    }

    /// The arrival rate, from the rate `signalled` and the queue one delay before; the unit of time is the delay.
    fn arrivals(&self, signalled: f64, queue: f64) -> f64 {
        match self.senders {
            Senders::Rates => signalled,
            Senders::Windows => signalled - queue,
        }
    }

    /// The solution of Eqs. (18) and (20) with the delay as unit of time. The values one delay before are known, so that the
    /// trapezoidal rule is explicit.
    fn trajectory(&self, [x0, q0]: [f64; 2]) -> Trajectory {
        const STEP: f64 = 1.0 / STEPS as f64;
        let history = if self.past == Past::Equilibrium { [0.0, 0.0] } else { [x0, q0] };
        let slope = |x: f64, q: f64| -self.ki * x - self.kq * q;
        // The rates signalled during the delay before the start, such that x0 arrives at its end.
        let initial = if self.senders == Senders::Windows { x0 + history[1] } else { x0 };
        let mut signalled: Vec<f64> =
            (0..=STEPS).map(|n| initial + slope(history[0], history[1]) * n as f64 * STEP).collect();
        let mut all = Trajectory { excess: vec![x0], queue: vec![q0] };
        for n in 0..self.duration as usize * STEPS {
            let (x, q) = (all.excess[n], all.queue[n]);
            let delayed_queue = (n + 1).checked_sub(STEPS).map_or(history[1], |step| all.queue[step]);
            let next_x = self.arrivals(signalled[n + 1], delayed_queue);
            let integrated = q + 0.5 * STEP * (x + next_x);
            let next_q =
                if self.queue == QueueEquation::Projected { integrated.max(0.0) } else { integrated };
            signalled.push(signalled[n + STEPS] + 0.5 * STEP * (slope(x, q) + slope(next_x, next_q)));
            all.excess.push(next_x);
            all.queue.push(next_q);
        }
        all
    }

    /// The gain of the excess in the linear loop `s^2 + e^-s (gain s + kq)`. Windows add 1, because a growing queue reduces
    /// their rates.
    fn gain(&self) -> f64 {
        if self.senders == Senders::Windows { self.ki + 1.0 } else { self.ki }
    }

    /// The angular frequency at which the linear loop is on its stability boundary: `w sin w` is the gain; at most pi/2.
    fn boundary_frequency(&self) -> f64 {
        let (mut low, mut high) = (0.0, FRAC_PI_2);
        for _ in 0..60 {
            let middle: f64 = 0.5 * (low + high);
            if middle * libm::sin(middle) < self.gain() { low = middle } else { high = middle }
        }
        low
    }

    /// The kq on the stability boundary: `w^2 cos w`.
    fn critical_kq(&self) -> f64 {
        let w = self.boundary_frequency();
        w * w * libm::cos(w)
    }

    /// The factor by which an oscillation of the linear loop grows per cycle, from its root by Newton's method that starts
    /// at the boundary.
    fn growth_per_cycle(&self) -> f64 {
        let (b, c) = (self.gain(), self.kq);
        let (mut re, mut im) = (0.0, self.boundary_frequency());
        for _ in 0..60 {
            let (size, cos, sin) = (libm::exp(-re), libm::cos(im), libm::sin(im));
            let delayed = |(u, v): (f64, f64)| (size * (u * cos + v * sin), size * (v * cos - u * sin));
            let (one, slope) = (delayed((b * re + c, b * im)), delayed((b - b * re - c, -b * im)));
            let f = (re * re - im * im + one.0, 2.0 * re * im + one.1);
            let d = (2.0 * re + slope.0, 2.0 * im + slope.1);
            let square = d.0 * d.0 + d.1 * d.1;
            re -= (f.0 * d.0 + f.1 * d.1) / square;
            im -= (f.1 * d.0 - f.0 * d.1) / square;
        }
        libm::exp(TAU * re / im.abs())
    }

    fn name(&self, delay: f64, [x0, q0]: [f64; 2]) -> String {
        if self.delays.len() > 1 { format!("{delay} s: {x0}, {q0}") } else { format!("{x0}, {q0}") }
    }

    /// Series of each trajectory: excess, queue, and the number of sign changes of the excess. Its name is its initial state,
    /// with its delay if there are several. Series of the group `linear loop`: critical kq, and growth per cycle.
    pub(super) fn series(&self) -> Vec<Series> {
        let mut all = Vec::new();
        for &delay in &self.delays {
            for &[x0, q0] in &self.starts {
                // The excess is a rate: with the delay as unit of time it is the amount that arrives in one delay.
                let Trajectory { excess, queue } = self.trajectory([x0 * delay, q0]);
                let name = self.name(delay, [x0, q0]);
                let signs = sign_changes(&excess);
                let excess = excess.iter().map(|x| x / delay).collect();
                let recorded =
                    |quantity, values| thinned(series(EntityKind::Flow, &name, quantity, "1", values), delay);
                all.extend([
                    recorded("excess", excess),
                    recorded("queue", queue),
                    recorded("sign changes", signs),
                ]);
            }
        }
        let linear = |quantity, value| series(EntityKind::Group, "linear loop", quantity, "1", vec![value]);
        all.push(linear("critical kq", self.critical_kq()));
        all.push(linear("growth per cycle", self.growth_per_cycle()));
        all
    }
}

/// The number of sign changes up to each value.
fn sign_changes(values: &[f64]) -> Vec<f64> {
    let changes = values.windows(2).scan(0.0, |count, pair| {
        *count += f64::from(pair[0] * pair[1] < 0.0);
        Some(*count)
    });
    std::iter::once(0.0).chain(changes).collect()
}

/// The series at every [`THINNED`]th step, with times in seconds.
fn thinned(all: Series, delay: f64) -> Series {
    let times = all.times.iter().step_by(THINNED).map(|n| n * delay / STEPS as f64).collect();
    Series { times, values: all.values.iter().copied().step_by(THINNED).collect(), ..all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(kq: f64) -> PhasePlane {
        PhasePlane {
            ki: 0.1587,
            kq,
            delays: vec![1.0],
            starts: vec![[100.0, 0.0]],
            duration: 80,
            past: Past::Same,
            senders: Senders::Rates,
            queue: QueueEquation::Projected,
        }
    }

    fn largest(values: &[f64]) -> f64 {
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// In the first delay (19) has a constant past: x = 100 - 15.87 t, q = 100 t - 7.935 t^2.
    #[test]
    fn with_a_constant_history_the_excess_decreases_linearly() {
        let Trajectory { excess, queue } = plane(0.3175).trajectory([100.0, 0.0]);
        assert!((excess[STEPS] - 84.13).abs() < 1e-9, "{}", excess[STEPS]);
        assert!((queue[STEPS] - 92.065).abs() < 1e-3, "{}", queue[STEPS]);
    }

    /// Computed by hand from e^(iw) = (kq + i w ki) / w^2.
    #[test]
    fn linear_oscillations_shrink_below_the_boundary_and_grow_above_it() {
        assert!((plane(0.3175).critical_kq() - 0.149_98).abs() < 1e-5);
        for (kq, grows) in [(0.149, false), (0.151, true)] {
            let linear = PhasePlane { queue: QueueEquation::Linear, duration: 400, ..plane(kq) };
            let Trajectory { excess, .. } = linear.trajectory([100.0, 0.0]);
            let (early, late) = (largest(&excess[50 * STEPS..100 * STEPS]), largest(&excess[350 * STEPS..]));
            assert_eq!((late > early, linear.growth_per_cycle() > 1.0), (grows, grows), "{kq}");
        }
    }

    /// With a window of rate times delay, the growth of the queue reduces the rate: the gain of the excess is larger by 1.
    #[test]
    fn with_windows_the_published_gains_are_within_the_linear_stability_boundary() {
        let windows = PhasePlane { senders: Senders::Windows, ..plane(0.3175) };
        let w: f64 = 1.229_585;
        assert!(
            (w * w.sin() - 1.1587).abs() < 1e-5 && (windows.critical_kq() - w * w * w.cos()).abs() < 1e-5
        );
        assert!(windows.growth_per_cycle() < 1.0 && (plane(0.3175).growth_per_cycle() - 2.54).abs() < 0.01);
    }
}
