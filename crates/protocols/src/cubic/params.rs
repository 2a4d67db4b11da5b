//! CUBIC's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::{Domain, Parameter, Settings};

/// CUBIC's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// How steep the cubic function is, in packets per cubic second.
    pub c: f64,
    /// What is left of the window after a loss.
    pub beta: f64,
    /// Give way when the window at a loss is less than at the one before?
    pub fast_convergence: bool,
    /// Window at the start in packets; none for RFC 9002's formula.
    pub initial_window: Option<f64>,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "c",
        unit: "packets/s^3",
        domain: Domain::Above(0.0, 1e6),
        default: "0.4",
        source: "C in RFC 9438, section 5.1",
        meaning: "how steeply the window grows with the cube of time",
    },
    Parameter {
        name: "beta",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.7",
        source: "beta_cubic in RFC 9438, section 4.6",
        meaning: "what is left of the window when a loss episode begins",
    },
    Parameter {
        name: "fast_convergence",
        unit: "",
        domain: Domain::Flag,
        default: "true",
        source: "RFC 9438, section 4.7",
        meaning: "aim lower when the window at a loss is less than at the one before, so that newcomers get room",
    },
    INITIAL_WINDOW,
    Parameter {
        name: "ecn",
        unit: "",
        domain: Domain::Flag,
        default: "false",
        source: "RFC 9438, section 4.6",
        meaning: "send ECN-capable packets and treat a mark like a loss",
    },
];

impl Params {
    /// Reads them from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            c: settings.number("c"),
            beta: settings.number("beta"),
            fast_convergence: settings.flag("fast_convergence"),
            initial_window: settings.number_if_given("initial_window"),
        }
    }
}
