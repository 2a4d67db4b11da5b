//! The law at a receiver: what goes back in the acknowledgement.

use crate::{Context, Ecn, Header};
use millpond_units::{Bytes, Rate, Span};

/// A data packet, as its receiver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Data {
    /// Its size on the wire.
    pub bytes: Bytes,
    /// Its ECN bits as they arrived.
    pub ecn: Ecn,
    /// Its header as the links left it.
    pub header: Header,
}

/// What a receiver that is one half of a relay knows of the other half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelayView {
    /// The rate at which the next loop's sender really sends, for all that share it: its window over its smoothed RTT,
    /// or its pace if that is less.
    pub next_rate: Rate,
    /// What waits in the relay's send queue of this incoming loop's bytes.
    pub backlog: Bytes,
    /// What the send queue can hold of a flow.
    pub limit: Bytes,
    /// The next loop's round-trip time (smoothed).
    pub next_rtt: Span,
    /// The next loop's least round-trip time so far.
    pub next_base_rtt: Span,
    /// How the next loop's sender is shared.
    pub sharing: Sharing,
}

/// How incoming loops that end at one relay share the sender of the next loop. A loop counts while it has something
/// to send; its weight is the sum of those of the flows that it carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// How many loops share it, this one included.
    pub members: u32,
    /// This loop's normalized weight: over the sum of all.
    pub weight: f64,
    /// The largest normalized weight.
    pub largest: f64,
    /// The sum of the inverses of all normalized weights.
    pub inverses: f64,
}

impl Sharing {
    /// The next loop is this one's alone.
    pub const ALONE: Self = Self { members: 1, weight: 1.0, largest: 1.0, inverses: 1.0 };
}

/// What goes back with the next acknowledgement. The endpoint keeps CE counts and credit; the law writes the rest.
/// With delayed acknowledgements the header persists from packet to packet until an acknowledgement leaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    /// The echoed header. Links cannot touch it on the way back.
    pub header: Header,
    /// The packet counts as CE-marked although no link has marked it: a receiver's virtual queue has. It is unset
    /// before each packet.
    pub mark: bool,
}

/// A control law at a receiver.
pub trait Receiver: Send {
    /// A data packet arrived.
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, relay: Option<&RelayView>, echo: &mut Echo);

    /// How many headers it could not read so far, see [`crate::Unread`]; zero for a law that reads none.
    fn unread(&self) -> u64 {
        0
    }
}

/// The receiver of a protocol that has nothing of its own to say: it echoes the last header as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainReceiver;

impl Receiver for PlainReceiver {
    #[inline]
    fn on_data(&mut self, _cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        echo.header = data.header;
    }
}
