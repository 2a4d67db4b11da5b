//! The buffers of relays, in both worlds.

use millpond_endpoint::RelayBuffer;
use millpond_scenario::{Buffer, Hop, Scenario};
use millpond_units::{Bytes, Rate, Span};

/// A loop before or after a relay.
pub(crate) struct RelayedLoop<'a> {
    pub(crate) path: &'a [Hop],
    pub(crate) base_rtt: Span,
}

/// Base RTTs of the next loop for which a relay may hold data by default: LGCC's default `drain`. Its echo is zero from this
/// backlog on, so that a greater one does not slow the previous loop further.
const BASE_RTTS_OF_NEXT_LOOP: u64 = 8;

/// The buffer of the relay between these loops. A multiple of the previous loop's BDP is what the previous loop needs in
/// flight at full rate. The delay has the same multiple of its base RTT for this, so that a relay between a long and a short
/// loop does not limit the throughput.
pub(crate) fn relay_buffer(
    scenario: &Scenario,
    buffer: &Buffer,
    [previous, next]: [&RelayedLoop<'_>; 2],
    packet: Bytes,
) -> RelayBuffer {
    let mean =
        |hop: &Hop| scenario.links[hop.link].direction(hop.forward).rate.schedule().mean(scenario.duration);
    match buffer {
        Buffer::Unlimited => RelayBuffer::Size(Bytes::MAX),
        Buffer::Bytes(bytes) => RelayBuffer::Size(*bytes),
        Buffer::Packets(packets) => RelayBuffer::Size(packet * *packets),
        Buffer::Time(delay) => RelayBuffer::Limited { size: Bytes::MAX, delay: *delay },
        Buffer::Bdp(times) => {
            let slowest = previous.path.iter().map(mean).min().unwrap_or(Rate::MAX);
            RelayBuffer::Limited {
                size: Bytes::from_f64(times * slowest.bytes_in(previous.base_rtt).as_f64()),
                delay: previous.base_rtt.scale(*times) + next.base_rtt * BASE_RTTS_OF_NEXT_LOOP,
            }
        }
    }
}
