//! Whether the bandwidth of a path has reached a plateau.

/// Growth of the rate per round trip below which it counts as a plateau.
const GROWTH: f64 = 1.25;

/// Round trips on a plateau after which the path counts as full.
const PLATEAU_ROUNDS: u32 = 3;

/// The estimator that looks for a plateau of the delivery rate while the sender accelerates (draft-ietf-ccwg-bbr-06, section 5.3.1.2;
/// draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.2.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    /// BBR.full_bw, in bytes/s.
    rate: f64,
    /// BBR.full_bw_count.
    plateau: u32,
    /// BBR.full_bw_now.
    pub(crate) is_full: bool,
    /// BBR.full_bw_reached: the path was full at some time.
    pub(crate) was_reached: bool,
}

impl FullPipe {
    /// ResetFullBW(), with `rate` as the rate to exceed.
    pub(crate) fn reset(&mut self, rate: f64) {
        (self.rate, self.plateau, self.is_full) = (rate, 0, false);
    }

    /// The path is full.
    pub(crate) fn reach(&mut self) {
        (self.is_full, self.was_reached) = (true, true);
    }

    /// CheckFullBWReached(), at each acknowledgement; `rate` in bytes/s.
    pub(crate) fn update(&mut self, rate: f64, app_limited: bool, round_started: bool) {
        if self.is_full || !round_started || app_limited {
            return;
        }
        if rate >= self.rate * GROWTH {
            self.reset(rate);
            return;
        }
        self.plateau += 1;
        if self.plateau >= PLATEAU_ROUNDS {
            self.reach();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_round_trips_without_a_quarter_more_are_a_plateau() {
        let mut pipe = FullPipe::default();
        for rate in [1.0, 1.25, 1.6, 1.9, 1.9] {
            pipe.update(rate, false, true);
            assert!(!pipe.is_full);
        }
        pipe.update(9.0, true, true);
        pipe.update(9.0, false, false);
        assert!(!pipe.is_full, "samples without data, or within a round trip, do not count");
        pipe.update(1.9, false, true);
        assert!(pipe.is_full && pipe.was_reached);
        pipe.reset(1.9);
        assert!(!pipe.is_full && pipe.was_reached);
    }
}
