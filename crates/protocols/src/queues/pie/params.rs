//! PIE's parameters.

use crate::parts::interval;
use millpond_law::Settings;
use millpond_law::key::{Key, Keys, flag, from, number, span, span_or_zero};
use millpond_units::Span;

/// PIE's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Queueing delay that the controller aims at.
    pub target: Span,
    /// Time between two updates of the probability.
    pub update: Span,
    /// Weight of the difference between delay and target, in 1/s.
    pub alpha: f64,
    /// Weight of the change of the delay, in 1/s.
    pub beta: f64,
    /// Duration of a burst that loses no packet.
    pub max_burst: Span,
    /// Whether ECN-capable packets are marked rather than dropped.
    pub ecn: bool,
    /// Probability above which ECN-capable packets are dropped as well.
    pub ecn_limit: f64,
    /// Whether drops are spread more evenly than independent ones.
    pub derandomized: bool,
}

pub(in crate::queues) const TARGET: Key<Span> = span("target", Span::from_millis(15))
    .source("QDELAY_REF in RFC 8033, section 4.2")
    .meaning("queueing delay that the controller aims at");
pub(in crate::queues) const UPDATE: Key<Span> = interval::timer("update", Span::from_millis(15))
    .source("T_UPDATE in RFC 8033, section 4.2")
    .meaning("time between two updates of the probability");
pub(in crate::queues) const ALPHA: Key<f64> = number("alpha", "1/s", 0.125, from(0.0).to(1e6))
    .source("alpha in RFC 8033, appendix A")
    .meaning("probability that an update adds per second of delay above the target");
pub(in crate::queues) const BETA: Key<f64> = number("beta", "1/s", 1.25, from(0.0).to(1e6))
    .source("beta in RFC 8033, appendix A")
    .meaning("probability that an update adds per second by which the delay has grown since the last update");
pub(in crate::queues) const MAX_BURST: Key<Span> = span_or_zero("max_burst", Span::from_millis(150))
    .source("MAX_BURST in RFC 8033, section 4.4")
    .meaning("time after an uncongested period in which no packet is dropped");
pub(in crate::queues) const ECN: Key<bool> = flag("ecn", true)
    .source("RFC 8033, section 5.1")
    .meaning("ECN-capable packets are marked; false: all are dropped");
pub(in crate::queues) const ECN_LIMIT: Key<f64> = number("ecn_limit", "1", 0.1, from(0.0).to(1.0))
    .source("mark_ecnth in RFC 8033, section 5.1")
    .meaning("probability above which ECN-capable packets are dropped as well");
pub(in crate::queues) const DERANDOMIZED: Key<bool> = flag("derandomized", true)
    .source("RFC 8033, section 5.4")
    .meaning("between two drops the probabilities of the packets add up to between 0.85 and 8.5");

pub(super) static PARAMETERS: Keys =
    &[&TARGET, &UPDATE, &ALPHA, &BETA, &MAX_BURST, &ECN, &ECN_LIMIT, &DERANDOMIZED];

impl Params {
    /// Reads the parameters from settings.
    pub fn read(settings: &Settings) -> Self {
        Self {
            target: settings.get(TARGET),
            update: settings.get(UPDATE),
            alpha: settings.get(ALPHA),
            beta: settings.get(BETA),
            max_burst: settings.get(MAX_BURST),
            ecn: settings.get(ECN),
            ecn_limit: settings.get(ECN_LIMIT),
            derandomized: settings.get(DERANDOMIZED),
        }
    }
}
