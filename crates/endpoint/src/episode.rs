//! Congestion episodes (recovery periods).

use millpond_law::Episode;

/// Congestion signals of one kind form episodes. An episode begins with the first congested packet that was sent after
/// the previous one had begun (recovery period of RFC 9002, section 7.3.2). Losses and marks have separate episodes,
/// because a law may respond to each differently.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Episodes {
    /// Congestion of packets from this number on starts a new episode.
    starts_at: u64,
    /// True from the start of an episode until a packet is acknowledged that was sent later.
    in_recovery: bool,
}

impl Episodes {
    /// Classifies congestion of packet `number`; `next_number` is the number of the next packet to be sent.
    pub(crate) fn on_congestion(&mut self, number: u64, next_number: u64) -> Episode {
        if number < self.starts_at {
            return Episode::Same;
        }
        self.begin(next_number);
        Episode::New
    }

    /// Starts an episode that includes all packets before `next_number`.
    pub(crate) fn begin(&mut self, next_number: u64) {
        self.starts_at = next_number;
        self.in_recovery = true;
    }

    /// Records the acknowledgement of packet `number`. Returns true if it ends the recovery.
    #[inline]
    pub(crate) fn ends_recovery(&mut self, number: u64) -> bool {
        let ends = self.in_recovery && number >= self.starts_at;
        if ends {
            self.in_recovery = false;
        }
        ends
    }
}

/// The packets declared lost in the current loss episode that have not been acknowledged since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MissingPackets {
    /// The first packet that was declared lost in the episode.
    first: u64,
    count: u64,
}

impl MissingPackets {
    /// Records that `count` packets from number `first` on were declared lost.
    pub(crate) fn on_lost(&mut self, episode: Episode, first: u64, count: u64) {
        *self = match episode {
            Episode::New => Self { first, count },
            Episode::Same => Self { first: self.first.min(first), count: self.count + count },
        };
    }

    /// Records that packet `number`, declared lost before, was acknowledged. Returns true if none is missing any more.
    pub(crate) fn on_acked(&mut self, number: u64) -> bool {
        let belongs = number >= self.first && self.count > 0;
        self.count -= u64::from(belongs);
        belongs && self.count == 0
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

    #[test]
    fn recovery_ends_once_with_a_packet_sent_after_the_episode_began() {
        let mut episodes = Episodes::default();
        assert!(!episodes.ends_recovery(5));
        episodes.on_congestion(10, 20);
        assert!(!episodes.ends_recovery(19));
        assert!(episodes.ends_recovery(20));
        assert!(!episodes.ends_recovery(21));
    }

    #[test]
    fn an_episode_is_spurious_when_all_its_lost_packets_are_acknowledged() {
        let mut missing = MissingPackets::default();
        missing.on_lost(Episode::New, 10, 2);
        missing.on_lost(Episode::Same, 14, 1);
        assert!(!missing.on_acked(9), "a packet of an earlier episode");
        assert!(!missing.on_acked(10) && !missing.on_acked(11));
        assert!(missing.on_acked(14));
        missing.on_lost(Episode::New, 20, 1);
        missing.on_lost(Episode::New, 30, 1);
        assert!(!missing.on_acked(20));
        assert!(missing.on_acked(30));
    }
}
