//! Snapshots of an integration with fixed steps.

use super::FixedStep;
use crate::assembly::{Assembly, Entity, SolutionColumn};
use crate::error::Error;

/// The network at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Time in seconds.
    pub time: f64,
    /// States of all laws and queues, in the order of [`Assembly::state_columns`].
    pub states: Vec<f64>,
    /// Sending rate of each loop in bit/s, in the order of the network.
    pub rates: Vec<f64>,
    /// Arriving rate at each link, in bit/s.
    pub arriving: Vec<f64>,
    /// Marking probability of each link.
    pub marked: Vec<f64>,
    /// Loss probability of each link.
    pub lost: Vec<f64>,
}

impl FixedStep<'_> {
    /// A snapshot of the present time; advances the integration by one step.
    ///
    /// # Errors
    /// A state is infinite or not a number.
    pub fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let mut snapshot = Snapshot { time: self.time(), states: self.states(), ..Snapshot::default() };
        self.advance(1);
        snapshot.rates = vec![0.0; self.asm.loops.len()];
        for block in &self.flow_blocks {
            block.rates.iter().zip(block.loops).for_each(|(rate, l)| snapshot.rates[*l] = *rate);
        }
        for block in &self.link_blocks {
            snapshot.arriving.extend((0..block.queues.len()).map(|place| block.arriving(place)));
            snapshot.marked.extend(&block.marked);
            snapshot.lost.extend(&block.lost);
        }
        match snapshot.states.iter().position(|x| !x.is_finite()) {
            None => Ok(snapshot),
            Some(i) => Err(self.not_finite(i)),
        }
    }

    /// All present states.
    pub(super) fn states(&self) -> Vec<f64> {
        let laws = self.flow_blocks.iter().flat_map(|block| &block.x);
        let sets = 0..self.asm.link_sets.len();
        let routers = sets.flat_map(|s| self.link_blocks.iter().flat_map(move |block| &block.sets[s].x));
        let queues = self.link_blocks.iter().flat_map(|block| &block.queues);
        laws.chain(routers).chain(queues).copied().collect()
    }

    pub(super) fn not_finite(&self, state: usize) -> Error {
        self.error_of(&self.asm.state_columns()[state])
    }

    pub(super) fn channel_not_finite(&self, channel: usize) -> Error {
        self.error_of(&self.asm.channel_columns()[channel])
    }

    fn error_of(&self, column: &SolutionColumn) -> Error {
        let quantity = format!("{} of {}", column.quantity, self.asm.name(column.entity));
        Error::NotFinite { time: self.time(), quantity }
    }
}

/// Snapshots of an integration with fixed steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshots {
    /// In ascending order of time.
    pub all: Vec<Snapshot>,
    columns: Vec<SolutionColumn>,
}

impl Snapshots {
    /// The values of a state at all times; empty if there is no such state.
    pub fn of(&self, entity: Entity, quantity: &str) -> Vec<f64> {
        let wanted = |column: &SolutionColumn| column.entity == entity && column.quantity == quantity;
        let Some(i) = self.columns.iter().position(wanted) else { return Vec::new() };
        self.all.iter().map(|snapshot| snapshot.states[i]).collect()
    }
}

impl Assembly {
    /// Integrates with fixed steps up to `until` seconds and takes a snapshot every `every` seconds, both rounded to
    /// whole steps. `watch` receives the time of each snapshot and ends the run by returning false.
    ///
    /// # Errors
    /// See [`FixedStep::new`] and [`FixedStep::snapshot`].
    pub fn run_fixed(
        &self,
        until: f64,
        every: f64,
        step: f64,
        mut watch: impl FnMut(f64) -> bool,
    ) -> Result<Snapshots, Error> {
        let mut fixed = FixedStep::new(self, step)?;
        let stride = (every / step).round().max(1.0) as usize;
        let steps = (until / step).round() as usize;
        let mut all = Vec::new();
        for _ in 0..=steps / stride {
            if !watch(fixed.time()) {
                break;
            }
            all.push(fixed.snapshot()?);
            fixed.advance(stride - 1);
        }
        Ok(Snapshots { all, columns: self.state_columns() })
    }
}
