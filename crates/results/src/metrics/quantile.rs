//! Quantiles of short lists, exactly.

use crate::{Quartiles, Spread};

/// The value below which the share `q` of a sorted list lies, interpolated between neighbours
/// (Hyndman and Fan's definition 7); `None` of an empty list.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64))
}

/// Ends and quartiles; `None` of an empty list.
pub fn quartiles(mut values: Vec<f64>) -> Option<Quartiles> {
    values.sort_by(f64::total_cmp);
    let at = |q| quantile(&values, q);
    Some(Quartiles { min: at(0.0)?, p25: at(0.25)?, p50: at(0.5)?, p75: at(0.75)?, max: at(1.0)? })
}

/// Mean, least and greatest; zeros of an empty list.
pub fn spread(values: &[f64]) -> Spread {
    if values.is_empty() {
        return Spread::default();
    }
    Spread {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_one_to_five_are_two_three_and_four() {
        let of = quartiles(vec![5.0, 3.0, 1.0, 4.0, 2.0]).unwrap();
        assert_eq!((of.min, of.p25, of.p50, of.p75, of.max), (1.0, 2.0, 3.0, 4.0, 5.0));
        assert_eq!(quantile(&[0.0, 10.0], 0.25), Some(2.5));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn a_spread_is_mean_least_and_greatest() {
        assert_eq!(spread(&[2.0, 4.0, 9.0]), Spread { mean: 5.0, min: 2.0, max: 9.0 });
    }
}
