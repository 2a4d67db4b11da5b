//! DCTCP's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::{Domain, Parameter, Settings};

/// DCTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Weight of the newest observation window in alpha.
    pub g: f64,
    /// Alpha before anything is known.
    pub initial_alpha: f64,
    /// Window at the start in packets; none for RFC 9002's formula.
    pub initial_window: Option<f64>,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "g",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.0625",
        source: "RFC 8257, section 4.2",
        meaning: "weight of the newest round trip in the estimate of the marked fraction",
    },
    Parameter {
        name: "initial_alpha",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "1",
        source: "DCTCP.Alpha in RFC 8257, section 4.2",
        meaning: "estimate of the marked fraction before the first round trip; 1 halves the window at the first mark",
    },
    INITIAL_WINDOW,
];

impl Params {
    /// Reads them from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            g: settings.number("g"),
            initial_alpha: settings.number("initial_alpha"),
            initial_window: settings.number_if_given("initial_window"),
        }
    }
}
