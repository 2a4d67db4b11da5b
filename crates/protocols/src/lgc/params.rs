//! The parameters of LGC. The keys in the table that are not declared here are shared with LGCC.

use crate::parts::capacity_estimate::PROBE_GAIN;
use crate::parts::logistic::{Bases, LogisticForm, PHI1, PHI2};
use crate::parts::marking::{self, ALPHA, FIRST_MARKS, IntervalName};
use crate::parts::send_rate::{self, CONTROL, ROUNDING};
use crate::parts::step_size::{G1, G2, GAMMA_CONV, GAMMA_INIT, STEP_SIZE};
use millpond_law::key::{Interval, Key, Keys, word};
use millpond_law::{Settings, words};

const FORM: Key<GrowthForm> = word("form", GrowthForm::Plain)
    .source("Eq. (5), Eq. (7) of the LGCC paper")
    .meaning("growth by 1 - x - p, or by logarithms of x and 1 - p, which needs fewer marks for many flows");
const INTERVAL: Key<Interval<IntervalName>> = marking::INTERVAL
    .default(Interval::Word(IntervalName::Round))
    .source("the authors' Linux module; LGCC section IX-C");
const INITIAL_WINDOW: Key<f64> =
    send_rate::INITIAL_WINDOW.default(10.0).source("least window of the authors' Linux module");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &FORM, &PHI1, &PHI2, &GAMMA_INIT, &GAMMA_CONV, &G1, &G2, &STEP_SIZE, &ALPHA, &FIRST_MARKS, &INTERVAL,
    &CONTROL, &ROUNDING, &INITIAL_WINDOW, &PROBE_GAIN,
];

words! {
    /// The form of the growth law.
    enum GrowthForm { Plain = "plain", Deflated = "deflated" }
}

/// The growth law.
pub(super) fn form(settings: &Settings) -> LogisticForm {
    match settings.get(FORM) {
        GrowthForm::Plain => LogisticForm::Plain,
        GrowthForm::Deflated => LogisticForm::Deflated(Bases::read(settings)),
    }
}
