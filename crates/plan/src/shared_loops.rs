//! Which flows share a loop: those of one protocol entry that go on over the same links from a relay that says so, up to
//! the same relay or to the end, with packets of the same make.

use millpond_scenario::{DelayedAcks, FlowGroup, Hop, ProtocolEntry, Scenario};
use millpond_units::Bytes;

/// Do flows share the loop with this number (from 0) over these links?
pub(crate) fn is_shared(
    scenario: &Scenario,
    entry: Option<&ProtocolEntry>,
    number: usize,
    there: &[Hop],
) -> bool {
    let begin = there.first().map(|hop| scenario.tail(*hop));
    number > 0 && entry.zip(begin).is_some_and(|(entry, begin)| scenario.aggregates(entry, begin))
}

/// What flows must have in common.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kind {
    protocol: String,
    there: Vec<Hop>,
    packet: Bytes,
    overhead: Bytes,
    ack: Bytes,
    delayed_acks: Option<DelayedAcks>,
}

impl Kind {
    /// Of a flow of this group, under this protocol, over these links.
    pub(crate) fn of(protocol: &str, group: &FlowGroup, there: &[Hop]) -> Self {
        Self {
            protocol: protocol.to_owned(),
            there: there.to_vec(),
            packet: group.packet,
            overhead: group.overhead,
            ack: group.ack,
            delayed_acks: group.delayed_acks,
        }
    }

    /// What the shared loop of this kind is called, `before` others being there.
    pub(crate) fn name(&self, before: usize) -> String {
        format!("{} {}", self.protocol, before + 1)
    }
}
