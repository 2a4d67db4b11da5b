//! How a chain of relays amplifies oscillations.

use super::params::{DRAIN, DRAIN_TIME, ECHO, EchoedRate, FOLLOW, Follow};
use crate::parts::logistic::PHI1;
use crate::parts::send_rate::{CONTROL, Control};
use crate::parts::step_size::GAMMA_CONV;
use millpond_law::Settings;

/// The greatest amplification over one relay near the target: the amplitude of a loop's rate over that of the next loop's.
///
/// Without marks, ln x follows ln k with a lag of `tau = T ln phi1 / gamma_conv`; k is the rate of the next loop less the
/// backlog b over D, and b the integral of the rate that arrived a round trip T ago less the next one's. Therefore
/// `H = (1 + D s) / (D s (1 + tau s) + exp(-s T))`. At `1 / sqrt(D tau)` its absolute value is `sqrt(D (D + tau)) / (D - T)`,
/// for D far above T `sqrt(1 + (tau + 2 T) / D)`.
/// A loop whose rate follows k at once has `tau = 0`: `|H|^2 = (1 + (D w)^2) / (1 + (D w)^2 - 2 D w sin(w T))` is at most
/// `1 / (1 - T/D)^2` and near `(1 + T/D)^2`.
/// `drain` and `tau` are in round trips.
fn gain_per_relay(drain: f64, tau: f64) -> f64 {
    const STEPS: u32 = 200;
    const DECADES: f64 = 2.0;
    let middle = 1.0 / libm::sqrt(drain * tau.max(1.0));
    let size = |re: f64, im: f64| libm::hypot(re, im);
    let gain = |w: f64| {
        let (sin, cos) = (libm::sin(w), libm::cos(w));
        size(1.0, drain * w) / size(cos - drain * tau * w * w, drain * w - sin)
    };
    let frequency =
        |step: u32| middle * libm::pow(10.0, DECADES * (f64::from(step) / f64::from(STEPS) - 0.5));
    (0..=STEPS).map(frequency).filter(|w| *w < std::f64::consts::PI).map(gain).fold(1.0, f64::max)
}

/// A warning if a chain of this many loops amplifies a disturbance of a fiftieth of a rate to the whole rate.
pub(super) fn amplification_warning(settings: &Settings, loops: usize) -> Option<String> {
    const MOST: f64 = 50.0;
    let relays = loops.saturating_sub(1);
    // With a constant part of the drain the gain depends on the round-trip time.
    let in_round_trips = settings.get(DRAIN_TIME).is_zero();
    let is_echoed = settings.get(ECHO) != EchoedRate::X || settings.get(CONTROL) == Control::Rate;
    let is_corrected = is_echoed && in_round_trips;
    let lag = libm::log(settings.get(PHI1)) / settings.get(GAMMA_CONV);
    let tau = if settings.get(FOLLOW) == Follow::Share { 0.0 } else { lag };
    let (drain, exponent) = (settings.get(DRAIN), i32::try_from(relays).unwrap_or(i32::MAX));
    let gain = gain_per_relay(drain, tau);
    let chain = gain.powi(exponent);
    (relays > 0 && is_corrected && chain > MOST).then(|| {
        format!(
            "a chain of {relays} relays amplifies oscillations near the target x{gain:.1} per relay, up to x{chain:.0} at the \
             source (drain = {drain}); follow = \"share\", or a longer drain such as 16, amplifies less: millpond stability prints the gain"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use millpond_law::Value;

    fn warning(drain: f64, loops: usize) -> Option<String> {
        let settings = Settings::check(PARAMETERS, [("drain", Value::Number(drain))]).unwrap();
        amplification_warning(&settings, loops)
    }

    /// tau is ln 10 / .05 = 46 round trips: sqrt(8 * 54) / 7 = 2.97 per relay, and 1.44 with a drain of 47. The maximum is
    /// beside the frequency of the closed form, the more the stronger the damping is.
    #[test]
    fn the_gain_per_relay_is_near_its_closed_form() {
        let tau = 10_f64.ln() / 0.05;
        for drain in [8.0_f64, 20.0, 47.0, 474.0] {
            let closed_form = (drain * (drain + tau)).sqrt() / (drain - 1.0);
            let gain = gain_per_relay(drain, tau);
            assert!((gain / closed_form - 1.0).abs() < 0.05, "{drain}: {gain} {closed_form}");
        }
    }

    /// With `tau = 0` the gain is between 1 + T/D and 1 / (1 - T/D), so that eight relays with a drain of 20 amplify by
    /// 1.05^8 = 1.48 to 1.51.
    #[test]
    fn a_rate_that_follows_the_capacity_amplifies_by_one_round_trip_over_the_drain() {
        for drain in [8.0_f64, 16.0, 20.0, 32.0] {
            let gain = gain_per_relay(drain, 0.0);
            assert!((1.0 + 0.9 / drain..1.0 / (1.0 - 1.0 / drain)).contains(&gain), "{drain}: {gain}");
        }
        let settings = [("follow", Value::text("share")), ("drain", Value::Number(8.0))];
        let settings = Settings::check(PARAMETERS, settings).unwrap();
        assert_eq!(amplification_warning(&settings, 17), None, "1.137^16 = 7.8");
        assert!(amplification_warning(&settings, 60).is_some());
    }

    #[test]
    fn a_chain_of_four_relays_is_warned_about_by_its_length_and_one_of_three_is_not() {
        assert!(warning(8.0, 5).unwrap().contains("a chain of 4 relays amplifies"));
        assert_eq!(warning(8.0, 4), None);
        assert_eq!(warning(8.0, 1), None);
        // (1 + 48 / 474)^4 = 1.47.
        assert_eq!(warning(474.0, 9), None);
    }
}
