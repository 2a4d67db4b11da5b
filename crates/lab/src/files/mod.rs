//! The files of a run: a directory that appears whole or not at all, and what is in it.

mod comparison;
mod csv;
mod directory;
mod load;
mod parquet;
mod save;
mod table;

pub use comparison::ComparisonDirectory;
pub use directory::{OutputError, RunDirectory, write_whole};
pub use load::{LoadError, load};
pub use save::{Extras, save, summary_json};
