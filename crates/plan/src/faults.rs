//! Errors about names and settings, with their place in the scenario.

use millpond_law::{SettingError, Value};
use millpond_protocols::Unknown;
use millpond_scenario::{
    At, Fault, FlowGroup, PRESET, Place, Scenario, SettingValue, WrittenSetting, name_without_settings,
};
use millpond_units::{Bytes, all_nearest};

/// An unknown protocol or queue; `entries` are further names that the scenario defines.
pub(super) fn unknown<'a>(
    scenario: &Scenario,
    name: &At<String>,
    what: &str,
    unknown: &Unknown,
    entries: impl Iterator<Item = &'a str>,
) -> Fault {
    // Nor a variant of the unknown name.
    let is_known =
        |entry: &&str| name_without_settings(entry) != unknown.name && !unknown.known.contains(entry);
    let entries = entries.filter(is_known);
    let names: Vec<&str> = unknown.known.iter().copied().chain(entries).collect();
    let near = all_nearest(&unknown.name, names.iter().copied());
    let near = near.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ");
    let near = if near.is_empty() { near } else { format!("did you mean {near}? ") };
    let fault =
        scenario.fault(name.place, format!("unknown {what} \"{}\"", unknown.name), format!("no such {what}"));
    fault.help(format!("{near}there are: {}", names.join(", ")))
}

/// A setting that a law refuses; `otherwise` is its place if the setting is not among the written ones.
pub(crate) fn setting(
    scenario: &Scenario,
    owner: &str,
    written: &[WrittenSetting],
    otherwise: Place,
    error: &SettingError,
) -> Fault {
    let culprit = written.iter().find(|setting| setting.name.value == error.name);
    let misspelt = error.message.starts_with("no such");
    if misspelt && error.name == PRESET {
        let place = culprit.map_or(otherwise, |setting| setting.value.place);
        let fault = scenario.fault(place, format!("{owner} has no presets"), "no such preset");
        return fault
            .help("write PARAMETER=VALUE; `millpond protocols NAME` lists parameters and their presets");
    }
    let place = culprit.map_or(otherwise, |s| if misspelt { s.name.place } else { s.value.place });
    let fault = scenario.fault(place, format!("{owner}: {}: {}", error.name, error.message), "");
    match &error.nearest {
        Some(near) => fault.help(format!("did you mean \"{near}\"?")),
        None => fault,
    }
}

/// Settings of the scenario as settings of a law.
pub(super) fn written(settings: &[WrittenSetting]) -> impl Iterator<Item = (&str, Value)> {
    settings.iter().map(|setting| (setting.name.as_str(), value(&setting.value)))
}

/// A setting of the scenario as a setting of a law.
pub(super) fn value(written: &SettingValue) -> Value {
    match written {
        SettingValue::Number(x) => Value::Number(*x),
        SettingValue::Text(text) => Value::Text(text.clone().into()),
        SettingValue::Flag(flag) => Value::Flag(*flag),
        SettingValue::Count(word, n) => Value::Count(word.clone().into(), *n),
    }
}

/// The path of transfers that this group spawns has a shared loop.
pub(super) fn transfers_cannot_share(
    scenario: &Scenario,
    group: &FlowGroup,
    entry: &str,
    relay: &str,
) -> Fault {
    let name = &group.name;
    let message = format!("transfers of \"{}\" cannot share the loop that begins at \"{relay}\"", name.value);
    let fault = scenario.fault(name.place, message, "spawned during the run");
    fault.help(format!(
        "the flows of a shared loop must exist from the beginning. Give these flows an entry without aggregate, \
         [protocols.own] with protocol = \"{entry}\", or use flows of a given size instead of transfers"
    ))
}

/// The header of the protocol, which grows with the path, and the overhead leave no room for data.
pub(super) fn no_room_for_header(scenario: &Scenario, group: &FlowGroup, header: Bytes) -> Fault {
    let message = format!(
        "packets of {} have no room for data: the header on this path takes {header}, and overhead is {}",
        group.packet, group.overhead
    );
    scenario.fault(group.name.place, message, "increase `packet` of these flows")
}

/// Acknowledgements of this group have no path.
pub(super) fn no_return_path(scenario: &Scenario, group: &FlowGroup) -> Fault {
    let message = format!("no return path for the acknowledgements of \"{}\"", group.name.value);
    scenario.fault(group.name.place, message, "its path has a link without a reverse direction")
}
