//! HPCC's parameters.

use millpond_law::Settings;
use millpond_law::key::{Key, Keys, above, from, number, span_or, whole};
use millpond_units::Span;

/// HPCC's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Params {
    /// Target utilization.
    pub(super) eta: f64,
    /// Additive increases in sequence before a multiplicative adjustment.
    pub(super) max_stage: u64,
    /// Number of flows for which the additive increase keeps queues empty.
    pub(super) expected_flows: f64,
    /// The base round-trip time; none: the least one so far.
    pub(super) base_rtt: Option<Span>,
}

const ETA: Key<f64> = number("eta", "1", 0.95, above(0.0).to(1.0))
    .source("section 5.1, SIGCOMM 2019")
    .meaning("target utilization of the busiest link");
const MAX_STAGE: Key<u64> =
    whole("max_stage", "1", 5, from(0.0).to(1e6)).source("section 5.1, SIGCOMM 2019").meaning(
        "round trips of additive increase below the target before the window is adjusted by the utilization",
    );
const EXPECTED_FLOWS: Key<f64> = number("expected_flows", "1", 100.0, from(1.0).to(1e9))
    .source("N in W_AI = W_init (1 - eta) / N, section 3.3, SIGCOMM 2019; with 100 Gbit/s and 13 us the 80 bytes of section 5.1")
    .meaning("flows of a link up to which additive increases fit into 1 - eta, without a queue");
const BASE_RTT: Key<Option<Span>> = span_or("measured", "base_rtt", None)
    .source("T in section 3.2, SIGCOMM 2019: known in a data centre, 13 us in section 5.1")
    .meaning("the base round-trip time; \"measured\": the least round-trip time so far");

pub(super) static PARAMETERS: Keys = &[&ETA, &MAX_STAGE, &EXPECTED_FLOWS, &BASE_RTT];

impl Params {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            eta: settings.get(ETA),
            max_stage: settings.get(MAX_STAGE),
            expected_flows: settings.get(EXPECTED_FLOWS),
            base_rtt: settings.get(BASE_RTT),
        }
    }
}
