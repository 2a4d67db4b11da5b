//! DCTCP's parameters.

use crate::parts::window::INITIAL_WINDOW;
use millpond_law::{Domain, Parameter, Settings};

/// What lets the window grow: readings of "in the same way as conventional TCP" (RFC 8257, section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// All that is acknowledged, but nothing in the round trip after a cut.
    OutsideRecovery,
    /// What is acknowledged and not marked, also in the round trip after a cut.
    Unmarked,
    /// All that is acknowledged, at any time.
    Always,
}

impl Growth {
    const WORDS: &[&str] = &["outside-recovery", "unmarked", "always"];

    fn read(word: &str) -> Self {
        match word {
            "unmarked" => Self::Unmarked,
            "always" => Self::Always,
            _ => Self::OutsideRecovery,
        }
    }
}

/// DCTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Weight of the newest observation window in alpha.
    pub g: f64,
    /// Alpha before anything is known.
    pub initial_alpha: f64,
    /// What lets the window grow.
    pub growth: Growth,
    /// Window at the start in packets; none for RFC 9002's formula.
    pub initial_window: Option<f64>,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "g",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.0625",
        source: "RFC 8257, section 4.2",
        meaning: "weight of the newest round trip in the estimate of the marked fraction",
    },
    Parameter {
        name: "initial_alpha",
        unit: "1",
        domain: Domain::Number(0.0, 1.0),
        default: "1",
        source: "DCTCP.Alpha in RFC 8257, section 4.2",
        meaning: "estimate of the marked fraction before the first round trip; 1 halves the window at the first mark",
    },
    Parameter {
        name: "growth",
        unit: "",
        domain: Domain::Word(Growth::WORDS),
        default: "outside-recovery",
        source: "RFC 8257, section 3.4; RFC 9002, section 7.3.2; RFC 3168, section 6.1.2; see README.md",
        meaning: "which acknowledged bytes let the window grow: all but those of the round trip after a cut, those \
                  without a mark, or all",
    },
    INITIAL_WINDOW,
];

impl Params {
    /// Reads them from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            g: settings.number("g"),
            initial_alpha: settings.number("initial_alpha"),
            growth: Growth::read(settings.word("growth")),
            initial_window: settings.number_if_given("initial_window"),
        }
    }
}
