//! DCTCP's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::key::{Key, Keys, above, from, number, word};
use millpond_law::{Settings, words};

/// DCTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Weight of the newest observation window in alpha.
    pub g: f64,
    /// Initial alpha.
    pub initial_alpha: f64,
    /// The acknowledged bytes that grow the window.
    pub growth: GrowthReading,
    /// Initial window in packets; none: the formula of RFC 9002.
    pub initial_window: Option<f64>,
}

const G: Key<f64> = number("g", "1", 0.0625, above(0.0).to(1.0))
    .source("RFC 8257, section 4.2")
    .meaning("weight of the newest round trip in the estimate of the marked fraction");
const INITIAL_ALPHA: Key<f64> = number("initial_alpha", "1", 1.0, from(0.0).to(1.0))
    .source("DCTCP.Alpha in RFC 8257, section 4.2")
    .meaning("initial estimate of the marked fraction; at 1 the first mark halves the window");
const GROWTH: Key<GrowthReading> = word("growth", GrowthReading::OutsideRecovery)
    .source("RFC 8257, section 3.4; RFC 9002, section 7.3.2; RFC 3168, section 6.1.2; see README.md")
    .meaning("acknowledged bytes that grow the window: outside of recovery, unmarked, or all");

pub(super) static PARAMETERS: Keys = &[&G, &INITIAL_ALPHA, &GROWTH, &INITIAL_WINDOW];

words! {
    /// Acknowledged bytes that grow the window: readings of "in the same way as conventional TCP" (RFC 8257, section 3.4).
    pub enum GrowthReading {
        /// All acknowledged bytes, except in the round trip after a reduction.
        OutsideRecovery = "outside-recovery",
        /// Acknowledged bytes without a mark, also in the round trip after a reduction.
        Unmarked = "unmarked",
        /// All acknowledged bytes, at any time.
        Always = "always",
    }
}

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            g: settings.get(G),
            initial_alpha: settings.get(INITIAL_ALPHA),
            growth: settings.get(GROWTH),
            initial_window: settings.get(INITIAL_WINDOW),
        }
    }
}
