//! Round trips, counted by delivered bytes instead of by time.

use millpond_units::Bytes;

/// A round trip ends when a packet is acknowledged that was sent after it began, that is, after `ends_after` bytes had
/// been delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    count: u64,
    ends_after: Bytes,
}

impl Rounds {
    /// Number of completed round trips after the acknowledgement of a packet that was sent when `prior_delivered` bytes
    /// had been delivered; `delivered`: bytes delivered now.
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
    fn with_ten_packets_in_flight_every_tenth_ack_ends_a_round_trip() {
        let mut rounds = Rounds::default();
        for packet in 0..100_u64 {
            // Packet n leaves when packet n - 10 is acknowledged.
            let (prior, delivered) = (packet.saturating_sub(9), packet + 1);
            let count = rounds.on_ack(Bytes::new(prior), Bytes::new(delivered));
            assert_eq!(count, 1 + packet / 10, "packet {packet}");
        }
    }
}
