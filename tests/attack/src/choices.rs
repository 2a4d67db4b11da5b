//! The decisions of the generator: from a number, or from the bytes of a fuzzer.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A sequence of decisions that depends on its source alone.
pub struct Choices<'a> {
    source: Source<'a>,
}

enum Source<'a> {
    Random(Pcg64Mcg),
    Bytes(&'a [u8]),
}

impl Choices<'static> {
    /// The decisions of scenario `number`.
    #[must_use]
    pub fn seeded(number: u64) -> Self {
        Self { source: Source::Random(Pcg64Mcg::seed_from_u64(number)) }
    }
}

impl<'a> Choices<'a> {
    /// Two bytes for each decision; the first alternative of each after the last byte.
    #[must_use]
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self { source: Source::Bytes(bytes) }
    }

    fn next(&mut self) -> u64 {
        match &mut self.source {
            Source::Random(random) => random.next_u64(),
            Source::Bytes(bytes) => {
                let (taken, rest) = bytes.split_at(bytes.len().min(2));
                *bytes = rest;
                taken.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
            }
        }
    }

    /// A whole number from zero, below `count`.
    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }

    /// A whole number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        100 - self.below(100) <= percent
    }

    /// One of these.
    pub fn pick<'t, T>(&mut self, alternatives: &'t [T]) -> &'t T {
        let index = self.below(alternatives.len() as u64);
        &alternatives[usize::try_from(index).unwrap_or_default()]
    }

    /// A number from `low` to `high`, each doubling equally likely.
    pub fn spread(&mut self, low: u64, high: u64) -> u64 {
        let doublings = u64::from((high / low.max(1)).ilog2());
        let base = low << self.between(0, doublings);
        (base + self.below(base)).min(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sources_give_equal_decisions_within_their_bounds() {
        let decisions = |mut choices: Choices<'_>| {
            (0..1000).map(|_| (choices.spread(3, 1000), choices.between(5, 9))).collect::<Vec<_>>()
        };
        assert_eq!(decisions(Choices::seeded(7)), decisions(Choices::seeded(7)));
        assert_ne!(decisions(Choices::seeded(7)), decisions(Choices::seeded(8)));
        let all = decisions(Choices::seeded(1));
        assert!(all.iter().all(|(spread, between)| (3..=1000).contains(spread) && (5..=9).contains(between)));
        assert_eq!(decisions(Choices::from_bytes(&[])), vec![(3, 5); 1000]);
    }
}
