//! COBALT's parameters.

use crate::queues::codel;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, from, number};
use millpond_units::Span;

/// COBALT's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Standing queueing delay that is allowed; also the least time between two changes of BLUE's probability.
    pub target: Span,
    /// Time for which the delay must exceed the target before the first mark.
    pub interval: Span,
    /// Whether CoDel marks ECN-capable packets rather than dropping them.
    pub ecn: bool,
    /// Increase of BLUE's probability when the buffer is full.
    pub increase: f64,
    /// Decrease of BLUE's probability when the queue is empty.
    pub decrease: f64,
}

const INCREASE: Key<f64> = number("blue_increase", "1", 1.0 / 256.0, from(0.0).to(1.0))
    .source("p_inc in Linux sch_cake: 1/256")
    .meaning("by how much a full buffer raises BLUE's drop probability");
const DECREASE: Key<f64> = number("blue_decrease", "1", 1.0 / 4096.0, from(0.0).to(1.0))
    .source("p_dec in Linux sch_cake: 1/4096")
    .meaning("by how much an empty queue lowers BLUE's drop probability");

pub(super) static PARAMETERS: Keys = &[&codel::TARGET, &codel::INTERVAL, &codel::ECN, &INCREASE, &DECREASE];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            target: settings.get(codel::TARGET),
            interval: settings.get(codel::INTERVAL),
            ecn: settings.get(codel::ECN),
            increase: settings.get(INCREASE),
            decrease: settings.get(DECREASE),
        }
    }
}
