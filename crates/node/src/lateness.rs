//! How late packets left: later than pacing asked for.

use millpond_units::Span;

/// The upper bound of the first bucket.
const FIRST: Span = Span::from_micros(1);
/// Buckets for each doubling of the lateness: a quantile is at most 19 % too large.
const PER_OCTAVE: usize = 4;
/// Up to 2^20 us, about a second; the last bucket has what was later.
const BUCKETS: usize = 20 * PER_OCTAVE + 1;

/// Counts of packets by their lateness.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: [u64; BUCKETS],
    packets: u64,
    longest: Span,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], packets: 0, longest: Span::ZERO }
    }
}

impl Lateness {
    /// Adds a packet that left this late.
    pub fn add(&mut self, late: Span) {
        let octaves = (late.secs() / FIRST.secs()).max(1.0).log2();
        let bucket = ((octaves * PER_OCTAVE as f64).ceil() as usize).min(BUCKETS - 1);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.packets += 1;
        self.longest = self.longest.max(late);
    }

    /// The lateness that this share of the packets does not exceed, as the upper bound of its bucket; none without a packet.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let rank = (share * self.packets as f64).ceil().max(1.0) as u64;
        let mut sum = 0;
        let bucket = self.counts.iter().position(|count| {
            sum += count;
            sum >= rank
        })?;
        let bound = FIRST.secs() * (bucket as f64 / PER_OCTAVE as f64).exp2();
        let is_last = bucket == BUCKETS - 1;
        Some(if is_last { self.longest } else { Span::from_secs(bound).min(self.longest) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_at_most_19_percent_too_large() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), None);
        (1..=1000).for_each(|micros| lateness.add(Span::from_micros(micros)));
        for (share, exact) in [(0.01, 10.0), (0.5, 500.0), (0.99, 990.0)] {
            let ratio = lateness.quantile(share).unwrap().secs() * 1e6 / exact;
            assert!((1.0 - 1e-9..=1.19).contains(&ratio), "{share}: {ratio}");
        }
        assert_eq!(lateness.quantile(1.0), Some(Span::from_micros(1000)));
    }

    #[test]
    fn packets_in_time_and_packets_seconds_late_are_counted() {
        let mut lateness = Lateness::default();
        lateness.add(Span::ZERO);
        assert_eq!(lateness.quantile(0.99), Some(Span::ZERO));
        lateness.add(Span::from_millis(5000));
        assert_eq!(lateness.quantile(0.99), Some(Span::from_millis(5000)));
    }
}
