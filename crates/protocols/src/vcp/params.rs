//! The parameters of VCP.

use crate::parts::interval;
use millpond_law::{Domain, Parameter, SettingError, Settings};
use millpond_units::Span;

/// Every parameter.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "interval",
        unit: "s",
        domain: Domain::Span(true),
        default: "200ms",
        source: "t_rho in section 3.1, SIGCOMM 2005",
        meaning: "a router measures its load over this; a sender rests for as long after a cut",
    },
    Parameter {
        name: "target_utilization",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.98",
        source: "gamma in Eq. (1), SIGCOMM 2005",
        meaning: "share of the capacity that is a load of 1",
    },
    Parameter {
        name: "queue_weight",
        unit: "1",
        domain: Domain::Number(0.0, 10.0),
        default: "0.5",
        source: "kappa_q in Eq. (1), SIGCOMM 2005",
        meaning: "share of the persistent queue that counts as load",
    },
    Parameter {
        name: "high_load",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.8",
        source: "section 3.1, SIGCOMM 2005",
        meaning: "load from which senders add instead of multiply; from 1 on they cut",
    },
    Parameter {
        name: "xi",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.0625",
        source: "Eq. (6), SIGCOMM 2005: kappa (1 - rho) / rho with kappa = .25 and rho = .8",
        meaning: "multiplicative increase per interval at low load",
    },
    Parameter {
        name: "alpha",
        unit: "packets",
        domain: Domain::Number(0.0, 1e6),
        default: "1",
        source: "section 3.2, SIGCOMM 2005",
        meaning: "additive increase at high load, per round trip of the reference length",
    },
    Parameter {
        name: "beta",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.875",
        source: "section 3.2, SIGCOMM 2005",
        meaning: "what is left of the window after an overload",
    },
    Parameter {
        name: "reference_rtt",
        unit: "s",
        domain: Domain::Span(true),
        default: "100ms",
        source: "Eq. (8), SIGCOMM 2005; t_d in the authors' ns-2 code",
        meaning: "round-trip time at which alpha is not scaled",
    },
    Parameter {
        name: "initial_window",
        unit: "packets",
        domain: Domain::Number(1.0, 1e6),
        default: "2",
        source: "RFC 2581",
        meaning: "window at the start",
    },
    Parameter {
        name: "loss_reduction_factor",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "0.5",
        source: "RFC 9002, section 7.3.2; VCP answers a loss as Reno does",
        meaning: "what is left of the window when a loss episode begins",
    },
];

/// The parameters of the router, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// t_rho.
    pub(super) interval: Span,
    /// gamma.
    pub(super) target_utilization: f64,
    /// kappa_q.
    pub(super) queue_weight: f64,
    /// Where high load begins.
    pub(super) high_load: f64,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            interval: interval::checked("interval", settings.span("interval"))?,
            target_utilization: settings.number("target_utilization"),
            queue_weight: settings.number("queue_weight"),
            high_load: settings.number("high_load"),
        })
    }
}

/// The parameters of the sender, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SenderParams {
    /// t_rho.
    pub(super) interval: Span,
    /// Multiplicative increase per interval.
    pub(super) xi: f64,
    /// Additive increase in packets per reference round trip.
    pub(super) alpha: f64,
    /// What is left after an overload.
    pub(super) beta: f64,
    /// t_d.
    pub(super) reference_rtt: Span,
    /// In packets.
    pub(super) initial_window: f64,
    /// What is left after a loss.
    pub(super) loss_reduction_factor: f64,
}

impl SenderParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            interval: settings.span("interval"),
            xi: settings.number("xi"),
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            reference_rtt: settings.span("reference_rtt"),
            initial_window: settings.number("initial_window"),
            loss_reduction_factor: settings.number("loss_reduction_factor"),
        }
    }
}
