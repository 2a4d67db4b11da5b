//! The parameters of VCP.

use crate::parts::interval;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span};
use millpond_units::Span;

const INTERVAL: Key<Span> = interval::timer("interval", Span::from_millis(200))
    .source("t_rho in section 3.1, SIGCOMM 2005")
    .meaning("interval over which a router measures its load; a sender waits as long after a reduction");
const TARGET_UTILIZATION: Key<f64> = number("target_utilization", "1", 0.98, above(0.0).to(1.0))
    .source("gamma in Eq. (1), SIGCOMM 2005")
    .meaning("share of the capacity that counts as a load of 1");
const QUEUE_WEIGHT: Key<f64> = number("queue_weight", "1", 0.5, from(0.0).to(10.0))
    .source("kappa_q in Eq. (1), SIGCOMM 2005")
    .meaning("share of the persistent queue that counts as load");
const HIGH_LOAD: Key<f64> = number("high_load", "1", 0.8, from(0.0).to(1.0))
    .source("section 3.1, SIGCOMM 2005")
    .meaning("load from which senders increase additively, not multiplicatively; from 1 on they reduce");
const XI: Key<f64> = number("xi", "1", 0.0625, from(0.0).to(1.0))
    .source("Eq. (6), SIGCOMM 2005: kappa (1 - rho) / rho with kappa = .25 and rho = .8")
    .meaning("multiplicative increase per interval at low load");
const ALPHA: Key<f64> = number("alpha", "packets", 1.0, from(0.0).to(1e6))
    .source("section 3.2, SIGCOMM 2005")
    .meaning("additive increase at high load, per round trip of the reference length");
const BETA: Key<f64> = number("beta", "1", 0.875, above(0.0).to(1.0))
    .source("section 3.2, SIGCOMM 2005")
    .meaning("factor by which an overload multiplies the window");
const REFERENCE_RTT: Key<Span> = span("reference_rtt", Span::from_millis(100))
    .source("Eq. (8), SIGCOMM 2005; t_d in the authors' ns-2 code")
    .meaning("round-trip time for which alpha is not scaled");
const INITIAL_WINDOW: Key<f64> =
    number("initial_window", "packets", 2.0, from(1.0).to(1e6)).source("RFC 2581").meaning("initial window");
const LOSS_REDUCTION_FACTOR: Key<f64> = number("loss_reduction_factor", "1", 0.5, from(0.0).to(1.0))
    .source("RFC 9002, section 7.3.2; VCP answers a loss as Reno does")
    .meaning("factor by which a loss episode multiplies the window");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &INTERVAL, &TARGET_UTILIZATION, &QUEUE_WEIGHT, &HIGH_LOAD, &XI, &ALPHA, &BETA, &REFERENCE_RTT,
    &INITIAL_WINDOW, &LOSS_REDUCTION_FACTOR,
];

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// t_rho.
    pub(super) interval: Span,
    /// gamma.
    pub(super) target_utilization: f64,
    /// kappa_q.
    pub(super) queue_weight: f64,
    /// Load from which the signal is high load.
    pub(super) high_load: f64,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            interval: settings.get(INTERVAL),
            target_utilization: settings.get(TARGET_UTILIZATION),
            queue_weight: settings.get(QUEUE_WEIGHT),
            high_load: settings.get(HIGH_LOAD),
        }
    }
}

/// The sender's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SenderParams {
    /// t_rho.
    pub(super) interval: Span,
    /// Multiplicative increase per interval.
    pub(super) xi: f64,
    /// Additive increase in packets per reference round trip.
    pub(super) alpha: f64,
    /// Factor by which an overload multiplies the window.
    pub(super) beta: f64,
    /// t_d.
    pub(super) reference_rtt: Span,
    /// Initial window, in packets.
    pub(super) initial_window: f64,
    /// Factor by which a loss episode multiplies the window.
    pub(super) loss_reduction_factor: f64,
}

impl SenderParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            interval: settings.get(INTERVAL),
            xi: settings.get(XI),
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            reference_rtt: settings.get(REFERENCE_RTT),
            initial_window: settings.get(INITIAL_WINDOW),
            loss_reduction_factor: settings.get(LOSS_REDUCTION_FACTOR),
        }
    }
}
