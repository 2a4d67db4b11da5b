//! How numbers are printed: significant digits, shares, rates, times and frequencies.

const MOST_DECIMALS: f64 = 5.0;

/// A number to three significant digits, more before the point if it needs them: 0.00123, 1.23, 12.3, 123, 1234.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    let decimals = (2.0 - magnitude(x)).clamp(0.0, MOST_DECIMALS) as usize;
    format!("{x:.decimals$}")
}

/// The power of ten of the first digit shown: 9.996 is shown as 10.0. What would be shown as zero counts as zero.
fn magnitude(x: f64) -> f64 {
    let shown: f64 = format!("{:.2e}", x.abs()).parse().unwrap_or(x.abs());
    if shown < 10_f64.powf(-MOST_DECIMALS) { 0.0 } else { shown.log10().floor() }
}

/// A time in seconds in the unit that a person would use: 20.2 ms, 2.31 s, 12.5 min, 17.2 h, 24.1 days, years.
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

/// An angular frequency, with its power of ten where it is next to nothing.
pub fn frequency(rad_per_s: f64) -> String {
    if (0.0..1e-3).contains(&rad_per_s) { format!("{rad_per_s:.2e}") } else { number(rad_per_s) }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "-".to_owned() }
}

/// Bits per second in megabits per second.
pub fn megabits(bps: f64) -> String {
    number(bps / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_a_person_would_use() {
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
    fn three_digits_are_enough() {
        let shown = [0.001_234, 1.234, 12.34, 123.4, 1234.4, 0.0].map(number);
        assert_eq!(shown, ["0.00123", "1.23", "12.3", "123", "1234", "0.00"]);
        assert_eq!([9.996, 99.96, -9.996, 3e-13].map(number), ["10.0", "100", "-10.0", "0.00"]);
        assert_eq!(number(f64::NAN), "-");
        assert_eq!(percent(0.9871), "98.7 %");
        assert_eq!(megabits(158e6), "158");
    }
}
