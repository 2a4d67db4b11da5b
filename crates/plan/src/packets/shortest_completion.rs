//! The shortest time in which a transfer can be complete: the completion time that results are compared with.

use millpond_scenario::{Capacity, Delay, Hop, LinkLayer, Scenario};
use millpond_units::{Bytes, Rate, Span};

/// How long the transfers of a flow take at least: alone in the network, with all packets at its source at once, no queueing
/// but that behind each other, no loss and no processing times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortestCompletion {
    /// From the source to the destination, without service.
    delay: Span,
    /// The capacity of each link on the way.
    rates: Vec<Rate>,
    /// The size of a full packet on the wire.
    packet: Bytes,
    /// The part of it that is not payload.
    overhead: Bytes,
}

impl ShortestCompletion {
    /// That of flows with such packets over the links of `path`, which begins after `extra_delay`. None if a link has no
    /// constant capacity and delay, or a link layer that decides when a packet is served.
    pub(crate) fn over(
        scenario: &Scenario,
        path: &[Hop],
        extra_delay: Span,
        (packet, overhead): (Bytes, Bytes),
    ) -> Option<Self> {
        let mut constant =
            Self { delay: extra_delay, rates: Vec::with_capacity(path.len()), packet, overhead };
        for hop in path {
            let direction = scenario.links[hop.link].direction(hop.forward);
            match (&direction.rate, &direction.delay, direction.link_layer) {
                (Capacity::Constant(rate), Delay::Constant(delay), LinkLayer::None) => {
                    constant.rates.push(*rate);
                    constant.delay += *delay;
                }
                _ => return None,
            }
        }
        Some(constant)
    }

    /// The shortest time from the start of a transfer of `size` bytes to the arrival of its last byte.
    ///
    /// With service times `s_i` of a full packet and `l_i` of the last one, `n` packets in all, and each packet served at link
    /// `i` when it has arrived and the packet before it has left, the last one leaves link `i` at
    /// `L_i = max(L_{i-1}, F_i) + l_i`, where `F_i = s_1 + ... + s_i + (n - 2) max(s_1, ..., s_i)` is when the packet before it
    /// leaves that link.
    #[must_use]
    pub fn of(&self, size: Bytes) -> Span {
        let payload = self.packet.saturating_sub(self.overhead).get().max(1);
        let full_packets = size.get().saturating_sub(1) / payload;
        let last = self.overhead + Bytes::new(size.get() - full_packets * payload);
        let (mut passage, mut slowest, mut done) = (Span::ZERO, Span::ZERO, Span::ZERO);
        for rate in &self.rates {
            if let Some(behind_the_first) = full_packets.checked_sub(1) {
                let service = rate.time_for(self.packet);
                passage += service;
                slowest = slowest.max(service);
                done = done.max(passage + slowest * behind_the_first);
            }
            done += rate.time_for(last);
        }
        self.delay + done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full packets of 1000 bytes, of which 100 are no payload, over links with these capacities in bit/s.
    fn over<const N: usize>(bps: [u64; N]) -> ShortestCompletion {
        ShortestCompletion {
            delay: Span::from_secs(10.0),
            rates: bps.map(Rate::from_bps).to_vec(),
            packet: Bytes::new(1000),
            overhead: Bytes::new(100),
        }
    }

    /// When each packet leaves each link, packet after packet.
    fn packet_by_packet(network: &ShortestCompletion, size: u64) -> Span {
        let mut left = size;
        let mut free = vec![Span::ZERO; network.rates.len()];
        let mut arrival = Span::ZERO;
        while left > 0 {
            let payload = left.min(900);
            left -= payload;
            arrival = Span::ZERO;
            for (rate, free) in network.rates.iter().zip(&mut free) {
                arrival = arrival.max(*free) + rate.time_for(Bytes::new(payload + 100));
                *free = arrival;
            }
        }
        network.delay + arrival
    }

    #[test]
    fn a_transfer_of_one_packet_is_served_once_at_each_link() {
        // 500 bytes on the wire: 4 s and 2 s.
        assert_eq!(over([1000, 2000]).of(Bytes::new(400)), Span::from_secs(16.0));
    }

    #[test]
    fn full_packets_follow_each_other_at_the_slowest_link() {
        // Five packets: 4 s at the first link for the first one, 8 s each at the second, 2 s at the third for the last one.
        assert_eq!(over([2000, 1000, 4000]).of(Bytes::new(4500)), Span::from_secs(10.0 + 4.0 + 40.0 + 2.0));
    }

    #[test]
    fn it_is_that_of_a_computation_packet_by_packet() {
        for rates in [[1000, 1000, 1000], [1000, 8000, 2000], [8000, 1000, 4000], [500, 700, 400]] {
            for size in [1, 899, 900, 901, 1800, 1850, 2700, 9001, 90_000] {
                let network = over(rates);
                assert_eq!(
                    network.of(Bytes::new(size)),
                    packet_by_packet(&network, size),
                    "{size} bytes over {rates:?}"
                );
            }
        }
    }
}
