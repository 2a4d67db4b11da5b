//! Every flow of every group, with its paths, its base round-trip time and its sampled values.

use crate::faults;
use crate::sampling::{FlowSamples, flow_name, flow_samples};
use millpond_scenario::{Fault, FlowGroup, Hop, Scenario};
use millpond_units::Span;

/// One flow of a group.
pub(crate) struct FlowInstance<'s> {
    pub(crate) name: String,
    pub(crate) group: &'s FlowGroup,
    /// The hops of its data.
    pub(crate) forward_path: &'s [Hop],
    /// The hops of its acknowledgements.
    pub(crate) return_path: Vec<Hop>,
    /// End-to-end round-trip time at time zero, without queueing and service times.
    pub(crate) base_rtt: Span,
    pub(crate) samples: FlowSamples,
}

/// All flows, group after group.
///
/// # Errors
/// A path that acknowledgements cannot take in the reverse direction.
pub(crate) fn flow_instances(scenario: &Scenario) -> Result<Vec<FlowInstance<'_>>, Fault> {
    let mut instances = Vec::new();
    for group in &scenario.flows {
        for (index, samples) in flow_samples(group, scenario.seed).into_iter().enumerate() {
            instances.push(instance(scenario, group, index, samples)?);
        }
    }
    Ok(instances)
}

fn instance<'s>(
    scenario: &'s Scenario,
    group: &'s FlowGroup,
    index: usize,
    samples: FlowSamples,
) -> Result<FlowInstance<'s>, Fault> {
    let forward_path = group.paths.get(index % group.paths.len().max(1)).map_or(&[][..], Vec::as_slice);
    let Some(return_path) = scenario.return_path(forward_path) else {
        return Err(faults::no_return_path(scenario, group));
    };
    let propagation = scenario.propagation(forward_path) + scenario.propagation(&return_path);
    Ok(FlowInstance {
        name: flow_name(group, index as u32),
        group,
        forward_path,
        return_path,
        base_rtt: samples.rtt.unwrap_or(propagation).max(propagation),
        samples,
    })
}
