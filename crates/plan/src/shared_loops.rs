//! Which flows share a loop: flows that leave an aggregating relay in loops of one protocol over the same links, up to the same
//! relay or to the end, with packets and acknowledgements of the same sizes.

use millpond_scenario::{DelayedAcks, FlowGroup, Hop, ProtocolEntry, Scenario};
use millpond_units::Bytes;

/// Whether flows share loop number `number` (from 0), which takes the links of `path`.
pub(crate) fn is_shared(
    scenario: &Scenario,
    entry: Option<&ProtocolEntry>,
    number: usize,
    path: &[Hop],
) -> bool {
    let begin = path.first().map(|hop| scenario.tail(*hop));
    number > 0 && entry.zip(begin).is_some_and(|(entry, begin)| scenario.aggregates(entry, begin))
}

/// The properties that all flows of a shared loop have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedLoopKey {
    protocol: String,
    path: Vec<Hop>,
    packet: Bytes,
    overhead: Bytes,
    ack: Bytes,
    delayed_acks: Option<DelayedAcks>,
}

impl SharedLoopKey {
    /// The key of the flows of `group` in loops of this protocol on this path.
    pub(crate) fn of(protocol: &str, group: &FlowGroup, path: &[Hop]) -> Self {
        Self {
            protocol: protocol.to_owned(),
            path: path.to_vec(),
            packet: group.packet,
            overhead: group.overhead,
            ack: group.ack,
            delayed_acks: group.delayed_acks,
        }
    }

    /// The name of shared loop number `index` (from 0): `lgcc 1`.
    pub(crate) fn name(&self, index: usize) -> String {
        format!("{} {}", self.protocol, index + 1)
    }
}
