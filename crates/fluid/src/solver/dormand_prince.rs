//! The embedded pair of Dormand and Prince (J. Comput. Appl. Math. 6, 1980): order 5 with an error estimate of order 4.
//! Between the ends of a step: its interpolant of degree four (Hairer, Norsett, Wanner, section II.6).

/// The times of the stages, as fractions of the step.
pub(super) const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

/// The weights of the previous stages for each stage. The last row is the solution of order 5.
pub(super) const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Weights of the difference between order 5 and order 4.
pub(super) const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

const D: [f64; 7] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// The weighted sum of one state's derivatives over the stages.
pub(super) fn sum(weights: &[f64], stages: &[Vec<f64>], state: usize) -> f64 {
    weights.iter().zip(stages).filter(|(w, _)| **w != 0.0).map(|(w, k)| w * k[state]).sum()
}

/// The interpolated value of one state at the fraction `theta` of a step of length `h` from `y0` to `y1`.
pub(super) fn dense(theta: f64, h: f64, y0: f64, y1: f64, stages: &[Vec<f64>], state: usize) -> f64 {
    let rest = 1.0 - theta;
    let difference = y1 - y0;
    let start = h * stages[0][state] - difference;
    let end = difference - h * stages[6][state] - start;
    let last = h * sum(&D, stages, state);
    y0 + theta * (difference + rest * (start + theta * (end + rest * last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_sums_to_its_stage_time_and_error_weights_sum_to_zero() {
        for (row, c) in A.iter().zip(C) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-15);
        }
        assert!(E.iter().sum::<f64>().abs() < 1e-16 && D.iter().sum::<f64>().abs() < 1e-14);
    }

    #[test]
    fn the_interpolant_is_exact_for_a_quartic() {
        // y' = 4 t^3 from t = 1: the right-hand side does not depend on y, so the stages are known.
        let h = 0.7;
        let stages: Vec<Vec<f64>> = C.iter().map(|c| vec![4.0 * (1.0 + c * h).powi(3)]).collect();
        let y1 = 1.0 + h * sum(&A[6], &stages, 0);
        for theta in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let exact = (1.0 + theta * h).powi(4);
            assert!((dense(theta, h, 1.0, y1, &stages, 0) - exact).abs() < 1e-12, "{theta}");
        }
    }
}
