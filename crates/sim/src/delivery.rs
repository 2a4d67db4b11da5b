//! Delivery of data that has arrived at the receiver of a loop.

use crate::stats::ArrivalMeter;
use millpond_endpoint::Relay;

/// Where the data of a stream goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Delivery {
    /// To the application: the receiver is the destination of the flow.
    #[default]
    Application,
    /// To the application, which acts when data arrives.
    Watched { application: u32, connection: u32 },
    /// Through a relay into the next loop.
    Relay { relay: Relay, next_loop: u32 },
}

/// A stream at the receiver of a loop.
#[derive(Debug, Default)]
pub(crate) struct DeliveredStream {
    pub(crate) flow: u32,
    pub(crate) delivery: Delivery,
    /// Statistics of arriving packets, if this is the destination of the flow.
    pub(crate) arrivals: ArrivalMeter,
}
