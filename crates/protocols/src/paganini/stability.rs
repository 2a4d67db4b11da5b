//! Gains for which the authors prove stability, and warnings for other gains.

use super::params::{ALPHA, BETA, BOTTLENECKS, LAW, SourceLaw, gains};
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

/// Theorem 3: with `z = beta M / alpha` stability is proven up to this round-trip time, eta / z, in seconds. eta is that of
/// alpha, not of alpha / M: on a path with M bottlenecks the M prices add up.
fn longest_rtt(alpha: f64, z: f64) -> Option<f64> {
    Some(largest_eta(alpha)? / z)
}

/// A warning if Theorems 1 and 3 do not prove these gains stable; `dynamic`: for the law with beta.
fn proof_warning(settings: &Settings, dynamic: bool) -> Option<String> {
    let alpha = settings.get(ALPHA);
    let z = settings.get(BETA) * settings.get(BOTTLENECKS) / alpha;
    match longest_rtt(alpha, z) {
        None => Some(
            "alpha: stability is proven only for alpha below pi / 2 (Theorem 1); paths with as many bottlenecks as the \
             parameter bottlenecks can oscillate"
                .into(),
        ),
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
        let rtt = |beta: f64| longest_rtt(0.37, beta / 0.37).unwrap();
        assert!(rtt(1.18) > 0.2 && rtt(1.19) < 0.2, "{}", rtt(1.18));
    }

    #[test]
    fn several_bottlenecks_do_not_raise_the_proven_limit_of_alpha() {
        // On three links, nine tenths of each used by flows over all three, the limit with M = 3 is pi/2
        // (papers/paganini/theorem1-3-links.toml), and not three times as much.
        let warnings = |alpha: f64, beta: f64| {
            let written = [("alpha", alpha), ("beta", beta), ("bottlenecks", 3.0)];
            let written = written.map(|(name, value)| (name, Value::Number(value)));
            warnings_of_marks(&Settings::check(MARKS, written).unwrap())
        };
        assert_eq!(warnings(1.57, 1e-3), [""; 0]);
        assert!(warnings(1.58, 1e-3)[0].contains("Theorem 1"));
        // alpha = 1.2: v sin v = 1.2 at v = 1.2603, and eta = cot v = .3209; z = 3 beta / alpha = 1.6045 at 200 ms.
        assert_eq!(warnings(1.2, 0.641), [""; 0]);
        assert!(warnings(1.2, 0.643)[0].contains("200 ms (Theorem 3)"));
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
        let overshoots = |alpha: f64| of_delay(&[("alpha", Value::Number(alpha))]);
        assert_eq!([0.99, 1.0].map(overshoots), [0, 1]);
        // Windows do not overshoot on one link, but there is no proof for four.
        assert_eq!(of_delay(&[FAST, ("bottlenecks", Value::Number(4.0)), ("beta", Value::Number(0.01))]), 1);
    }

    #[test]
    fn gains_without_meaning_are_rejected_by_name() {
        for name in ["alpha", "beta", "utility_weight", "bottlenecks", "phi"] {
            let error = Settings::check(MARKS, [(name, Value::Number(-1.0))]).unwrap_err();
            assert_eq!(error.name, name);
        }
    }
}
