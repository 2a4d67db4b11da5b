//! What a network and a driver outside of the simulator hand over to each other. `driver.rs` has the calls.

use crate::NodeId;
use millpond_endpoint::Frame;
use millpond_law::Ecn;
use millpond_stats::Histogram;
use millpond_units::Time;

/// A frame that a host sends. The driver brings it to the first link of its loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// The loop.
    pub loop_id: u32,
    /// Data from the sender of the loop, or an acknowledgement from its receiver.
    pub frame: Frame,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
}

/// A frame at the end of the last link of its loop. The driver brings it to the host there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// When it was at the end of the link.
    pub at: Time,
    /// The number that [`PacketNetwork::enter`](crate::PacketNetwork::enter) returned for it. The next frame may have the same one.
    pub slot: u32,
    /// The loop.
    pub loop_id: u32,
    /// The frame, as the routers have changed it.
    pub frame: Frame,
    /// The ECN field of its IP header: CE if a law has marked it.
    pub ecn: Ecn,
}

/// The two hosts of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopHosts {
    /// The node of its sender.
    pub sender: NodeId,
    /// The node of its receiver.
    pub receiver: NodeId,
}

/// Frames that hosts and links hand over, and when hosts act.
pub(crate) struct Outside {
    /// The time at which hosts act: that of the driver's clock, at most the end up to which the network runs.
    pub(crate) clock: Time,
    /// The time of the driver's clock.
    pub(crate) called: Time,
    pub(crate) departures: Vec<Departure>,
    pub(crate) exits: Vec<Exit>,
    /// By how much the events of hosts were handled after their times.
    pub(crate) lateness: Histogram,
    /// For each flow the frames between hosts and links.
    between: Vec<u32>,
}

impl Outside {
    /// Nothing has been handed over at `clock`.
    pub(crate) fn new(clock: Time) -> Self {
        Self {
            clock,
            called: clock,
            departures: Vec::new(),
            exits: Vec::new(),
            lateness: Histogram::of_delays(),
            between: Vec::new(),
        }
    }

    /// True if a frame of the flow is between a host and a link.
    pub(crate) fn carries(&self, flow: u32) -> bool {
        self.between.get(flow as usize).is_some_and(|count| *count > 0)
    }

    /// The number of these frames of a flow.
    pub(crate) fn count(&mut self, flow: u32) -> &mut u32 {
        let index = flow as usize;
        if self.between.len() <= index {
            self.between.resize(index + 1, 0);
        }
        &mut self.between[index]
    }
}
