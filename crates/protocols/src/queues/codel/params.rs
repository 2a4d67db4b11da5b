//! CoDel's parameters.

use millpond_law::{Domain, Parameter, Settings};
use millpond_units::Span;

/// CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Standing delay that is allowed.
    pub target: Span,
    /// How long the delay must stand before anything happens: a round-trip time of the slower flows.
    pub interval: Span,
    /// Mark rather than drop?
    pub ecn: bool,
}

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "target",
        unit: "s",
        domain: Domain::Span(false),
        default: "5ms",
        source: "TARGET in RFC 8289, section 4.4",
        meaning: "a standing delay of this much is allowed",
    },
    Parameter {
        name: "interval",
        unit: "s",
        domain: Domain::Span(true),
        default: "100ms",
        source: "INTERVAL in RFC 8289, section 4.3",
        meaning: "how long the delay must stand above the target before the first packet is marked",
    },
    Parameter {
        name: "ecn",
        unit: "",
        domain: Domain::Flag,
        default: "true",
        source: "RFC 3168, section 5",
        meaning: "mark packets that can bear it; false drops them all",
    },
];

impl Params {
    /// Reads them from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            target: settings.span("target"),
            interval: settings.span("interval"),
            ecn: settings.flag("ecn"),
        }
    }
}
