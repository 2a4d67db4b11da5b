//! The fixed-step scheme as an [`Integration`].

use super::FixedStep;
use super::meter::{MAX_PENDING_STEPS, Meter};
use super::parallel::{Executor, OneThread};
use crate::assembly::Assembly;
use crate::discrete_state::DiscreteState;
use crate::error::Error;
use crate::integration::Integration;
use crate::right_hand_side::{RightHandSide, initial_history};

/// An integration with fixed steps that also computes channels and their integrals. The integrals of carried quantities
/// are NaN.
///
/// A jump within half a step of the present time is attributed in part to each side.
pub struct FixedStepIntegration<'a, E = OneThread> {
    fixed: FixedStep<'a>,
    executor: E,
    meter: Meter,
    /// The step that is shown. The scheme is one step ahead, because the signals of a step are computed while it is
    /// made.
    at: usize,
    states: Vec<f64>,
    /// Queues before the next step, in bits.
    queues: Vec<f64>,
}

impl<'a> FixedStepIntegration<'a> {
    /// An integration at time zero with this step in seconds, on the calling thread.
    ///
    /// # Errors
    /// See [`Assembly::allows_steps_of`].
    pub fn new(asm: &'a Assembly, step: f64) -> Result<Self, Error> {
        Self::with_executor(asm, step, OneThread)
    }
}

impl<'a, E: Executor> FixedStepIntegration<'a, E> {
    /// The same as [`FixedStepIntegration::new`]; `executor` executes the blocks of flows and of links. The result does
    /// not depend on it.
    ///
    /// # Errors
    /// See [`Assembly::allows_steps_of`].
    pub fn with_executor(asm: &'a Assembly, step: f64, executor: E) -> Result<Self, Error> {
        let longest = asm.hops.iter().map(|hop| hop.forward).fold(0.0, f64::max);
        let longest = (longest / step).ceil() as usize;
        let fixed = FixedStep::with_memory(asm, step, longest + MAX_PENDING_STEPS + 3)?;
        let before =
            initial_history(&mut RightHandSide::new(asm), &DiscreteState::initial(asm), &asm.initial());
        let (meter, at, states) = (Meter::new(&fixed, before), fixed.zero, fixed.states());
        let queues = vec![0.0; asm.links.len()];
        let mut measured = Self { fixed, executor, meter, at, states, queues };
        measured.step_until(at + 1);
        measured.meter.update_loops(&measured.fixed);
        Ok(measured)
    }

    /// Checks that the scheme can reach the time `until`, in seconds, within its number of steps.
    ///
    /// # Errors
    /// [`Error::TooManyFixedSteps`].
    pub fn check_reach(&self, until: f64) -> Result<(), Error> {
        const MOST_STEPS: u64 = 20_000_000;
        let step = self.fixed.step;
        if until / step > MOST_STEPS as f64 {
            return Err(Error::TooManyFixedSteps { step, duration: until, steps: MOST_STEPS });
        }
        Ok(())
    }

    /// An error if a state, a channel or an integral is infinite or not a number. A rate may be infinite although all states
    /// are finite.
    fn check_finite(&self) -> Result<(), Error> {
        if let Some(i) = self.states.iter().position(|x| !x.is_finite()) {
            return Err(self.fixed.not_finite(i));
        }
        match self.meter.first_not_finite() {
            None => Ok(()),
            Some(channel) => Err(self.fixed.channel_not_finite(channel)),
        }
    }

    /// Advances up to this step, exclusive.
    fn step_until(&mut self, end: usize) {
        while self.fixed.n < end {
            for block in &self.fixed.link_blocks {
                self.queues[block.first..][..block.queues.len()].copy_from_slice(&block.queues);
            }
            self.fixed.step_towards(&self.executor, end);
            self.meter.add_step(&self.fixed, &self.queues);
        }
    }
}

impl<E: Executor> Integration for FixedStepIntegration<'_, E> {
    fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error> {
        let target = self.fixed.zero + (until / self.fixed.step).round().max(0.0) as usize;
        if target <= self.at {
            return Ok(true);
        }
        self.step_until(
            target.min(self.fixed.n.saturating_add(usize::try_from(steps).unwrap_or(usize::MAX))),
        );
        if self.fixed.n < target {
            return Ok(false);
        }
        self.states = self.fixed.states();
        self.step_until(target + 1);
        self.meter.update_loops(&self.fixed);
        self.at = target;
        self.check_finite().map(|()| true)
    }

    fn state(&self) -> &[f64] {
        &self.states
    }

    /// None: fixed steps do not support them.
    fn discrete(&self) -> &[u64] {
        &[]
    }

    fn channels(&self) -> &[f64] {
        &self.meter.now
    }

    fn integrals(&self) -> &[f64] {
        &self.meter.integrals
    }
}
