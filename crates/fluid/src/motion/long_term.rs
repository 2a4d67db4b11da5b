//! Where a trajectory leads.

use super::trajectory::Trajectory;

/// Where a trajectory leads, as far as it was followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LongTermBehavior {
    /// It stays within the band about the equilibrium after this many seconds.
    Settles {
        /// In seconds.
        after: f64,
    },
    /// It has come nearer all the time and is not there yet.
    Approaches,
    /// It neither comes nearer nor goes: a cycle.
    Cycles,
    /// It rests, but somewhere else.
    OtherEquilibrium,
    /// It goes farther and farther away.
    Diverges,
    /// It could not be integrated to its end.
    Interrupted,
}

impl LongTermBehavior {
    /// Whether following it for longer would say the same.
    pub fn is_decided(self) -> bool {
        !matches!(self, Self::Approaches | Self::Diverges)
    }
}

/// How much nearer the last sixth must be than the one before, to be on its way.
const NEARER: f64 = 0.97;

/// `band` is a share of `sizes`, one for each quantity, about `rest`.
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
