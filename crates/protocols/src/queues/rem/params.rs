//! REM's parameters.

use crate::parts::interval;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number};
use millpond_units::Span;

/// REM's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Base of the marking probability.
    pub phi: f64,
    /// Update interval of the price.
    pub interval: Span,
    /// Virtual capacity, as a share of the link's capacity.
    pub virtual_capacity: f64,
    /// Weight of the queueing delay in the derivative of the price, in 1/s.
    pub queue_weight: f64,
}

const PHI: Key<f64> = number("phi", "1", 1e6, above(1.0).to(1e12))
    .source("Eq. (36) and section V-B, Paganini et al.")
    .meaning("base of the marking probability; senders that decode the price need the same base");
const INTERVAL: Key<Span> = interval::timer("interval", Span::from_millis(5))
    .source("Eq. (35), section V-B, Paganini et al.")
    .meaning("update interval of the price");
const VIRTUAL_CAPACITY: Key<f64> = number("virtual_capacity", "1", 0.95, above(0.0).to(1.0))
    .source("c_0 in Eq. (17), section V-B, Paganini et al.")
    .meaning("the price rises while the input exceeds this share of the capacity");
const QUEUE_WEIGHT: Key<f64> = number("queue_weight", "1/s", 0.0, from(0.0).to(1e6))
    .source("alpha in Eq. (1), Athuraliya et al., with the price in seconds")
    .meaning("the price also rises by this times the queueing delay, so that a standing queue drains");

pub(super) static PARAMETERS: Keys = &[&PHI, &INTERVAL, &VIRTUAL_CAPACITY, &QUEUE_WEIGHT];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            phi: settings.get(PHI),
            interval: settings.get(INTERVAL),
            virtual_capacity: settings.get(VIRTUAL_CAPACITY),
            queue_weight: settings.get(QUEUE_WEIGHT),
        }
    }
}
