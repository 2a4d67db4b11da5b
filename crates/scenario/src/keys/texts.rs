//! Characters that no text of a scenario may contain, because a terminal obeys them or shows other text than is written.

use crate::collector::FaultCollector;
use crate::excerpt::is_invisible;
use crate::place::Place;
use crate::tree::{Raw, TomlNode};

/// Reports each text and each key that contains a control character or a character that changes the direction of text.
pub(super) fn check(faults: &FaultCollector, node: &TomlNode) {
    match &node.value {
        Raw::Text(text) => report(faults, node.place, text),
        Raw::List(items) => items.iter().for_each(|item| check(faults, item)),
        Raw::Table(table) => {
            for (key, value) in &table.entries {
                report(faults, key.place, &key.value);
                check(faults, value);
            }
        }
        _ => {}
    }
}

fn report(faults: &FaultCollector, place: Place, text: &str) {
    let Some(found) = text.chars().find(|&c| is_invisible(c)) else { return };
    let message = format!("a text with the control character U+{:04X}", u32::from(found));
    let _: Option<()> = faults.report(place, message, "not printable", "remove the character");
}
