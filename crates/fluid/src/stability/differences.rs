//! Differences between equal flows.
//!
//! The block of a sender stands for all flows of its class. Their sum acts on the links; a difference between them leaves the sum
//! unchanged, so that no link responds to it. Its characteristic roots are those of the senders and relays of one flow whose
//! inputs from links are constant, n - 1 times for n flows.

use super::roots::{Spectrum, rightmost_of};
use super::sender_groups::groups;
use super::system::{BlockInput, BlockOutput, Connection};
use super::{Characteristic, RootError, System};

/// The rightmost roots of the differences between the flows whose senders and relays these blocks are, without any link.
///
/// # Errors
/// [`RootError`] gives the reason.
pub fn roots_of_differences(system: &System, blocks: &[usize]) -> Result<Spectrum, RootError> {
    let place = |block: usize| blocks.iter().position(|known| *known == block);
    let within = |connection: &Connection| {
        let (from, to) = (place(connection.from.block)?, place(connection.to.block)?);
        Some(Connection {
            from: BlockOutput { block: from, ..connection.from },
            to: BlockInput { block: to, ..connection.to },
            ..*connection
        })
    };
    let alone = System {
        blocks: blocks.iter().map(|block| system.blocks[*block].clone()).collect(),
        connections: system.connections.iter().filter_map(within).collect(),
    };
    rightmost_of(&Characteristic::new(&alone))
}

/// The blocks of senders and relays that are connected without a link, for each group of them.
#[must_use]
pub fn groups_without_links(system: &System) -> Vec<Vec<usize>> {
    groups(system).into_iter().map(|group| group.blocks).collect()
}
