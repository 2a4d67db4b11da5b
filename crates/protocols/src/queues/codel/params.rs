//! CoDel's parameters.

use millpond_law::Settings;
use millpond_law::key::{Key, Keys, flag, span, span_or_zero};
use millpond_units::Span;

/// CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Target: the standing queueing delay that is allowed.
    pub target: Span,
    /// Time for which the delay must exceed the target before the first mark: a round-trip time of slow flows.
    pub interval: Span,
    /// Whether ECN-capable packets are marked rather than dropped.
    pub ecn: bool,
}

pub(in crate::queues) const TARGET: Key<Span> = span_or_zero("target", Span::from_millis(5))
    .source("TARGET in RFC 8289, section 4.3")
    .meaning("standing delay that is allowed");
pub(in crate::queues) const INTERVAL: Key<Span> = span("interval", Span::from_millis(100))
    .source("INTERVAL in RFC 8289, section 4.2")
    .meaning("time for which the delay must exceed the target before the first packet is marked");
pub(in crate::queues) const ECN: Key<bool> = flag("ecn", true)
    .source("RFC 3168, section 5")
    .meaning("ECN-capable packets are marked; false: all are dropped");

pub(super) static PARAMETERS: Keys = &[&TARGET, &INTERVAL, &ECN];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self { target: settings.get(TARGET), interval: settings.get(INTERVAL), ecn: settings.get(ECN) }
    }
}
