//! Means, deviations and extremes of lists.

/// The arithmetic mean; zero of an empty list.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The mean square deviation from the mean (divisor n); zero of an empty list.
pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    mean_of(values, |x| (x - mean) * (x - mean))
}

/// The standard deviation of the values given (divisor n); zero of an empty list.
pub fn standard_deviation(values: &[f64]) -> f64 {
    libm::sqrt(variance(values))
}

/// The square root of the mean square; zero of an empty list.
pub fn root_mean_square(values: &[f64]) -> f64 {
    libm::sqrt(mean_of(values, |x| x * x))
}

/// The standard deviation over the mean; not a number if both are zero.
pub fn coefficient_of_variation(values: &[f64]) -> f64 {
    standard_deviation(values) / mean(values)
}

/// The mean product of normalized values `lag` apart; zero if nothing is so far apart.
pub fn autocorrelation(normalized: &[f64], lag: usize) -> f64 {
    let later = normalized.get(lag..).unwrap_or_default();
    let products: f64 = normalized.iter().zip(later).map(|(x, y)| x * y).sum();
    products / later.len().max(1) as f64
}

/// The least value; infinite of an empty list. Values that are not numbers are ignored.
pub fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The greatest value; minus infinity of an empty list. Values that are not numbers are ignored.
pub fn maximum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn mean_of(values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().map(|x| f(*x)).sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_two_four_and_nine_agree_with_a_computation_by_hand() {
        let values = [2.0, 4.0, 9.0];
        assert_eq!((mean(&values), minimum(&values), maximum(&values)), (5.0, 2.0, 9.0));
        assert!((variance(&values) - 26.0 / 3.0).abs() < 1e-15);
        assert!((coefficient_of_variation(&values) - (26.0_f64 / 3.0).sqrt() / 5.0).abs() < 1e-15);
        assert!((root_mean_square(&values) - (101.0_f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn an_alternating_list_has_autocorrelations_of_one_and_minus_one() {
        let values = [1.0, -1.0, 1.0, -1.0, 1.0];
        assert_eq!([0, 1, 2, 4, 5].map(|lag| autocorrelation(&values, lag)), [1.0, -1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn an_empty_list_has_zero_mean_and_zero_deviation() {
        assert_eq!([mean(&[]), standard_deviation(&[]), root_mean_square(&[])], [0.0; 3]);
        assert!(coefficient_of_variation(&[]).is_nan());
    }
}
