//! The parameters of LGC.

use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::{Bases, Form, PHI1, PHI2};
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
pub(super) fn form(settings: &Settings) -> Form {
    if settings.word("form") == "deflated" { Form::Deflated(Bases::read(settings)) } else { Form::Plain }
}
