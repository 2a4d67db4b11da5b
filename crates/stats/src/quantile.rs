//! Quantiles of sorted lists and of distributions that are given by points.

use alloc::vec::Vec;

/// The value below which the share `level` (0 to 1) of an ascending list lies, linear between adjacent values; `None` of an
/// empty list.
///
/// Hyndman and Fan's type 7, the default of R, NumPy and spreadsheets.
pub fn quantile_of_sorted(sorted: &[f64], level: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = level.clamp(0.0, 1.0) * last as f64;
    let below = libm::floor(position) as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64))
}

/// The value at cumulative share `level` of a distribution given by points `(cumulative share, value)`, both ascending:
/// linear between the points, the end point's value beyond them; `None` if there are no points.
pub fn quantile_of_curve(points: &[(f64, f64)], level: f64) -> Option<f64> {
    let above = points.partition_point(|point| point.0 < level);
    let below = above.checked_sub(1).and_then(|index| points.get(index));
    match (below, points.get(above)) {
        (Some(a), Some(b)) => Some(a.1 + (b.1 - a.1) * (level - a.0) / (b.0 - a.0)),
        (_, end) => end.or(below).map(|point| point.1),
    }
}

/// The distribution function of these values as points `(cumulative share, value)`, from the least value at share 0 on; empty
/// without a value.
pub fn curve_of_values(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let first = values.first().map(|value| (0.0, *value));
    let steps = values.iter().enumerate().map(|(index, value)| ((index + 1) as f64 / count, *value));
    first.into_iter().chain(steps).collect()
}

/// A distribution with points at these cumulative shares as well, so that its curve passes through its quantiles there.
pub fn with_quantiles(points: &[(f64, f64)], levels: &[f64]) -> Vec<(f64, f64)> {
    let added = levels.iter().filter_map(|level| Some((*level, quantile_of_curve(points, *level)?)));
    let mut all: Vec<(f64, f64)> = points.iter().copied().chain(added).collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    all
}

/// A distribution of more than this many points is thinned before it is saved or drawn.
pub const CURVE_POINTS: usize = 200;

/// In the tail, [`thinned_curve`] keeps a point each time that the share above it falls by this factor.
const TAIL_RATIO: f64 = 0.85;

/// The points `(cumulative share, value)` of a distribution, thinned for a curve: of more than [`CURVE_POINTS`] it keeps a point
/// per step of `2 / CURVE_POINTS` in share, in the tail one each time that the share of greater values has fallen by 15 %, and the
/// last point. These are at most [`CURVE_POINTS`] of 10^8 points.
pub fn thinned_curve(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = 2.0 / CURVE_POINTS as f64;
    let last = points.len().saturating_sub(1);
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (index, &(share, value)) in points.iter().enumerate() {
        let is_next_step = kept
            .last()
            .is_none_or(|&(before, _)| share - before >= step || 1.0 - share <= TAIL_RATIO * (1.0 - before));
        if points.len() <= CURVE_POINTS || is_next_step || index == last {
            kept.push((share, value));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_of_one_to_five_are_two_three_and_four() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let levels = [0.0, 0.25, 0.5, 0.75, 1.0].map(|level| quantile_of_sorted(&values, level));
        assert_eq!(levels, [1.0, 2.0, 3.0, 4.0, 5.0].map(Some));
        assert_eq!(quantile_of_sorted(&[0.0, 10.0], 0.25), Some(2.5));
        assert_eq!(quantile_of_sorted(&[], 0.5), None);
    }

    #[test]
    fn quantiles_of_a_curve_lie_between_its_points() {
        let points = [(0.0, 1.0), (0.5, 3.0), (1.0, 4.0)];
        let levels = [0.0, 0.25, 0.5, 0.75, 1.0, 2.0].map(|level| quantile_of_curve(&points, level));
        assert_eq!(levels, [1.0, 2.0, 3.0, 3.5, 4.0, 4.0].map(Some));
        assert_eq!(quantile_of_curve(&[], 0.5), None);
    }

    /// The inverse of a distribution function: the least value whose cumulative share reaches the level.
    #[test]
    fn at_the_share_of_a_jump_the_quantile_is_the_least_value() {
        let jump = [(0.0, 1.0), (0.5, 2.0), (0.5, 8.0), (1.0, 9.0)];
        let levels = [0.25, 0.5, 0.75].map(|level| quantile_of_curve(&jump, level));
        assert_eq!(levels, [1.5, 2.0, 8.5].map(Some));
    }

    #[test]
    fn a_thinned_curve_is_short_and_keeps_both_ends() {
        let uniform: Vec<(f64, f64)> = (1..=100_000).map(|i| (f64::from(i) / 1e5, f64::from(i))).collect();
        let curve = thinned_curve(&uniform);
        assert!(curve.len() <= CURVE_POINTS, "{}", curve.len());
        assert_eq!((curve[0], curve[curve.len() - 1]), (uniform[0], uniform[uniform.len() - 1]));
        // Steps of a hundredth until the share above is 0.01 / 0.15 (93), steps of 15 % of it as long as that is a value or more (42),
        // and each of the last six values.
        assert!((93 + 40..=93 + 42 + 7).contains(&curve.len()), "{}", curve.len());
        assert!(curve.ends_with(&uniform[99_994..]));
        let [upper, lower] = [0.99, 0.999].map(|level| {
            let from = curve.partition_point(|point| point.0 < level);
            (curve[from].0 - curve[from - 1].0) / (1.0 - curve[from - 1].0)
        });
        assert!(upper < 0.16 && lower < 0.16, "{upper} {lower}");
        assert_eq!(thinned_curve(&uniform[..CURVE_POINTS]), uniform[..CURVE_POINTS]);
    }

    /// Half way between shares of .98 and 1 and values of 10 and 30.
    #[test]
    fn a_curve_passes_through_its_quantiles() {
        let curve = [(0.0, 1.0), (0.98, 10.0), (1.0, 30.0)];
        let found = with_quantiles(&curve, &[0.99]);
        let [start, below, (share, value), end] = found[..] else { panic!("{found:?}") };
        assert_eq!([start, below, end], curve);
        assert!((share - 0.99).abs() < 1e-12 && (value - 20.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_distribution_rises_by_the_same_share_at_each_value() {
        assert_eq!(curve_of_values(vec![30.0, 10.0]), [(0.0, 10.0), (0.5, 10.0), (1.0, 30.0)]);
        assert!(curve_of_values(Vec::new()).is_empty());
    }
}
