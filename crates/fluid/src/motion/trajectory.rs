//! A trajectory: a few quantities over time.

use crate::error::Error;
use crate::solver::Solver;

/// Index of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Index among the states, in the order of [`Assembly::state_columns`](crate::Assembly::state_columns).
    State(usize),
    /// Index among the channels, in the order of [`Assembly::channel_columns`](crate::Assembly::channel_columns).
    Channel(usize),
}

impl Component {
    /// Its value among these states and channels.
    pub fn of(self, states: &[f64], channels: &[f64]) -> f64 {
        match self {
            Self::State(place) => states[place],
            Self::Channel(place) => channels[place],
        }
    }
}

/// Quantities over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// Times in seconds since the start.
    pub times: Vec<f64>,
    /// For each quantity, its values at these times.
    pub values: Vec<Vec<f64>>,
    /// The error that ended the integration early.
    pub error: Option<Error>,
}

/// Integrates for `seconds` seconds and records the quantities at `looks` + 1 times. An integration error ends the
/// trajectory early. `more` is called regularly and ends it by returning false.
pub fn record(
    solver: &mut Solver<'_>,
    seconds: f64,
    looks: u32,
    watched: &[Component],
    more: &dyn Fn() -> bool,
) -> Trajectory {
    const STEPS: u64 = 1000;
    let begin = solver.time();
    let mut found = Trajectory { values: vec![Vec::new(); watched.len()], ..Trajectory::default() };
    for look in 0..=looks {
        if !more() {
            return found;
        }
        let time = seconds * f64::from(look) / f64::from(looks.max(1));
        loop {
            match solver.advance_some(begin + time, STEPS) {
                Ok(true) => break,
                Ok(false) if more() => {}
                Ok(false) => return found,
                Err(error) => {
                    found.error = Some(error);
                    return found;
                }
            }
        }
        found.times.push(time);
        for (values, place) in found.values.iter_mut().zip(watched) {
            values.push(place.of(solver.state(), solver.channels()));
        }
    }
    found
}
