//! How much a link can hold: what is given as a time or in bandwidth-delay products becomes bytes.

use crate::traffic::Traffic;
use millpond_scenario::{self as scenario, Direction};
use millpond_sim::Buffer;
use millpond_units::{Bytes, Span};

/// The buffer of a direction. The bandwidth is the mean of the link's true rate; the delay is the mean base
/// round-trip time, from end to end, of the flows whose data cross it (of those whose acknowledgements do, if no
/// data crosses it; with no traffic at all nothing is ever queued).
pub(crate) fn buffer(direction: &Direction, traffic: &Traffic<'_, '_>) -> Buffer {
    let rate = || direction.rate.schedule().mean();
    match direction.buffer {
        scenario::Buffer::Unlimited => Buffer::Unlimited,
        scenario::Buffer::Bytes(bytes) => Buffer::Bytes(bytes),
        scenario::Buffer::Packets(packets) => Buffer::Packets(packets),
        scenario::Buffer::Time(span) => Buffer::Bytes(rate().bytes_in(span)),
        scenario::Buffer::Bdp(times) => match mean_base_rtt(traffic) {
            Some(rtt) => Buffer::Bytes(Bytes::from_f64(times * rate().bytes_in(rtt).as_f64())),
            None => Buffer::Unlimited,
        },
    }
}

fn mean_base_rtt(traffic: &Traffic<'_, '_>) -> Option<Span> {
    let data = traffic.data.iter().map(|(_, member)| member.base_rtt);
    let acks = traffic.acks.iter().map(|member| member.base_rtt);
    let spans: Vec<Span> = if traffic.data.is_empty() { acks.collect() } else { data.collect() };
    (!spans.is_empty()).then(|| spans.iter().copied().sum::<Span>() / spans.len() as u64)
}
