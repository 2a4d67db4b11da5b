//! The parameters of both forms.

use super::law::{Gains, Utility};
use crate::parts::interval;
use millpond_law::{Domain, Parameter, SettingError, Settings};
use millpond_units::Span;

const ALPHA: Parameter = Parameter {
    name: "alpha",
    unit: "1",
    domain: Domain::Above(0.0, 100.0),
    default: "0.37",
    source: "Eq. (15), section V-B",
    meaning: "gain at fast time-scales: how much a round trip's worth of price takes off the rate",
};

const BETA: Parameter = Parameter {
    name: "beta",
    unit: "1/s",
    domain: Domain::Above(0.0, 1e6),
    default: "1.18",
    source: "Eq. (24), section V-B",
    meaning: "gain at slow time-scales: how fast the rate moves to where its utility wants it",
};

const BOTTLENECKS: Parameter = Parameter {
    name: "bottlenecks",
    unit: "1",
    domain: Domain::Number(1.0, 1e6),
    default: "1",
    source: "M in Eq. (15), section V-B",
    meaning: "how many bottlenecks a path has at most",
};

const UTILITY: Parameter = Parameter {
    name: "utility",
    unit: "",
    domain: Domain::Word(&["log", "shifted-log"]),
    default: "log",
    source: "Eq. (30); section IV-B asks for one whose marginal utility is finite at zero",
    meaning: "K log x, or K log(x + utility_offset), with which a small rate grows exponentially",
};

const UTILITY_WEIGHT: Parameter = Parameter {
    name: "utility_weight",
    unit: "packets",
    domain: Domain::Above(0.0, 1e9),
    default: "50",
    source: "K in Eq. (30), section V-B",
    meaning: "K: the product of rate and price at rest",
};

const UTILITY_OFFSET: Parameter = Parameter {
    name: "utility_offset",
    unit: "packets/s",
    domain: Domain::Above(0.0, 1e9),
    default: "100",
    source: "not in the paper: see ERRATA.md",
    meaning: "of the shifted logarithm alone: rates well below it grow exponentially",
};

const INTERVAL: Parameter = Parameter {
    name: "interval",
    unit: "s",
    domain: Domain::Span(true),
    default: "10ms",
    source: "T_s in Eq. (33), section V-B",
    meaning: "how often the window is computed",
};

const INITIAL_WINDOW: Parameter = Parameter {
    name: "initial_window",
    unit: "packets",
    domain: Domain::Number(1.0, 1e6),
    default: "1",
    source: "not in the paper: see ERRATA.md",
    meaning: "window at the start",
};

const LOSS_REDUCTION_FACTOR: Parameter = Parameter {
    name: "loss_reduction_factor",
    unit: "1",
    domain: Domain::Above(0.0, 1.0),
    default: "0.5",
    source: "RFC 9002, section 7.3.2; the paper has buffers without loss",
    meaning: "what is left of the window when a loss episode begins",
};

/// Of the form that reads marks.
pub(super) static MARKS: &[Parameter] = &[
    Parameter {
        name: "law",
        unit: "",
        domain: Domain::Word(&["primal-dual", "dual"]),
        default: "primal-dual",
        source: "Eq. (33)-(34); Eq. (18)",
        meaning: "the law that moves to its utility, or the static one, which follows the price alone",
    },
    ALPHA,
    BETA,
    BOTTLENECKS,
    UTILITY,
    UTILITY_WEIGHT,
    UTILITY_OFFSET,
    INTERVAL,
    Parameter { domain: Domain::Number(1e-3, 1e6), ..INITIAL_WINDOW },
    Parameter {
        name: "most_step",
        unit: "1",
        domain: Domain::Above(0.0, 1e3),
        default: "1",
        source: "not in the paper: see ERRATA.md",
        meaning: "cap on the growth of the logarithm of the window in an interval",
    },
    Parameter {
        name: "max_rate",
        unit: "bit/s",
        domain: Domain::Rate,
        default: "100Mbps",
        source: "x_max in Eq. (18)",
        meaning: "of the static law alone: its rate when the price is zero",
    },
    Parameter {
        name: "round_trip",
        unit: "",
        domain: Domain::Word(&["least", "current"]),
        default: "least",
        source: "the remarks below Eq. (18) and Eq. (25); Eq. (33) has d",
        meaning: "tau of the laws: the least round-trip time seen, or the smoothed one, which counts queueing",
    },
    Parameter {
        name: "phi",
        unit: "1",
        domain: Domain::Above(1.0, 1e12),
        default: "1000000",
        source: "Eq. (36), section V-B",
        meaning: "base of the marking probability, the same as the links'",
    },
    Parameter {
        name: "marks",
        unit: "packets",
        domain: Domain::Whole(1, 64),
        default: "31",
        source: "N in section V-A",
        meaning: "over how many packets marks are counted",
    },
    Parameter {
        name: "all_marked",
        unit: "packets",
        domain: Domain::Above(0.0, 1.0),
        default: "0.5",
        source: "not in the paper: see ERRATA.md",
        meaning: "when all are marked, so many less are counted: the price would be infinite",
    },
    Parameter {
        name: "most_change",
        unit: "packets",
        domain: Domain::Above(0.0, 1e9),
        default: "1",
        source: "section V-B; the value is not in the paper: see ERRATA.md",
        meaning: "cap on the change of the window per packet acknowledged",
    },
    LOSS_REDUCTION_FACTOR,
];

/// Of the form that reads queueing delay.
pub(super) static DELAY: &[Parameter] = &[
    ALPHA,
    BETA,
    BOTTLENECKS,
    UTILITY,
    UTILITY_WEIGHT,
    UTILITY_OFFSET,
    INTERVAL,
    INITIAL_WINDOW,
    Parameter {
        name: "control",
        unit: "",
        domain: Domain::Word(&["window", "rate"]),
        default: "window",
        source: "Eq. (43); Eq. (39)-(40)",
        meaning: "a window that moves by (43), or a rate that moves by (41) and paces packets",
    },
    Parameter {
        name: "drain_every",
        unit: "s",
        domain: Domain::Span(false),
        default: "0s",
        source: "not in the paper: see ERRATA.md",
        meaning: "a sender that has not seen its least round-trip time for so long lets the queue run dry; zero: never",
    },
    LOSS_REDUCTION_FACTOR,
];

/// What moves, of the form that reads delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// What is in flight.
    Window,
    /// A rate.
    Rate,
}

/// Of the form that reads delay.
pub(super) fn control(settings: &Settings) -> Control {
    if settings.word("control") == "rate" { Control::Rate } else { Control::Window }
}

/// alpha / M and beta, read.
pub(super) fn gains(settings: &Settings) -> Gains {
    Gains { alpha: settings.number("alpha") / settings.number("bottlenecks"), beta: settings.number("beta") }
}

/// What both forms share, read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    pub(super) gains: Gains,
    pub(super) utility: Utility,
    /// T_s.
    pub(super) interval: Span,
    /// In packets.
    pub(super) initial_window: f64,
    /// What is left after a loss.
    pub(super) loss_reduction_factor: f64,
}

impl Params {
    /// An interval must be at least a microsecond.
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let offset = match settings.word("utility") {
            "shifted-log" => settings.number("utility_offset"),
            _ => 0.0,
        };
        Ok(Self {
            gains: gains(settings),
            utility: Utility { weight: settings.number("utility_weight"), offset },
            interval: interval::checked("interval", settings.span("interval"))?,
            initial_window: settings.number("initial_window"),
            loss_reduction_factor: settings.number("loss_reduction_factor"),
        })
    }
}
