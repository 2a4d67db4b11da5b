//! What all series have in common at a sample.

use millpond_sim::IntervalDelay;
use millpond_units::{Span, Time};

/// The interval that ends with a sample.
pub(super) struct SampleInterval {
    pub(super) since: Time,
    pub(super) now: Time,
    pub(super) span: Span,
    /// Its length in seconds.
    pub(super) seconds: f64,
    /// Its length in picoseconds.
    pub(super) picos: f64,
    /// The position of the sample.
    pub(super) sample: usize,
    /// The number of samples from this one to the end of the run.
    pub(super) left: usize,
}

impl SampleInterval {
    pub(super) fn new(since: Time, now: Time, sample: usize, left: usize) -> Self {
        let span = now.since(since);
        Self { since, now, span, seconds: span.secs(), picos: to_float(span.picos()), sample, left }
    }
}

/// The mean delay in milliseconds; not a number if no packet left in the interval.
#[inline]
pub(super) fn mean_delay_ms(delay: IntervalDelay) -> f64 {
    if delay.packets > 0 { delay.mean.millis() } else { f64::NAN }
}

/// The nearest floating-point number. If it fits in 63 bits, the conversion is much faster.
#[inline]
pub(super) fn to_float(integer: impl Into<u128>) -> f64 {
    /// Not inlined: the compiler would convert before it compares.
    #[cold]
    #[inline(never)]
    fn long(integer: u128) -> f64 {
        integer as f64
    }
    let integer = integer.into();
    match i64::try_from(integer) {
        Ok(short) => short as f64,
        Err(_) => long(integer),
    }
}
