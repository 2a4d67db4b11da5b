//! The parameters of ABC.

use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span, span_or_zero};
use millpond_units::Span;

const ETA: Key<f64> = number("eta", "1", 0.98, above(0.0).to(1.0))
    .source("Eq. (1), NSDI 2020; value of the authors' published router")
    .meaning("target rate as a share of the link's capacity while the queue is short");
const DELTA: Key<Span> = span("delta", Span::from_millis(133))
    .source("Eq. (1), NSDI 2020; 100 ms / 0.75 in the authors' experiment (LGCC section X-D: 300 ms)")
    .meaning("time constant for draining excess delay; stable above two thirds of the RTT (Theorem 3.1)");
const DELAY_THRESHOLD: Key<Span> = span_or_zero("delay_threshold", Span::from_millis(50))
    .source("d_t in Eq. (1), NSDI 2020; value of the authors' published experiment (LGCC section X-D: 1ms)")
    .meaning("queueing delay that is tolerated: only the excess is drained");
const RATE_WINDOW: Key<Span> = span("rate_window", Span::from_millis(20))
    .source("T in section 3.1.2, NSDI 2020; value of the authors' published router")
    .meaning("length of the sliding window over which the dequeue rate is measured");
const TOKEN_LIMIT: Key<f64> = number("token_limit", "packets", 5.0, from(1.0).to(1e6))
    .source("tokenLimit in Algorithm 1, NSDI 2020; value of the authors' published router")
    .meaning("capacity of the token bucket of accelerates");
pub(super) const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 10.0, from(1.0).to(1e6))
    .source("RFC 6928, as in the authors' Linux sender")
    .meaning("initial value of both windows");

#[rustfmt::skip]
pub(super) static PARAMETERS: Keys = &[
    &ETA, &DELTA, &DELAY_THRESHOLD, &RATE_WINDOW, &TOKEN_LIMIT, &INITIAL_WINDOW,
];

/// The router's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RouterParams {
    /// eta: target rate as a share of the capacity.
    pub(super) eta: f64,
    /// delta: drain time in seconds.
    pub(super) delta: f64,
    /// d_t in seconds.
    pub(super) delay_threshold: f64,
    /// T.
    pub(super) rate_window: Span,
    /// Capacity of the token bucket.
    pub(super) token_limit: f64,
}

impl RouterParams {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            eta: settings.get(ETA),
            delta: settings.get(DELTA).secs(),
            delay_threshold: settings.get(DELAY_THRESHOLD).secs(),
            rate_window: settings.get(RATE_WINDOW),
            token_limit: settings.get(TOKEN_LIMIT),
        }
    }
}
