//! An integration with steps of one length that is measured.

use super::FixedStep;
use super::meter::{MAX_UNSETTLED, Meter};
use crate::assembly::Assembly;
use crate::discrete_state::DiscreteState;
use crate::error::Error;
use crate::integration::Integration;
use crate::right_hand_side::{RightHandSide, before};

/// Steps of one length as an [`Integration`]: looked at, at whole steps. Integrals of what laws carry are not kept: not a
/// number.
///
/// A jump in the step before or after a look belongs in part to either side of it.
pub struct FixedStepIntegration<'a> {
    fixed: FixedStep<'a>,
    meter: Meter,
    /// The step that is looked at; the scheme is one further, since what is said at a step is said while it is made.
    at: usize,
    states: Vec<f64>,
    /// Of the step that is made next.
    queues: Vec<f64>,
}

impl<'a> FixedStepIntegration<'a> {
    /// At time zero, with steps of this length in seconds.
    ///
    /// # Errors
    /// See [`Assembly::allows_steps_of`].
    pub fn new(asm: &'a Assembly, step: f64) -> Result<Self, Error> {
        let longest = asm.hops.iter().map(|hop| hop.forward).fold(0.0, f64::max);
        let longest = (longest / step).ceil() as usize;
        let fixed = FixedStep::with_memory(asm, step, longest + MAX_UNSETTLED + 3)?;
        let before = before(&mut RightHandSide::new(asm), &DiscreteState::before(asm), &asm.initial());
        let (at, queues) = (fixed.zero, fixed.queues.clone());
        let mut measured =
            Self { meter: Meter::new(&fixed, before), at, states: fixed.states(), queues, fixed };
        measured.walk(at + 1);
        measured.meter.settle(&measured.fixed);
        Ok(measured)
    }

    /// Up to this step, not including it.
    fn walk(&mut self, end: usize) {
        while self.fixed.n < end {
            self.queues.copy_from_slice(&self.fixed.queues);
            self.fixed.step_towards(end);
            self.meter.note(&self.fixed, &self.queues);
        }
    }
}

impl Integration for FixedStepIntegration<'_> {
    fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error> {
        let target = self.fixed.zero + (until / self.fixed.step).round().max(0.0) as usize;
        if target <= self.at {
            return Ok(true);
        }
        self.walk(target.min(self.fixed.n.saturating_add(usize::try_from(steps).unwrap_or(usize::MAX))));
        if self.fixed.n < target {
            return Ok(false);
        }
        self.states = self.fixed.states();
        self.walk(target + 1);
        self.meter.settle(&self.fixed);
        self.at = target;
        match self.states.iter().position(|x| !x.is_finite()) {
            None => Ok(true),
            Some(i) => Err(self.fixed.not_finite(i)),
        }
    }

    fn state(&self) -> &[f64] {
        &self.states
    }

    fn channels(&self) -> &[f64] {
        &self.meter.now
    }

    fn integrals(&self) -> &[f64] {
        &self.meter.integrals
    }
}
