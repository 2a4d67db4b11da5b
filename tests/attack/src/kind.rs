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

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::General, Self::DataCentres, Self::Loops];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::General => "general",
            Self::DataCentres => "data-centres",
            Self::Loops => "loops",
        })
    }
}
