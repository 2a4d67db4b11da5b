//! Congestion episodes (recovery periods).

use millpond_law::Episode;

/// Congestion signals of one kind form episodes. An episode begins with the first congested packet that was sent after
/// the previous one had begun (recovery period of RFC 9002, section 7.3.2). Losses and marks have separate episodes,
/// because a law may respond to each differently.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Episodes {
    /// Congestion of packets from this number on starts a new episode.
    starts_at: u64,
}

impl Episodes {
    /// Classifies congestion of packet `number`; `next_number` is the number of the next packet to be sent.
    pub(crate) fn on_congestion(&mut self, number: u64, next_number: u64) -> Episode {
        if number < self.starts_at {
            return Episode::Same;
        }
        self.starts_at = next_number;
        Episode::New
    }

    /// Starts an episode that includes all packets before `next_number`.
    pub(crate) fn begin(&mut self, next_number: u64) {
        self.starts_at = next_number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_lasts_until_congestion_of_a_packet_sent_after_its_start() {
        let mut episodes = Episodes::default();
        assert_eq!(episodes.on_congestion(10, 20), Episode::New);
        assert_eq!(episodes.on_congestion(11, 25), Episode::Same);
        assert_eq!(episodes.on_congestion(19, 30), Episode::Same);
        assert_eq!(episodes.on_congestion(20, 30), Episode::New);
        episodes.begin(40);
        assert_eq!(episodes.on_congestion(39, 45), Episode::Same);
    }
}
