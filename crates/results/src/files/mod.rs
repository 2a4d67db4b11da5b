//! The files of a run: a directory that appears whole or not at all, and what is in it.

mod comparison;
mod csv;
mod directory;
#[cfg(test)]
mod documentation;
mod load;
mod parquet;
mod save;
mod table;
mod whole;

pub use comparison::ComparisonDirectory;
pub use directory::{OutputError, RunDirectory};
pub use load::{LoadError, load, scenario_of};
pub use save::{Extras, save, summary_json};
pub use whole::{WholeFile, write_whole};
