//! The parameters of both forms.

use crate::parts::interval;
use millpond_law::key::{Key, Keys, above, from, number, rate, span_or_zero, whole, word};
use millpond_law::{Bounds, Settings, words};
use millpond_units::{Rate, Span};

pub(super) const ALPHA: Key<f64> = number("alpha", "1", 0.37, above(0.0).to(100.0))
    .source("Eq. (15), section V-B")
    .meaning("gain at fast time-scales: reduction of the rate by a price of one round-trip time");
pub(super) const BETA: Key<f64> = number("beta", "1/s", 1.18, above(0.0).to(1e6))
    .source("Eq. (24), section V-B")
    .meaning("gain at slow time-scales: speed at which the rate approaches the optimum of its utility");
pub(super) const BOTTLENECKS: Key<f64> = number("bottlenecks", "1", 1.0, from(1.0).to(1e6))
    .source("M in Eq. (15), section V-B")
    .meaning("largest number of bottlenecks on a path");
const UTILITY: Key<UtilityForm> = word("utility", UtilityForm::Log)
    .source("Eq. (30); section IV-B asks for one whose marginal utility is finite at zero")
    .meaning("K log x, or K log(x + utility_offset), under which a small rate grows exponentially");
const UTILITY_WEIGHT: Key<f64> = number("utility_weight", "packets", 50.0, above(0.0).to(1e9))
    .source("K in Eq. (30), section V-B")
    .meaning("K: product of rate and price at equilibrium");
const UTILITY_OFFSET: Key<f64> = number("utility_offset", "packets/s", 100.0, above(0.0).to(1e9))
    .source("not in the paper: see ERRATA.md")
    .meaning("of the shifted logarithm only: rates well below it grow exponentially");
const INTERVAL: Key<Span> = interval::timer("interval", Span::from_millis(10))
    .source("T_s in Eq. (33), section V-B")
    .meaning("interval at which the window is computed");
const INITIAL_WINDOW: Key<f64> = initial_window(from(1.0));
const LOSS_REDUCTION_FACTOR: Key<f64> = number("loss_reduction_factor", "1", 0.5, above(0.0).to(1.0))
    .source("RFC 9002, section 7.3.2; the paper has buffers without loss")
    .meaning("factor by which a loss episode multiplies the window");

const fn initial_window(bounds: Bounds) -> Key<f64> {
    number("initial_window", "packets", 1.0, bounds.to(1e6))
        .source("not in the paper: see ERRATA.md")
        .meaning("initial window")
}

pub(super) const LAW: Key<SourceLaw> = word("law", SourceLaw::PrimalDual)
    .source("Eq. (33)-(34); Eq. (18)")
    .meaning("the dynamic law, which follows its utility, or the static law, which follows the price alone");
const SMALL_INITIAL_WINDOW: Key<f64> = initial_window(from(1e-3));
pub(super) const MOST_STEP: Key<f64> = number("most_step", "1", 1.0, above(0.0).to(1e3))
    .source("not in the paper: see ERRATA.md")
    .meaning("upper limit on the growth of the logarithm of the window in an interval");
pub(super) const MAX_RATE: Key<Rate> = rate("max_rate", Rate::from_bps(100_000_000))
    .source("x_max in Eq. (18)")
    .meaning("of the static law only: its rate at a price of zero");
pub(super) const ROUND_TRIP: Key<RoundTrip> = word("round_trip", RoundTrip::Least)
    .source("the remarks below Eq. (18) and Eq. (25); Eq. (33) has d")
    .meaning("tau of the laws: the least round-trip time, or the smoothed one, which includes queueing");
pub(super) const PHI: Key<f64> = number("phi", "1", 1e6, above(1.0).to(1e12))
    .source("Eq. (36), section V-B")
    .meaning("base of the marking probability, equal to that of the links");
pub(super) const COUNTED_PACKETS: Key<u64> = whole("marks", "packets", 31, from(1.0).to(64.0))
    .source("N in section V-A")
    .meaning("number of packets over which marks are counted");
pub(super) const ALL_MARKED: Key<f64> = number("all_marked", "packets", 0.5, above(0.0).to(1.0))
    .source("not in the paper: see ERRATA.md")
    .meaning("subtracted from the count if all packets are marked, since the price would be infinite");
pub(super) const MOST_CHANGE: Key<f64> = number("most_change", "packets", 1.0, above(0.0).to(1e9))
    .source("section V-B; the value is not in the paper: see ERRATA.md")
    .meaning("upper limit on the change of the window per acknowledged packet");

/// The parameters of the form with marks.
#[rustfmt::skip]
pub(super) static MARKS: Keys = &[
    &LAW, &ALPHA, &BETA, &BOTTLENECKS, &UTILITY, &UTILITY_WEIGHT, &UTILITY_OFFSET, &INTERVAL, &SMALL_INITIAL_WINDOW,
    &MOST_STEP, &MAX_RATE, &ROUND_TRIP, &PHI, &COUNTED_PACKETS, &ALL_MARKED, &MOST_CHANGE, &LOSS_REDUCTION_FACTOR,
];

pub(super) const CONTROL: Key<Control> = word("control", Control::Window)
    .source("Eq. (43); Eq. (39)-(40)")
    .meaning("a window updated by (43), or a pacing rate updated by (41)");
pub(super) const DRAIN_EVERY: Key<Span> = span_or_zero("drain_every", Span::ZERO)
    .source("not in the paper: see ERRATA.md")
    .meaning("after this time without its least round-trip time a sender lets the queue drain; zero: never");

/// The parameters of the form with queueing delay.
#[rustfmt::skip]
pub(super) static DELAY: Keys = &[
    &ALPHA, &BETA, &BOTTLENECKS, &UTILITY, &UTILITY_WEIGHT, &UTILITY_OFFSET, &INTERVAL, &INITIAL_WINDOW,
    &CONTROL, &DRAIN_EVERY, &LOSS_REDUCTION_FACTOR,
];

words! {
    /// The form of the utility.
    enum UtilityForm { Log = "log", ShiftedLog = "shifted-log" }

    /// The law of the form with marks.
    pub(super) enum SourceLaw { PrimalDual = "primal-dual", Dual = "dual" }

    /// The round-trip time tau of the laws.
    pub(super) enum RoundTrip { Least = "least", Current = "current" }

    /// The variable of the form with queueing delay.
    pub(super) enum Control { Window = "window", Rate = "rate" }
}

/// The rate of the static law at a price of zero; none under the dynamic law.
pub(super) fn static_rate(settings: &Settings) -> Option<Rate> {
    match settings.get(LAW) {
        SourceLaw::PrimalDual => None,
        SourceLaw::Dual => Some(settings.get(MAX_RATE)),
    }
}

/// Gains of both forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gains {
    /// alpha / M.
    pub(super) alpha: f64,
    /// beta, per second.
    pub(super) beta: f64,
}

/// `U(x) = K log(x + offset)`: Eq. (30) for an offset of zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Utility {
    /// K.
    pub(super) weight: f64,
    pub(super) offset: f64,
}

/// alpha / M and beta.
pub(super) fn gains(settings: &Settings) -> Gains {
    Gains { alpha: settings.get(ALPHA) / settings.get(BOTTLENECKS), beta: settings.get(BETA) }
}

/// The parameters of both forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    pub(super) gains: Gains,
    pub(super) utility: Utility,
    /// T_s.
    pub(super) interval: Span,
    /// Initial window, in packets.
    pub(super) initial_window: f64,
    /// Factor by which a loss episode multiplies the window.
    pub(super) loss_reduction_factor: f64,
}

impl Params {
    /// Reads the parameters.
    pub(super) fn read(settings: &Settings) -> Self {
        let offset = match settings.get(UTILITY) {
            UtilityForm::Log => 0.0,
            UtilityForm::ShiftedLog => settings.get(UTILITY_OFFSET),
        };
        Self {
            gains: gains(settings),
            utility: Utility { weight: settings.get(UTILITY_WEIGHT), offset },
            interval: settings.get(INTERVAL),
            initial_window: settings.get(INITIAL_WINDOW),
            loss_reduction_factor: settings.get(LOSS_REDUCTION_FACTOR),
        }
    }
}
