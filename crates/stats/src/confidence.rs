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

/// The 97.5 % quantile of Student's t: up to 30 degrees of freedom from the usual table, beyond that from the expansion
/// of Cornish and Fisher about the normal quantile (Abramowitz and Stegun, 26.7.5), which has an error below 0.001 there.
fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    const NORMAL: f64 = 1.959_964;
    let beyond = || NORMAL + (NORMAL * NORMAL * NORMAL + NORMAL) / (4.0 * freedom as f64);
    freedom.checked_sub(1).and_then(|i| TABLE.get(i).copied()).unwrap_or_else(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_three_values_follows_students_table() {
        // Mean 2, sample deviation 1, t(2) = 4.303: half width 4.303 / sqrt(3).
        let interval = confidence_interval(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(interval.mean, 2.0);
        assert!((interval.half_width.unwrap() - 4.303 / 3_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_interval_and_none_has_no_mean() {
        assert_eq!(confidence_interval(&[7.0]), Some(ConfidenceInterval { mean: 7.0, half_width: None }));
        assert_eq!(confidence_interval(&[]), None);
    }

    #[test]
    fn beyond_the_table_t_tends_to_the_normal_quantile() {
        // Tables: t(40) = 2.021, t(60) = 2.000, t(120) = 1.980.
        for (freedom, t) in [(40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((student_t(freedom) - t).abs() < 0.002, "{freedom}");
        }
    }
}
