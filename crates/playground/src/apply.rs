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
