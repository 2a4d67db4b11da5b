//! NewReno's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::{Domain, Parameter, Settings};

/// NewReno's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Window at the start in packets; none for RFC 9002's formula.
    pub initial_window: Option<f64>,
    /// What is left of the window after a loss.
    pub loss_reduction_factor: f64,
    /// Pace over the smoothed round-trip time?
    pub pacing: bool,
    /// How much faster than window over round-trip time.
    pub pacing_gain: f64,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    INITIAL_WINDOW,
    Parameter {
        name: "loss_reduction_factor",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.5",
        source: "kLossReductionFactor in RFC 9002, appendix B.1",
        meaning: "what is left of the window when a loss episode begins",
    },
    Parameter {
        name: "pacing",
        unit: "",
        domain: Domain::Flag,
        default: "false",
        source: "RFC 9002, section 7.7",
        meaning: "spread packets over the round trip instead of sending them as acknowledgements come",
    },
    Parameter {
        name: "pacing_gain",
        unit: "1",
        domain: Domain::Number(1.0, 100.0),
        default: "1.25",
        source: "N in RFC 9002, section 7.7",
        meaning: "pace over window / smoothed round-trip time; only with pacing",
    },
    Parameter {
        name: "ecn",
        unit: "",
        domain: Domain::Flag,
        default: "false",
        source: "RFC 9002, section 7.1",
        meaning: "send ECN-capable packets and treat a mark like a loss",
    },
];

impl Params {
    /// Reads them from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            initial_window: settings.number_if_given("initial_window"),
            loss_reduction_factor: settings.number("loss_reduction_factor"),
            pacing: settings.flag("pacing"),
            pacing_gain: settings.number("pacing_gain"),
        }
    }
}
