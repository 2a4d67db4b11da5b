//! Which laws sit at a link: its queue's, and the router of each protocol whose data cross it.

use crate::protocols::{QueueRole, Role, named_queue};
use crate::traffic::{Traffic, hop_name};
use millpond_law::{HeaderId, Link as Law, LinkFacts, SettingError};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Hop, Place, QueueSpec, Scenario};

/// A protocol's law at a link, with whose headers it reads.
type Router = (HeaderId, Box<dyn Law>);

/// The laws of one direction.
pub(super) struct Laws {
    /// None: plain drop-tail.
    pub(super) queue: Option<Box<dyn Law>>,
    pub(super) routers: Vec<Router>,
}

/// The laws at `hop`. Its queue is the one that the link names; else the one that the protocols of the data that
/// cross it want, if they agree; else, where only acknowledgements cross it, plain drop-tail.
pub(super) fn laws(
    scenario: &Scenario,
    registry: &Registry,
    roles: &[Role<'_>],
    traffic: &Traffic<'_, '_>,
    hop: Hop,
    facts: &LinkFacts,
) -> Result<Laws, Fault> {
    let present = present(roles, traffic);
    let queue = match queue(scenario, registry, &present, hop)? {
        Some(role) => {
            role.queue.link(&role.settings, facts).map_err(|error| refused(scenario, hop, &error))?
        }
        None => None,
    };
    let routers = routers(scenario, &present, hop, |role| role.protocol.link(&role.settings, facts))?;
    let routers = routers.into_iter().map(|(role, law)| (role.needs.header, law)).collect();
    Ok(Laws { queue, routers })
}

/// The queue at `hop`, if anybody names one.
pub(crate) fn queue(
    scenario: &Scenario,
    registry: &Registry,
    present: &[&Role<'_>],
    hop: Hop,
) -> Result<Option<QueueRole>, Fault> {
    match queue_spec(scenario, hop) {
        Some(spec) => Ok(Some(named_queue(scenario, registry, spec)?)),
        None => wanted_queue(scenario, registry, present, hop),
    }
}

/// A setting that the law at a link cannot live with: shown where the link names its queue, else where it is named.
pub(crate) fn refused(scenario: &Scenario, hop: Hop, error: &SettingError) -> Fault {
    let mut settings = queue_spec(scenario, hop).into_iter().flat_map(|spec| &spec.settings);
    let written = settings.find(|setting| setting.name.value == error.name);
    let place = written.map_or_else(|| queue_place(scenario, hop), |setting| setting.value.place);
    scenario.fault(place, format!("{}: {error}", hop_name(scenario, hop)), "")
}

fn queue_spec(scenario: &Scenario, hop: Hop) -> Option<&QueueSpec> {
    scenario.links[hop.link].direction(hop.forward).queue.as_ref()
}

/// Where the link names its queue, else where it is named itself.
pub(crate) fn queue_place(scenario: &Scenario, hop: Hop) -> Place {
    queue_spec(scenario, hop).map_or(scenario.links[hop.link].name.place, |spec| spec.name.place)
}

/// The protocols whose data cross the direction.
pub(crate) fn present<'r, 's>(roles: &'r [Role<'s>], traffic: &Traffic<'_, '_>) -> Vec<&'r Role<'s>> {
    let crosses = |index: usize| traffic.data.iter().any(|(role, _)| *role == index);
    roles.iter().enumerate().filter(|(index, _)| crosses(*index)).map(|(_, role)| role).collect()
}

/// The router of each protocol present for which `build` gives one; whatever entries flows name, a link has one of a
/// protocol.
pub(crate) fn routers<'r, 's, L>(
    scenario: &Scenario,
    present: &[&'r Role<'s>],
    hop: Hop,
    build: impl Fn(&Role<'s>) -> Result<Option<L>, SettingError>,
) -> Result<Vec<(&'r Role<'s>, L)>, Fault> {
    let mut routers: Vec<(&Role<'_>, L)> = Vec::new();
    for role in present {
        let refused = |error: SettingError| {
            scenario.fault(role.label.place, format!("{}: {error}", hop_name(scenario, hop)), "")
        };
        let Some(law) = build(role).map_err(refused)? else { continue };
        let name = role.protocol.card().name;
        match routers.iter().find(|(other, _)| other.protocol.card().name == name) {
            Some((other, _)) if !other.settings.written().eq(role.settings.written()) => {
                return Err(two_masters(scenario, hop, other, role));
            }
            Some(_) => {}
            None => routers.push((role, law)),
        }
    }
    Ok(routers)
}

fn two_masters(scenario: &Scenario, hop: Hop, one: &Role<'_>, other: &Role<'_>) -> Fault {
    let link = &scenario.links[hop.link].name.value;
    let message =
        format!("link \"{link}\" cannot be a router of both {} and {}", one.label.value, other.label.value);
    scenario
        .fault(other.label.place, message, "the same protocol with other parameters")
        .help("flows of one protocol that share a link share its parameters")
}

fn wanted_queue(
    scenario: &Scenario,
    registry: &Registry,
    present: &[&Role<'_>],
    hop: Hop,
) -> Result<Option<QueueRole>, Fault> {
    let mut chosen: Option<(&Role<'_>, QueueRole)> = None;
    for role in present {
        let wanted = role.queue(scenario, registry)?;
        match &chosen {
            Some((first, queue)) if !queue.agrees_with(&wanted) => {
                return Err(disagreement(scenario, hop, (first, queue), (role, &wanted)));
            }
            Some(_) => {}
            None => chosen = Some((role, wanted)),
        }
    }
    Ok(chosen.map(|(_, queue)| queue))
}

fn disagreement(
    scenario: &Scenario,
    hop: Hop,
    one: (&Role<'_>, &QueueRole),
    other: (&Role<'_>, &QueueRole),
) -> Fault {
    let name = &scenario.links[hop.link].name;
    let says =
        |(role, queue): (&Role<'_>, &QueueRole)| format!("{} wants {}", role.label.value, queue.name());
    let message = format!("which queue at link \"{}\"? {}, {}", name.value, says(one), says(other));
    scenario.fault(name.place, message, "their settings differ").help(format!(
        "say it: links.{}.queue = {{ {} = {{}} }}",
        name.value,
        one.1.name()
    ))
}
