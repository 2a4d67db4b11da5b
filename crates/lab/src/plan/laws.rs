//! Which laws sit at a link: its queue's, and the router of each protocol whose data cross it.

use super::cast::{QueueRole, Role, named_queue};
use super::links::{Traffic, hop_name};
use millpond_law::{HeaderId, Link as Law, LinkFacts, SettingError};
use millpond_protocols::Registry;
use millpond_scenario::{Fault, Hop, Place, Scenario};

/// The laws of one direction.
#[derive(Default)]
pub(super) struct Laws {
    /// None: plain drop-tail.
    pub(super) queue: Option<Box<dyn Law>>,
    pub(super) routers: Vec<(HeaderId, Box<dyn Law>)>,
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
    let link = &scenario.links[hop.link];
    let present = present(roles, traffic);
    let choice = match &link.direction(hop.forward).queue {
        Some(spec) => Some(named_queue(scenario, registry, spec)?),
        None => wanted_queue(scenario, registry, &present, hop)?,
    };
    let fault = |place: Place| {
        move |error: SettingError| scenario.fault(place, format!("{}: {error}", hop_name(scenario, hop)), "")
    };
    let queue = match choice {
        Some(role) => role.queue.link(&role.settings, facts).map_err(fault(link.name.place))?,
        None => None,
    };
    let mut routers = Vec::new();
    for role in &present {
        let law = role.protocol.link(&role.settings, facts).map_err(fault(role.label.place))?;
        routers.extend(law.map(|law| (role.needs.header, law)));
    }
    Ok(Laws { queue, routers })
}

/// The protocols whose data cross the direction.
fn present<'r, 's>(roles: &'r [Role<'s>], traffic: &Traffic<'_, '_>) -> Vec<&'r Role<'s>> {
    let crosses = |index: usize| traffic.data.iter().any(|(role, _)| *role == index);
    roles.iter().enumerate().filter(|(index, _)| crosses(*index)).map(|(_, role)| role).collect()
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
