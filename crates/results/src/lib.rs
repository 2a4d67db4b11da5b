//! The results of a run: a [`Summary`] (the file `summary.json`), [`Series`] over time, and [`Distribution`]s.
//! Tables, files, reports and recipes are made from these types only. `docs/results.md` is the reference of the files.
//!
//! ```text
//!   Run: Summary, Series, Distributions, Transfers --files--> a directory --files::load--> Run
//!    \--metrics--> spreads, quartiles, times of convergence
//! ```

mod about;
mod comparison;
mod disturbance;
mod emulated_link;
pub mod files;
mod findings;
mod headline;
mod live;
mod machine;
pub mod metrics;
mod run;
mod summary;
mod times;
mod watch;

pub use about::{About, Finished, RunOrigin, World, shell_word};
pub use comparison::{
    Comparison, ComparisonRow, DelayEstimates, Estimate, SlowdownEstimates, TransferCounts,
};
pub use disturbance::{DisturbanceComparison, DisturbedProtocol, DisturbedRow, Indicators};
pub use emulated_link::{EmulatedDirection, EmulatedLink};
pub use findings::{findings, labelled, silence_sentences};
pub use headline::{RunHeadline, bottleneck};
pub use live::LiveFacts;
pub use machine::{Lateness, Machine};
pub use run::{Distribution, EntityKind, Run, Series, Timing, Transfer, quantity};
pub use summary::{
    Fairness, Flow, Group, Link, Loop, Milliseconds, Packets, Playback, Quartiles, Relay, Silence, Slowdown,
    Spread, Summary, TraceKey,
};
pub use times::Times;
pub use watch::{Unwatched, Watch};
