//! The law at a sender.

use crate::{Ack, Congestion, Context, Gauge, Header, Start};
use millpond_units::{Bytes, Rate, Time};

/// What a sender may do until the next event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permit {
    /// At most this much in flight; none for a law that only paces. A window may hold a fraction of a packet: the
    /// endpoint sends whole packets that fit, and always lets one packet be in flight.
    pub window: Option<Bytes>,
    /// Packets leave no closer than this rate allows; none for a law that only bounds what is in flight.
    pub pace: Option<Rate>,
    /// Call [`Sender::on_timer`] then, if nothing changes this before.
    pub wake: Option<Time>,
}

/// A control law at a sender. The endpoint decides what an acknowledgement, a loss, a round is; the law decides how
/// much may be sent.
pub trait Sender: Send {
    /// The loop begins; called once, before any other event.
    fn on_start(&mut self, _cx: &mut Context<'_>, _start: &Start) {}

    /// Something was newly acknowledged. Of one arriving packet, acknowledgements are told first, congestion after.
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack);

    /// Loss, timeout, ECN or silence, as the endpoint has established it.
    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion);

    /// The capacity told to this sender is now this; only where [`Needs`](crate::Needs) declares it.
    fn on_capacity(&mut self, _cx: &mut Context<'_>, _capacity: Rate) {}

    /// The time asked for in [`Permit::wake`] has come.
    fn on_timer(&mut self, _cx: &mut Context<'_>) {}

    /// A packet left; only where [`Needs`](crate::Needs) declares it.
    fn on_sent(&mut self, _cx: &mut Context<'_>, _bytes: Bytes, _in_flight: Bytes) {}

    /// At a relay that several loops share: flows have joined or left, and the sum of the weights of those that now
    /// have something to send is this. Its permit is asked for with the next event.
    fn on_weight(&mut self, _cx: &mut Context<'_>, _weight: f64) {}

    /// At a relay: a packet's worth of bytes has come from the earlier loop; `marked`: it bore a CE mark there, or in
    /// a loop before. Its permit is not asked for until something else happens.
    fn on_forwarded(&mut self, _cx: &mut Context<'_>, _marked: bool) {}

    /// What may be sent now; asked after every event, so it must be cheap.
    fn permit(&self) -> Permit;

    /// Fills the header of a packet about to leave; only where [`Needs`](crate::Needs) declares a header.
    fn stamp(&mut self, _cx: &mut Context<'_>, _header: &mut Header) {}

    /// How many echoes it could not read so far, see [`crate::Unread`]; zero for a law that reads none.
    fn unread(&self) -> u64 {
        0
    }

    /// Reports internals by name and unit, for plots.
    fn observe(&self, _gauge: &mut dyn Gauge) {}
}
