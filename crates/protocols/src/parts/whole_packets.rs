//! Whole packets in flight whose mean over round trips is a window with fractions of a packet.

use millpond_units::Bytes;

/// Shares of a packet that are rounding errors of sums.
const ROUNDING: f64 = 1e-9;

/// The whole packets of a window, round trip by round trip. What no whole packet fits into is carried over to the next
/// round trip: a window of 3.4 packets permits 3 packets in three of five round trips and 4 in two. The whole packets of any
/// number of round trips differ from the sum of their windows by less than a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WholePackets {
    /// The part of earlier windows that this round trip may use, in packets: less than one.
    carried: f64,
    round: u64,
    /// The last window, in packets.
    window: f64,
}

impl WholePackets {
    /// The whole packets in bytes that may be in flight, at least one, for a window in packets and the number of the round
    /// trip.
    pub(crate) fn permitted(&mut self, window: f64, round: u64, packet: Bytes) -> Bytes {
        if round != self.round {
            self.round = round;
            let sum = self.window + self.carried;
            self.carried = (sum - libm::floor(sum + ROUNDING)).max(0.0);
        }
        self.window = window;
        let packets = libm::floor(window + self.carried + ROUNDING).max(1.0);
        Bytes::from_f64(packets * packet.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    #[test]
    fn the_mean_of_the_whole_packets_over_round_trips_is_the_window() {
        for (window, packets) in [(1.0, [1, 1]), (1.9, [1, 2]), (3.0, [3, 3]), (3.4, [3, 4]), (9.75, [9, 10])]
        {
            let mut whole = WholePackets::default();
            // Four acknowledgements in each round trip permit the same number of packets.
            let rounds: Vec<u64> = (1..=200)
                .map(|round| {
                    let permitted = [(); 4].map(|()| whole.permitted(window, round, PACKET));
                    assert!(permitted.iter().all(|bytes| *bytes == permitted[0]));
                    permitted[0].get() / 1000
                })
                .collect();
            assert!(rounds.iter().all(|count| packets.contains(count)), "{window}: {rounds:?}");
            let sum: u64 = rounds.iter().sum();
            assert!(
                (sum as f64 - 200.0 * window).abs() < 1.0 + 1e-6,
                "{window}: {sum} packets in 200 round trips"
            );
        }
    }

    #[test]
    fn a_window_that_grows_within_a_round_trip_permits_its_packets_at_once() {
        let mut whole = WholePackets::default();
        let permitted = [1.5, 1.9, 2.2, 5.0].map(|window| whole.permitted(window, 1, PACKET).get());
        assert_eq!(permitted, [1000, 1000, 2000, 5000]);
        assert_eq!(whole.permitted(0.0, 2, PACKET), PACKET, "one packet may always be in flight");
    }
}
