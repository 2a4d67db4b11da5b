//! The protocols that a scenario uses, with their settings checked.

use crate::faults;
use crate::flow_instances::FlowInstance;
use millpond_law::{HeaderId, Needs, Protocol, Queue, SettingError, Settings};
use millpond_protocols::{Registry, queues};
use millpond_scenario::{
    At, Fault, Faults, FlowGroup, Hop, ProtocolEntry, QueueSpec, Scenario, WrittenSetting,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A protocol with the settings, relays and queue that a scenario gives it.
pub(crate) struct ConfiguredProtocol<'s> {
    /// Its name in the scenario: a registered protocol, or an entry of `[protocols]`.
    pub(crate) label: &'s At<String>,
    pub(crate) protocol: &'static dyn Protocol,
    pub(crate) settings: Arc<Settings>,
    pub(crate) needs: Needs,
    pub(crate) entry: Option<&'s ProtocolEntry>,
}

/// Every protocol that loops of this scenario's flows run, in the order in which groups name them: first that of the group,
/// then those of single loops.
///
/// # Errors
/// Those of [`law_faults`], or two protocols whose packets routers cannot tell apart.
pub(crate) fn configured_protocols<'s>(
    scenario: &'s Scenario,
    registry: &Registry,
) -> Result<Vec<ConfiguredProtocol<'s>>, Faults> {
    let faults = law_faults(scenario, registry);
    if !faults.is_empty() {
        return Err(scenario.faults(faults));
    }
    let mut protocols: Vec<ConfiguredProtocol<'s>> = Vec::new();
    for label in scenario.flows.iter().flat_map(|group| scenario.protocols_of(group)) {
        if protocols.iter().all(|configured| configured.label.value != label.value) {
            let configured = configure(scenario, registry, label, scenario.protocols.get(&label.value));
            protocols.push(configured?);
        }
    }
    match equal_headers(scenario, &protocols) {
        Some(fault) => Err(fault.into()),
        None => Ok(protocols),
    }
}

/// Two different protocols with one header number: their routers would read and write each other's headers.
fn equal_headers(scenario: &Scenario, protocols: &[ConfiguredProtocol<'_>]) -> Option<Fault> {
    let mut owners: BTreeMap<HeaderId, &'static str> = BTreeMap::new();
    for configured in protocols.iter().filter(|configured| configured.needs.header != HeaderId::NONE) {
        let (number, name) = (configured.needs.header, configured.protocol.card().name);
        let owner = *owners.entry(number).or_insert(name);
        if owner != name {
            let message = format!("{owner} and {name} have the same header number, {}", number.0);
            let fault =
                scenario.fault(configured.label.place, message, "routers cannot tell their packets apart");
            return Some(fault.help("each protocol with a header needs a HeaderId of its own"));
        }
    }
    None
}

/// The configured protocol with this name.
pub(crate) fn labelled<'a, 's>(
    protocols: &'a [ConfiguredProtocol<'s>],
    label: &str,
) -> Option<&'a ConfiguredProtocol<'s>> {
    protocols.iter().find(|configured| configured.label.value == label)
}

/// The name of the protocol of each of these loops, into which the path of a flow is divided.
pub(crate) fn labels_of_loops<'s>(
    scenario: &'s Scenario,
    instance: &FlowInstance<'s>,
    loops: &[Vec<Hop>],
) -> Vec<&'s At<String>> {
    let labels: Vec<_> = scenario.protocols_along(instance.group, instance.forward_path).collect();
    let begins = loops.iter().scan(0, |next, hops| Some(std::mem::replace(next, *next + hops.len())));
    begins.filter_map(|begin| labels.get(begin).copied()).collect()
}

/// For each of these loops: the name of its protocol, if it is not that of the flow.
pub(crate) fn other_protocols_of_loops(
    scenario: &Scenario,
    instance: &FlowInstance<'_>,
    loops: &[Vec<Hop>],
) -> Vec<Option<String>> {
    let own = &instance.group.protocol.value;
    let other = |label: &At<String>| (label.value != *own).then(|| label.value.clone());
    labels_of_loops(scenario, instance, loops).into_iter().map(other).collect()
}

/// Every unknown protocol or queue of flows, loops, links and `[protocols]`, and every setting that a law refuses. Entries of
/// `[protocols]` that no flow names are checked too, because a comparison may assign them.
pub fn law_faults(scenario: &Scenario, registry: &Registry) -> Vec<Fault> {
    let of_entry = |entry: &ProtocolEntry| {
        let configured = configure(scenario, registry, &entry.protocol, Some(entry));
        configured.and_then(|configured| configured.queue(scenario, registry)).err()
    };
    let entries = scenario.protocols.values().filter_map(of_entry);
    let loops = scenario.protocols.iter().flat_map(|(name, entry)| {
        entry.loops.values().filter_map(move |protocol| loop_faults(scenario, registry, name, protocol))
    });
    let mut names = BTreeMap::new();
    let of_group = |group: &FlowGroup| {
        let label = &group.protocol;
        let is_known = *names.entry(label.value.clone()).or_insert_with(|| {
            // A group without a protocol has a fault of its own.
            let is_missing = label.value.is_empty();
            is_missing || scenario.protocols.contains_key(&label.value) || registry.protocol(label).is_ok()
        });
        if is_known { None } else { configure(scenario, registry, label, None).err() }
    };
    let groups = scenario.flows.iter().filter_map(of_group);
    let queues = scenario.links.iter().flat_map(|link| {
        let directions = [Some(&link.forward), link.backward.as_ref()].into_iter().flatten();
        let mut specs: Vec<&QueueSpec> =
            directions.filter_map(|direction| direction.queue.as_ref()).collect();
        specs.dedup();
        specs
    });
    let queues = queues.filter_map(|spec| named_queue(scenario, registry, spec).err());
    entries.chain(loops).chain(groups).chain(queues).flat_map(|faults| faults.0).collect()
}

/// What is wrong with `protocol` as that of a loop of the entry `name`. The faults of an entry are those of that entry.
fn loop_faults(
    scenario: &Scenario,
    registry: &Registry,
    name: &str,
    protocol: &At<String>,
) -> Option<Faults> {
    match scenario.protocols.get(&protocol.value) {
        _ if protocol.value == name => None,
        Some(entry) if !entry.relays.is_empty() => {
            let message = format!("\"{}\" has relays, so that it cannot run in one loop", protocol.value);
            let fault = scenario.fault(protocol.place, message, "an entry with relays of its own");
            let registered = &entry.protocol.value;
            let help =
                format!("name an entry without relays: [protocols.OTHER] with protocol = \"{registered}\"");
            Some(fault.help(help).into())
        }
        Some(_) => None,
        None => configure(scenario, registry, protocol, None).err(),
    }
}

/// The settings of a law.
///
/// # Errors
/// Every setting that `check` refuses. Each is left out to find the next.
fn checked(
    written: &[WrittenSetting],
    check: impl Fn(&[WrittenSetting]) -> Result<Settings, SettingError>,
) -> Result<Settings, Vec<SettingError>> {
    let (mut remaining, mut errors) = (written.to_vec(), Vec::new());
    loop {
        let count = remaining.len();
        match check(&remaining) {
            Ok(settings) if errors.is_empty() => return Ok(settings),
            Ok(_) => return Err(errors),
            Err(error) => {
                remaining.retain(|setting| setting.name.value != error.name);
                errors.push(error);
            }
        }
        if remaining.len() == count {
            return Err(errors);
        }
    }
}

/// The protocol that `label` names under this entry. A sender and a receiver have been built to check the settings.
fn configure<'s>(
    scenario: &'s Scenario,
    registry: &Registry,
    label: &'s At<String>,
    entry: Option<&'s ProtocolEntry>,
) -> Result<ConfiguredProtocol<'s>, Faults> {
    let name = entry.map_or(label, |entry| &entry.protocol);
    let protocol = registry.protocol(name).map_err(|unknown| {
        let entries = scenario.protocols.keys().map(String::as_str);
        faults::unknown(scenario, name, "protocol", &unknown, entries)
    })?;
    let params: &[WrittenSetting] = entry.map_or(&[], |entry| &entry.params);
    let fault = |error: SettingError| faults::setting(scenario, &name.value, params, name.place, &error);
    let faults = |errors: Vec<SettingError>| Faults(errors.into_iter().map(fault).collect());
    let check =
        |written: &[WrittenSetting]| Settings::check(protocol.card().parameters, faults::written(written));
    let settings = checked(params, check).map_err(faults)?;
    protocol.sender(&settings).map_err(fault)?;
    protocol.receiver(&settings).map_err(fault)?;
    if entry.is_some_and(|entry| entry.rate_code.is_some()) && protocol.rate_field().is_none() {
        let message = format!("rate_code: acknowledgements of {} return no rate", name.value);
        let with_rates = registry.protocols().filter(|protocol| protocol.rate_field().is_some());
        let names: Vec<&str> = with_rates.map(|protocol| protocol.card().name).collect();
        let fault = scenario.fault(name.place, message, "no rate to code");
        return Err(fault.help(format!("those of {} return one", names.join(", "))).into());
    }
    let needs = protocol.needs(&settings);
    Ok(ConfiguredProtocol { label, protocol, settings: Arc::new(settings), needs, entry })
}

/// The scenario with an entry of `[protocols]` for each protocol that its flows use and for no other, without parameters
/// that have their defaults. Both have the same runs. Scenarios that differ only in settings of unused protocols, or in
/// whether a default is written, become equal.
pub fn with_used_settings<'s>(scenario: &'s Scenario, registry: &Registry) -> Scenario {
    let of_group = |group: &'s FlowGroup| {
        let entry = scenario.protocols.get(&group.protocol.value);
        let of_loops = entry.into_iter().flat_map(|entry| entry.loops.values());
        std::iter::once(&group.protocol).chain(of_loops).map(|label| &label.value)
    };
    let labels: BTreeSet<&String> = scenario.flows.iter().flat_map(of_group).collect();
    let used = |label: &String| {
        let entry = scenario.protocols.get(label).cloned();
        let mut entry = entry.unwrap_or_else(|| ProtocolEntry::unconfigured(label));
        if let Ok(protocol) = registry.protocol(&entry.protocol.value) {
            let parameters: Vec<_> = protocol.card().parameters.iter().map(|key| key.parameter()).collect();
            let parameter_of = |setting: &WrittenSetting| {
                parameters.iter().find(|parameter| parameter.name == setting.name.value)
            };
            let is_default = |setting: &WrittenSetting| {
                parameter_of(setting)
                    .is_some_and(|parameter| parameter.default == faults::value(&setting.value))
            };
            let is_preset = |setting: &WrittenSetting| {
                parameter_of(setting).is_some_and(|parameter| !parameter.presets.is_empty())
            };
            // A default that is written overrides the value of a preset.
            if !entry.params.iter().any(|setting| is_preset(setting) && !is_default(setting)) {
                entry.params.retain(|setting| !is_default(setting));
            }
        }
        entry.params.sort_by(|a, b| a.name.value.cmp(&b.name.value));
        (label.clone(), entry)
    };
    Scenario { protocols: labels.into_iter().map(used).collect(), ..scenario.clone() }
}

/// A queue law with its settings checked.
pub(crate) struct ConfiguredQueue {
    pub(crate) queue: &'static dyn Queue,
    pub(crate) settings: Settings,
}

/// The queue that a scenario specifies.
pub(crate) fn named_queue(
    scenario: &Scenario,
    registry: &Registry,
    spec: &QueueSpec,
) -> Result<ConfiguredQueue, Faults> {
    let unknown = |unknown| faults::unknown(scenario, &spec.name, "queue", &unknown, std::iter::empty());
    let queue = registry.queue(&spec.name).map_err(unknown)?;
    let settings = checked(&spec.settings, |written| queues::settings(queue, faults::written(written)));
    let fault = |error: SettingError| {
        faults::setting(scenario, &spec.name.value, &spec.settings, spec.name.place, &error)
    };
    let faults = |errors: Vec<SettingError>| Faults(errors.into_iter().map(fault).collect());
    Ok(ConfiguredQueue { queue, settings: settings.map_err(faults)? })
}

impl ConfiguredProtocol<'_> {
    /// The queue at links that specify none: that of the protocol's entry, else the default of the protocol.
    pub(crate) fn queue(&self, scenario: &Scenario, registry: &Registry) -> Result<ConfiguredQueue, Faults> {
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
        Ok(ConfiguredQueue { queue, settings })
    }
}

impl ConfiguredQueue {
    /// Whether both are the same queue with the same settings.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.queue.card().name == other.queue.card().name
            && self.settings.written().eq(other.settings.written())
    }

    /// The name of the queue, for messages.
    pub(crate) fn name(&self) -> &'static str {
        self.queue.card().name
    }
}
