//! Warnings of queue laws about the links at which they stand.

use crate::buffers::buffer;
use crate::flow_instances::FlowInstance;
use crate::laws::{carries_ecn, present, queue};
use crate::protocols::ConfiguredProtocol;
use crate::queue_conflicts::link_names;
use crate::traffic::{facts, traffic};
use millpond_law::LinkFacts;
use millpond_protocols::Registry;
use millpond_scenario::{Faults, RouterConduct, Scenario};

/// The warnings of the queue law of each link that carries data. Links with the same warning are named together,
/// each once if both of its directions have it.
///
/// # Errors
/// An unknown queue, or a setting that it refuses.
pub(crate) fn queue_warnings(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    instances: &[FlowInstance<'_>],
) -> Result<Vec<String>, Faults> {
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for (hop, traffic) in traffic(scenario, instances, protocols) {
        let direction = scenario.links[hop.link].direction(hop.forward);
        if traffic.data.is_empty() || direction.router != RouterConduct::TakesPart {
            continue;
        }
        let present = present(protocols, &traffic);
        let Some(configured) = queue(scenario, registry, &present, hop)? else { continue };
        let buffer = buffer(direction, &traffic, scenario.duration);
        let capacity = direction.rate.schedule().mean(scenario.duration);
        let facts = LinkFacts { carries_ecn: carries_ecn(&present), ..facts(capacity, buffer, &traffic) };
        for warning in configured.queue.warnings(&configured.settings, &facts) {
            let warning = format!("{} {warning}", configured.name());
            match found.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, links)) if links.contains(&hop.link) => {}
                Some((_, links)) => links.push(hop.link),
                None => found.push((warning, vec![hop.link])),
            }
        }
    }
    let sentence =
        |(warning, links): (String, Vec<usize>)| format!("{}: {warning}", link_names(scenario, &links));
    Ok(found.into_iter().map(sentence).collect())
}
