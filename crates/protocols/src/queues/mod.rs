//! Link laws without a header. Each queue is one folder.

pub mod cobalt;
pub mod codel;
pub mod droptail;
pub mod dualpi2;
mod flow_queues;
pub mod fq_codel;
pub mod fq_pie;
pub mod l4s_step;
pub mod pie;
pub mod policer;
pub mod red;
pub mod rem;
pub mod shaper;
mod token_bucket;

use millpond_law::{Queue, QueueCard, QueueChoice, SettingError, Settings, Value};
use millpond_units::nearest;

/// The key under which a scenario names one of [`QueueCard::presets`].
pub const PRESET: &str = "preset";

/// The settings of a queue: its defaults, overridden by the preset that the scenario names, overridden by the
/// scenario's own values.
pub fn settings<'a>(
    queue: &dyn Queue,
    written: impl IntoIterator<Item = (&'a str, Value)>,
) -> Result<Settings, SettingError> {
    let card = queue.card();
    let (presets, own): (Vec<_>, Vec<_>) = written.into_iter().partition(|(name, _)| *name == PRESET);
    let mut all: Vec<(&'a str, Value)> = Vec::new();
    for (_, name) in &presets {
        all.extend(preset(card, name)?.iter().cloned());
    }
    Settings::check(card.parameters, all.into_iter().chain(own))
}

/// The queue settings that a protocol requires, in the form of a scenario, for [`settings`].
pub fn expected(choice: &QueueChoice) -> impl Iterator<Item = (&'static str, Value)> {
    choice.settings.iter().map(|(name, text)| (*name, Value::read(text)))
}

/// The settings of the preset called `name`.
fn preset(card: &QueueCard, name: &Value) -> Result<&'static [(&'static str, Value)], SettingError> {
    let Value::Text(text) = name else {
        return Err(SettingError::new(PRESET, format!("expected the name of a preset, found {name}")));
    };
    let known = || card.presets.iter().map(|(known, _)| *known);
    let found = card.presets.iter().find(|(known, _)| known == text).map(|(_, settings)| *settings);
    found.ok_or_else(|| SettingError {
        nearest: nearest(text, known()).map(str::to_owned),
        ..SettingError::new(PRESET, format!("\"{}\" has {}, found {name}", card.name, listed(known())))
    })
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("\"{name}\"")).collect();
    if names.is_empty() { "no presets".into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_scenario_override_the_preset() {
        let written = [("max_th", Value::text("120KB")), (PRESET, Value::text("dctcp-step"))];
        let settings = settings(&red::Red, written).unwrap();
        let written: Vec<_> =
            settings.written().filter(|(name, _)| ["max_th", "shape"].contains(name)).collect();
        assert_eq!(written, [("max_th", &Value::text("120KB")), ("shape", &Value::text("step"))]);
    }

    #[test]
    fn an_unknown_preset_is_rejected_with_the_nearest_name() {
        let fault = |queue: &dyn Queue, name| settings(queue, [(PRESET, name)]).unwrap_err().to_string();
        assert!(fault(&red::Red, Value::text("dctcp-stp")).ends_with("(did you mean \"dctcp-step\"?)"));
        assert!(fault(&red::Red, Value::Number(3.0)).contains("expected the name of a preset, found 3"));
        assert!(fault(&droptail::DropTail, Value::text("lgcc")).contains("has no presets"));
    }
}
