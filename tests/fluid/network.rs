//! Networks of one protocol for the tests.

use millpond_fluid::{FluidNetwork, LinkId, Loop, ProtocolId};
use millpond_law::fluid::{FluidModel, FluidQueue, LoopFacts};
use millpond_law::{LinkFacts, QueueChoice, Settings, Value};
use millpond_protocols::{Registry, queues};
use millpond_units::{Bytes, Rate};

/// Packets of 1000 bytes, in bits.
pub(crate) const PACKET: f64 = 8000.0;

/// A network of one protocol.
pub(crate) struct Lab {
    pub(crate) network: FluidNetwork,
    model: Box<dyn FluidModel>,
    queue: QueueChoice,
}

impl Lab {
    pub(crate) fn new(protocol: &str, written: &[(&'static str, Value)]) -> Self {
        Self::maybe(protocol, written).expect("a fluid model")
    }

    /// None if the protocol has no fluid model.
    pub(crate) fn maybe(protocol: &str, written: &[(&'static str, Value)]) -> Option<Self> {
        let protocol = Registry::builtin().protocol(protocol).expect("a registered protocol");
        let settings =
            Settings::check(protocol.card().parameters, written.iter().cloned()).expect("settings");
        let model = protocol.fluid(&settings).expect("settings that agree")?;
        Some(Self { network: FluidNetwork::new(), model, queue: protocol.card().queue })
    }

    /// A link with its router, its buffer in packets.
    pub(crate) fn link(&mut self, name: &str, mbps: f64, buffer: f64) -> LinkId {
        let capacity = Rate::from_mbps(mbps);
        let link = self.network.link(name, capacity.as_f64(), buffer * PACKET);
        let facts = LinkFacts::fifo(capacity, None, Bytes::new(1000));
        let queue = Registry::builtin().queue(self.queue.name).expect("a registered queue");
        let written = self.queue.settings.iter().map(|(name, value)| (*name, Value::read(value)));
        let settings = queues::settings(queue, written).expect("settings of the queue");
        if let Ok(FluidQueue::Law { law, verdicts }) = queue.fluid(&settings, &facts) {
            self.network.set_queue(link, law, verdicts);
        }
        if let Some(router) = self.model.link(&facts) {
            self.network.add_router(link, ProtocolId(0), router);
        }
        link
    }

    /// A flow over some links, the delays before them in seconds.
    pub(crate) fn flow(&self, name: &str, base_rtt: f64, path: &[(LinkId, f64)]) -> Loop {
        let facts = LoopFacts {
            packet: PACKET,
            base_rtt,
            capacity: 120e6,
            hops: path.len(),
            weight: 1.0,
            chained: false,
        };
        let start = Loop::new(name, ProtocolId(0), self.model.sender(&facts), base_rtt);
        path.iter().fold(start, |l, (link, forward)| l.over(*link, *forward))
    }
}
