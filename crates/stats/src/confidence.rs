//! Confidence intervals of means of independent values, for example of one value per seed.

use crate::mean;

/// A mean and half the width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The mean of the values.
    pub mean: f64,
    /// The interval is `mean - half_width` to `mean + half_width`; none from a single value.
    pub half_width: Option<f64>,
}

/// Mean and 95 % confidence interval of independent values (Student's t, sample variance with divisor n - 1); `None` of
/// an empty list.
pub fn confidence_interval(values: &[f64]) -> Option<ConfidenceInterval> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = mean(values);
    if n == 1 {
        return Some(ConfidenceInterval { mean, half_width: None });
    }
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1) as f64;
    let half_width = student_t(n - 1) * libm::sqrt(variance / n as f64);
    Some(ConfidenceInterval { mean, half_width: Some(half_width) })
}

/// Degrees of freedom up to which the quantile is found from the distribution itself.
const EXACT_UP_TO: usize = 100;

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom, at least one. Its error is below 1e-9: up to 100
/// degrees it comes from the distribution, beyond that from the expansion about the normal quantile.
pub fn student_t(freedom: usize) -> f64 {
    if freedom <= EXACT_UP_TO { quantile_of_distribution(freedom) } else { expansion(freedom) }
}

/// The quantile by bisection of the angle `arctan(t / sqrt(freedom))`.
fn quantile_of_distribution(freedom: usize) -> f64 {
    const COVERAGE: f64 = 0.95;
    let (mut low, mut high) = (0.0, core::f64::consts::FRAC_PI_2);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return libm::tan(middle) * libm::sqrt(freedom as f64);
        }
        if probability_within(freedom, middle) < COVERAGE {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The probability that Student's t is between `-t` and `t`, where `angle` is `arctan(t / sqrt(freedom))`: a finite sum
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn probability_within(freedom: usize, angle: f64) -> f64 {
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let is_odd = freedom % 2 == 1;
    let (mut term, mut sum) = (if is_odd { cos } else { 1.0 }, 0.0);
    for power in (freedom % 2..=freedom.saturating_sub(2)).step_by(2) {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
    }
    if is_odd { (angle + sin * sum) * core::f64::consts::FRAC_2_PI } else { sin * sum }
}

/// The quantile from the expansion of Cornish and Fisher about the normal quantile (Abramowitz and Stegun, 26.7.5).
fn expansion(freedom: usize) -> f64 {
    const X: f64 = 1.959_963_984_540_054;
    const SQUARE: f64 = X * X;
    const TERMS: [f64; 4] = [
        X * (SQUARE + 1.0) / 4.0,
        X * ((5.0 * SQUARE + 16.0) * SQUARE + 3.0) / 96.0,
        X * (((3.0 * SQUARE + 19.0) * SQUARE + 17.0) * SQUARE - 15.0) / 384.0,
        X * ((((79.0 * SQUARE + 776.0) * SQUARE + 1482.0) * SQUARE - 1920.0) * SQUARE - 945.0) / 92160.0,
    ];
    let inverse = 1.0 / freedom as f64;
    X + TERMS.iter().rev().fold(0.0, |sum, term| (sum + term) * inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_three_values_follows_students_table() {
        // Mean 2, sample deviation 1. With two degrees of freedom P(|T| < t) = t / sqrt(2 + t^2), which is 0.95 at
        // t = 0.95 sqrt(2 / (1 - 0.95^2)) = 4.30265...
        let t = 0.95 * (2.0 / (1.0 - 0.95_f64.powi(2))).sqrt();
        let interval = confidence_interval(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(interval.mean, 2.0);
        assert!((interval.half_width.unwrap() - t / 3_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        assert_eq!(confidence_interval(&[7.0]), Some(ConfidenceInterval { mean: 7.0, half_width: None }));
        assert_eq!(confidence_interval(&[]), None);
    }

    /// Quantiles of `scipy.stats.t.ppf(0.975, freedom)`; that of one degree of freedom is tan(0.475 pi).
    #[test]
    fn quantiles_of_students_t_have_nine_decimals() {
        let quantiles = [
            (1, (0.475 * core::f64::consts::PI).tan()),
            (2, 4.302_652_729_749),
            (3, 3.182_446_305_284),
            (4, 2.776_445_105_198),
            (5, 2.570_581_835_636),
            (9, 2.262_157_162_798),
            (29, 2.045_229_642_133),
            (99, 1.984_216_951_586),
            (100, 1.983_971_518_524),
            (101, 1.983_731_002_956),
            (1_000, 1.962_339_080_826),
            (10_000, 1.960_201_239_891),
        ];
        for (freedom, quantile) in quantiles {
            let found = student_t(freedom);
            assert!((found - quantile).abs() < 1e-9, "{freedom}: {found} instead of {quantile}");
        }
    }

    /// Both formulas agree where they meet.
    #[test]
    fn distribution_and_expansion_have_the_same_quantiles_of_a_hundred_degrees_of_freedom() {
        assert!((quantile_of_distribution(EXACT_UP_TO) - expansion(EXACT_UP_TO)).abs() < 1e-9);
    }
}
