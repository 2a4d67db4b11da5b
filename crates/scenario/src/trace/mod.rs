//! Traces: the rate of a link over time, as recorded or generated.

mod generate;
mod presets;
mod process;
mod read;
mod source;
mod stats;
mod write;

pub use generate::{TraceRecipe, TraceRecipeError};
pub use presets::{LEVELS, PRESETS, Preset, preset};
pub use process::{NextRates, RatePath, RateProcess};
pub use source::TraceSource;
pub use stats::{Dropouts, OpportunityStats, Stats};

use millpond_units::{Bytes, Rate, Span, Time};

/// What one line of a Mahimahi file delivers.
pub const OPPORTUNITY: Bytes = Bytes::new(1500);

/// How a trace file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One whole number of milliseconds per line: a chance to deliver one packet of 1500 bytes.
    Mahimahi,
    /// `time_s,mbps`: from this time to the next line's, this rate in 10^6 bit/s.
    Csv,
}

/// A piecewise-constant rate of finite length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// How it was written.
    pub format: Format,
    /// When each rate begins. There is at least one, the first begins at zero, times increase strictly.
    pub steps: Vec<(Time, Rate)>,
    /// How long it lasts; longer than the last step's time.
    pub length: Span,
    /// The usual distance between two samples: a millisecond for opportunities.
    pub sampling: Span,
}
