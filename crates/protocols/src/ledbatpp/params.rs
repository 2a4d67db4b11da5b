//! LEDBAT++'s parameters. Section numbers are those of the draft.

use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span, whole};
use millpond_units::Span;

/// LEDBAT++'s parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Target of the queueing delay.
    pub(super) target: Span,
    /// Largest divisor of the growth.
    pub(super) gain_divisor: f64,
    /// Factor of the multiplicative decrease.
    pub(super) decrease: f64,
    /// Share of the target at which the initial slow start ends.
    pub(super) slow_start_exit: f64,
    /// Round trips of a slowdown with two packets, and from the initial slow start to the first slowdown.
    pub(super) slowdown_rounds: u64,
    /// Time between slowdowns over the duration of the last one; zero: none.
    pub(super) slowdown_interval: f64,
    /// Initial window in packets.
    pub(super) initial_window: f64,
}

const TARGET: Key<Span> = span("target", Span::from_millis(60))
    .source("section 4.5")
    .meaning("queueing delay that the window holds");
const GAIN_DIVISOR: Key<f64> = number("gain_divisor", "1", 16.0, from(1.0).to(1e6))
    .source("section 4.2")
    .meaning("largest divisor in GAIN = 1 / min(16, ceil(2 target / base delay)), the growth in packets per round trip");
const DECREASE: Key<f64> = number("decrease", "1", 1.0, above(0.0).to(1e3))
    .source("Constant in section 4.3")
    .meaning("reduction of the window per round trip over the relative excess of the delay; at most half of the window");
const SLOW_START_EXIT: Key<f64> = number("slow_start_exit", "1", 0.75, above(0.0).to(1e3))
    .source("section 4.1")
    .meaning("queueing delay over the target at which the initial slow start ends");
const SLOWDOWN_ROUNDS: Key<u64> = whole("slowdown_rounds", "1", 2, from(1.0).to(1e6))
    .source("section 4.4")
    .meaning("round trips with two packets in a slowdown; also those from the initial slow start to the first slowdown");
const SLOWDOWN_INTERVAL: Key<f64> = number("slowdown_interval", "1", 9.0, from(0.0).to(1e6))
    .source("section 4.4")
    .meaning("time from a slowdown to the next over the duration of the slowdown; 0: there are none");
const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 2.0, from(2.0).to(1e6))
    .source("INIT_CWND of RFC 6817, section 2.4.2")
    .meaning("initial window; it is the least one as well");

pub(super) static PARAMETERS: Keys = &[
    &TARGET,
    &GAIN_DIVISOR,
    &DECREASE,
    &SLOW_START_EXIT,
    &SLOWDOWN_ROUNDS,
    &SLOWDOWN_INTERVAL,
    &INITIAL_WINDOW,
];

impl Params {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            target: settings.get(TARGET),
            gain_divisor: settings.get(GAIN_DIVISOR),
            decrease: settings.get(DECREASE),
            slow_start_exit: settings.get(SLOW_START_EXIT),
            slowdown_rounds: settings.get(SLOWDOWN_ROUNDS),
            slowdown_interval: settings.get(SLOWDOWN_INTERVAL),
            initial_window: settings.get(INITIAL_WINDOW),
        }
    }
}
