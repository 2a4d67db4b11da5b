//! The parameters of ABC.

use millpond_law::{Domain, Parameter, Settings};
use millpond_units::Span;

/// Every parameter. The defaults are those of the authors' emulation of cellular links.
pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "eta",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.98",
        source: "Eq. (1), NSDI 2020; value of the authors' published router",
        meaning: "share of the link's capacity that is the target while the queue is short",
    },
    Parameter {
        name: "delta",
        unit: "s",
        domain: Domain::Span(true),
        default: "133ms",
        source: "Eq. (1), NSDI 2020; 100 ms / 0.75 in the authors' published experiment (LGCC section X-D: 300ms)",
        meaning: "time in which excess queueing delay is to drain; stable above two thirds of the RTT (Theorem 3.1)",
    },
    Parameter {
        name: "delay_threshold",
        unit: "s",
        domain: Domain::Span(false),
        default: "50ms",
        source: "d_t in Eq. (1), NSDI 2020; value of the authors' published experiment (LGCC section X-D: 1ms)",
        meaning: "queueing delay below which nothing is to drain",
    },
    Parameter {
        name: "rate_window",
        unit: "s",
        domain: Domain::Span(true),
        default: "20ms",
        source: "T in section 3.1.2, NSDI 2020; value of the authors' published router",
        meaning: "the dequeue rate is taken over a sliding window of this length",
    },
    Parameter {
        name: "token_limit",
        unit: "packets",
        domain: Domain::Number(1.0, 1e6),
        default: "5",
        source: "tokenLimit in Algorithm 1, NSDI 2020; value of the authors' published router",
        meaning: "most accelerates that may be saved up",
    },
    Parameter {
        name: "initial_window",
        unit: "packets",
        domain: Domain::Number(1.0, 1e6),
        default: "10",
        source: "RFC 6928, as in the authors' Linux sender",
        meaning: "both windows at the start",
    },
];

/// The parameters of the router, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// Target share of the capacity.
    pub(super) eta: f64,
    /// Drain time in seconds.
    pub(super) delta: f64,
    /// d_t in seconds.
    pub(super) delay_threshold: f64,
    /// T.
    pub(super) rate_window: Span,
    /// Most tokens.
    pub(super) token_limit: f64,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            eta: settings.number("eta"),
            delta: settings.span("delta").secs(),
            delay_threshold: settings.span("delay_threshold").secs(),
            rate_window: settings.span("rate_window"),
            token_limit: settings.number("token_limit"),
        }
    }
}
