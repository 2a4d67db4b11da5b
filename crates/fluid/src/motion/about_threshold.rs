//! The trajectory about an equilibrium that lies on a threshold.
//!
//! The linearizations on both sides of a threshold are valid while the trajectory stays on their side. Small disturbances are
//! therefore integrated with the equations themselves.

use crate::error::Error;
use crate::frozen::{Frozen, OperatingPoint};
use crate::solver::{Accuracy, Solver};
use crate::stability::{Side, Threshold};

/// The initial disturbance, relative to each state.
const DISTURBANCE: f64 = 1e-4;
/// The integration ends when the disturbance is below the first or above the second of these values.
const RANGE: (f64, f64) = (1e-9, 1e-2);
/// Largest error of a step, relative to each state.
const TOLERANCE: f64 = 1e-11;
/// The duration, in longest delays.
const DELAYS: f64 = 200.0;
/// Number of samples per longest delay.
const SAMPLES: u32 = 16;
/// Largest number of steps.
const STEPS: u64 = 60_000;
/// A trajectory is on one side if it spends less than this share of the time on the other.
const OTHER_SIDE: f64 = 0.01;

/// The side that trajectories follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// All stay on this side.
    Side(Side),
    /// Each stays on one side, which depends on its start.
    EitherSide,
    /// They cross the threshold again and again.
    BothSides,
}

/// The trajectory of small disturbances about an equilibrium on a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionAboutThreshold {
    /// For each threshold, the side that trajectories follow.
    pub followed: Vec<Followed>,
    /// Growth rate of the disturbance that decays most slowly, in 1/s.
    pub growth: f64,
    /// Seconds from one upward crossing of the first threshold that is crossed to the next; none without crossings.
    pub period: Option<f64>,
}

/// One disturbance over time.
struct Disturbance {
    times: Vec<f64>,
    /// The largest deviation of a state, relative to it.
    deviations: Vec<f64>,
    /// For each threshold, its sign at each time.
    signs: Vec<Vec<f64>>,
}

/// Integrates small disturbances of both signs about `point`, at which the network is on these thresholds.
///
/// # Errors
/// Those of the solver.
pub fn motion_about(
    frozen: &Frozen<'_>,
    point: &OperatingPoint,
    thresholds: &[Threshold],
) -> Result<MotionAboutThreshold, Error> {
    let both = [1.0, -1.0].map(|sign| Disturbance::integrate(frozen, point, thresholds, sign));
    let [up, down] = both;
    let both = [up?, down?];
    let followed = |threshold: usize| {
        let shares = [0, 1].map(|run: usize| both[run].share_above(threshold));
        match shares.map(side) {
            [Some(one), Some(other)] if one == other => Followed::Side(one),
            [Some(_), Some(_)] => Followed::EitherSide,
            _ => Followed::BothSides,
        }
    };
    let followed: Vec<Followed> = (0..thresholds.len()).map(followed).collect();
    let crossed = followed.iter().position(|followed| *followed == Followed::BothSides);
    let [up, down] = &both;
    let slowest = if up.growth() >= down.growth() { up } else { down };
    let period = crossed.and_then(|threshold| slowest.period(threshold));
    Ok(MotionAboutThreshold { followed, growth: slowest.growth(), period })
}

/// The side on which a trajectory is that spends this share of the time above the threshold; none if it is on both.
fn side(share_above: f64) -> Option<Side> {
    match share_above {
        share if share < OTHER_SIDE => Some(Side::Below),
        share if share > 1.0 - OTHER_SIDE => Some(Side::Above),
        _ => None,
    }
}

impl Disturbance {
    fn integrate(
        frozen: &Frozen<'_>,
        point: &OperatingPoint,
        thresholds: &[Threshold],
        sign: f64,
    ) -> Result<Self, Error> {
        let accuracy = Accuracy { tolerance: TOLERANCE, ..Accuracy::default() };
        let free: Vec<usize> = (0..point.x.len()).filter(|state| !point.is_held(*state)).collect();
        let sizes = frozen.sizes();
        let size = |state: usize| sizes[state].max(point.x[state].abs());
        let mut x = point.x.clone();
        // States differ by different shares, so that a threshold at a ratio of two states is left.
        for ((number, state), bounds) in (0_u32..).zip(&free).zip(free.iter().map(|i| frozen.bounds()[*i])) {
            let by = sign * DISTURBANCE * size(*state) / (1.0 + f64::from(number % 3));
            x[*state] = (x[*state] + by).max(bounds.lower).min(bounds.upper);
        }
        let mut solver = Solver::at(frozen, &x, accuracy)?;
        let longest = frozen.asm.longest_delay();
        let mut found =
            Self { times: Vec::new(), deviations: Vec::new(), signs: vec![Vec::new(); thresholds.len()] };
        let mut time = 0.0;
        while time < DELAYS * longest && solver.steps() < STEPS {
            time += longest / f64::from(SAMPLES);
            solver.advance(time)?;
            let deviation = |state: &usize| (solver.state()[*state] - point.x[*state]).abs() / size(*state);
            let deviation = free.iter().map(deviation).fold(0.0, f64::max);
            found.times.push(time);
            found.deviations.push(deviation);
            for (signs, threshold) in found.signs.iter_mut().zip(thresholds) {
                let sign =
                    threshold.owners.first().and_then(|owner| solver.guard_sign(*owner, threshold.name));
                signs.push(sign.unwrap_or_default());
            }
            if deviation > RANGE.1 || found.is_over() {
                break;
            }
        }
        Ok(found)
    }

    /// Whether the disturbance has been negligible for two longest delays; an oscillation passes through zero.
    fn is_over(&self) -> bool {
        let count = 2 * SAMPLES as usize;
        let recent = self.deviations.iter().rev().take(count).copied().fold(0.0, f64::max);
        self.deviations.len() >= count && recent < RANGE.0
    }

    /// The samples of the last two thirds of the time.
    fn late(&self) -> std::ops::Range<usize> {
        self.times.len() / 3..self.times.len()
    }

    /// The share of the late time above a threshold.
    fn share_above(&self, threshold: usize) -> f64 {
        let signs = &self.signs[threshold][self.late()];
        let above = signs.iter().filter(|sign| **sign > 0.0).count();
        above as f64 / signs.len().max(1) as f64
    }

    /// Growth rate of the envelope in the late time, in 1/s: the slope of the logarithm of every second peak, or of all
    /// samples if there are few peaks. Peaks on both sides of the equilibrium may differ in height.
    fn growth(&self) -> f64 {
        const FEW: usize = 5;
        let is_peak = |i: &usize| {
            let before = i.checked_sub(1).is_none_or(|before| self.deviations[before] <= self.deviations[*i]);
            before && self.deviations.get(i + 1).is_some_and(|after| *after < self.deviations[*i])
        };
        let peaks: Vec<usize> = self.late().filter(is_peak).step_by(2).collect();
        let samples = if peaks.len() < FEW { self.late().collect() } else { peaks };
        let points = samples.iter().map(|i| (self.times[*i], self.deviations[*i].ln()));
        slope(points.filter(|(_, logarithm)| logarithm.is_finite()).collect())
    }

    /// The mean time between upward crossings of a threshold in the late time, in seconds; none with fewer than two.
    fn period(&self, threshold: usize) -> Option<f64> {
        let late = self.late();
        let signs = &self.signs[threshold];
        let rises: Vec<f64> =
            late.skip(1).filter(|i| signs[i - 1] < 0.0 && signs[*i] > 0.0).map(|i| self.times[i]).collect();
        let (first, last) = (rises.first()?, rises.last()?);
        (rises.len() > 1).then(|| (last - first) / (rises.len() - 1) as f64)
    }
}

/// The slope of the regression line through these points; zero through fewer than two.
fn slope(points: Vec<(f64, f64)>) -> f64 {
    let count = points.len().max(1) as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| points.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let products = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>();
    let squares = points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
    if squares > 0.0 { products / squares } else { 0.0 }
}
