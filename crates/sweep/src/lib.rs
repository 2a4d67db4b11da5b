//! Sweeps: one scenario over a grid or a sample of settings, protocols and seeds.
//!
//! ```text
//!   SweepSpec --SweepPlan::new--> cells, each with the key of its run
//!        cells that the dataset does not have --run--> SweepRecord --append--> runs.jsonl
//!                                                        all records --finish--> runs.parquet, groups.parquet
//! ```
//!
//! The order in which cells end has no influence on the finished dataset.

mod dataset;
mod error;
mod means;
mod metric;
mod plan;
mod quantity;
mod record;
mod run;
mod settings;
mod shared;
mod table;
mod values;
mod varied;

pub use dataset::Dataset;
pub use error::{Error, Refusal};
pub use means::{Mean, MeanRow, Means, means, number_without_randomness};
pub use metric::Metric;
pub use plan::{SweepCell, SweepPlan, SweepSpec};
pub use quantity::number_with_unit;
pub use record::{SweepRecord, SweepRow};
pub use run::{failed_cell, run_cell, run_cells};
pub use settings::SweepSettings;
pub use shared::Shared;
pub use varied::Varied;
