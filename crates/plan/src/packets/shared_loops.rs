//! The loops of the simulator that several flows share.

use crate::shared_loops::SharedLoopKey;
use millpond_scenario::Fault;
use millpond_sim::{AggregateId, AggregateSpec, Builder, LoopSpec};

/// The shared loops that have been added to the network.
#[derive(Default)]
pub(super) struct SharedLoops(Vec<(SharedLoopKey, AggregateId)>);

impl SharedLoops {
    /// The shared loop of flows with this key; `spec` makes it for the first of them.
    pub(super) fn join(
        &mut self,
        key: SharedLoopKey,
        spec: impl FnOnce() -> Result<LoopSpec, Fault>,
        builder: &mut Builder,
    ) -> Result<AggregateId, Fault> {
        if let Some((_, id)) = self.0.iter().find(|(other, _)| *other == key) {
            return Ok(*id);
        }
        let name = key.name(self.0.len());
        let id = builder.aggregate(AggregateSpec { name, shared: spec()? });
        self.0.push((key, id));
        Ok(id)
    }
}
