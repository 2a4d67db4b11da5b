//! Writes overrides into a scenario's text.

use crate::faults::PlacedFault;
use crate::requests::Edited;
use crate::written;
use serde::Serialize;

/// The answer to `POST /api/apply`.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Applied {
    /// The text with the overrides.
    Text { text: String },
    /// Why there is none.
    Faults { faults: Vec<PlacedFault> },
}

/// The text with the overrides; its comments stay.
pub(crate) fn answer(edited: &Edited) -> Applied {
    match applied(edited) {
        Ok(text) => Applied::Text { text },
        Err(message) => Applied::Faults { faults: vec![PlacedFault::plain(message)] },
    }
}

/// The text with the overrides.
///
/// # Errors
/// The text is no TOML, or an override names what does not exist.
pub(crate) fn applied(edited: &Edited) -> Result<String, String> {
    let mut document = written::document(&edited.text)?;
    edited.overrides.iter().try_for_each(|one| written::replace(&mut document, one))?;
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, Task};
    use crate::shipped;
    use crate::sliders::{Kind, Slider, sliders};
    use millpond_protocols::Registry;
    use millpond_scenario::Scenario;

    /// An override that changes the value of a slider.
    fn moved(slider: &Slider) -> String {
        let Slider { path, unit, .. } = slider;
        match (slider.kind, slider.value) {
            (Kind::Number, Some(value)) if slider.whole => format!("{path}={}{unit}", value + 1.0),
            (Kind::Number, Some(value)) => format!("{path}={}{unit}", (value + slider.maximum) / 2.0),
            _ => {
                let other = slider.choices.iter().find(|choice| choice.value != slider.text);
                format!("{path}={}", other.map_or(slider.text.as_str(), |choice| &choice.value))
            }
        }
    }

    fn parsed(text: &str, overrides: &[String]) -> Result<Scenario, Vec<PlacedFault>> {
        let edited = Edited { text: text.to_owned(), overrides: overrides.to_vec() };
        Job { task: Task::Check, edited, folder: std::env::temp_dir(), width: 0 }
            .scenario(&Registry::builtin())
    }

    /// Moves each slider of each shipped scenario by itself, and all together.
    #[test]
    fn overrides_written_into_a_text_mean_what_they_mean_as_overrides() {
        let registry = Registry::builtin();
        let mut valid = 0;
        for shipped in shipped::scenarios() {
            let document = written::document(&shipped.text).unwrap();
            let sliders = sliders(&document, &document, &registry);
            let mut overrides: Vec<Vec<String>> = sliders.iter().map(|slider| vec![moved(slider)]).collect();
            overrides.push(overrides.concat());
            for overrides in overrides {
                let edited = Edited { text: shipped.text.clone(), overrides: overrides.clone() };
                let text = applied(&edited).unwrap();
                match (parsed(&text, &[]), parsed(&shipped.text, &overrides)) {
                    (Ok(applied), Ok(direct)) => {
                        assert_eq!(applied, direct, "{}: {overrides:?}", shipped.name);
                        assert_ne!(direct, parsed(&shipped.text, &[]).unwrap(), "{overrides:?}");
                        valid += 1;
                    }
                    (Err(applied), Err(direct)) => {
                        let messages = |faults: &[PlacedFault]| -> Vec<String> {
                            faults.iter().map(|fault| fault.message.clone()).collect()
                        };
                        assert_eq!(messages(&applied), messages(&direct), "{}: {overrides:?}", shipped.name);
                    }
                    other => panic!("{}: {overrides:?}: {other:?}", shipped.name),
                }
                let comments = |text: &str| text.matches('#').count();
                assert_eq!(comments(&text), comments(&shipped.text), "{text}");
            }
        }
        assert!(valid > 100, "{valid}");
    }

    #[test]
    fn what_cannot_be_applied_is_a_fault() {
        let answer =
            |text: &str, change: &str| answer(&Edited { text: text.into(), overrides: vec![change.into()] });
        assert!(matches!(answer("a = ", "a=1"), Applied::Faults { .. }));
        assert!(matches!(answer("[[links]]\nname = \"L\"\n", "links.M.rate=1Mbps"), Applied::Faults { .. }));
    }
}
