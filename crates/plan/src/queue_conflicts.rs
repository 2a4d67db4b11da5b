//! Protocols that need different queues at one link, or another queue than the link has.

use crate::laws::queue_spec;
use crate::protocols::{ConfiguredProtocol, ConfiguredQueue, configured_protocols, named_queue};
use millpond_law::{LinkFacts, QueueLaw, SettingError};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Hop, RouterConduct, Scenario};
use millpond_units::{Bytes, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// Links after these are counted in a message, not named.
const MOST_NAMED: usize = 10;

/// Checks that the protocols whose data cross a link need the same queue, at each link that specifies none and whose router
/// takes part.
///
/// # Errors
/// One fault with all links at which two protocols differ.
pub(crate) fn check_queues(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[&ConfiguredProtocol<'_>],
) -> Result<(), Faults> {
    let needed = protocols
        .iter()
        .map(|configured| configured.queue(scenario, registry))
        .collect::<Result<Vec<_>, _>>()?;
    // The links of each pair of protocols that differ.
    let mut conflicts: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (hop, present) in protocols_at_hops(scenario, protocols) {
        let router = scenario.links[hop.link].direction(hop.forward).router;
        if router == RouterConduct::TakesPart
            && queue_spec(scenario, hop).is_none()
            && let Some(pair) = conflict(&needed, &present)
        {
            let links = conflicts.entry(pair).or_default();
            if links.last() != Some(&hop.link) {
                links.push(hop.link);
            }
        }
    }
    if conflicts.is_empty() { Ok(()) } else { Err(fault(scenario, protocols, &needed, &conflicts).into()) }
}

/// A protocol whose data cross links with a queue that the scenario sets and that is not the protocol's own.
struct OtherQueue {
    /// The number of the protocol.
    protocol: usize,
    own: ConfiguredQueue,
    set: ConfiguredQueue,
    links: Vec<usize>,
}

impl OtherQueue {
    /// True if senders wait for marks that the own queue sets, and the links, which are drop-tail, set none.
    fn lacks_marks(&self, configured: &ConfiguredProtocol<'_>) -> Result<bool, SettingError> {
        const ANY: LinkFacts = LinkFacts::fifo(Rate::from_bps(1_000_000), None, Bytes::new(1500));
        let is_drop_tail = |queue: &ConfiguredQueue| {
            Ok(matches!(queue.queue.law(&queue.settings, &ANY)?, QueueLaw::DropTail))
        };
        Ok(configured.needs.ecn.is_some()
            && configured.protocol.link(&configured.settings, &ANY)?.is_none()
            && is_drop_tail(&self.set)?
            && !is_drop_tail(&self.own)?)
    }
}

/// The queues that the scenario sets and that are not those of the protocols whose data cross them, by protocol and queue.
fn queues_of_others(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[&ConfiguredProtocol<'_>],
) -> Result<Vec<OtherQueue>, Faults> {
    let mut found: BTreeMap<(usize, &'static str), OtherQueue> = BTreeMap::new();
    for (hop, present) in protocols_at_hops(scenario, protocols) {
        let Some(spec) = queue_spec(scenario, hop) else { continue };
        for protocol in present {
            let set = named_queue(scenario, registry, spec)?;
            let own = protocols[protocol].queue(scenario, registry)?;
            if own.agrees_with(&set) {
                continue;
            }
            let other = found.entry((protocol, set.name()));
            let links =
                &mut other.or_insert_with(|| OtherQueue { protocol, own, set, links: Vec::new() }).links;
            if links.last() != Some(&hop.link) {
                links.push(hop.link);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// A sentence about each protocol whose data cross links with a queue that the scenario sets and that is not the protocol's
/// own: results of that protocol depend on the choice of the queue, too.
///
/// # Errors
/// An unknown protocol or queue, or a setting that a law refuses.
pub fn other_queues(scenario: &Scenario, registry: &Registry) -> Result<Vec<String>, Faults> {
    let configured = configured_protocols(scenario, registry)?;
    let protocols: Vec<&ConfiguredProtocol<'_>> = configured.iter().collect();
    let sentence = |other: OtherQueue| {
        let verb = if other.links.len() == 1 { "has" } else { "have" };
        let label = &protocols[other.protocol].label.value;
        let (links, own, set) = (link_names(scenario, &other.links), other.own.name(), other.set.name());
        if own == set {
            format!("{label} is not at its own queue: {links} {verb} {set} with other settings")
        } else {
            format!("{label} is not at its own queue {own}: {links} {verb} {set}")
        }
    };
    Ok(queues_of_others(scenario, registry, &protocols)?.into_iter().map(sentence).collect())
}

/// A warning about each protocol whose senders adapt to marks, at links without any.
///
/// # Errors
/// Those of [`other_queues`].
pub(crate) fn missing_marks(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
) -> Result<Vec<String>, Faults> {
    let protocols: Vec<&ConfiguredProtocol<'_>> = protocols.iter().collect();
    let mut warnings = Vec::new();
    for other in queues_of_others(scenario, registry, &protocols)? {
        let (configured, link) = (protocols[other.protocol], scenario.links[other.links[0]].name.place);
        let refused = |error: SettingError| scenario.fault(link, error.to_string(), "");
        if other.lacks_marks(configured).map_err(refused)? {
            let verb = if other.links.len() == 1 { "has" } else { "have" };
            let (label, links) = (&configured.label.value, link_names(scenario, &other.links));
            warnings.push(format!(
                "{label}: {links} {verb} {}, which sets no marks; senders adapt to those of {}",
                other.set.name(),
                other.own.name()
            ));
        }
    }
    Ok(warnings)
}

/// The indices of the protocols whose data cross each direction of a link.
fn protocols_at_hops(
    scenario: &Scenario,
    protocols: &[&ConfiguredProtocol<'_>],
) -> impl Iterator<Item = (Hop, BTreeSet<usize>)> {
    let mut present: BTreeMap<(usize, bool), BTreeSet<usize>> = BTreeMap::new();
    let number = |label: &str| protocols.iter().position(|other| other.label.value == label);
    for group in &scenario.flows {
        for path in group.paths.iter().take(group.count as usize) {
            let numbers = scenario.protocols_along(group, path).map(|label| number(label));
            for (hop, number) in path.iter().zip(numbers) {
                present.entry((hop.link, hop.forward)).or_default().extend(number);
            }
        }
    }
    present.into_iter().map(|((link, forward), present)| (Hop { link, forward }, present))
}

/// The first of these protocols and another one that needs a different queue.
fn conflict(needed: &[ConfiguredQueue], present: &BTreeSet<usize>) -> Option<(usize, usize)> {
    let first = *present.first()?;
    let differs = |other: &&usize| !needed[first].agrees_with(&needed[**other]);
    present.iter().find(differs).map(|&other| (first, other))
}

fn fault(
    scenario: &Scenario,
    protocols: &[&ConfiguredProtocol<'_>],
    needed: &[ConfiguredQueue],
    conflicts: &BTreeMap<(usize, usize), Vec<usize>>,
) -> Fault {
    let needs = |index: usize| format!("{} (queue {})", protocols[index].label.value, needed[index].name());
    let sentence = |(&(first, other), links): (&(usize, usize), &Vec<usize>)| {
        let verb = if links.len() == 1 { "carries" } else { "carry" };
        format!("{} {verb} {} and {}", link_names(scenario, links), needs(first), needs(other))
    };
    let message = conflicts.iter().map(sentence).collect::<Vec<_>>().join("; ");
    let count: usize = conflicts.values().map(Vec::len).sum();
    let first =
        conflicts.iter().map(|((protocol, _), links)| (links[0], *protocol)).min().unwrap_or_default();
    let (link, queue) = (&scenario.links[first.0].name, needed[first.1].name());
    let example = format!("links.{}.queue, for example {{ {queue} = {{}} }}", link.value);
    let help =
        if count == 1 { format!("set {example}") } else { format!("set the queue of each: {example}") };
    scenario.fault(link.place, message, "the queues or their settings differ").help(help)
}

/// `link "L1"`, `links "L1", "L2"`, `links "L1", ..., "L10" and 5 more`.
pub(crate) fn link_names(scenario: &Scenario, links: &[usize]) -> String {
    let named = links.iter().take(MOST_NAMED).map(|&link| format!("\"{}\"", scenario.links[link].name.value));
    let named = named.collect::<Vec<_>>().join(", ");
    match links.len() {
        1 => format!("link {named}"),
        count if count > MOST_NAMED => format!("links {named} and {} more", count - MOST_NAMED),
        _ => format!("links {named}"),
    }
}
