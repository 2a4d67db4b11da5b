//! The token bucket of shaper and policer.

use millpond_law::key::{Key, above, bytes, number};
use millpond_law::{LinkFacts, Settings};
use millpond_units::{Bytes, Span, Time};

pub(super) const SHARE: Key<f64> = number("share", "1", 0.95, above(0.0).to(1.0))
    .source("none: below one, so that the queue is here and not behind the link")
    .meaning("rate of the tokens over the configured capacity of the link at the start");
pub(super) const BURST: Key<Bytes> = bytes("burst", Bytes::new(15_000))
    .source("CBS in RFC 2697, section 2: larger than the largest packet")
    .meaning("size of the bucket");

/// Tokens in bytes, which grow at a constant rate up to the size of the bucket.
pub(super) struct TokenBucket {
    /// In bytes per second.
    rate: f64,
    size: f64,
    tokens: f64,
    /// The time of `tokens`.
    at: Time,
}

impl TokenBucket {
    /// A full bucket.
    pub(super) fn new(settings: &Settings, facts: &LinkFacts) -> Self {
        Self::full(settings.get(SHARE) * facts.capacity.bytes_per_sec(), settings.get(BURST))
    }

    fn full(rate: f64, size: Bytes) -> Self {
        Self { rate, size: size.as_f64(), tokens: size.as_f64(), at: Time::ZERO }
    }

    fn fill(&mut self, now: Time) {
        let grown = self.tokens + self.rate * now.since(self.at).secs();
        (self.tokens, self.at) = (grown.min(self.size), self.at.max(now));
    }

    /// Takes the tokens of a packet; false if there are not enough.
    pub(super) fn take(&mut self, now: Time, bytes: Bytes) -> bool {
        self.fill(now);
        let conforms = self.tokens >= bytes.as_f64();
        if conforms {
            self.tokens -= bytes.as_f64();
        }
        conforms
    }

    /// Takes the tokens of a packet at the time at which there are enough, and returns that time.
    pub(super) fn wait_for(&mut self, now: Time, bytes: Bytes) -> Time {
        self.fill(now);
        let missing = bytes.as_f64() - self.tokens;
        if missing <= 0.0 {
            self.tokens -= bytes.as_f64();
            return now;
        }
        if self.rate <= 0.0 {
            return Time::NEVER;
        }
        // Rounded up, so that the bound holds.
        let wait = Span::from_secs(missing / self.rate) + Span::from_picos(1);
        (self.tokens, self.at) = (0.0, now.max(self.at) + wait);
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate_of_the_tokens() {
        // 1 byte per microsecond, 3000 bytes.
        let mut bucket = TokenBucket::full(1e6, Bytes::new(3000));
        let leaves: Vec<Time> = (0..6).map(|_| bucket.wait_for(at(0), Bytes::new(1000))).collect();
        let micros = leaves.iter().map(|time| time.secs() * 1e6);
        for (found, expected) in micros.zip([0.0, 0.0, 0.0, 1000.0, 2000.0, 3000.0]) {
            assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
        }
        let mut policer = TokenBucket::full(1e6, Bytes::new(3000));
        let passed: Vec<bool> = (0..5).map(|_| policer.take(at(0), Bytes::new(1000))).collect();
        assert_eq!(passed, [true, true, true, false, false]);
        assert!(!policer.take(at(999), Bytes::new(1000)) && policer.take(at(1000), Bytes::new(1000)));
    }

    proptest! {
        /// RFC 2697: over any time t at most rate t + burst conforms.
        #[test]
        fn no_time_has_more_than_rate_and_burst(
            packets in prop::collection::vec((0_u64..3000, 40_u64..1500), 1..60),
        ) {
            let (rate, burst) = (1e6, 4000.0);
            let mut shaper = TokenBucket::full(rate, Bytes::new(4000));
            let mut policer = TokenBucket::full(rate, Bytes::new(4000));
            let (mut now, mut shaped, mut policed) = (Time::ZERO, Vec::new(), Vec::new());
            for (gap, bytes) in packets {
                now += Span::from_micros(gap);
                let size = Bytes::new(bytes);
                let last = shaped.last().map_or(Time::ZERO, |(time, _)| *time);
                shaped.push((shaper.wait_for(now.max(last), size), bytes));
                if policer.take(now, size) {
                    policed.push((now, bytes));
                }
            }
            for passed in [shaped, policed] {
                for (first, (begin, _)) in passed.iter().enumerate() {
                    let mut sum = 0;
                    for (end, bytes) in &passed[first..] {
                        sum += bytes;
                        prop_assert!(sum as f64 <= rate * end.since(*begin).secs() + burst + 1e-3);
                    }
                }
            }
        }
    }
}
