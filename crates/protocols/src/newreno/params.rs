//! NewReno's parameters.

use crate::parts::hystart::{SLOW_START, SlowStart};
use crate::parts::proportional_reduction::PROPORTIONAL_REDUCTION;
use crate::parts::window::INITIAL_WINDOW;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, flag, from, number};

/// NewReno's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Initial window in packets; none: the formula of RFC 9002.
    pub initial_window: Option<f64>,
    /// Factor by which a loss episode multiplies the window.
    pub loss_reduction_factor: f64,
    /// Whether packets are paced over the smoothed round-trip time.
    pub pacing: bool,
    /// Pacing rate, as a multiple of window / smoothed round-trip time.
    pub pacing_gain: f64,
    /// How slow start ends before the first loss.
    pub slow_start: SlowStart,
    /// Whether packets leave in proportion to those delivered during recovery.
    pub proportional_reduction: bool,
}

const LOSS_REDUCTION_FACTOR: Key<f64> = number("loss_reduction_factor", "1", 0.5, from(0.0).to(1.0))
    .source("kLossReductionFactor in RFC 9002, appendix B.1")
    .meaning("factor by which a loss episode multiplies the window");
const PACING: Key<bool> = flag("pacing", false)
    .source("RFC 9002, section 7.7")
    .meaning("packets are paced over the round trip, instead of sent as acknowledgements arrive");
const PACING_GAIN: Key<f64> = number("pacing_gain", "1", 1.25, from(1.0).to(100.0))
    .source("N in RFC 9002, section 7.7")
    .meaning("pacing rate over window / smoothed round-trip time; used with pacing only");
pub(super) const ECN: Key<bool> = flag("ecn", false)
    .source("RFC 9002, section 7.1")
    .meaning("packets are ECN-capable, and a mark reduces the window as a loss does");

pub(super) static PARAMETERS: Keys = &[
    &INITIAL_WINDOW,
    &LOSS_REDUCTION_FACTOR,
    &PACING,
    &PACING_GAIN,
    &SLOW_START,
    &PROPORTIONAL_REDUCTION,
    &ECN,
];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            initial_window: settings.get(INITIAL_WINDOW),
            loss_reduction_factor: settings.get(LOSS_REDUCTION_FACTOR),
            pacing: settings.get(PACING),
            pacing_gain: settings.get(PACING_GAIN),
            slow_start: settings.get(SLOW_START),
            proportional_reduction: settings.get(PROPORTIONAL_REDUCTION),
        }
    }
}
