//! The loops of the packet world that flows share.

use super::flows::Maker;
use crate::shared_loops::Kind;
use millpond_scenario::{Fault, Hop};
use millpond_sim::{AggregateId, AggregateSpec, Builder, LoopSpec};

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
        let kind = Kind::of(&maker.role.label.value, maker.member.group, there);
        if let Some((_, id)) = self.0.iter().find(|(other, _)| *other == kind) {
            return Ok(*id);
        }
        let name = kind.name(self.0.len());
        let id = builder.aggregate(AggregateSpec { name, shared: spec()? });
        self.0.push((kind, id));
        Ok(id)
    }
}
