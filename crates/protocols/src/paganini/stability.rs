//! Gains for which the authors prove stability, and warnings for other gains.

use super::params::{LAW, SourceLaw, gains};
use millpond_law::Settings;
use std::f64::consts::FRAC_PI_2;

/// Largest round-trip time of the paper's networks, in seconds. Gains that are proven stable up to it have no warning.
const USUAL_RTT: f64 = 0.2;

/// The root v of `v sin v = alpha` in (0, pi/2), by bisection: the left side increases.
fn crossing(alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle * libm::sin(middle) < alpha { low = middle } else { high = middle }
    }
    low
}

/// Theorem 3: the largest eta, `min(cot v, cot 1)`; none for an alpha of pi/2 or more.
fn largest_eta(alpha: f64) -> Option<f64> {
    (alpha < FRAC_PI_2).then(|| 1.0 / libm::tan(crossing(alpha).max(1.0)))
}

/// Theorem 3: with `z = beta M / alpha` stability is proven up to this round-trip time, eta / z, in seconds.
fn longest_rtt(alpha: f64, beta: f64) -> Option<f64> {
    Some(largest_eta(alpha)? * alpha / beta)
}

/// A warning if Theorems 1 and 3 do not prove these gains stable; `dynamic`: for the law with beta.
fn proof_warning(settings: &Settings, dynamic: bool) -> Option<String> {
    let gains = gains(settings);
    match longest_rtt(gains.alpha, gains.beta) {
        None => {
            Some("alpha: the loop oscillates if alpha is at least bottlenecks * pi / 2 (Theorem 1)".into())
        }
        Some(rtt) if dynamic && rtt < USUAL_RTT => Some(format!(
            "beta: with these gains stability is proven only for round-trip times of up to {:.0} ms (Theorem 3)",
            rtt * 1e3
        )),
        _ => None,
    }
}

/// Warnings for the form with marks.
pub(super) fn warnings_of_marks(settings: &Settings) -> Vec<String> {
    proof_warning(settings, settings.get(LAW) == SourceLaw::PrimalDual).into_iter().collect()
}

/// Warnings for the form with queueing delay.
pub(super) fn warnings_of_delay(settings: &Settings) -> Vec<String> {
    // A queue follows the windows within a round trip: an error returns multiplied by -alpha / M.
    let overshoots = gains(settings).alpha >= 1.0;
    let overshoot_warning = "alpha: windows overshoot if alpha is at least bottlenecks: no error decreases";
    let proof_warning = proof_warning(settings, true);
    overshoots.then(|| overshoot_warning.to_owned()).into_iter().chain(proof_warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paganini::params::{DELAY, MARKS};
    use millpond_law::Value;

    #[test]
    fn the_largest_eta_is_the_theorems_closed_form() {
        // With v given, alpha = v sin v and eta = cot v need no root. For v < 1 eta is cot 1.
        for v in [0.3_f64, 0.9, 1.0, 1.1, 1.3, 1.5] {
            let (alpha, eta) = (v * libm::sin(v), 1.0 / libm::tan(v.max(1.0)));
            assert!((largest_eta(alpha).unwrap() - eta).abs() < 1e-9, "{alpha}");
        }
        assert_eq!(largest_eta(FRAC_PI_2), None);
    }

    #[test]
    fn the_published_beta_is_the_largest_for_200_milliseconds() {
        let rtt = longest_rtt(0.37, 1.18).unwrap();
        assert!(rtt > 0.2 && longest_rtt(0.37, 1.19).unwrap() < 0.2, "{rtt}");
    }

    #[test]
    fn only_gains_without_a_proof_have_warnings() {
        let of_marks = |written: &[(&'static str, Value)]| {
            warnings_of_marks(&Settings::check(MARKS, written.iter().cloned()).unwrap()).len()
        };
        let of_delay = |written: &[(&'static str, Value)]| {
            warnings_of_delay(&Settings::check(DELAY, written.iter().cloned()).unwrap()).len()
        };
        const FAST: (&str, Value) = ("alpha", Value::Number(1.6));
        const LARGE_BETA: (&str, Value) = ("beta", Value::Number(2.0));
        assert_eq!([of_marks(&[]), of_marks(&[FAST]), of_marks(&[LARGE_BETA])], [0, 1, 1]);
        assert_eq!(of_marks(&[LARGE_BETA, ("law", Value::text("dual"))]), 0);
        assert_eq!([of_delay(&[]), of_delay(&[LARGE_BETA]), of_delay(&[FAST])], [0, 1, 2]);
        assert_eq!(of_delay(&[FAST, ("bottlenecks", Value::Number(4.0))]), 0);
    }

    #[test]
    fn gains_without_meaning_are_rejected_by_name() {
        for name in ["alpha", "beta", "utility_weight", "bottlenecks", "phi"] {
            let error = Settings::check(MARKS, [(name, Value::Number(-1.0))]).unwrap_err();
            assert_eq!(error.name, name);
        }
    }
}
