//! The connections that carry one flow each.

use crate::flow::LinkId;
use std::collections::{BTreeMap, BTreeSet};

/// The connections of single flows to the next neighbour, and from which connection these flows come; none: a local socket.
#[derive(Default)]
pub(crate) struct FlowConnections {
    sources: BTreeMap<LinkId, Option<LinkId>>,
    /// Source and connection.
    by_source: BTreeSet<(LinkId, LinkId)>,
}

impl FlowConnections {
    pub(crate) fn insert(&mut self, id: LinkId, source: Option<LinkId>) {
        self.remove(id);
        self.sources.insert(id, source);
        self.by_source.extend(source.map(|source| (source, id)));
    }

    pub(crate) fn remove(&mut self, id: LinkId) {
        if let Some(Some(source)) = self.sources.remove(&id) {
            self.by_source.remove(&(source, id));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    pub(crate) fn contains(&self, id: LinkId) -> bool {
        self.sources.contains_key(&id)
    }

    /// The source of the flow of a connection, if it is that of a single flow.
    pub(crate) fn source(&self, id: LinkId) -> Option<Option<LinkId>> {
        self.sources.get(&id).copied()
    }

    /// The connections that continue the flows of `source`.
    pub(crate) fn continuing(&self, source: LinkId) -> impl Iterator<Item = LinkId> {
        self.by_source.range((source, 0)..=(source, LinkId::MAX)).map(|(_, id)| *id)
    }
}
