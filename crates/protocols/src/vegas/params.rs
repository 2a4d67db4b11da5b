//! Vegas' parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::{Domain, Parameter, SettingError, Settings};

/// Vegas' parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Window at the start in packets; none for RFC 9002's formula.
    pub(super) initial_window: Option<f64>,
    /// Fewer packets waiting than this: one more.
    pub(super) alpha: f64,
    /// More packets waiting than this: one less.
    pub(super) beta: f64,
    /// More packets waiting than this end slow start.
    pub(super) gamma: f64,
    /// What is left of the window after a loss.
    pub(super) loss_reduction_factor: f64,
}

pub(super) static PARAMETERS: &[Parameter] = &[
    INITIAL_WINDOW,
    Parameter {
        name: "alpha",
        unit: "packets",
        domain: Domain::Number(0.0, 1e6),
        default: "2",
        source: "section III-C, JSAC 1995, which has 1 and 2; value of Linux",
        meaning: "with fewer packets waiting the window grows by one per round trip",
    },
    Parameter {
        name: "beta",
        unit: "packets",
        domain: Domain::Number(0.0, 1e6),
        default: "4",
        source: "section III-C, JSAC 1995, which has 3 and 4; value of Linux",
        meaning: "with more packets waiting the window shrinks by one per round trip; not less than alpha",
    },
    Parameter {
        name: "gamma",
        unit: "packets",
        domain: Domain::Number(0.0, 1e6),
        default: "1",
        source: "section III-D, JSAC 1995; value of Linux",
        meaning: "with more packets waiting slow start ends",
    },
    Parameter {
        name: "loss_reduction_factor",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.5",
        source: "RFC 9002, section 7.3.2, as in Linux",
        meaning: "what is left of the window when a loss episode begins",
    },
];

impl Params {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let params = Self {
            initial_window: settings.number_if_given("initial_window"),
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            gamma: settings.number("gamma"),
            loss_reduction_factor: settings.number("loss_reduction_factor"),
        };
        if params.beta < params.alpha {
            let message =
                format!("must not be less than alpha, which is {}, found {}", params.alpha, params.beta);
            return Err(SettingError::new("beta", message));
        }
        Ok(params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    #[test]
    fn beta_below_alpha_is_refused() {
        let settings = Settings::check(PARAMETERS, [("alpha", Value::Number(5.0))]).unwrap();
        let fault = Params::read(&settings).unwrap_err();
        assert_eq!(fault.to_string(), "beta: must not be less than alpha, which is 5, found 4");
    }
}
