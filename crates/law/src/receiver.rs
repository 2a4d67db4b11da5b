//! The law at a receiver: the feedback in acknowledgements.

use crate::{Context, Ecn, Header};
use millpond_units::{Bytes, Rate, Span};

/// A data packet at its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Its size on the wire.
    pub bytes: Bytes,
    /// Its ECN bits at arrival.
    pub ecn: Ecn,
    /// Its header at arrival.
    pub header: Header,
}

/// The state of a relay that its receiver can read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelayView {
    /// The sending rate of the next loop, over all loops that share it: its window over its smoothed RTT, or its pacing
    /// rate if that is less.
    pub next_rate: Rate,
    /// The pacing rate of the next loop, over all loops that share it; [`Rate::MAX`] if its law does not pace. It sends at
    /// this rate while its window is not full.
    pub next_pace: Rate,
    /// Bytes in flight in the next loop.
    pub next_in_flight: Bytes,
    /// Bytes of this incoming loop in the relay's send queue.
    pub backlog: Bytes,
    /// Bytes of all incoming loops in the relay's send queue.
    pub next_backlog: Bytes,
    /// Capacity of the send queue for each flow.
    pub limit: Bytes,
    /// The smoothed round-trip time of the next loop.
    pub next_rtt: Span,
    /// The least round-trip time of the next loop so far.
    pub next_base_rtt: Span,
    /// How incoming loops share the sender of the next loop.
    pub sharing: Sharing,
}

/// How the incoming loops of a relay share the sender of the next loop. Only loops with a backlog are counted. The
/// weight of a loop is the sum of the weights of its flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// Number of loops that share it, this one included.
    pub members: u32,
    /// The normalized weight of this loop: its weight over the sum of all weights.
    pub weight: f64,
    /// The largest normalized weight.
    pub largest: f64,
    /// The sum of the inverses of all normalized weights.
    pub inverses: f64,
    /// The share of this loop in the rate of the next loop if that is divided max-min fairly by weights: loops that deliver
    /// less than their share leave the rest to the others. It is the normalized weight if all deliver theirs.
    pub max_min: f64,
}

impl Sharing {
    /// The next loop is not shared.
    pub const ALONE: Self = Self { members: 1, weight: 1.0, largest: 1.0, inverses: 1.0, max_min: 1.0 };
}

/// The feedback in the next acknowledgement. The endpoint writes CE counts and credit; the law writes the rest. With
/// delayed acknowledgements the header persists from packet to packet until an acknowledgement is sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    /// The echoed header. Links on the return path cannot change it.
    pub header: Header,
    /// The packet counts as CE-marked, because a virtual queue at the receiver marks it. Reset before each packet.
    pub mark: bool,
}

/// A control law at a receiver.
pub trait Receiver: Send {
    /// A data packet arrived.
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, relay: Option<&RelayView>, echo: &mut Echo);

    /// Data left the relay towards the next loop. Returns true if the feedback has changed so much that it is sent now, in
    /// an acknowledgement of its own, instead of with the next data packet. Only called if [`Self::sends_updates`].
    fn on_relay_departure(&mut self, _relay: &RelayView, _echo: &mut Echo) -> bool {
        false
    }

    /// Whether the law needs [`Self::on_relay_departure`].
    fn sends_updates(&self) -> bool {
        false
    }

    /// Number of unreadable headers so far, see [`crate::Unread`]; zero for a law that reads none.
    fn unread(&self) -> u64 {
        0
    }
}

/// A receiver that echoes the last header unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainReceiver;

impl Receiver for PlainReceiver {
    #[inline]
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        echo.header = data.header;
    }
}
