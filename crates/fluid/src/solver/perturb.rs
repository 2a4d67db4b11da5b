//! Beginning anywhere: from given states, after a past in which nothing ever changed, and with changes made by hand.

use super::scheduled_events::ScheduledEvents;
use super::{Accuracy, Solver};
use crate::assembly::Entity;
use crate::error::Error;
use crate::frozen::Frozen;
use crate::network::{LinkId, LoopId};
use crate::right_hand_side::{RightHandSide, before};

impl<'a> Solver<'a> {
    /// At time zero at these states, which have been the same for ever, among the loops and capacities of `frozen`.
    /// What the network itself has in store (starts, stops, capacity steps) does not happen.
    ///
    /// # Errors
    /// A quantity that is infinite or not a number there.
    pub fn at(frozen: &Frozen<'a>, x: &[f64], accuracy: Accuracy) -> Result<Self, Error> {
        let mut rhs = RightHandSide::new(frozen.asm);
        let discrete = frozen.discrete.clone();
        // Where senders and links without states do not come to terms, what they have said of each other so far.
        let before = match frozen.at(x) {
            Ok(moment) => moment.channels,
            Err(_) => before(&mut rhs, &discrete, x),
        };
        let scheduled = ScheduledEvents::quiet(frozen.asm, accuracy.track_discontinuities);
        Self::with(rhs, accuracy, (discrete, x.to_vec()), before, scheduled)
    }

    /// From now on a link serves so many bit/s.
    ///
    /// # Errors
    /// As those of [`Solver::advance`].
    pub fn set_capacity(&mut self, link: LinkId, capacity: f64) -> Result<(), Error> {
        self.discrete.capacity[link.0] = capacity;
        self.jumped(Entity::Link(link.0));
        self.refresh()
    }

    /// A loop starts now, at its law's initial states.
    ///
    /// # Errors
    /// As those of [`Solver::advance`].
    pub fn start(&mut self, started: LoopId) -> Result<(), Error> {
        self.discrete.active[started.0] = true;
        self.forget_guards(started.0);
        self.jumped(Entity::Loop(started.0));
        self.refresh()?;
        self.wind_sender(started.0);
        Ok(())
    }
}
