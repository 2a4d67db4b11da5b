//! The result of an integration: every state and every channel at regular times.

use super::{Accuracy, Solver};
use crate::assembly::{Assembly, Entity, SolutionColumn};
use crate::error::Error;
use crate::integration::SlidingThreshold;

/// Samples of all states and channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Times in seconds; the first is zero.
    pub times: Vec<f64>,
    /// Names of the columns: states first, then channels. A quantity may be in both (a backlog) with equal values.
    pub columns: Vec<SolutionColumn>,
    /// Number of columns that are states.
    pub states: usize,
    /// For each time, the value of each column.
    values: Vec<f64>,
    /// For each time, the integral of each channel since time zero.
    integrals: Vec<f64>,
    /// Number of solver steps.
    pub steps: u64,
    /// The thresholds along which it slid.
    pub sliding: Vec<SlidingThreshold>,
}

impl Solution {
    /// The index of a column.
    pub fn column(&self, entity: Entity, quantity: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.entity == entity && column.quantity == quantity)
    }

    /// The values of a column at all times.
    pub fn series(&self, column: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        let width = self.columns.len();
        (0..self.times.len()).map(move |i| self.values[i * width + column])
    }

    /// The values of a quantity at all times; empty if it does not exist.
    pub fn of(&self, entity: Entity, quantity: &str) -> Vec<f64> {
        self.column(entity, quantity).map(|column| self.series(column).collect()).unwrap_or_default()
    }

    /// The integral of a channel from time zero to each time; none for a state.
    pub fn integral(&self, column: usize) -> Option<impl ExactSizeIterator<Item = f64> + '_> {
        let width = self.columns.len() - self.states;
        let channel = column.checked_sub(self.states)?;
        Some((0..self.times.len()).map(move |i| self.integrals[i * width + channel]))
    }
}

impl Assembly {
    /// Integrates up to `until` seconds and samples every `every` seconds.
    pub fn run(&self, until: f64, every: f64, accuracy: Accuracy) -> Result<Solution, Error> {
        self.run_watched(until, every, accuracy, |_| true)
    }

    /// The same as [`Self::run`]. `watch` receives the time of each sample and ends the run by returning false.
    pub fn run_watched(
        &self,
        until: f64,
        every: f64,
        accuracy: Accuracy,
        mut watch: impl FnMut(f64) -> bool,
    ) -> Result<Solution, Error> {
        let mut solver = Solver::new(self, accuracy)?;
        let mut columns = self.state_columns();
        columns.extend(self.channel_columns());
        let (times, states) = (Vec::new(), self.states());
        let (values, integrals) = (Vec::new(), Vec::new());
        let mut solution =
            Solution { times, columns, states, values, integrals, steps: 0, sliding: Vec::new() };
        for sample in 0.. {
            let time = (f64::from(sample) * every).min(until);
            solver.advance(time)?;
            solution.take(&solver);
            if time >= until || !watch(time) {
                break;
            }
        }
        solution.sliding = solver.sliding_thresholds();
        Ok(solution)
    }
}

impl Solution {
    fn take(&mut self, solver: &Solver<'_>) {
        self.times.push(solver.time());
        self.values.extend_from_slice(solver.state());
        self.values.extend_from_slice(solver.channels());
        self.integrals.extend_from_slice(solver.integrals());
        self.steps = solver.steps();
    }
}
