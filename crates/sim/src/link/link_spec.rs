//! What a link is to be, and its construction.

use super::laws::{Laws, Seat};
use super::{
    Link, LossState, Order, Propagation, Rates, Rest, Ring, Scheduler, Service, Special, Stepping, Wire,
};
use crate::schedule::{Schedule, Told};
use crate::stats::{LinkMeter, Tally};
use crate::{Loss, NodeId};
use millpond_law::{HeaderId, Link as Law, Random};
use millpond_units::{Bytes, Rate, Span};
use std::sync::Arc;

/// How much a link can hold, waiting or in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Everything.
    Unlimited,
    /// This many bytes.
    Bytes(Bytes),
    /// This many packets of whatever size.
    Packets(u64),
}

impl Buffer {
    /// Does a packet of `bytes` fit?
    #[inline]
    pub(super) fn has_room(&self, queued: usize, queued_bytes: u64, bytes: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Bytes(limit) => queued_bytes + u64::from(bytes) <= limit.get(),
            Self::Packets(limit) => (queued as u64) < *limit,
        }
    }
}

/// One direction of a link, to be built.
pub struct LinkSpec {
    /// Names its random streams and appears in results: `"L1 ->"`.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// The true rate.
    pub rate: Arc<Schedule>,
    /// The rate that laws and senders are told; none: the true one.
    pub told: Option<Arc<Schedule>>,
    /// Delay, its steps, jitter.
    pub propagation: Propagation,
    /// Random loss on the wire.
    pub loss: Option<Loss>,
    /// The buffer.
    pub buffer: Buffer,
    /// The order of service.
    pub scheduler: Scheduler,
    /// The queue law; none for plain drop-tail.
    pub queue: Option<Box<dyn Law>>,
    /// One law for each protocol present that has one.
    pub routers: Vec<(HeaderId, Box<dyn Law>)>,
}

impl LinkSpec {
    /// A first-in-first-out link of constant rate and delay, with an unlimited buffer and no law.
    pub fn plain(name: impl Into<String>, from: NodeId, to: NodeId, rate: Rate, delay: Span) -> Self {
        Self {
            name: name.into(),
            from,
            to,
            rate: Arc::new(Schedule::constant(rate)),
            told: None,
            propagation: Propagation::constant(delay),
            loss: None,
            buffer: Buffer::Unlimited,
            scheduler: Scheduler::Fifo,
            queue: None,
            routers: Vec::new(),
        }
    }

    /// Builds the link. `weights` are those of the flows, in their order.
    pub(crate) fn build(self, seed: u64, weights: &[f64]) -> Link {
        let stream = |part: &str| Random::stream(seed, &format!("link {} {part}", self.name));
        let queue = self.queue.map(|law| Seat::new(HeaderId::NONE, law, stream("queue")));
        let router = |(header, law): (HeaderId, Box<dyn Law>)| {
            Seat::new(header, law, stream(&format!("router {}", header.0)))
        };
        let laws = Laws::new(queue.into_iter().chain(self.routers.into_iter().map(router)).collect());
        let loss = self.loss.map(|loss| LossState::new(loss, stream("loss")));
        let delay = self.propagation.delay;
        let wire = Wire::new(self.propagation, stream("jitter"));
        let steps = wire.as_ref().is_some_and(Wire::reorders) || self.scheduler != Scheduler::Fifo;
        let order = match laws.judge_departures() {
            _ if steps => Order::Stepping(Stepping::new(&self.scheduler, weights)),
            true => Order::Judged(Ring::default()),
            false => Order::Known,
        };
        let is_special = wire.is_some() || loss.is_some() || !laws.is_empty() || steps;
        let rest = Rest {
            told: Told::new(self.told.unwrap_or_else(|| self.rate.clone())),
            rates: Rates::new(self.rate),
            meter: LinkMeter::default(),
            name: self.name,
        };
        Link {
            service: Service::new(),
            flight: Ring::default(),
            queued: 0,
            queued_bytes: 0,
            buffer: self.buffer,
            delay,
            tally: Tally::default(),
            special: is_special.then(|| Box::new(Special { wire, loss, laws, order })),
            rest: Box::new(rest),
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
            .field("scheduler", &self.scheduler)
            .finish_non_exhaustive()
    }
}
