//! The parts of a summary that describe a short list of values.

use crate::{Quartiles, Spread};
use millpond_stats::{maximum, mean, minimum, quantile_of_sorted};

/// Extremes and quartiles, which are linear between order statistics; `None` of an empty list.
pub fn quartiles(mut values: Vec<f64>) -> Option<Quartiles> {
    values.sort_by(f64::total_cmp);
    let at = |level| quantile_of_sorted(&values, level);
    Some(Quartiles { min: at(0.0)?, p25: at(0.25)?, p50: at(0.5)?, p75: at(0.75)?, max: at(1.0)? })
}

/// Mean, least and greatest value; zeros of an empty list.
pub fn spread(values: &[f64]) -> Spread {
    if values.is_empty() {
        return Spread::default();
    }
    Spread { mean: mean(values), min: minimum(values), max: maximum(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_one_to_five_are_two_three_and_four() {
        let of = quartiles(vec![5.0, 3.0, 1.0, 4.0, 2.0]).unwrap();
        assert_eq!((of.min, of.p25, of.p50, of.p75, of.max), (1.0, 2.0, 3.0, 4.0, 5.0));
    }

    #[test]
    fn a_spread_is_mean_least_and_greatest_value() {
        assert_eq!(spread(&[2.0, 4.0, 9.0]), Spread { mean: 5.0, min: 2.0, max: 9.0 });
        assert_eq!(spread(&[]), Spread::default());
    }
}
