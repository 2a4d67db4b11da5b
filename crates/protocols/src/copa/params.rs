//! Copa's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::key::{Key, Keys, above, number, span, word};
use millpond_law::{Settings, words};
use millpond_units::Span;

words! {
    /// Which modes the sender uses.
    pub(super) enum Modes { Both = "both", Default = "default" }
}

/// Copa's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Inverse of the packets that a flow keeps in the queue, in the default mode; the largest value in the other.
    pub(super) delta: f64,
    /// Time over which the least round-trip time is that of the empty path.
    pub(super) min_rtt_window: Span,
    /// Which modes the sender uses.
    pub(super) modes: Modes,
    /// Initial window in packets; none: the formula of RFC 9002.
    pub(super) initial_window: Option<f64>,
}

const DELTA: Key<f64> = number("delta", "1/packets", 0.5, above(0.0).to(1e3))
    .source("section 2.1, NSDI 2018")
    .meaning("the target rate is 1 / (delta queueing delay): 1 / delta packets of each flow in the queue");
const MIN_RTT_WINDOW: Key<Span> = span("min_rtt_window", Span::from_millis(10_000))
    .source("RTTmin in section 2.1, NSDI 2018")
    .meaning("time over which the least round-trip time is that of the empty path");
const MODES: Key<Modes> = word("modes", Modes::Both).source("section 2.2, NSDI 2018").meaning(
    "\"both\": competitive where the queue does not empty within five round trips; \"default\": never",
);

pub(super) static PARAMETERS: Keys = &[&DELTA, &MIN_RTT_WINDOW, &MODES, &INITIAL_WINDOW];

impl Params {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            delta: settings.get(DELTA),
            min_rtt_window: settings.get(MIN_RTT_WINDOW),
            modes: settings.get(MODES),
            initial_window: settings.get(INITIAL_WINDOW),
        }
    }
}
