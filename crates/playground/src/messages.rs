//! What a run sends: one JSON object per line.

use crate::faults::PlacedFault;
use maud::Render;
use millpond_report::Figure;
use serde::{Deserialize, Serialize};

/// The world of a run in the playground.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PageWorld {
    Packets,
    Fluid,
}

impl PageWorld {
    /// The name in requests, messages and identifiers of figures.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Fluid => "fluid",
        }
    }
}

/// A line of the answer to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Message {
    /// The share of the run that is simulated, from 0 to 1.
    Progress { world: PageWorld, done: f64 },
    /// The results of a run, or of its beginning.
    Figures {
        world: PageWorld,
        /// The end of the simulated time in seconds, if the run goes on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        until: Option<f64>,
        /// The beginning and the end of the time in which the facts are measured, in seconds.
        measured: (f64, f64),
        figures: Vec<PageFigure>,
        facts: Vec<Fact>,
        warnings: Vec<String>,
    },
    /// The results of the theory.
    Analysis { sentence: String, figures: Vec<PageFigure>, facts: Vec<Fact> },
    /// Why there are no results of a world, or of the analysis.
    Fault {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        world: Option<PageWorld>,
        /// Whether the analysis has no result.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        analysis: bool,
        faults: Vec<PlacedFault>,
    },
    /// The end of the answer, with the elapsed time since the request.
    Done { milliseconds: u64 },
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageFigure {
    /// `rates`, `queue`, `delay`; the element's own identifier begins with the world.
    pub(crate) id: String,
    /// The heading.
    pub(crate) title: String,
    /// What it shows, in one sentence.
    pub(crate) description: String,
    /// The element.
    pub(crate) html: String,
}

impl PageFigure {
    pub(crate) fn new(id: &str, title: &str, description: &str, figure: &Figure) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            html: figure.render().into_string(),
        }
    }
}

/// A number beside the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// The same in every run: `utilization`, `queue.mean`, `goodput.GROUP`.
    pub(crate) id: String,
    /// What it is.
    pub(crate) label: String,
    /// The number, with all digits.
    pub(crate) value: f64,
    /// Its unit; empty if it has none.
    pub(crate) unit: String,
}

impl Fact {
    pub(crate) fn new(id: &str, label: &str, value: f64, unit: &str) -> Self {
        Self { id: id.to_owned(), label: label.to_owned(), value, unit: unit.to_owned() }
    }
}
