//! Buffer sizes of links; times and bandwidth-delay products become bytes.

use crate::traffic::LinkTraffic;
use millpond_scenario::{self as scenario, Direction};
use millpond_sim::Buffer;
use millpond_units::{Bytes, Span};

/// The buffer of one direction of a link in a run of this duration. In a bandwidth-delay product the bandwidth is the mean
/// of the link's actual rate, and the delay is the mean end-to-end base RTT of the flows whose data cross the link; if no data cross it, of the
/// flows whose acknowledgements do. Without traffic the buffer is unlimited. A time and a bandwidth-delay product are at
/// least the largest packet that crosses the link: a smaller buffer would drop each of them.
pub(crate) fn buffer(direction: &Direction, traffic: &LinkTraffic<'_, '_>, duration: Span) -> Buffer {
    let rate = || direction.rate.schedule().mean(duration);
    let at_least_a_packet = |bytes: Bytes| Buffer::Bytes(bytes.max(largest_packet_or_ack(traffic)));
    match direction.buffer {
        scenario::Buffer::Unlimited => Buffer::Unlimited,
        scenario::Buffer::Bytes(bytes) => Buffer::Bytes(bytes),
        scenario::Buffer::Packets(packets) => Buffer::Packets(packets),
        scenario::Buffer::Time(span) => at_least_a_packet(rate().bytes_in(span)),
        scenario::Buffer::Bdp(times) => match mean_base_rtt(traffic) {
            Some(rtt) => at_least_a_packet(Bytes::from_f64(times * rate().bytes_in(rtt).as_f64())),
            None => Buffer::Unlimited,
        },
    }
}

/// A packet that is larger than the buffer of a link, if its buffer is given in bytes.
pub(crate) fn packet_beyond_buffer(buffer: Buffer, traffic: &LinkTraffic<'_, '_>) -> Option<Bytes> {
    let Buffer::Bytes(buffer) = buffer else { return None };
    Some(largest_packet_or_ack(traffic)).filter(|packet| *packet > buffer)
}

/// The size of the largest packet that crosses the link; zero without traffic.
fn largest_packet_or_ack(traffic: &LinkTraffic<'_, '_>) -> Bytes {
    let data = traffic.data.iter().map(|(_, instance)| instance.group.packet);
    let acks = traffic.acks.iter().map(|(size, _)| *size);
    data.chain(acks).max().unwrap_or(Bytes::ZERO)
}

fn mean_base_rtt(traffic: &LinkTraffic<'_, '_>) -> Option<Span> {
    let data = traffic.data.iter().map(|(_, instance)| instance.base_rtt);
    let acks = traffic.acks.iter().map(|(_, instance)| instance.base_rtt);
    let spans: Vec<Span> = if traffic.data.is_empty() { acks.collect() } else { data.collect() };
    (!spans.is_empty()).then(|| spans.iter().copied().sum::<Span>() / spans.len() as u64)
}
