//! Queue laws under fair queueing: each flow's queue has a law of its own, as in FQ-CoDel (RFC 8290).

use super::laws::{AttachedLaw, LawHook, LawResult, apply_law};
use crate::packet_pool::Packet;
use millpond_law::{HeaderId, Link as Law, QueueView, Random};
use millpond_units::Time;

/// The queue law of each flow that has sent a packet over the link.
pub(super) struct FlowLaws {
    /// The law of a new flow.
    first: Box<dyn Law>,
    /// By the number of the flow.
    flows: Vec<Option<AttachedLaw>>,
    seed: u64,
    /// The name of the link.
    link: String,
}

impl FlowLaws {
    /// None if the law has no form for the queue of one flow ([`Law::for_flow`]).
    pub(super) fn new(law: &dyn Law, seed: u64, link: &str) -> Option<Self> {
        Some(Self { first: law.for_flow()?, flows: Vec::new(), seed, link: link.to_owned() })
    }

    /// Evaluates the law of the packet's flow; `queue` is the queue of that flow.
    pub(super) fn apply(
        &mut self,
        hook: LawHook,
        now: Time,
        packet: &mut Packet,
        queue: &QueueView,
    ) -> LawResult {
        let flow = packet.flow as usize;
        if self.flows.len() <= flow {
            self.flows.resize_with(flow + 1, || None);
        }
        if self.flows[flow].is_none() {
            let random = Random::stream(self.seed, &format!("link {} queue of flow {flow}", self.link));
            let law = self.first.for_flow();
            self.flows[flow] = law.map(|law| AttachedLaw::new(HeaderId::NONE, law, random));
        }
        match &mut self.flows[flow] {
            Some(law) => apply_law(law, hook, now, packet, queue),
            None => LawResult::Forwarded,
        }
    }

    /// Whether laws need the sojourn time of the head packet at arrivals.
    pub(super) fn need_sojourn(&self) -> bool {
        self.first.hooks().sojourn
    }
}
