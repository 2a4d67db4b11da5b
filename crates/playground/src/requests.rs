//! What the page requests.

use crate::faults::PlacedFault;
use crate::limits;
use crate::messages::PageWorld;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A scenario as the page has it: the text, and the changes by sliders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edited {
    /// The TOML text.
    pub(crate) text: String,
    /// Changes as `--set` takes them.
    #[serde(default)]
    pub(crate) overrides: Vec<String>,
}

/// The body of `POST /api/run`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) overrides: Vec<String>,
    /// The worlds in which it runs.
    pub(crate) worlds: Vec<PageWorld>,
    /// Whether the theory is computed, too.
    #[serde(default)]
    pub(crate) analysis: bool,
    /// The width of a figure in pixels.
    #[serde(default = "usual_width")]
    pub(crate) width: u32,
}

fn usual_width() -> u32 {
    640
}

/// The body of a request.
///
/// # Errors
/// It is no such JSON.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Box<PlacedFault>> {
    serde_json::from_slice(body)
        .map_err(|error| Box::new(PlacedFault::plain(format!("the request is not valid: {error}"))))
}

/// An error if there are more overrides than the limit.
pub(crate) fn check_overrides(overrides: &[String]) -> Result<(), Box<PlacedFault>> {
    if overrides.len() <= limits::MOST_OVERRIDES {
        return Ok(());
    }
    let fault = PlacedFault::plain(format!(
        "a request with {} overrides; the limit is {}",
        overrides.len(),
        limits::MOST_OVERRIDES
    ))
    .help("write some of them into the text");
    Err(Box::new(fault))
}
