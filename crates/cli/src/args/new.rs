//! The arguments of `millpond new`.

use super::Existing;
use clap::Args as Arguments;
use std::path::PathBuf;

#[derive(Debug, Arguments)]
pub(crate) struct New {
    /// The scenario file to write
    pub(crate) file: PathBuf,
    /// The network to begin with
    #[arg(long, value_name = "NAME", default_value = "dumbbell")]
    pub(crate) template: Template,
    #[command(flatten)]
    pub(crate) existing: Existing,
}

/// A shipped scenario that needs no other file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Template {
    /// Four senders and four receivers share one link
    Dumbbell,
    /// A long flow over several links, with cross traffic at each
    ParkingLot,
    /// Two links limit different flows
    TwoBottlenecks,
    /// A flow joins a link that another one fills
    LateJoiner,
    /// Flows of two protocols share a link
    BesideCubic,
    /// Many servers answer one client at once
    Incast,
    /// A proxy divides a path over a satellite, with a protocol on each side
    SplitPath,
    /// Hosts of a data centre exchange flows of a web search
    LeafSpine,
}

impl Template {
    /// The text of the scenario file.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Dumbbell => include_str!("../../../../scenarios/dumbbell.toml"),
            Self::ParkingLot => include_str!("../../../../scenarios/parking-lot.toml"),
            Self::TwoBottlenecks => include_str!("../../../../scenarios/two-bottlenecks.toml"),
            Self::LateJoiner => include_str!("../../../../scenarios/late-joiner.toml"),
            Self::BesideCubic => include_str!("../../../../scenarios/beside-cubic.toml"),
            Self::Incast => include_str!("../../../../scenarios/incast.toml"),
            Self::SplitPath => include_str!("../../../../scenarios/split-path.toml"),
            Self::LeafSpine => include_str!("../../../../scenarios/leaf-spine.toml"),
        }
    }
}
