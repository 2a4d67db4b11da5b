//! Variants of protocols, written where the name of a protocol stands: `lgcc:cellular`, `lgcc:follow=share,drain=4`.

use crate::model::{ProtocolEntry, QueueSpec, Scenario, SettingValue, WrittenSetting};
use crate::place::{At, Place};
use crate::source::{Fault, Sources};
use crate::table::{SEPARATOR, is_name};
use crate::tree::{self, Raw};
use std::collections::BTreeMap;

/// The parameter that a preset, the first setting without a name, is a value of.
pub const PRESET: &str = "preset";

/// The setting that replaces the queue of the entry.
const QUEUE: &str = "queue";

const FORM: &str = "write lgcc:PRESET or lgcc:PARAMETER=VALUE,PARAMETER=VALUE. Other values belong into an entry of \
                    [protocols]";

/// The name before the settings of a variant; any other name itself.
pub fn name_without_settings(name: &str) -> &str {
    name.split_once(SEPARATOR).map_or(name, |(base, _)| base)
}

/// The items of a list of protocols that was divided at its commas: a setting belongs to the variant before it. From
/// `lgcc:follow=share`, `drain=4`, `abc` to `lgcc:follow=share,drain=4`, `abc`.
pub fn join_settings(items: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let is_setting = item.contains('=') && !item.contains(SEPARATOR);
        match names.last_mut() {
            Some(variant) if is_setting && variant.contains(SEPARATOR) => *variant += &format!(",{item}"),
            _ => names.push(item.clone()),
        }
    }
    names
}

impl Scenario {
    /// Adds the entry of [`Scenario::protocols`] that the name of a variant describes: that of the protocol before the colon,
    /// with the settings behind it. If there is an entry for the protocol with the first of these settings, it is that one
    /// with the others. Any other name, and that of an entry, leaves the scenario as it is.
    ///
    /// # Errors
    /// A variant whose settings cannot be read.
    pub fn add_variant(&mut self, name: &At<String>) -> Result<(), Fault> {
        add(&mut self.protocols, name, &self.sources)
    }
}

/// As [`Scenario::add_variant`].
pub(crate) fn add(
    protocols: &mut BTreeMap<String, ProtocolEntry>,
    name: &At<String>,
    sources: &Sources,
) -> Result<(), Fault> {
    if protocols.contains_key(&name.value) {
        return Ok(());
    }
    let Some(Variant { protocol, settings }) = parse(name, sources)? else { return Ok(()) };
    let mut entry = match nearest_entry(protocols, &name.value) {
        Some((base, entry)) => renamed(entry, base, &name.value),
        None => ProtocolEntry { protocol: protocol.clone(), ..ProtocolEntry::unconfigured(&protocol.value) },
    };
    for setting in settings {
        entry.params.retain(|other| other.name != setting.name);
        set(&mut entry, setting);
    }
    protocols.insert(name.value.clone(), entry);
    Ok(())
}

/// The entry that a variant begins with: that of the same protocol with as many of its first settings as there is one for.
fn nearest_entry<'a>(
    protocols: &'a BTreeMap<String, ProtocolEntry>,
    name: &str,
) -> Option<(&'a String, &'a ProtocolEntry)> {
    let (shorter, _) = name.rsplit_once([',', SEPARATOR])?;
    protocols.get_key_value(shorter).or_else(|| nearest_entry(protocols, shorter))
}

/// The entry `base` under another name: loops that run its own protocol run that of the new entry.
fn renamed(entry: &ProtocolEntry, base: &str, name: &str) -> ProtocolEntry {
    let mut entry = entry.clone();
    for protocol in entry.loops.values_mut().filter(|protocol| protocol.value == base) {
        name.clone_into(&mut protocol.value);
    }
    entry
}

/// Completes an entry that is written under the name of a variant: it has the protocol and the settings of its name as far as
/// it does not set them itself.
pub(crate) fn complete(entry: &mut ProtocolEntry, name: &At<String>, sources: &Sources) -> Result<(), Fault> {
    let Some(Variant { protocol, settings }) = parse(name, sources)? else { return Ok(()) };
    if entry.protocol.is_empty() {
        entry.protocol = protocol;
    }
    let is_written = |entry: &ProtocolEntry, setting: &WrittenSetting| {
        let is_queue = setting.name.value == QUEUE && entry.queue.is_some();
        is_queue || entry.params.iter().any(|other| other.name == setting.name)
    };
    for setting in settings {
        if !is_written(entry, &setting) {
            set(entry, setting);
        }
    }
    Ok(())
}

/// What the name of a variant contains.
struct Variant {
    protocol: At<String>,
    settings: Vec<WrittenSetting>,
}

/// The protocol and the settings of a variant's name; none for any other name.
fn parse(name: &At<String>, sources: &Sources) -> Result<Option<Variant>, Fault> {
    let Some((base, settings)) = name.value.split_once(SEPARATOR) else { return Ok(None) };
    let part = |start: usize, length: usize| part(name, start, length, sources);
    let mut start = base.len() + SEPARATOR.len_utf8();
    let mut written: Vec<WrittenSetting> = Vec::new();
    for text in settings.split(',') {
        let place = part(start, text.len());
        let setting = setting(text, place, written.is_empty()).ok_or_else(|| {
            let message = format!("\"{}\": a setting that cannot be read", name.value);
            sources.fault(place, message, "neither a preset nor PARAMETER=VALUE").help(FORM)
        })?;
        if written.iter().any(|other| other.name == setting.name) {
            let message = format!("\"{}\": {} is set twice", name.value, setting.name.value);
            return Err(sources.fault(place, message, "again"));
        }
        written.push(setting);
        start += text.len() + 1;
    }
    Ok(Some(Variant { protocol: At::new(base.to_owned(), part(0, base.len())), settings: written }))
}

/// `PARAMETER=VALUE`, or a preset if it is the first.
fn setting(text: &str, place: Place, is_first: bool) -> Option<WrittenSetting> {
    let Some((name, value)) = text.split_once('=') else {
        return (is_first && is_name(text)).then(|| WrittenSetting {
            name: At::new(PRESET.to_owned(), place),
            value: At::new(SettingValue::Text(text.to_owned()), place),
        });
    };
    if !is_name(name) || value.is_empty() || value.contains(['=', SEPARATOR]) {
        return None;
    }
    let [name_place, value_place] = [
        Place { end: (place.start + name.len()).min(place.end), ..place },
        Place { start: (place.start + name.len() + 1).min(place.end), ..place },
    ];
    let value = match tree::constant(value).map(|node| node.value) {
        Some(Raw::Flag(flag)) => SettingValue::Flag(flag),
        Some(Raw::Whole(number)) => SettingValue::Number(number as f64),
        Some(Raw::Number(number)) if number.is_finite() => SettingValue::Number(number),
        _ => SettingValue::Text(value.to_owned()),
    };
    Some(WrittenSetting { name: At::new(name.to_owned(), name_place), value: At::new(value, value_place) })
}

/// Adds a setting to the entry, or replaces its queue.
fn set(entry: &mut ProtocolEntry, setting: WrittenSetting) {
    match (&setting.value.value, setting.name.as_str()) {
        (SettingValue::Text(queue), QUEUE) => {
            let name = At::new(queue.clone(), setting.value.place);
            entry.queue = (queue != "default").then(|| QueueSpec { name, settings: Vec::new() });
        }
        _ => entry.params.push(setting),
    }
}

/// The place of a part of the name: all of it, if the name is not written as it is.
fn part(name: &At<String>, start: usize, length: usize, sources: &Sources) -> Place {
    let Place { text, start: from, end } = name.place;
    let written = sources.text(text).get(from..end).unwrap_or_default();
    match written.find(name.value.as_str()) {
        Some(offset) => {
            let start = from + offset + start;
            Place { text, start, end: start + length }
        }
        None => name.place,
    }
}

#[cfg(test)]
mod tests {
    use super::join_settings;
    use crate::{Disk, Scenario, SettingValue};
    use std::path::Path;

    fn read(protocol: &str) -> Result<Scenario, crate::Faults> {
        read_with(protocol, "")
    }

    fn read_with(protocol: &str, more: &str) -> Result<Scenario, crate::Faults> {
        let text = format!(
            "duration = \"1s\"\n[[links]]\nname = \"L\"\nbetween = [\"a\", \"b\"]\nrate = \"1Mbps\"\ndelay = \"1ms\"\n\
             [[flows]]\nname = \"f\"\nprotocol = {protocol}\npath = [\"a\", \"b\"]\n\
             [protocols.lgcc]\nparams = {{ drain = 4, alpha = 0.1 }}\n{more}"
        );
        Scenario::parse(&text, "s.toml", Path::new(""), &[], &Disk)
    }

    #[test]
    fn a_variant_has_the_settings_of_its_protocol_and_its_own() {
        let scenario = read("\"lgcc:cellular,drain=8,echo=x,warm=true,probe=1ms,queue=codel\"").unwrap();
        let entry = &scenario.protocols["lgcc:cellular,drain=8,echo=x,warm=true,probe=1ms,queue=codel"];
        assert_eq!(entry.protocol.value, "lgcc");
        assert_eq!(entry.queue.as_ref().unwrap().name.value, "codel");
        let params: Vec<_> =
            entry.params.iter().map(|setting| (setting.name.as_str(), &setting.value.value)).collect();
        let text = |text: &str| SettingValue::Text(text.to_owned());
        let expected = [
            ("alpha", &SettingValue::Number(0.1)),
            ("preset", &text("cellular")),
            ("drain", &SettingValue::Number(8.0)),
            ("echo", &text("x")),
            ("warm", &SettingValue::Flag(true)),
            ("probe", &text("1ms")),
        ];
        assert_eq!(params, expected);
        assert_eq!(scenario.protocols["lgcc"].params.len(), 2, "the protocol itself keeps its settings");
    }

    #[test]
    fn a_scenario_with_a_variant_is_written_and_read_again() {
        let scenario = read("\"lgcc:cellular,drain=8\"").unwrap();
        let again = Scenario::parse(&scenario.to_toml(), "again.toml", Path::new(""), &[], &Disk).unwrap();
        assert_eq!(again, scenario);
    }

    /// An entry may set what the name cannot: relays, buffers.
    #[test]
    fn an_entry_that_is_named_as_a_variant_has_the_settings_of_its_name() {
        let text =
            "[protocols.\"lgcc:cellular,drain=8,queue=codel\"]\nparams = { drain = 16, echo = \"x\" }\n";
        let scenario = read_with("\"lgcc:cellular,drain=8,queue=codel\"", text).unwrap();
        let entry = &scenario.protocols["lgcc:cellular,drain=8,queue=codel"];
        assert_eq!(entry.protocol.value, "lgcc");
        assert_eq!(entry.queue.as_ref().unwrap().name.value, "codel");
        let drain = entry.params.iter().filter(|setting| setting.name.value == "drain");
        assert_eq!(
            drain.map(|setting| &setting.value.value).collect::<Vec<_>>(),
            [&SettingValue::Number(16.0)]
        );
        assert!(entry.params.iter().any(|setting| setting.name.value == "preset"));
        assert!(
            entry.params.iter().all(|setting| setting.name.value != "alpha"),
            "[protocols.lgcc] is another entry"
        );
    }

    #[test]
    fn a_variant_begins_with_the_entry_that_has_most_of_its_settings() {
        let text = "[protocols.\"lgcc:cellular\"]\nparams = { alpha = 0.2 }\n";
        for (name, alpha) in [("lgcc:cellular,drain=8,echo=x", 0.2), ("lgcc:drain=8", 0.1)] {
            let scenario = read_with(&format!("\"{name}\""), text).unwrap();
            let params = &scenario.protocols[name].params;
            let found = params.iter().find(|setting| setting.name.value == "alpha").unwrap();
            assert_eq!(found.value.value, SettingValue::Number(alpha), "{name}");
            assert!(params.iter().any(|setting| setting.name.value == "drain"), "{name}");
        }
    }

    #[test]
    fn settings_that_cannot_be_read_are_refused_where_they_stand() {
        for (protocol, expected) in [
            ("\"lgcc:drain=4,cellular\"", "a setting that cannot be read"),
            ("\"lgcc:drain=4,drain=8\"", "drain is set twice"),
            ("\"lgcc:drain=\"", "a setting that cannot be read"),
            ("\"lgcc:a:b\"", "a setting that cannot be read"),
            ("\"lgcc:\"", "expected a protocol"),
            ("\":cellular\"", "expected a protocol"),
            ("\"lgcc/away\"", "expected a protocol"),
            ("\"lgcc:drain=4+1\"", "expected a protocol"),
        ] {
            let faults = read(protocol).unwrap_err();
            let fault = &faults.0[0];
            assert!(fault.message().contains(expected), "{protocol}: {fault}");
            assert_eq!(fault.line(), 9, "{protocol}");
        }
    }

    #[test]
    fn commas_divide_protocols_and_settings() {
        let items = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let joined = join_settings(&items("lgcc,lgcc:cellular,drain=4,echo=x,abc,xcp:alpha=1,cubic"));
        assert_eq!(joined, ["lgcc", "lgcc:cellular,drain=4,echo=x", "abc", "xcp:alpha=1", "cubic"]);
        assert_eq!(join_settings(&items("lgcc,drain=4")), ["lgcc", "drain=4"], "no variant before it");
    }
}
