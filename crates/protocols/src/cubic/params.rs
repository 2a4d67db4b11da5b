//! CUBIC's parameters.

use crate::parts::hystart::{SLOW_START, SlowStart};
use crate::parts::proportional_reduction::PROPORTIONAL_REDUCTION;
use crate::parts::window::INITIAL_WINDOW;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, flag, from, number};

/// CUBIC's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// C: coefficient of the cubic function, in packets/s^3.
    pub c: f64,
    /// Factor by which a loss episode multiplies the window.
    pub beta: f64,
    /// Fast convergence: whether the plateau is lowered if the window at a loss is less than at the previous one.
    pub fast_convergence: bool,
    /// Initial window in packets; none: the formula of RFC 9002.
    pub initial_window: Option<f64>,
    /// How slow start ends before the first loss.
    pub slow_start: SlowStart,
    /// Whether packets leave in proportion to those delivered during recovery.
    pub proportional_reduction: bool,
}

const C: Key<f64> = number("c", "packets/s^3", 0.4, above(0.0).to(1e6))
    .source("C in RFC 9438, section 5.1")
    .meaning("coefficient of the cube of time in the growth of the window");
const BETA: Key<f64> = number("beta", "1", 0.7, from(0.0).to(1.0))
    .source("beta_cubic in RFC 9438, section 4.6")
    .meaning("factor by which a loss episode multiplies the window");
const FAST_CONVERGENCE: Key<bool> = flag("fast_convergence", true)
    .source("RFC 9438, section 4.7")
    .meaning("the plateau is lowered if the window at a loss is less than at the loss before it");
pub(super) const ECN: Key<bool> = flag("ecn", false)
    .source("RFC 9438, section 4.6")
    .meaning("packets are ECN-capable, and a mark reduces the window as a loss does, to at least one packet instead of two");

pub(super) static PARAMETERS: Keys =
    &[&C, &BETA, &FAST_CONVERGENCE, &INITIAL_WINDOW, &SLOW_START, &PROPORTIONAL_REDUCTION, &ECN];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            c: settings.get(C),
            beta: settings.get(BETA),
            fast_convergence: settings.get(FAST_CONVERGENCE),
            initial_window: settings.get(INITIAL_WINDOW),
            slow_start: settings.get(SLOW_START),
            proportional_reduction: settings.get(PROPORTIONAL_REDUCTION),
        }
    }
}
