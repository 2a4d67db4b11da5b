//! Which protocol each flow runs, with its settings checked.

use crate::faults;
use millpond_law::{Needs, Protocol, Queue, Settings};
use millpond_protocols::{Registry, queues};
use millpond_scenario::{At, Fault, ProtocolEntry, QueueSpec, Scenario, Setting};

/// A protocol as a scenario means it: its settings checked, its relays and its queue known.
pub(crate) struct Role<'s> {
    /// As flows call it: a registered protocol, or an entry of the scenario's `[protocols]`.
    pub(crate) label: &'s At<String>,
    pub(crate) protocol: &'static dyn Protocol,
    pub(crate) settings: Settings,
    pub(crate) needs: Needs,
    pub(crate) entry: Option<&'s ProtocolEntry>,
}

/// Every protocol that flows of this scenario run, in the order in which they are first named. Entries that no flow
/// names have to be right as well: a comparison would cast them, and a misspelt name would never be noticed.
pub(crate) fn cast<'s>(scenario: &'s Scenario, registry: &Registry) -> Result<Vec<Role<'s>>, Fault> {
    for entry in scenario.protocols.values() {
        role_of(scenario, registry, &entry.protocol, Some(entry))?.queue(scenario, registry)?;
    }
    let mut roles: Vec<Role<'s>> = Vec::new();
    for group in &scenario.flows {
        if roles.iter().all(|role| role.label.value != group.protocol.value) {
            let label = &group.protocol;
            roles.push(role_of(scenario, registry, label, scenario.protocols.get(&label.value))?);
        }
    }
    Ok(roles)
}

/// What `label` means under this entry, tried out: a sender and a receiver can be built.
fn role_of<'s>(
    scenario: &'s Scenario,
    registry: &Registry,
    label: &'s At<String>,
    entry: Option<&'s ProtocolEntry>,
) -> Result<Role<'s>, Fault> {
    let name = entry.map_or(label, |entry| &entry.protocol);
    let protocol = registry.protocol(name).map_err(|unknown| {
        let entries = scenario.protocols.keys().map(String::as_str);
        faults::unknown(scenario, name, "protocol", &unknown, entries)
    })?;
    let params: &[Setting] = entry.map_or(&[], |entry| &entry.params);
    let fault = |error| faults::setting(scenario, &name.value, params, name.place, &error);
    let settings = Settings::check(protocol.card().parameters, faults::written(params)).map_err(fault)?;
    protocol.sender(&settings).map_err(fault)?;
    protocol.receiver(&settings).map_err(fault)?;
    let needs = protocol.needs(&settings);
    Ok(Role { label, protocol, settings, needs, entry })
}

/// A queue with its settings checked.
pub(crate) struct QueueRole {
    pub(crate) queue: &'static dyn Queue,
    pub(crate) settings: Settings,
}

/// The queue that a scenario spells out.
pub(crate) fn named_queue(
    scenario: &Scenario,
    registry: &Registry,
    spec: &QueueSpec,
) -> Result<QueueRole, Fault> {
    let unknown = |unknown| faults::unknown(scenario, &spec.name, "queue", &unknown, std::iter::empty());
    let queue = registry.queue(&spec.name).map_err(unknown)?;
    let settings = queues::settings(queue, faults::written(&spec.settings));
    let fault = |error| faults::setting(scenario, &spec.name.value, &spec.settings, spec.name.place, &error);
    Ok(QueueRole { queue, settings: settings.map_err(fault)? })
}

impl Role<'_> {
    /// The queue that this protocol wants at links that name none: its entry's, else its own default.
    pub(crate) fn queue(&self, scenario: &Scenario, registry: &Registry) -> Result<QueueRole, Fault> {
        if let Some(spec) = self.entry.and_then(|entry| entry.queue.as_ref()) {
            return named_queue(scenario, registry, spec);
        }
        let choice = &self.protocol.card().queue;
        let absent = |why: String| scenario.fault(self.label.place, why, "its default queue cannot be built");
        let queue = registry
            .queue(choice.name)
            .map_err(|unknown| absent(format!("no queue \"{}\"", unknown.name)))?;
        let settings =
            queues::settings(queue, queues::expected(choice)).map_err(|error| absent(error.to_string()))?;
        Ok(QueueRole { queue, settings })
    }
}

impl QueueRole {
    /// Is it the same queue with the same settings?
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.queue.card().name == other.queue.card().name
            && self.settings.written().eq(other.settings.written())
    }

    /// For a complaint: `red (max_th = "75KB", ...)` would be long; the name says enough.
    pub(crate) fn name(&self) -> &'static str {
        self.queue.card().name
    }
}
