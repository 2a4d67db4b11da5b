//! The laws at a link: the law of its queue, and the router law of each protocol whose data cross it.

use crate::concealed::{after_stripping, hidden_from};
use crate::protocols::{ConfiguredProtocol, ConfiguredQueue, named_queue};
use crate::traffic::{LinkTraffic, hop_name};
use millpond_law::{HeaderId, Link as Law, LinkFacts, QueueLaw, SettingError};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Faults, Hop, Place, QueueSpec, RouterConduct, Scenario, Scheduler};

/// The router law of a protocol, with the header that it reads.
type BuiltRouter = (HeaderId, Box<dyn Law>);

/// The laws of one direction.
pub(super) struct BuiltLaws {
    pub(super) queue: QueueLaw,
    pub(super) routers: Vec<BuiltRouter>,
}

/// The laws at `hop`. Its queue is the one that the link specifies; else the queue of the protocols whose data cross the
/// link, which must agree; else, if only acknowledgements cross it or its router takes no part, drop-tail.
pub(super) fn laws(
    scenario: &Scenario,
    registry: &Registry,
    protocols: &[ConfiguredProtocol<'_>],
    traffic: &LinkTraffic<'_, '_>,
    hop: Hop,
    facts: &LinkFacts,
) -> Result<BuiltLaws, Faults> {
    let conduct = scenario.links[hop.link].direction(hop.forward).router;
    let present = match conduct {
        RouterConduct::TakesPart => present(protocols, traffic),
        RouterConduct::Absent | RouterConduct::Tunnel | RouterConduct::Strips => Vec::new(),
    };
    let facts = LinkFacts { carries_ecn: carries_ecn(&present), ..*facts };
    let queue = match queue(scenario, registry, &present, hop)? {
        Some(configured) => configured
            .queue
            .law(&configured.settings, &facts)
            .map_err(|error| refused(scenario, hop, &error))?,
        None => QueueLaw::DropTail,
    };
    let facts = LinkFacts { has_flow_queues: has_flow_queues(scenario, hop, &queue), ..facts };
    let routers = routers(scenario, &present, hop, |configured| {
        configured.protocol.link(&configured.settings, &facts)
    })?;
    let routers = routers.into_iter().map(|(configured, law)| (configured.needs.header, law)).collect();
    let queue = match conduct {
        RouterConduct::TakesPart | RouterConduct::Absent => queue,
        RouterConduct::Tunnel => hidden_from(queue),
        RouterConduct::Strips => after_stripping(queue),
    };
    Ok(BuiltLaws { queue, routers })
}

/// Whether the packets of one of these protocols are ECN-capable.
pub(crate) fn carries_ecn(present: &[&ConfiguredProtocol<'_>]) -> bool {
    present.iter().any(|configured| configured.needs.ecn.is_some())
}

/// Whether flows have queues of their own: by the scheduler of the link, or by its queue law.
fn has_flow_queues(scenario: &Scenario, hop: Hop, queue: &QueueLaw) -> bool {
    let scheduler = scenario.links[hop.link].direction(hop.forward).scheduler;
    scheduler != Scheduler::Fifo || matches!(queue, QueueLaw::Multi(law) if law.has_flow_queues())
}

/// The queue at `hop`, if the link or a protocol specifies one.
pub(crate) fn queue(
    scenario: &Scenario,
    registry: &Registry,
    present: &[&ConfiguredProtocol<'_>],
    hop: Hop,
) -> Result<Option<ConfiguredQueue>, Faults> {
    match queue_spec(scenario, hop) {
        Some(spec) => Ok(Some(named_queue(scenario, registry, spec)?)),
        None => wanted_queue(scenario, registry, present),
    }
}

/// A setting that the law at a link refuses; its place is the setting, else the queue of the link, else the link.
pub(crate) fn refused(scenario: &Scenario, hop: Hop, error: &SettingError) -> Fault {
    let mut settings = queue_spec(scenario, hop).into_iter().flat_map(|spec| &spec.settings);
    let written = settings.find(|setting| setting.name.value == error.name);
    let place = written.map_or_else(|| queue_place(scenario, hop), |setting| setting.value.place);
    scenario.fault(place, format!("{}: {error}", hop_name(scenario, hop)), "")
}

pub(crate) fn queue_spec(scenario: &Scenario, hop: Hop) -> Option<&QueueSpec> {
    scenario.links[hop.link].direction(hop.forward).queue.as_ref()
}

/// The place of the link's queue, else that of the link.
pub(crate) fn queue_place(scenario: &Scenario, hop: Hop) -> Place {
    queue_spec(scenario, hop).map_or(scenario.links[hop.link].name.place, |spec| spec.name.place)
}

/// The protocols whose data cross the link.
pub(crate) fn present<'r, 's>(
    protocols: &'r [ConfiguredProtocol<'s>],
    traffic: &LinkTraffic<'_, '_>,
) -> Vec<&'r ConfiguredProtocol<'s>> {
    let crosses = |index: usize| traffic.data.iter().any(|(configured, _)| *configured == index);
    protocols
        .iter()
        .enumerate()
        .filter(|(index, _)| crosses(*index))
        .map(|(_, configured)| configured)
        .collect()
}

/// The router law of each protocol present for which `build` returns one. A link has one router law per protocol, even if
/// several entries use the protocol.
///
/// # Errors
/// Entries of one protocol with different settings of its routers.
pub(crate) fn routers<'r, 's, L>(
    scenario: &Scenario,
    present: &[&'r ConfiguredProtocol<'s>],
    hop: Hop,
    build: impl Fn(&ConfiguredProtocol<'s>) -> Result<Option<L>, SettingError>,
) -> Result<Vec<(&'r ConfiguredProtocol<'s>, L)>, Fault> {
    let mut routers: Vec<(&ConfiguredProtocol<'_>, L)> = Vec::new();
    for configured in present {
        let refused = |error: SettingError| {
            scenario.fault(configured.label.place, format!("{}: {error}", hop_name(scenario, hop)), "")
        };
        let Some(law) = build(configured).map_err(refused)? else { continue };
        let name = configured.protocol.card().name;
        match routers.iter().find(|(other, _)| other.protocol.card().name == name) {
            Some((other, _)) if !are_equal_for_routers(other, configured) => {
                return Err(conflicting_routers(scenario, hop, other, configured));
            }
            Some(_) => {}
            None => routers.push((configured, law)),
        }
    }
    Ok(routers)
}

/// Whether two entries of one protocol differ at most in parameters of its senders.
fn are_equal_for_routers(one: &ConfiguredProtocol<'_>, other: &ConfiguredProtocol<'_>) -> bool {
    let of_senders = one.protocol.sender_parameters();
    let of_routers = |(name, _): &(&'static str, _)| !of_senders.contains(name);
    one.settings.written().filter(of_routers).eq(other.settings.written().filter(of_routers))
}

fn conflicting_routers(
    scenario: &Scenario,
    hop: Hop,
    one: &ConfiguredProtocol<'_>,
    other: &ConfiguredProtocol<'_>,
) -> Fault {
    let link = &scenario.links[hop.link].name.value;
    let message =
        format!("link \"{link}\" cannot be a router for both {} and {}", one.label.value, other.label.value);
    scenario
        .fault(other.label.place, message, "the same protocol with different parameters")
        .help("flows of one protocol that cross the same link must have the same parameters, except those of its senders alone")
}

/// The queue of a link that specifies none; [`check_queues`] has checked that all protocols agree on it.
fn wanted_queue(
    scenario: &Scenario,
    registry: &Registry,
    present: &[&ConfiguredProtocol<'_>],
) -> Result<Option<ConfiguredQueue>, Faults> {
    present.first().map(|configured| configured.queue(scenario, registry)).transpose()
}
