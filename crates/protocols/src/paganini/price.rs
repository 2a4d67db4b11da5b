//! The price of a path, from marks (section V-A).

/// Number of packets that a register can hold.
const REGISTER: u64 = 64;

/// The marks of the last N packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MarkedPrice {
    log_phi: f64,
    /// N.
    most: u64,
    /// Value subtracted from the count if all packets are marked.
    all_marked: f64,
    seen: u64,
    /// The latest packet is the lowest bit.
    marks: u64,
}

/// A mask of `count` lowest bits.
const fn ones(count: u64) -> u64 {
    if count >= REGISTER { u64::MAX } else { (1 << count) - 1 }
}

impl MarkedPrice {
    /// An estimator for links that mark with base `phi`, over `most` packets (at most 64).
    pub(super) fn new(phi: f64, most: u64, all_marked: f64) -> Self {
        Self { log_phi: libm::log(phi), most: most.clamp(1, REGISTER), all_marked, seen: 0, marks: 0 }
    }

    /// Records acknowledged packets and the number of marked ones among them.
    #[inline]
    pub(super) const fn note(&mut self, packets: u64, marked: u64) {
        self.marks = if packets >= REGISTER { 0 } else { self.marks << packets } | ones(marked);
        self.marks &= ones(self.most);
        let seen = self.seen.saturating_add(packets);
        self.seen = if seen < self.most { seen } else { self.most };
    }

    /// The share of marked packets; less than one if all are marked, so that the price is finite.
    fn probability(&self) -> f64 {
        let (marked, seen) = (f64::from(self.marks.count_ones()), self.seen.max(1) as f64);
        (marked / seen).min(1.0 - self.all_marked / seen)
    }

    /// The inverse of Eq. (36): `q = -log_phi(1 - P)`, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        -libm::log1p(-self.probability()) / self.log_phi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_is_estimated_from_the_last_31_packets_only() {
        let mut price = MarkedPrice::new(1e6, 31, 0.5);
        assert_eq!(price.seconds(), 0.0);
        price.note(40, 0);
        price.note(8, 8);
        price.note(23, 0);
        assert!((price.seconds() - -(1.0_f64 - 8.0 / 31.0).ln() / 1e6_f64.ln()).abs() < 1e-15);
        price.note(8, 0);
        assert_eq!(price.seconds(), 0.0);
    }

    #[test]
    fn before_31_packets_the_share_is_over_the_packets_so_far() {
        let mut price = MarkedPrice::new(1e6, 31, 0.5);
        price.note(4, 1);
        assert!((price.seconds() - -(0.75_f64).ln() / 1e6_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn with_all_packets_marked_the_price_is_298_milliseconds() {
        let mut price = MarkedPrice::new(1e6, 31, 0.5);
        price.note(31, 31);
        assert!((price.seconds() - 0.2987).abs() < 1e-4);
        let mut coarse = MarkedPrice::new(1e6, 31, 1.0);
        coarse.note(31, 31);
        assert!((coarse.seconds() - 31_f64.ln() / 1e6_f64.ln()).abs() < 1e-12);
        let mut longest = MarkedPrice::new(1e6, 64, 0.5);
        longest.note(1000, 1000);
        assert!((longest.seconds() - 128_f64.ln() / 1e6_f64.ln()).abs() < 1e-12);
    }
}
