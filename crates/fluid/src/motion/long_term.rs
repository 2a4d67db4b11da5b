//! The long-term behaviour of a trajectory.

use super::trajectory::Trajectory;

/// The long-term behaviour of a trajectory, as far as it was integrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LongTermBehavior {
    /// It stays within the band around the equilibrium from this time on.
    Settles {
        /// Time in seconds.
        after: f64,
    },
    /// Its distance decreases but is still outside the band.
    Approaches,
    /// Its distance neither decreases nor increases: a cycle.
    Cycles,
    /// It is constant at another point.
    OtherEquilibrium,
    /// Its distance increases.
    Diverges,
    /// It could not be integrated to its end.
    Interrupted,
}

impl LongTermBehavior {
    /// Whether a longer integration would give the same result.
    pub fn is_decided(self) -> bool {
        !matches!(self, Self::Approaches | Self::Diverges)
    }
}

/// Largest ratio of the distance in the last sixth to that in the sixth before for a decreasing distance.
const NEARER: f64 = 0.97;

/// Classifies a trajectory. `band` is relative to `sizes`, one for each quantity, and centred on `rest`.
pub fn long_term_behavior(
    trajectory: &Trajectory,
    rest: &[f64],
    sizes: &[f64],
    band: f64,
) -> LongTermBehavior {
    let count = trajectory.times.len();
    if trajectory.error.is_some() || count < 6 {
        return LongTermBehavior::Interrupted;
    }
    let away = |i: usize| {
        let quantities = trajectory.values.iter().zip(rest).zip(sizes);
        quantities.map(|((values, rest), size)| (values[i] - rest).abs() / size).fold(0.0, f64::max)
    };
    let late = trajectory.times[count - 1] * 0.9;
    let last_away = (0..count).rev().find(|i| away(*i) > band);
    match last_away {
        None => return LongTermBehavior::Settles { after: 0.0 },
        Some(i) if trajectory.times[i] < late => {
            return LongTermBehavior::Settles { after: trajectory.times[i + 1] };
        }
        Some(_) => {}
    }
    let (before, last) = (2 * count / 3..5 * count / 6, 5 * count / 6..count);
    let spread = |values: &Vec<f64>| {
        let part = &values[last.clone()];
        let ends = |pick: fn(f64, f64) -> f64| part.iter().copied().fold(part[0], pick);
        ends(f64::max) - ends(f64::min)
    };
    let still = trajectory.values.iter().zip(sizes).all(|(values, size)| spread(values) < 0.1 * band * size);
    let farthest = |range: std::ops::Range<usize>| range.map(away).fold(0.0, f64::max);
    let ratio = farthest(last.clone()) / farthest(before);
    match ratio {
        _ if still => LongTermBehavior::OtherEquilibrium,
        ratio if ratio < NEARER => LongTermBehavior::Approaches,
        ratio if ratio > 1.0 / NEARER => LongTermBehavior::Diverges,
        _ => LongTermBehavior::Cycles,
    }
}
