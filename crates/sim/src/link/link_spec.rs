//! Specification and construction of links.

use super::channel::Channel;
use super::laws::{AttachedLaw, AttachedLaws};
use super::loss::LossState;
use super::medium::Medium;
use super::propagation::VariableDelay;
use super::waiting::{InternalQueues, Waiting};
use super::{
    ColdState, LazyServer, Link, LinkLayer, Propagation, Rates, Ring, Service, ServiceMode, Special,
};
use crate::processing::{Processing, Processor};
use crate::schedule::{ConfiguredCapacity, Schedule};
use crate::stats::{HotCounters, LinkMeter};
use crate::{Loss, NodeId};
use millpond_law::{HeaderId, Link as Law, QueueLaw, QueuedFlow, Random};
use millpond_units::{Bytes, Rate, Span};
use std::sync::Arc;

/// Capacity of a link's buffer, the packet in service included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Unlimited.
    Unlimited,
    /// A number of bytes.
    Bytes(Bytes),
    /// A number of packets.
    Packets(u64),
}

impl Buffer {
    /// Its limit in packets; the largest number without one. A link compares with both limits, which is faster than a
    /// choice between them.
    fn packet_limit(self) -> u32 {
        let Self::Packets(limit) = self else { return u32::MAX };
        u32::try_from(limit).unwrap_or(u32::MAX)
    }

    /// Its limit in bytes; the largest number without one.
    fn byte_limit(self) -> u64 {
        if let Self::Bytes(limit) = self { limit.get() } else { u64::MAX }
    }
}

/// Specification of one direction of a link.
pub struct LinkSpec {
    /// Name; seeds its random streams and appears in results: `"L1 ->"`.
    pub name: String,
    /// The node where it begins.
    pub from: NodeId,
    /// The node where it ends.
    pub to: NodeId,
    /// The rate of its server.
    pub rate: Arc<Schedule>,
    /// The capacity that laws and senders receive; none: `rate`.
    pub configured_capacity: Option<Arc<Schedule>>,
    /// Propagation delay.
    pub propagation: Propagation,
    /// Random loss, after service.
    pub loss: Option<Loss>,
    /// How its medium is shared, and what becomes of errors on it.
    pub link_layer: Option<LinkLayer>,
    /// The buffer.
    pub buffer: Buffer,
    /// The processing time of the router before it, for packets that come from another link.
    pub processing: Processing,
    /// The queue law; one with several internal queues determines the order of service, too.
    pub queue: QueueLaw,
    /// The router laws, one for each protocol present that has one.
    pub routers: Vec<(HeaderId, Box<dyn Law>)>,
}

impl LinkSpec {
    /// A FIFO link of constant rate and delay, with an unlimited buffer and no law.
    pub fn plain(name: impl Into<String>, from: NodeId, to: NodeId, rate: Rate, delay: Span) -> Self {
        Self {
            name: name.into(),
            from,
            to,
            rate: Arc::new(Schedule::constant(rate)),
            configured_capacity: None,
            propagation: Propagation::constant(delay),
            loss: None,
            link_layer: None,
            buffer: Buffer::Unlimited,
            processing: Processing::Immediate,
            queue: QueueLaw::DropTail,
            routers: Vec::new(),
        }
    }

    /// The router before the link.
    pub(crate) fn router(&self, seed: u64) -> Processor {
        Processor::new(self.processing, Random::stream(seed, &format!("link {} processing", self.name)))
    }

    /// Builds the link. `flows`: all flows, in their order.
    pub(crate) fn build(self, seed: u64, flows: &[QueuedFlow]) -> Link {
        let stream = |part: &str| Random::stream(seed, &format!("link {} {part}", self.name));
        let (queue, waiting) = match self.queue {
            QueueLaw::DropTail => (None, Waiting::Fifo(Ring::default())),
            QueueLaw::Single(law) => {
                let law = AttachedLaw::new(HeaderId::NONE, law, stream("queue"));
                (Some(law), Waiting::Fifo(Ring::default()))
            }
            QueueLaw::Multi(law) => {
                let mut queues = InternalQueues::new(law, stream("queue"));
                flows.iter().for_each(|flow| queues.add_flow(*flow));
                (None, Waiting::Several(Box::new(queues)))
            }
        };
        let router = |(header, law): (HeaderId, Box<dyn Law>)| {
            AttachedLaw::new(header, law, stream(&format!("router {}", header.0)))
        };
        let laws = AttachedLaws::new(queue.into_iter().chain(self.routers.into_iter().map(router)).collect());
        let loss = self.loss.map(|loss| LossState::new(loss, stream("loss")));
        let medium = self.link_layer.map(|layer| Medium::new(layer, stream("medium")));
        let delay = self.propagation.delay;
        let channel = Channel::new(VariableDelay::new(self.propagation, stream("jitter")), loss, medium);
        let has_queues = matches!(waiting, Waiting::Several(_));
        let mode = match laws.act_on_departures() || has_queues {
            true => ServiceMode::LazyDequeue,
            false => ServiceMode::Precomputed,
        };
        let server = LazyServer::default();
        let is_special = channel.is_some() || !laws.is_empty() || has_queues;
        let cold = ColdState {
            configured_capacity: ConfiguredCapacity::new(self.configured_capacity, &self.rate),
            rates: Rates::new(self.rate),
            meter: LinkMeter::default(),
            name: self.name,
        };
        Link {
            service: Service::new(),
            pipeline: Ring::default(),
            queued: 0,
            queued_bytes: 0,
            packet_limit: self.buffer.packet_limit(),
            byte_limit: self.buffer.byte_limit(),
            delay,
            hot: HotCounters::default(),
            special: is_special.then(|| Box::new(Special { channel, laws, waiting, mode, server })),
            cold: Box::new(cold),
        }
    }
}

impl std::fmt::Debug for LinkSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinkSpec")
            .field("name", &self.name)
            .field("rate", &self.rate)
            .field("propagation", &self.propagation)
            .field("loss", &self.loss)
            .field("buffer", &self.buffer)
            .finish_non_exhaustive()
    }
}
