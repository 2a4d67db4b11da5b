//! The files of a run: a directory that appears whole or not at all, and what is in it.

mod csv;
mod directory;
mod parquet;
mod save;
mod table;

pub use directory::{OutputError, RunDirectory, write_whole};
pub use save::{Extras, save, summary_json};
