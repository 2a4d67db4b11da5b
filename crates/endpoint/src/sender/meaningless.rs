//! Permits that a law can hardly mean: what becomes of a window or a pacing rate that is not a number, negative or infinite.

use super::SenderEnd;
use millpond_law::Permit;
use millpond_units::{Bytes, Rate, Time};

/// What is wrong with a permit. [`Bytes`] and [`Rate`] are whole numbers: a value that is negative or not a number becomes
/// zero, and an infinite one the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeaninglessValue {
    /// The window is zero. One packet may be in flight nevertheless.
    ZeroWindow,
    /// The pacing rate is zero, and no timer of the law ends the pause.
    ZeroPace,
    /// A window or a pacing rate is infinite, and there is no other limit.
    NoLimit,
}

/// The first permit of a law that it can hardly mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeaninglessPermit {
    /// When the law returned it.
    pub at: Time,
    /// What is wrong with it.
    pub value: MeaninglessValue,
}

impl MeaninglessValue {
    /// What is wrong with a permit, if anything. A permit without window and pacing rate is that of a sender without congestion
    /// control.
    fn of(permit: &Permit) -> Option<Self> {
        let is_unlimited = |limit: Option<u64>| limit.is_none_or(|limit| limit == u64::MAX);
        let (window, pace) = (permit.window.map(Bytes::get), permit.pace.map(Rate::bps));
        match (window, pace) {
            (None, None) => None,
            (Some(0), _) => Some(Self::ZeroWindow),
            (_, Some(0)) if permit.wake.is_none() => Some(Self::ZeroPace),
            _ => (is_unlimited(window) && is_unlimited(pace)).then_some(Self::NoLimit),
        }
    }
}

/// What limits the bytes in flight of a law without a window: nothing, by a value that is not [extreme](is_extreme), so that both
/// kinds of laws need one comparison.
pub(super) const NO_WINDOW: Bytes = Bytes::new(u64::MAX - 1);

/// True if a limit is zero or the maximum: one comparison, because most permits have neither.
#[inline]
pub(super) const fn is_extreme(limit: u64) -> bool {
    limit.wrapping_add(1) <= 1
}

impl SenderEnd {
    /// The first permit that its law can hardly mean, if there was one.
    pub fn meaningless_permit(&self) -> Option<MeaninglessPermit> {
        self.meaningless.as_deref().copied()
    }

    /// Records a permit with an extreme value if it has no meaning and is the first one.
    #[cold]
    #[inline(never)]
    pub(super) fn record_extreme(&mut self, at: Time, permit: &Permit) {
        if self.meaningless.is_none() {
            let found = MeaninglessValue::of(permit).map(|value| MeaninglessPermit { at, value });
            self.meaningless = found.map(alloc::boxed::Box::new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permit(window: Option<f64>, pace: Option<f64>) -> Permit {
        let (window, pace) = (window.map(Bytes::from_f64), pace.map(Rate::from_bps_f64));
        Permit { window, pace, ..Permit::default() }
    }

    #[test]
    fn values_that_are_no_quantity_are_found_and_all_others_are_none() {
        let found = |window, pace| MeaninglessValue::of(&permit(window, pace));
        for nothing in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert_eq!(found(Some(nothing), None), Some(MeaninglessValue::ZeroWindow));
            assert_eq!(found(Some(nothing), Some(1e6)), Some(MeaninglessValue::ZeroWindow));
            assert_eq!(found(None, Some(nothing)), Some(MeaninglessValue::ZeroPace));
        }
        let infinite = Some(f64::INFINITY);
        for (window, pace) in [(infinite, None), (None, infinite), (infinite, infinite)] {
            assert_eq!(found(window, pace), Some(MeaninglessValue::NoLimit));
        }
        for (window, pace) in
            [(None, None), (Some(1.0), None), (None, Some(1.0)), (infinite, Some(1e6)), (Some(1.0), infinite)]
        {
            assert_eq!(found(window, pace), None, "{window:?} {pace:?}");
        }
        let pause = Permit { wake: Some(Time::from_secs(1.0)), ..permit(None, Some(0.0)) };
        assert_eq!(MeaninglessValue::of(&pause), None, "a pause that the timer ends");
    }

    #[test]
    fn only_zero_and_the_maximum_are_extreme() {
        assert!(is_extreme(0) && is_extreme(u64::MAX));
        assert!(!is_extreme(1) && !is_extreme(NO_WINDOW.get()));
    }
}
