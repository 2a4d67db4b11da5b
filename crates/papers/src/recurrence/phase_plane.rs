//! The plane of ACP's loop, Eqs. (19) and (20) of its paper: what arrives beyond the capacity, and the queue.

use super::series;
use millpond_results::{EntityKind, Series};
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_2, TAU};

/// See the module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Gain of the excess, per delay.
    ki: f64,
    /// Gain of the queue, per delay squared.
    kq: f64,
    /// Round-trip times tau, in seconds: a trajectory for each, from each start.
    delays: Vec<f64>,
    /// Where trajectories begin: excess and queue.
    starts: Vec<[f64; 2]>,
    /// How long they are followed, in delays.
    duration: u32,
    /// What was before they began.
    #[serde(default)]
    past: Past,
    /// What sends.
    #[serde(default)]
    senders: Senders,
    /// What a queue may be.
    #[serde(default)]
    queue: Queue,
}

/// The paper does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Past {
    /// What it is at the start.
    #[default]
    Same,
    /// The excess and the queue were zero.
    Rest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Senders {
    /// (16): what a link asked for a delay ago arrives.
    #[default]
    Rates,
    /// (3): a window of that times the delay, which a queue spreads over a longer round trip.
    Windows,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Queue {
    /// (20): nothing less than empty.
    #[default]
    Projected,
    /// As a linear analysis takes it.
    Linear,
}

/// Steps per delay.
const STEPS: usize = 1000;
/// Every so many steps a point of the trajectory is kept.
const THINNED: usize = 20;

/// A trajectory: excess and queue at every step.
struct Trajectory {
    excess: Vec<f64>,
    queue: Vec<f64>,
}

impl Plane {
    pub(super) fn check(&self) -> Result<u64, String> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !(positive(self.ki) && positive(self.kq) && self.delays.iter().copied().all(positive)) {
            return Err("ki, kq and delays: expected numbers above zero".into());
        }
        let trajectories = (self.starts.len() * self.delays.len()) as u64;
        Ok(2 * trajectories * u64::from(self.duration) * (STEPS / THINNED) as u64)
    }

    /// What arrives, where a link asked for `asked` and the queue was `queue` a delay ago; times count delays.
    fn arriving(&self, asked: f64, queue: f64) -> f64 {
        match self.senders {
            Senders::Rates => asked,
            Senders::Windows => asked - queue,
        }
    }

    /// (18) and (20) in the time of one delay. What a delay ago was asked for and stood there is known, so that the
    /// trapezoidal rule has nothing to solve.
    fn trajectory(&self, [x0, q0]: [f64; 2]) -> Trajectory {
        const STEP: f64 = 1.0 / STEPS as f64;
        let before = if self.past == Past::Rest { [0.0, 0.0] } else { [x0, q0] };
        let slope = |x: f64, q: f64| -self.ki * x - self.kq * q;
        // What was asked for in the delay before the start, such that x0 arrives at its end.
        let asked = if self.senders == Senders::Windows { x0 + before[1] } else { x0 };
        let mut ask: Vec<f64> =
            (0..=STEPS).map(|n| asked + slope(before[0], before[1]) * n as f64 * STEP).collect();
        let mut all = Trajectory { excess: vec![x0], queue: vec![q0] };
        for n in 0..self.duration as usize * STEPS {
            let (x, q) = (all.excess[n], all.queue[n]);
            let then = (n + 1).checked_sub(STEPS).map_or(before[1], |then| all.queue[then]);
            let next_x = self.arriving(ask[n + 1], then);
            let filled = q + 0.5 * STEP * (x + next_x);
            let next_q = if self.queue == Queue::Projected { filled.max(0.0) } else { filled };
            ask.push(ask[n + STEPS] + 0.5 * STEP * (slope(x, q) + slope(next_x, next_q)));
            all.excess.push(next_x);
            all.queue.push(next_q);
        }
        all
    }

    /// Gain of the excess in the linear loop `s^2 + e^-s (gain s + kq)`: windows add what the queue's growth takes from
    /// their rates.
    fn gain(&self) -> f64 {
        if self.senders == Senders::Windows { self.ki + 1.0 } else { self.ki }
    }

    /// Of the linear loop: at which frequency it is on its boundary, `w sin w` being the gain; pi/2 beyond.
    fn boundary(&self) -> f64 {
        let (mut low, mut high) = (0.0, FRAC_PI_2);
        for _ in 0..60 {
            let middle: f64 = 0.5 * (low + high);
            if middle * libm::sin(middle) < self.gain() { low = middle } else { high = middle }
        }
        low
    }

    /// The kq there: `w^2 cos w`.
    fn critical_kq(&self) -> f64 {
        let w = self.boundary();
        w * w * libm::cos(w)
    }

    /// By how much an oscillation of the linear loop grows per cycle: of its root, by Newton's method from the boundary.
    fn growth_per_cycle(&self) -> f64 {
        let (b, c) = (self.gain(), self.kq);
        let (mut re, mut im) = (0.0, self.boundary());
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

    /// Of each trajectory, called by where it starts and by its delay if there are several: excess, queue, and how often
    /// the excess has changed its sign; of the group `linear loop` what linear analysis says.
    pub(super) fn series(&self) -> Vec<Series> {
        let mut all = Vec::new();
        for &delay in &self.delays {
            for &[x0, q0] in &self.starts {
                // The excess is a rate: in the time of one delay it is what arrives in it.
                let Trajectory { excess, queue } = self.trajectory([x0 * delay, q0]);
                let name = self.name(delay, [x0, q0]);
                let signs = sign_changes(&excess);
                let excess = excess.iter().map(|x| x / delay).collect();
                let of =
                    |quantity, values| thinned(series(EntityKind::Flow, &name, quantity, "1", values), delay);
                all.extend([of("excess", excess), of("queue", queue), of("sign changes", signs)]);
            }
        }
        let linear = |quantity, value| series(EntityKind::Group, "linear loop", quantity, "1", vec![value]);
        all.push(linear("critical kq", self.critical_kq()));
        all.push(linear("growth per cycle", self.growth_per_cycle()));
        all
    }
}

/// How often values have changed their sign up to each of them.
fn sign_changes(values: &[f64]) -> Vec<f64> {
    let changes = values.windows(2).scan(0.0, |count, pair| {
        *count += f64::from(pair[0] * pair[1] < 0.0);
        Some(*count)
    });
    std::iter::once(0.0).chain(changes).collect()
}

/// Every so many steps, and the time in seconds.
fn thinned(all: Series, delay: f64) -> Series {
    let times = all.times.iter().step_by(THINNED).map(|n| n * delay / STEPS as f64).collect();
    Series { times, values: all.values.iter().copied().step_by(THINNED).collect(), ..all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(kq: f64) -> Plane {
        Plane {
            ki: 0.1587,
            kq,
            delays: vec![1.0],
            starts: vec![[100.0, 0.0]],
            duration: 80,
            past: Past::Same,
            senders: Senders::Rates,
            queue: Queue::Projected,
        }
    }

    fn most(values: &[f64]) -> f64 {
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// In the first delay (19) has a constant past: x = 100 - 15.87 t, q = 100 t - 7.935 t^2.
    #[test]
    fn while_the_past_is_constant_the_excess_falls_in_a_line() {
        let Trajectory { excess, queue } = plane(0.3175).trajectory([100.0, 0.0]);
        assert!((excess[STEPS] - 84.13).abs() < 1e-9, "{}", excess[STEPS]);
        assert!((queue[STEPS] - 92.065).abs() < 1e-3, "{}", queue[STEPS]);
    }

    /// By hand from e^(iw) = (kq + i w ki) / w^2.
    #[test]
    fn linear_oscillations_shrink_below_the_boundary_and_grow_above_it() {
        assert!((plane(0.3175).critical_kq() - 0.149_98).abs() < 1e-5);
        for (kq, grows) in [(0.149, false), (0.151, true)] {
            let linear = Plane { queue: Queue::Linear, duration: 400, ..plane(kq) };
            let Trajectory { excess, .. } = linear.trajectory([100.0, 0.0]);
            let (early, late) = (most(&excess[50 * STEPS..100 * STEPS]), most(&excess[350 * STEPS..]));
            assert_eq!((late > early, linear.growth_per_cycle() > 1.0), (grows, grows), "{kq}");
        }
    }

    /// A window of rate times delay takes from the rate what the queue grows: the gain of the excess is one more.
    #[test]
    fn windows_keep_the_published_gains_within_their_linear_boundary() {
        let windows = Plane { senders: Senders::Windows, ..plane(0.3175) };
        let w: f64 = 1.229_585;
        assert!(
            (w * w.sin() - 1.1587).abs() < 1e-5 && (windows.critical_kq() - w * w * w.cos()).abs() < 1e-5
        );
        assert!(windows.growth_per_cycle() < 1.0 && (plane(0.3175).growth_per_cycle() - 2.54).abs() < 0.01);
    }
}
