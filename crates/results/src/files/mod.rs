//! The files of a run, in a directory that appears complete or not at all.

mod atomic_file;
mod comparison;
mod csv;
mod directory;
#[cfg(test)]
mod documentation;
mod groups;
mod load;
mod names;
mod numbers;
mod pages;
mod parquet;
mod save;
mod table;
#[cfg(test)]
mod testing;
mod texts;

pub use atomic_file::{AtomicFile, write_atomically};
pub use comparison::{ComparisonDirectory, seed_suffix};
pub use directory::{OutputError, RunDirectory};
pub use load::{LoadError, load, run_directories, scenario_of};
pub use names::SWEEP as SWEEP_FILE;
pub use parquet::bytes as parquet_bytes;
pub use save::{Extras, comparison_json, save, summary_json};
pub use table::{
    Cells, Column, NumberList, TextRun, distributions as distribution_columns, flows as transfer_columns,
};
