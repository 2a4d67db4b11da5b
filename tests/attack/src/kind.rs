//! Kinds of scenarios, each with numbers of its own.

use clap::ValueEnum;
use std::fmt;

/// What the generator draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Networks of a few links; one protocol or two.
    General,
    /// Leaf-spine networks and fat trees, with paths between random hosts.
    DataCentres,
    /// Paths in loops of several protocols, which several entries share.
    Loops,
}

impl fmt::Display for Kind {
    /// As the option has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
