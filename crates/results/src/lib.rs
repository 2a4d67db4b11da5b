//! What a run gives: a [`Summary`] (the file `summary.json`), [`Series`] over time, and [`Distribution`]s.
//! Everything that shows results (tables, Parquet files, the report, recipes) reads these and nothing else.
//!
//! ```text
//!   Run: Summary, Series, Distributions, Transfers --files--> a directory --files::load--> Run
//!    \--metrics--> spreads, quartiles, times of convergence
//! ```

mod about;
pub mod files;
mod headline;
pub mod metrics;
mod run;
mod summary;
mod watch;

pub use about::{About, Finished, World};
pub use headline::{Headline, bottleneck};
pub use run::{Distribution, Kind, Run, Series, Timing, Transfer, quantity};
pub use summary::{Fairness, Flow, Group, Link, Milliseconds, Packets, Quartiles, Relay, Spread, Summary};
pub use watch::{Unwatched, Watch};
