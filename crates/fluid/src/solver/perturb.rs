//! Beginning anywhere: from given states, after a past in which nothing ever changed, and with changes made by hand.

use super::agenda::Agenda;
use super::{Accuracy, Solver};
use crate::assembly::Entity;
use crate::error::Error;
use crate::field::{Field, before};
use crate::frozen::Frozen;
use crate::network::{LinkId, LoopId};

impl<'a> Solver<'a> {
    /// At time zero at these states, which have been the same for ever, among the loops and capacities of `frozen`.
    /// What the network itself has in store (starts, stops, capacity steps) does not happen.
    ///
    /// # Errors
    /// A quantity that is infinite or not a number there.
    pub fn at(frozen: &Frozen<'a>, x: &[f64], accuracy: Accuracy) -> Result<Self, Error> {
        let mut field = Field::new(frozen.asm);
        let situation = frozen.situation.clone();
        // Where senders and links without states do not come to terms, what they have said of each other so far.
        let before = match frozen.at(x) {
            Ok(moment) => moment.channels,
            Err(_) => before(&mut field, &situation, x),
        };
        let agenda = Agenda::quiet(frozen.asm, accuracy.follow_kinks);
        Self::with(field, accuracy, (situation, x.to_vec()), before, agenda)
    }

    /// From now on a link serves so many bit/s.
    ///
    /// # Errors
    /// As those of [`Solver::advance`].
    pub fn set_capacity(&mut self, link: LinkId, capacity: f64) -> Result<(), Error> {
        self.situation.capacity[link.0] = capacity;
        self.jumped(Entity::Link(link.0));
        self.refresh()
    }

    /// A loop starts now, at its law's initial states.
    ///
    /// # Errors
    /// As those of [`Solver::advance`].
    pub fn start(&mut self, started: LoopId) -> Result<(), Error> {
        self.situation.active[started.0] = true;
        self.forget_guards(started.0);
        self.jumped(Entity::Loop(started.0));
        self.refresh()?;
        self.wind_sender(started.0);
        Ok(())
    }
}
