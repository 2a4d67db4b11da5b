//! Packet numbers that a sender skips, to detect a receiver that acknowledges what it has not received (RFC 9000, section
//! 21.4).

use crate::AckRanges;
use alloc::vec::Vec;
use millpond_law::Random;

/// The skipped numbers that an acknowledgement could still report.
#[derive(Clone, Debug)]
pub(crate) struct SkippedNumbers {
    /// Mean number of packets from one skipped number to the next; none: the sender skips none.
    mean: Option<u32>,
    /// The next number to skip; `u64::MAX` if there is none.
    next: u64,
    skipped: Vec<u64>,
}

impl SkippedNumbers {
    pub(crate) fn new(mean: Option<u32>, random: &mut Random) -> Self {
        let mut numbers = Self { mean, next: u64::MAX, skipped: Vec::new() };
        numbers.choose_next(0, random);
        numbers
    }

    /// The next number to skip.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Records that the next number was skipped, and chooses another one. Numbers below `base` can no longer be reported.
    pub(crate) fn on_skipped(&mut self, base: u64, random: &mut Random) {
        self.skipped.retain(|number| *number >= base);
        self.skipped.push(self.next);
        self.choose_next(self.next, random);
    }

    /// True if an acknowledgement reports a skipped number.
    #[inline]
    pub(crate) fn are_reported(&self, ranges: &AckRanges) -> bool {
        let is_reported = |number: &u64| ranges.iter().any(|range| range.contains(number));
        !self.skipped.is_empty() && self.skipped.iter().any(is_reported)
    }

    /// Chooses a number after `last`, at random, so that a receiver cannot leave it out. At least one packet is sent before it:
    /// the sender compares each packet's number once.
    fn choose_next(&mut self, last: u64, random: &mut Random) {
        if let Some(mean) = self.mean {
            let packets = 1 + (random.uniform() * (2.0 * f64::from(mean) - 1.0)) as u64;
            self.next = last.saturating_add(1).saturating_add(packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_mean_no_number_is_skipped() {
        let numbers = SkippedNumbers::new(None, &mut Random::stream(1, "skip"));
        assert_eq!(numbers.next(), u64::MAX);
        assert!(!numbers.are_reported(&AckRanges::single(0..=1_000_000)));
    }

    #[test]
    fn gaps_have_their_mean_and_only_reports_of_skipped_numbers_are_found() {
        let random = &mut Random::stream(1, "skip");
        let mut numbers = SkippedNumbers::new(Some(50), random);
        let mut all = Vec::new();
        for _ in 0..10_000 {
            all.push(numbers.next());
            numbers.on_skipped(numbers.next().saturating_sub(500), random);
        }
        assert!(
            all.windows(2).all(|pair| pair[0] + 1 < pair[1]),
            "a packet lies between two skipped numbers"
        );
        // From 1 to 99 packets and the skipped number: mean 51, standard deviation 28.6, five standard errors.
        let mean = all[all.len() - 1] as f64 / all.len() as f64;
        assert!((mean - 51.0).abs() < 5.0 * 0.286, "{mean}");
        let last = all[all.len() - 1];
        assert!(numbers.are_reported(&AckRanges::single(last - 3..=last)));
        assert!(numbers.are_reported(&AckRanges::newest_first([last + 2..=last + 2, last..=last])));
        assert!(!numbers.are_reported(&AckRanges::newest_first([last + 1..=last + 2])));
    }
}
