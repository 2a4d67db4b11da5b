//! Times of convergence.

/// The time of convergence: the start of the first interval from which on every value is within the fraction `within` of
/// its target; `begin` if that is the first interval with a value. `None` if the last value is outside, or if there is no
/// value.
///
/// `times` are the ends of the intervals, in the unit of the result. Intervals in which the value or the target is not a
/// number are ignored. There is one target per interval, because the fair share changes when flows start and stop.
pub fn converged_from(
    begin: f64,
    times: &[f64],
    values: &[f64],
    targets: &[f64],
    within: f64,
) -> Option<f64> {
    let is_inside = |i: usize| (values[i] - targets[i]).abs() <= within * targets[i];
    let counted = |&i: &usize| !values[i].is_nan() && !targets[i].is_nan();
    let steps: Vec<usize> = (0..times.len()).filter(counted).collect();
    let settled = steps.iter().rposition(|&i| !is_inside(i)).map_or(0, |last_outside| last_outside + 1);
    steps.get(settled)?;
    Some(if settled == 0 { begin } else { times[steps[settled - 1]] })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
    const FAIR: [f64; 5] = [50.0; 5];

    #[test]
    fn a_flow_converges_after_the_last_interval_outside() {
        let values = [100.0, 52.0, 70.0, 47.0, 51.0];
        assert_eq!(converged_from(0.0, &TIMES, &values, &FAIR, 0.1), Some(3.0));
    }

    #[test]
    fn a_flow_that_is_always_inside_converges_when_it_starts() {
        let values = [f64::NAN, 52.0, 50.0, 47.0, 51.0];
        assert_eq!(converged_from(1.5, &TIMES, &values, &FAIR, 0.1), Some(1.5));
    }

    #[test]
    fn a_flow_that_ends_outside_has_not_converged() {
        assert_eq!(converged_from(0.0, &TIMES, &[50.0, 50.0, 50.0, 50.0, 60.0], &FAIR, 0.1), None);
        assert_eq!(converged_from(0.0, &TIMES, &[f64::NAN; 5], &FAIR, 0.1), None);
    }
}
