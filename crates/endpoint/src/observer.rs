//! What a log receives of the events at a sender.

use crate::{Acknowledgement, Segment};
use alloc::boxed::Box;
use alloc::vec::Vec;
use millpond_law::Congestion;
use millpond_units::{Bytes, Rate, Span, Time};

/// Receives the events at a sender in the order in which they happen. It cannot change them.
pub trait SenderObserver: Send {
    /// A packet leaves.
    fn on_sent(&mut self, now: Time, segment: &Segment);

    /// An acknowledgement arrives.
    fn on_ack(&mut self, now: Time, ack: &Acknowledgement);

    /// A packet is declared lost.
    fn on_lost(&mut self, now: Time, number: u64, threshold: LossThreshold);

    /// Losses, marks, a probe timeout or persistent congestion.
    fn on_congestion(&mut self, now: Time, congestion: &Congestion);

    /// A packet is acknowledged that was sent after the last loss episode began.
    fn on_recovery_end(&mut self, now: Time);

    /// Window, rate and estimates after an event.
    fn on_state(&mut self, now: Time, state: &SenderState);
}

/// Several observers receive each event in their order.
#[rustfmt::skip]
impl SenderObserver for Vec<Box<dyn SenderObserver>> {
    fn on_sent(&mut self, now: Time, segment: &Segment) { self.iter_mut().for_each(|one| one.on_sent(now, segment)); }
    fn on_ack(&mut self, now: Time, ack: &Acknowledgement) { self.iter_mut().for_each(|one| one.on_ack(now, ack)); }
    fn on_lost(&mut self, now: Time, number: u64, threshold: LossThreshold) { self.iter_mut().for_each(|one| one.on_lost(now, number, threshold)); }
    fn on_congestion(&mut self, now: Time, congestion: &Congestion) { self.iter_mut().for_each(|one| one.on_congestion(now, congestion)); }
    fn on_recovery_end(&mut self, now: Time) { self.iter_mut().for_each(|one| one.on_recovery_end(now)); }
    fn on_state(&mut self, now: Time, state: &SenderState) { self.iter_mut().for_each(|one| one.on_state(now, state)); }
}

/// Why a packet is declared lost (RFC 9002, section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossThreshold {
    /// Packets that were sent sufficiently later are acknowledged.
    Packets,
    /// A packet that was sent later is acknowledged, and it was sent sufficiently long ago.
    Time,
}

/// Window, rate and estimates of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderState {
    /// The window of the law, if it has one.
    pub window: Option<Bytes>,
    /// The pacing rate of the law, if it has one.
    pub pace: Option<Rate>,
    /// Bytes in flight, counted on the wire.
    pub in_flight: Bytes,
    /// Round-trip times, after the first sample.
    pub rtt: Option<RttState>,
}

/// Estimates of the round-trip time (RFC 9002, section 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttState {
    /// The last sample.
    pub latest: Span,
    /// The least sample.
    pub min: Span,
    /// The smoothed samples.
    pub smoothed: Span,
    /// The mean deviation from it.
    pub variation: Span,
}
