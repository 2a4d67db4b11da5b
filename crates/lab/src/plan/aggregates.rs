//! Which flows share a loop: those of one protocol entry that go on over the same links from a relay that says so, up to
//! the same relay or to the end, with packets of the same make.

use super::flows::Maker;
use millpond_scenario::{DelayedAcks, Fault, Hop};
use millpond_sim::{AggregateId, AggregateSpec, Builder, LoopSpec};
use millpond_units::Bytes;

/// What flows must have in common.
#[derive(Clone, Debug, PartialEq)]
struct Kind {
    protocol: String,
    there: Vec<Hop>,
    packet: Bytes,
    overhead: Bytes,
    ack: Bytes,
    delayed_acks: Option<DelayedAcks>,
}

/// The shared loops so far.
#[derive(Default)]
pub(super) struct Aggregates(Vec<(Kind, AggregateId)>);

impl Aggregates {
    /// The shared loop that a flow takes over the links `there`; `spec` makes it if this is its first flow.
    pub(super) fn join(
        &mut self,
        maker: &Maker<'_, '_>,
        there: &[Hop],
        spec: impl FnOnce() -> Result<LoopSpec, Fault>,
        builder: &mut Builder,
    ) -> Result<AggregateId, Fault> {
        let group = maker.member.group;
        let kind = Kind {
            protocol: maker.role.label.value.clone(),
            there: there.to_vec(),
            packet: group.packet,
            overhead: group.overhead,
            ack: group.ack,
            delayed_acks: group.delayed_acks,
        };
        if let Some((_, id)) = self.0.iter().find(|(other, _)| *other == kind) {
            return Ok(*id);
        }
        let name = format!("{} {}", kind.protocol, self.0.len() + 1);
        let id = builder.aggregate(AggregateSpec { name, shared: spec()? });
        self.0.push((kind, id));
        Ok(id)
    }
}
