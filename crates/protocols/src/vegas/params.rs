//! Vegas' parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::key::{Key, Keys, from, number};
use millpond_law::{SettingError, Settings};

/// Vegas' parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Initial window in packets; none: the formula of RFC 9002.
    pub(super) initial_window: Option<f64>,
    /// With fewer queued packets the window grows by one packet per round trip.
    pub(super) alpha: f64,
    /// With more queued packets the window shrinks by one packet per round trip.
    pub(super) beta: f64,
    /// With more queued packets slow start ends.
    pub(super) gamma: f64,
    /// Factor by which a loss episode multiplies the window.
    pub(super) loss_reduction_factor: f64,
}

const ALPHA: Key<f64> = number("alpha", "packets", 2.0, from(0.0).to(1e6))
    .source("section III-C, JSAC 1995, which has 1 and 2; value of Linux")
    .meaning("with fewer queued packets the window grows by one packet per round trip");
const BETA: Key<f64> = number("beta", "packets", 4.0, from(0.0).to(1e6))
    .source("section III-C, JSAC 1995, which has 3 and 4; value of Linux")
    .meaning("with more queued packets the window shrinks by one packet per round trip; at least alpha");
const GAMMA: Key<f64> = number("gamma", "packets", 1.0, from(0.0).to(1e6))
    .source("section III-D, JSAC 1995; value of Linux")
    .meaning("with more queued packets slow start ends");
const LOSS_REDUCTION_FACTOR: Key<f64> = number("loss_reduction_factor", "1", 0.5, from(0.0).to(1.0))
    .source("RFC 9002, section 7.3.2, as in Linux")
    .meaning("factor by which a loss episode multiplies the window");

pub(super) static PARAMETERS: Keys = &[&INITIAL_WINDOW, &ALPHA, &BETA, &GAMMA, &LOSS_REDUCTION_FACTOR];

impl Params {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let params = Self {
            initial_window: settings.get(INITIAL_WINDOW),
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            gamma: settings.get(GAMMA),
            loss_reduction_factor: settings.get(LOSS_REDUCTION_FACTOR),
        };
        if params.beta < params.alpha {
            let message =
                format!("must not be less than alpha, which is {}, found {}", params.alpha, params.beta);
            return Err(BETA.error(message));
        }
        Ok(params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    #[test]
    fn beta_below_alpha_is_rejected() {
        let settings = Settings::check(PARAMETERS, [("alpha", Value::Number(5.0))]).unwrap();
        let fault = Params::read(&settings).unwrap_err();
        assert_eq!(fault.to_string(), "beta: must not be less than alpha, which is 5, found 4");
    }
}
