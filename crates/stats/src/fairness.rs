//! Fairness indices of shares of a capacity.

/// Jain's fairness index `(sum x)^2 / (n sum x^2)`: 1 if all shares are equal, `1/n` if one flow has the whole capacity.
/// It is 1 if the list is empty, or if all shares are zero.
///
/// Jain, Chiu, Hawe: *A Quantitative Measure of Fairness*, DEC-TR-301, 1984.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 1.0 }
}

/// Jain's fairness index of several shares; none if there are fewer than two, since one is always equal to itself, and
/// none if all of them are zero, since nothing was shared.
pub fn jain_of_several(shares: &[f64]) -> Option<f64> {
    (shares.len() > 1 && shares.iter().any(|share| *share > 0.0)).then(|| jain(shares))
}

/// The least share over the greatest; 1 if all shares are zero or there is none.
pub fn min_over_max(shares: &[f64]) -> f64 {
    let greatest = shares.iter().copied().fold(0.0, f64::max);
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    if greatest > 0.0 { least / greatest } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn k_of_n_users_with_equal_shares_give_k_over_n() {
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain(&[2.0, 2.0, 0.0, 0.0]), 0.5);
        assert_eq!(jain(&[]), 1.0);
        assert_eq!(jain(&[0.0, 0.0]), 1.0);
        assert_eq!(jain_of_several(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_of_several(&[5.0]), None);
        assert_eq!(jain_of_several(&[0.0, 0.0]), None);
    }

    #[test]
    fn least_over_greatest_of_two_to_one_is_a_half() {
        assert_eq!(min_over_max(&[2.0, 1.0, 1.5]), 0.5);
        assert_eq!(min_over_max(&[2.0, 0.0]), 0.0);
        assert_eq!(min_over_max(&[]), 1.0);
    }

    proptest! {
        #[test]
        fn the_index_lies_between_one_nth_and_one_and_ignores_scale(
            shares in prop::collection::vec(1e-3..1e9_f64, 1..20), scale in 1e-3..1e3_f64,
        ) {
            let index = jain(&shares);
            prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / shares.len() as f64 - 1e-12);
            let scaled: Vec<_> = shares.iter().map(|x| x * scale).collect();
            prop_assert!((jain(&scaled) - index).abs() < 1e-9);
        }
    }
}
