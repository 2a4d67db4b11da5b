//! The weight of a flow in loops that it shares.

use std::fmt;

/// Hundredths in one.
const PARTS: u16 = 100;
/// The largest weight in hundredths.
const MOST: u16 = 100 * PARTS;

/// The weight of a flow: flows with data share a loop in proportion to their weights. From 0.01 to 100, in hundredths, as it
/// travels in the header of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight(u16);

impl Default for Weight {
    fn default() -> Self {
        Self(PARTS)
    }
}

impl Weight {
    /// A weight; none outside 0.01 to 100.
    pub fn new(value: f64) -> Option<Self> {
        let parts = (value * f64::from(PARTS)).round();
        (1.0..=f64::from(MOST)).contains(&parts).then_some(Self(parts as u16))
    }

    /// The weight in this number of hundredths; none outside the range.
    pub fn of_hundredths(parts: u16) -> Option<Self> {
        (1..=MOST).contains(&parts).then_some(Self(parts))
    }

    /// Hundredths.
    pub fn hundredths(self) -> u16 {
        self.0
    }

    /// The weight as a number.
    pub fn value(self) -> f64 {
        Self::sum(self.0.into())
    }

    /// A sum of weights as a number, of a sum of hundredths.
    pub(crate) fn sum(hundredths: u64) -> f64 {
        hundredths as f64 / f64::from(PARTS)
    }

    /// By how much the virtual start time of a stream grows with these bytes: bytes over weight, in units of which a byte at
    /// the largest weight has one.
    pub(crate) fn virtual_length(self, bytes: usize) -> u64 {
        (bytes as u64).saturating_mul(MOST.into()) / u64::from(self.0)
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_from_a_hundredth_to_a_hundred() {
        assert_eq!(Weight::new(1.0), Some(Weight::default()));
        assert_eq!([0.004, 100.01, -1.0, f64::NAN, f64::INFINITY].map(Weight::new), [None; 5]);
        assert_eq!(
            Weight::new(0.01).and_then(|weight| Weight::of_hundredths(weight.hundredths())),
            Weight::new(0.01)
        );
        assert_eq!([Weight::of_hundredths(0), Weight::of_hundredths(10_001)], [None, None]);
    }

    #[test]
    fn a_flow_of_twice_the_weight_has_half_the_virtual_length() {
        let lengths = [0.5, 1.0, 2.0].map(|value| Weight::new(value).unwrap().virtual_length(1500));
        assert_eq!(lengths, [300_000, 150_000, 75_000]);
    }
}
