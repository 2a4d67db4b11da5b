//! Integration from given states after a constant history, and changes made by the caller.

use super::scheduled_events::ScheduledEvents;
use super::{Accuracy, Solver};
use crate::assembly::Entity;
use crate::error::Error;
use crate::frozen::Frozen;
use crate::network::{LinkId, LoopId};
use crate::right_hand_side::{RightHandSide, initial_history};

impl<'a> Solver<'a> {
    /// A solver at time zero with the states `x`, the loops and capacities of `frozen`, and a history in which all of
    /// these are constant, from which the credits of relays follow. Starts, stops and capacity steps of the network are ignored.
    ///
    /// # Errors
    /// A quantity is infinite or not a number there.
    pub fn at(frozen: &Frozen<'a>, x: &[f64], accuracy: Accuracy) -> Result<Self, Error> {
        let mut rhs = RightHandSide::new(frozen.asm);
        let discrete = frozen.discrete.clone();
        // If static senders and links have no common solution, the history is the result of a few iterations.
        let before = match frozen.at(x) {
            Ok(moment) => moment.channels,
            Err(_) => initial_history(&mut rhs, &discrete, x),
        };
        let scheduled = ScheduledEvents::without_changes(frozen.asm, accuracy.track_discontinuities);
        let mut x = x.to_vec();
        frozen.asm.set_credits(&mut x, &before);
        Self::with(rhs, accuracy, (discrete, x), before, scheduled)
    }

    /// Sets the capacity of a link from now on, in bit/s. A configured capacity that is a share of it changes as well.
    ///
    /// # Errors
    /// Those of [`Solver::advance`].
    pub fn set_capacity(&mut self, link: LinkId, capacity: f64) -> Result<(), Error> {
        self.discrete.set_capacity(self.rhs.asm, link.0, capacity);
        self.propagate_jump(Entity::Link(link.0));
        self.refresh()
    }

    /// The sign of a switching function of a loop's or link's law; zero while it has not left zero.
    pub fn guard_sign(&self, owner: Entity, name: &str) -> Option<f64> {
        let is_it = |guard: &usize| {
            self.guard_owners[*guard] == owner && self.rhs.asm.guard_name(&self.rhs, *guard) == name
        };
        (0..self.signs.len()).find(is_it).map(|guard| self.signs[guard])
    }

    /// Starts a loop now, from its law's initial states.
    ///
    /// # Errors
    /// Those of [`Solver::advance`].
    pub fn start(&mut self, started: LoopId) -> Result<(), Error> {
        self.discrete.active[started.0] = true;
        self.forget_guards(started.0);
        self.propagate_jump(Entity::Loop(started.0));
        self.refresh()?;
        self.schedule_sender_tick(started.0);
        Ok(())
    }
}
