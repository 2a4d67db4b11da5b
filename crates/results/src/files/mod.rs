//! The files of a run: a directory that appears whole or not at all, and what is in it.

mod atomic_file;
mod comparison;
mod csv;
mod directory;
#[cfg(test)]
mod documentation;
mod load;
mod parquet;
mod save;
mod table;

pub use atomic_file::{WholeFile, write_whole};
pub use comparison::ComparisonDirectory;
pub use directory::{OutputError, RunDirectory};
pub use load::{LoadError, load, scenario_of};
pub use save::{Extras, save, summary_json};
