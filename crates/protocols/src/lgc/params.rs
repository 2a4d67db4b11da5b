//! The parameters of LGC.

use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::{Bases, PHI1, PHI2, plain_rate, plain_step};
use crate::parts::marking::{ALPHA, INTERVAL};
use crate::parts::send_rate::{CONTROL, INITIAL_WINDOW};
use crate::parts::step_size::{G1, G2, GAMMA_CONV, GAMMA_INIT, STEP_SIZE};
use millpond_law::{Domain, Parameter, Settings};

/// Every parameter; those with a name in capitals are shared with LGCC.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "form",
        unit: "",
        domain: Domain::Word(&["plain", "deflated"]),
        default: "plain",
        source: "Eq. (5), Eq. (7) of the LGCC paper",
        meaning: "growth by 1 - x - p, or by logarithms of both, which needs fewer marks for many flows",
    },
    PHI1,
    PHI2,
    GAMMA_INIT,
    GAMMA_CONV,
    G1,
    G2,
    STEP_SIZE,
    ALPHA,
    Parameter { default: "round", source: "the authors' Linux module; LGCC section IX-C", ..INTERVAL },
    CONTROL,
    Parameter { default: "10", source: "least window of the authors' Linux module", ..INITIAL_WINDOW },
    PROBE_GAIN,
];

/// The growth law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// Eq. (4) and (5).
    Plain,
    /// Eq. (7).
    Deflated(Bases),
}

impl Form {
    pub(super) fn read(settings: &Settings) -> Self {
        if settings.word("form") == "deflated" { Self::Deflated(Bases::read(settings)) } else { Self::Plain }
    }

    /// Where the law rests with capacity `k` at a marking probability.
    pub(super) fn target(&self, k: f64, marking: f64) -> f64 {
        match self {
            Self::Plain => plain_rate(k, marking),
            Self::Deflated(bases) => bases.rate_from_price(k, marking),
        }
    }

    /// One step from `x`.
    pub(super) fn step(&self, x: f64, k: f64, marking: f64, gamma: f64) -> f64 {
        match self {
            Self::Plain => plain_step(x, k, marking, gamma),
            Self::Deflated(bases) => bases.step(x, k, marking, gamma),
        }
    }
}
