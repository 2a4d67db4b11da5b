//! Prague's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span_or_zero, whole};
use millpond_units::Span;

/// Prague's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Weight of the newest virtual round trip in alpha.
    pub g: f64,
    /// Least virtual round-trip time.
    pub least_virtual_rtt: Span,
    /// Round trips after slow start until the growth depends on the virtual round-trip time.
    pub transition_rounds: u64,
    /// Initial window in packets; none: the formula of RFC 9002.
    pub initial_window: Option<f64>,
}

const G: Key<f64> = number("g", "1", 0.0625, above(0.0).to(1.0))
    .source("section 2.3.2 of the draft")
    .meaning("weight of the newest virtual round trip in the estimate of the marked fraction");
const LEAST_VIRTUAL_RTT: Key<Span> = span_or_zero("least_virtual_rtt", Span::from_millis(25))
    .source("RTT_virt_min in section 2.4.4 of the draft")
    .meaning("round-trip time that flows with a shorter one imitate; 0s: none does");
const TRANSITION_ROUNDS: Key<u64> = whole("transition_rounds", "1", 500, from(0.0).to(1e9))
    .source("D in section 2.4.4 of the draft")
    .meaning("round trips after slow start until a flow imitates the virtual round-trip time in its growth");

pub(super) static PARAMETERS: Keys = &[&G, &LEAST_VIRTUAL_RTT, &TRANSITION_ROUNDS, &INITIAL_WINDOW];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            g: settings.get(G),
            least_virtual_rtt: settings.get(LEAST_VIRTUAL_RTT),
            transition_rounds: settings.get(TRANSITION_ROUNDS),
            initial_window: settings.get(INITIAL_WINDOW),
        }
    }
}
