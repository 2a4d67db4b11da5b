//! Every flow of every group, with its paths, its base round-trip time and its sampled values.

use crate::faults;
use crate::sampling::{FlowSamples, flow_name, flow_samples};
use millpond_scenario::{Fault, Faults, FlowGroup, Hop, Scenario};
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
    /// Its weight in fair shares.
    pub(crate) share_weight: f64,
    pub(crate) samples: FlowSamples,
}

/// All flows, group after group.
///
/// # Errors
/// Each group with a path that acknowledgements cannot take in the reverse direction.
pub(crate) fn flow_instances(scenario: &Scenario) -> Result<Vec<FlowInstance<'_>>, Faults> {
    let (mut instances, mut faults) = (Vec::new(), Vec::new());
    for group in &scenario.flows {
        let samples = flow_samples(group, scenario.seed).into_iter().enumerate();
        let weight = group.share_weight(&scenario.links);
        let of_group = samples.map(|(index, samples)| instance(scenario, group, weight, index, samples));
        match of_group.collect::<Result<Vec<_>, _>>() {
            Ok(of_group) => instances.extend(of_group),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(instances) } else { Err(scenario.faults(faults)) }
}

fn instance<'s>(
    scenario: &'s Scenario,
    group: &'s FlowGroup,
    share_weight: f64,
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
        share_weight,
        samples,
    })
}
