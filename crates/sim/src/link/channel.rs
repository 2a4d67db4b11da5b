//! What a link does to packets beside its queue and its rate: variable delay, random loss, the link layer.

use super::loss::LossState;
use super::medium::Medium;
use super::propagation::VariableDelay;
use millpond_units::{Span, Time};

/// The parts that most links do not have, together: a packet asks once whether there are any.
pub(super) struct Channel {
    delay: Option<VariableDelay>,
    loss: Option<LossState>,
    medium: Option<Medium>,
}

impl Channel {
    /// None without any of the parts.
    pub(super) fn new(
        delay: Option<VariableDelay>,
        loss: Option<LossState>,
        medium: Option<Medium>,
    ) -> Option<Box<Self>> {
        let has_any = delay.is_some() || loss.is_some() || medium.is_some();
        has_any.then(|| Box::new(Self { delay, loss, medium }))
    }

    /// When a packet whose service ends at `leaves` arrives at the end of the link. `constant`: the delay that does not vary. Must
    /// be called once for each packet, in order.
    #[inline(never)]
    pub(super) fn arrival(&mut self, leaves: Time, constant: Span) -> Time {
        let at = self.delay.as_mut().map_or(leaves + constant, |delay| delay.arrival(leaves));
        self.medium.as_mut().map_or(at, |medium| medium.arrival(at))
    }

    /// When a packet may be served that arrived at `entered` and is at the head of the queue at `free`.
    #[inline(never)]
    pub(super) fn release(&mut self, entered: Time, free: Time) -> Time {
        self.medium.as_mut().map_or(free, |medium| medium.release(entered, free))
    }

    /// True if services may begin later than the queue and the rate permit.
    pub(super) fn delays_services(&self) -> bool {
        self.medium.is_some()
    }

    /// True if a packet may overtake another one.
    pub(super) fn reorders(&self) -> bool {
        self.delay.as_ref().is_some_and(VariableDelay::reorders)
    }

    /// True if packets may be lost.
    pub(super) fn may_lose(&self) -> bool {
        self.loss.is_some() || self.medium.as_ref().is_some_and(Medium::may_lose)
    }

    /// True if the packet that arrives next at the end of the link is lost, at random or after its last attempt.
    #[inline(never)]
    pub(super) fn loses_next(&mut self) -> bool {
        let given_up = self.medium.as_mut().is_some_and(Medium::is_lost);
        self.loss.as_mut().is_some_and(LossState::is_lost) || given_up
    }
}
