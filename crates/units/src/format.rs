//! How numbers are printed, one function per rule.
//!
//! | rule | function |
//! |---|---|
//! | three significant digits, at most five decimals | [`number`] |
//! | two significant digits, at most five decimals | [`two_digits`] |
//! | two significant digits, any number of decimals | [`two_digits_of_share`] |
//! | four significant digits, exponent below 1e-4 | [`four_digits`] |
//! | four significant digits, exponent below 1e-3 and from 1000 on | [`four_digits_or_exponent`] |
//! | as few digits as the number needs, at most five | [`at_most_five_digits`] |
//! | as few decimals as the number needs | [`at_most_decimals`] |
//! | a fixed number of decimals | [`fixed`] |

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;

/// The most decimals of [`number`].
const MOST_DECIMALS: f64 = 5.0;

/// The least positive number with that many decimals.
const LEAST_SHOWN: f64 = 1e-5;

/// Positive numbers below this are written with an exponent by [`four_digits`] and [`at_most_five_digits`].
const LEAST_WITHOUT_EXPONENT: f64 = 1e-4;

/// A number with three significant digits, or all digits before the point if these are more: 0.00123, 1.23, 12.3, 123, 1234.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    let decimals = (2.0 - magnitude(x)).clamp(0.0, MOST_DECIMALS) as usize;
    format!("{x:.decimals$}")
}

/// A number with two significant digits: 0.0012, 1.2, 12, 120, 1200. For percentiles of histograms, whose buckets are 1/64
/// of their value wide.
pub fn two_digits(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    let shown = rounded(x, 2);
    let decimals = (1.0 - magnitude(shown)).clamp(0.0, MOST_DECIMALS) as usize;
    format!("{shown:.decimals$}")
}

/// A share with two significant digits, however small it is: 0.000045, 0.86, 1.0, 10; `0` below 1e-9.
pub fn two_digits_of_share(share: f64) -> String {
    if share < 1e-9 {
        return "0".to_owned();
    }
    // A number that is rounded up to a power of ten has one decimal less.
    let decimals = (1.0 - exponent(rounded(share, 2))).max(0.0) as usize;
    format!("{share:.decimals$}")
}

/// The nearest number with this many significant digits.
pub fn rounded(x: f64, digits: usize) -> f64 {
    let decimals = digits.saturating_sub(1);
    format!("{x:.decimals$e}").parse().unwrap_or(x)
}

/// The power of ten of the first printed digit: 9.996 is printed as 10.0. A number that is printed as zero counts as zero.
fn magnitude(x: f64) -> f64 {
    let shown = rounded(x.abs(), 3);
    if shown < LEAST_SHOWN { 0.0 } else { exponent(shown) }
}

/// The exponent of the greatest power of ten that is not above the absolute value.
fn exponent(x: f64) -> f64 {
    libm::floor(libm::log10(x.abs()))
}

/// The number nearest to this power of ten. `libm::pow` is off by a bit for some of them.
fn ten_to(exponent: f64) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// A time in seconds, printed in a convenient unit: 20.2 ms, 2.31 s, 12.5 min, 17.2 h, 24.1 days, years.
pub fn duration(seconds: f64) -> String {
    const UNITS: [(&str, f64); 5] =
        [("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86400.0), ("years", 365.25 * 86400.0)];
    const ENOUGH: f64 = 2.0;
    if seconds.abs() < 1.0 {
        let shown = seconds * 1e3;
        return if shown.abs() < 100.0 { format!("{} ms", number(shown)) } else { format!("{shown:.1} ms") };
    }
    let fits = |(_, unit): &&(&str, f64)| *unit == 1.0 || seconds.abs() >= ENOUGH * unit;
    let (name, unit) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
    format!("{} {name}", number(seconds / unit))
}

/// Four significant digits, and all digits before the point: 0.9877, 197.0, 500000000. Below 1e-4 with an exponent:
/// 5.847e-6.
pub fn four_digits(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    if x.abs() < LEAST_WITHOUT_EXPONENT {
        return format!("{x:.3e}");
    }
    let decimals = (3.0 - exponent(x)).max(0.0) as usize;
    format!("{x:.decimals$}")
}

/// Four significant digits: 0.1234, 12.34. Below 0.001 and from 1000 on with an exponent: 1.234e3.
pub fn four_digits_or_exponent(x: f64) -> String {
    if x.abs() >= 1000.0 || (x != 0.0 && x.abs() < 1e-3) {
        return format!("{x:.3e}");
    }
    let decimals = (3.0 - exponent(x)).clamp(0.0, 6.0) as usize;
    format!("{x:.decimals$}")
}

/// At most five significant digits without trailing zeros, but all digits before the point: 0.5, 123456. Below 1e-4 with
/// an exponent: 2e-5.
pub fn at_most_five_digits(x: f64) -> String {
    let shown = to_five_digits(x);
    let is_small = shown != 0.0 && shown.abs() < LEAST_WITHOUT_EXPONENT;
    if is_small { format!("{shown:e}") } else { shown.to_string() }
}

/// The nearest number of five significant digits; the nearest whole number from 10000 on.
fn to_five_digits(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let unit = ten_to(exponent(x) - 4.0);
    if unit < 1.0 { libm::round(x / unit) / libm::round(1.0 / unit) } else { libm::round(x) }
}

/// At most this many decimals, without trailing zeros: 1.5, 2.
pub fn at_most_decimals(x: f64, decimals: usize) -> String {
    format!("{x:.decimals$}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Exactly this many decimals, without a sign of zero; a dash if `x` is not finite.
pub fn fixed(x: f64, decimals: usize) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{x:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|digit| matches!(digit, '0' | '.')) => zero.to_owned(),
        _ => text,
    }
}

/// An angular frequency in rad/s, with an exponent if it is very small.
pub fn frequency(rad_per_s: f64) -> String {
    if (0.0..1e-3).contains(&rad_per_s) { format!("{rad_per_s:.2e}") } else { number(rad_per_s) }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{} %", fixed(100.0 * share, 1)) } else { "-".to_owned() }
}

/// A rate in bit/s, formatted in Mbit/s with up to five significant digits: `9.6 Mbit/s`.
pub fn mbit_per_s(bps: f64) -> String {
    format!("{} Mbit/s", at_most_five_digits(bps / 1e6))
}

/// Bits per second in megabits per second: [`number`], but rates from 1 to 10 bit/s with all decimals, not as zero.
pub fn megabits(bps: f64) -> String {
    if (1.0..10.0).contains(&bps) { two_digits_of_share(bps / 1e6) } else { number(bps / 1e6) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_two_significant_digits() {
        let texts = [0.0, 0.000_123, 0.0996, 0.86, 1.04, 9.96, 12.3].map(two_digits_of_share);
        assert_eq!(texts, ["0", "0.00012", "0.10", "0.86", "1.0", "10", "12"]);
    }

    #[test]
    fn a_rounded_number_has_as_many_significant_digits_as_requested() {
        assert_eq!(
            [rounded(1_234_567.0, 4), rounded(0.098_76, 2), rounded(-9.96, 2)],
            [1_235_000.0, 0.099, -10.0]
        );
    }

    #[test]
    fn times_are_printed_in_a_convenient_unit() {
        let shown = [0.000_9, 0.0202, 0.4435, 0.643_501, 1.5, 90.0, 600.0, 8282.9, 22_567.1, 1.1e6, 6.4e8]
            .map(duration);
        let expected = [
            "0.900 ms",
            "20.2 ms",
            "443.5 ms",
            "643.5 ms",
            "1.50 s",
            "90.0 s",
            "10.0 min",
            "2.30 h",
            "6.27 h",
            "12.7 days",
            "20.3 years",
        ];
        assert_eq!(shown, expected);
        assert_eq!([0.000_018_9, 0.005, 58.7].map(frequency), ["1.89e-5", "0.00500", "58.7"]);
    }

    #[test]
    fn four_digits_have_an_exponent_only_below_the_limit() {
        let shown = [0.0, 0.98765432, 197.02, 5.0e8, -0.0123456, -5.8471e-6, f64::INFINITY].map(four_digits);
        assert_eq!(shown, ["0", "0.9877", "197.0", "500000000", "-0.01235", "-5.847e-6", "inf"]);
        let shown = [0.123_46, 12.346, 999.9, 1234.6, -0.000_123_46].map(four_digits_or_exponent);
        assert_eq!(shown, ["0.1235", "12.35", "999.9", "1.235e3", "-1.235e-4"]);
    }

    #[test]
    fn trailing_zeros_are_omitted_if_digits_are_limited() {
        let shown = [0.0, 0.5, 0.123_456, 123_456.7, 2e-5, -1.05, f64::INFINITY].map(at_most_five_digits);
        assert_eq!(shown, ["0", "0.5", "0.12346", "123457", "2e-5", "-1.05", "inf"]);
        assert_eq!([1.5, 2.0, 0.1234].map(|x| at_most_decimals(x, 3)), ["1.5", "2", "0.123"]);
        assert_eq!((fixed(98.76, 1), fixed(f64::NAN, 1)), ("98.8".to_owned(), "–".to_owned()));
        assert_eq!([-0.04, -0.06, -10.0].map(|x| fixed(x, 1)), ["0.0", "-0.1", "-10.0"]);
    }

    #[test]
    fn numbers_have_three_significant_digits() {
        let shown = [0.001_234, 1.234, 12.34, 123.4, 1234.4, 0.0].map(number);
        assert_eq!(shown, ["0.00123", "1.23", "12.3", "123", "1234", "0.00"]);
        assert_eq!([9.996, 99.96, -9.996, 3e-13].map(number), ["10.0", "100", "-10.0", "0.00"]);
        assert_eq!(number(f64::NAN), "-");
        let shown = [0.001_234, 1.26, 9.96, 126.0, 1249.0, 0.0, f64::NAN].map(two_digits);
        assert_eq!(shown, ["0.0012", "1.3", "10", "130", "1200", "0.0", "-"]);
        assert_eq!([0.9871, -0.0004, -0.0006].map(percent), ["98.7 %", "0.0 %", "-0.1 %"]);
        assert_eq!(megabits(158e6), "158");
    }

    #[test]
    fn a_rate_of_one_bit_per_second_is_not_printed_as_zero() {
        assert_eq!(
            [0.0, 1.0, 9.0, 10.0, 1500.0].map(megabits),
            ["0.00", "0.0000010", "0.0000090", "0.00001", "0.00150"]
        );
    }
}
