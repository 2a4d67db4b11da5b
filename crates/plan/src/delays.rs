//! Base round-trip times of flows and of their loops.

use crate::flow_instances::FlowInstance;
use millpond_scenario::{Hop, Scenario};
use millpond_units::Span;

/// The base round-trip times of these loops, into which a flow is divided.
pub(crate) fn base_rtts(scenario: &Scenario, instance: &FlowInstance<'_>, loops: &[Vec<Hop>]) -> Vec<Span> {
    loops
        .iter()
        .enumerate()
        .map(|(n, path)| base_rtt(scenario, path, extra_delay(scenario, instance, n)))
        .collect()
}

/// The delay before the first link of loop `number` (from 0): for the first loop the base RTT of the flow less the
/// propagation delays of its links, else zero.
pub(crate) fn extra_delay(scenario: &Scenario, instance: &FlowInstance<'_>, number: usize) -> Span {
    let propagation =
        scenario.propagation(instance.forward_path) + scenario.propagation(&instance.return_path);
    if number == 0 { instance.base_rtt.saturating_sub(propagation) } else { Span::ZERO }
}

/// The base round-trip time of a loop that takes the links of `path`.
pub(crate) fn base_rtt(scenario: &Scenario, path: &[Hop], extra_delay: Span) -> Span {
    let return_path = scenario.return_path(path).unwrap_or_default();
    scenario.propagation(path) + scenario.propagation(&return_path) + extra_delay
}
