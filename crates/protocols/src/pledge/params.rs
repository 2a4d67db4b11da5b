//! The parameters of Pledge.

use millpond_law::key::{Key, Keys, above, from, number, span, word};
use millpond_law::{Settings, words};
use millpond_units::Span;
use std::f64::consts::E;

words! {
    /// What the share of the promise is a share of.
    pub(super) enum Per { Byte = "byte", Time = "time" }
}

const TARGET: Key<Span> = span("target", Span::from_millis(50))
    .source("chosen by the operator")
    .meaning("waiting time at a link that at most the share `late` of the bytes exceeds");
const LATE: Key<f64> = number("late", "1", 0.05, above(0.0).to(0.5))
    .source("Eq. (4): the promise is a 95th percentile")
    .meaning("share of the bytes that may wait longer than `target`");
const PER: Key<Per> = word("per", Per::Byte)
    .source("Eq. (4); docs/extensions/pledge.md, section A promise per time")
    .meaning("\"byte\": `late` is a share of the bytes; \"time\": of the time, so that a long interruption counts for its length");
const SPARE: Key<f64> = number("spare", "1", 0.01, above(0.0).to(0.5))
    .source("Eq. (5); chosen on synthetic traces")
    .meaning("share of the capacity that is left unused, so that a link without queue is observable");
const LATE_STEP: Key<f64> = number("late_step", "1", 0.02, above(0.0).to(0.5))
    .source("Eq. (4): memory of 50 windows, after that of all windows so far")
    .meaning("step of the late factor for each window of departed bytes");
const LATE_FLOOR: Key<f64> = number("late_floor", "1", 0.5, above(0.0).to(1.0))
    .source("Eq. (4); docs/extensions/pledge.md, section The floor")
    .meaning("least late factor: the promise is given up where a smaller window would be needed");
const USE_STEP: Key<f64> = number("use_step", "1", 0.05, above(0.0).to(1.0))
    .source("Eq. (5): delay margin of (pi / (2 use_step) - 1) round trips; chosen on synthetic traces")
    .meaning("step of the use factor for each window of departed bytes");
const INITIAL_RTT: Key<Span> = span("initial_rtt", Span::from_millis(50))
    .source("as in XCP and RCP")
    .meaning("mean base round-trip time of a router before any packet carries one");
pub(super) const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 3.0, from(1.0).to(1e6))
    .source("at most the initial windows of RFC 5681, section 3.1")
    .meaning("window before the first feedback");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &TARGET, &LATE, &PER, &SPARE, &LATE_STEP, &LATE_FLOOR, &USE_STEP, &INITIAL_RTT, &INITIAL_WINDOW,
];

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// d.
    pub(super) target: Span,
    /// alpha: share of late bytes, or of the time.
    pub(super) late: f64,
    pub(super) per: Per,
    /// zeta: share of unused capacity.
    pub(super) spare: f64,
    /// Least eta_l.
    pub(super) late_step: f64,
    /// Least theta_l. The slack of the guarantee is its logarithm.
    pub(super) late_floor: f64,
    /// eta_u.
    pub(super) use_step: f64,
    /// T before the first sample.
    pub(super) initial_rtt: Span,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            target: settings.get(TARGET),
            late: settings.get(LATE),
            per: settings.get(PER),
            spare: settings.get(SPARE),
            late_step: settings.get(LATE_STEP),
            late_floor: settings.get(LATE_FLOOR),
            use_step: settings.get(USE_STEP),
            initial_rtt: settings.get(INITIAL_RTT),
        }
    }
}

/// Warnings about these settings.
pub(super) fn warnings(settings: &Settings) -> Vec<String> {
    let params = RouterParams::read(settings);
    (params.use_step > 1.0 / E)
        .then(|| {
            format!(
                "use_step = {}: the use factor oscillates on a link of constant capacity, because the step is above \
                 1/e = {:.3}",
                params.use_step,
                1.0 / E
            )
        })
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;

    #[test]
    fn a_use_step_above_1_over_e_has_a_warning() {
        let warnings_at =
            |step: f64| warnings(&Settings::check(PARAMETERS, [("use_step", Value::Number(step))]).unwrap());
        assert_eq!(warnings_at(0.05), Vec::<String>::new());
        assert_eq!(warnings_at(0.36), Vec::<String>::new());
        assert!(warnings_at(0.37)[0].contains("1/e = 0.368"));
    }
}
