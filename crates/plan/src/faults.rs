//! Complaints about names and settings, pointing at where the scenario says them.

use millpond_law::{SettingError, Value};
use millpond_protocols::Unknown;
use millpond_scenario::{At, Fault, FlowGroup, Place, Scenario, Setting, Value as Written};
use millpond_units::nearest;

/// Nobody has this name; `entries` of the scenario would be understood as well.
pub(super) fn unknown<'a>(
    scenario: &Scenario,
    name: &At<String>,
    what: &str,
    unknown: &Unknown,
    entries: impl Iterator<Item = &'a str>,
) -> Fault {
    let entries = entries.filter(|entry| *entry != unknown.name && !unknown.known.contains(entry));
    let names: Vec<&str> = unknown.known.iter().copied().chain(entries).collect();
    let near = nearest(&unknown.name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    let fault =
        scenario.fault(name.place, format!("unknown {what} \"{}\"", unknown.name), format!("no such {what}"));
    fault.help(format!("{near}there are: {}", names.join(", ")))
}

/// A setting that cannot be; `otherwise` is pointed at if the setting was not written here.
pub(crate) fn setting(
    scenario: &Scenario,
    owner: &str,
    written: &[Setting],
    otherwise: Place,
    error: &SettingError,
) -> Fault {
    let culprit = written.iter().find(|setting| setting.name.value == error.name);
    let misspelt = error.message.starts_with("no such");
    let place = culprit.map_or(otherwise, |s| if misspelt { s.name.place } else { s.value.place });
    let fault = scenario.fault(place, format!("{owner}: {}: {}", error.name, error.message), "");
    match &error.nearest {
        Some(near) => fault.help(format!("did you mean \"{near}\"?")),
        None => fault,
    }
}

/// Settings as laws read them.
pub(super) fn written(settings: &[Setting]) -> impl Iterator<Item = (&str, Value)> {
    settings.iter().map(|setting| (setting.name.as_str(), value(&setting.value)))
}

fn value(written: &Written) -> Value {
    match written {
        Written::Number(x) => Value::Number(*x),
        Written::Text(text) => Value::Text(text.clone().into()),
        Written::Flag(flag) => Value::Flag(*flag),
        Written::Count(word, n) => Value::Count(word.clone().into(), *n),
    }
}

/// Transfers that this group spawns come to a relay from which flows share a loop.
pub(super) fn transfers_share_nothing(
    scenario: &Scenario,
    group: &FlowGroup,
    entry: &str,
    relay: &str,
) -> Fault {
    let name = &group.name;
    let message = format!("transfers of \"{}\" cannot share the loop that begins at \"{relay}\"", name.value);
    let fault = scenario.fault(name.place, message, "spawned while the run goes on");
    fault.help(format!(
        "a shared loop knows its flows from the beginning. Give these flows an entry without aggregate, \
         [protocols.own] with protocol = \"{entry}\", or flows of a size instead of transfers"
    ))
}

/// Acknowledgements of this group cannot come back.
pub(super) fn no_way_back(scenario: &Scenario, group: &FlowGroup) -> Fault {
    let message = format!("no path back for the acknowledgements of \"{}\"", group.name.value);
    scenario.fault(group.name.place, message, "its path cannot be taken backwards")
}
