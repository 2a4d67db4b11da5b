//! Which congestion belongs together.

use millpond_law::Episode;

/// Congestion of one kind comes in episodes: one begins with the first congested packet that left after the last
/// one had begun (the recovery period of RFC 9002, section 7.3.2). Losses and marks are told apart, because a law
/// may answer each in its own way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Episodes {
    /// Packets from this number on begin a new episode.
    next_from: u64,
}

impl Episodes {
    /// The packet with this number met congestion; the next packet to leave will be `next_number`.
    pub(crate) fn on_congested(&mut self, number: u64, next_number: u64) -> Episode {
        if number < self.next_from {
            return Episode::Same;
        }
        self.next_from = next_number;
        Episode::New
    }

    /// Whatever has left before `next_number` belongs to an episode that begins now.
    pub(crate) fn begin(&mut self, next_number: u64) {
        self.next_from = next_number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_lasts_until_a_packet_sent_after_its_beginning_is_congested() {
        let mut episodes = Episodes::default();
        assert_eq!(episodes.on_congested(10, 20), Episode::New);
        assert_eq!(episodes.on_congested(11, 25), Episode::Same);
        assert_eq!(episodes.on_congested(19, 30), Episode::Same);
        assert_eq!(episodes.on_congested(20, 30), Episode::New);
        episodes.begin(40);
        assert_eq!(episodes.on_congested(39, 45), Episode::Same);
    }
}
