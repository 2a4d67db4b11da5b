//! Round trips, counted by what is delivered rather than by a clock.

use millpond_units::Bytes;

/// A round ends when a packet is acknowledged that left after the round began, that is, after `ends_after` had been
/// delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    count: u64,
    ends_after: Bytes,
}

impl Rounds {
    /// A packet was acknowledged that left when `prior_delivered` had been delivered; now it is `delivered`.
    /// Returns how many rounds have ended so far.
    #[inline]
    pub(crate) fn on_ack(&mut self, prior_delivered: Bytes, delivered: Bytes) -> u64 {
        if prior_delivered >= self.ends_after {
            self.ends_after = delivered;
            self.count += 1;
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_ten_packets_in_flight_every_tenth_ack_ends_a_round() {
        let mut rounds = Rounds::default();
        for packet in 0..100_u64 {
            // Packet n leaves when packet n - 10 is acknowledged.
            let (prior, delivered) = (packet.saturating_sub(9), packet + 1);
            let count = rounds.on_ack(Bytes::new(prior), Bytes::new(delivered));
            assert_eq!(count, 1 + packet / 10, "packet {packet}");
        }
    }
}
