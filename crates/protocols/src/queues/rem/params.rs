//! REM's parameters.

use crate::parts::interval;
use millpond_law::{Domain, Parameter, SettingError, Settings};
use millpond_units::Span;

/// REM's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Base of the marking probability.
    pub phi: f64,
    /// How often the price is updated.
    pub interval: Span,
    /// The capacity that the price aims at, as a share of the link's.
    pub virtual_capacity: f64,
    /// How fast the queue's own delay is added to the price, per second.
    pub queue_weight: f64,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "phi",
        unit: "1",
        domain: Domain::Above(1.0, 1e12),
        default: "1000000",
        source: "Eq. (36) and section V-B, Paganini et al.",
        meaning: "base of the marking probability; senders that read the price must have the same",
    },
    Parameter {
        name: "interval",
        unit: "s",
        domain: Domain::Span(true),
        default: "5ms",
        source: "Eq. (35), section V-B, Paganini et al.",
        meaning: "how often the price is updated",
    },
    Parameter {
        name: "virtual_capacity",
        unit: "1",
        domain: Domain::Above(0.0, 1.0),
        default: "0.95",
        source: "c_0 in Eq. (17), section V-B, Paganini et al.",
        meaning: "the price rises while more than this share of the capacity arrives",
    },
    Parameter {
        name: "queue_weight",
        unit: "1/s",
        domain: Domain::Number(0.0, 1e6),
        default: "0",
        source: "alpha in Eq. (1), Athuraliya et al., with the price in seconds",
        meaning: "the price rises by this times the queueing delay, too, so that a standing queue is emptied",
    },
];

impl Params {
    /// Reads them from settings; an interval must be at least a microsecond.
    pub fn read(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            phi: settings.number("phi"),
            interval: interval::checked("interval", settings.span("interval"))?,
            virtual_capacity: settings.number("virtual_capacity"),
            queue_weight: settings.number("queue_weight"),
        })
    }
}
