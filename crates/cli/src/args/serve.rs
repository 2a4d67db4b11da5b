//! The arguments of `millpond serve`.

use clap::Args as Arguments;
use std::path::PathBuf;

#[derive(Debug, Arguments)]
pub(crate) struct Serve {
    /// The folder whose scenarios the page lists; scenarios read no file outside of it
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The port on the loopback interface; 0: any that is free
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) port: u16,
}
