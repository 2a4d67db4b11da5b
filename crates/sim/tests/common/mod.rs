//! Common parts of the network tests.

use millpond_endpoint::{ReceiverConfig, SenderConfig};
use millpond_law::{
    Ack, Congestion, Context, FairScheduler, FlowQueues, Needs, Permit, PlainReceiver, QueueLaw, Sender,
};
use millpond_sim::{LinkId, LoopSpec};
use millpond_units::{Bytes, Span};

pub(crate) const PACKET: Bytes = Bytes::new(1000);

/// A law with a constant window in packets.
pub(crate) struct FixedWindow(pub(crate) u64);

impl Sender for FixedWindow {
    fn on_ack(&mut self, _: &mut Context<'_>, _: &Ack) {}
    fn on_congestion(&mut self, _: &mut Context<'_>, _: &Congestion) {}
    fn permit(&self) -> Permit {
        Permit { window: Some(PACKET * self.0), ..Permit::default() }
    }
}

/// Fair queueing without a law of the queues.
pub(crate) fn fair_queueing() -> QueueLaw {
    QueueLaw::multi(FlowQueues::per_flow(FairScheduler::default(), None))
}

/// A loop over these forward and backward links.
pub(crate) fn one_loop(sender: impl Sender + 'static, there: &[LinkId], back: &[LinkId]) -> LoopSpec {
    LoopSpec {
        sender: Box::new(sender),
        receiver: Box::new(PlainReceiver),
        sender_config: SenderConfig::new(PACKET, Needs::default()),
        receiver_config: ReceiverConfig::default(),
        forward: there.to_vec(),
        backward: back.to_vec(),
        extra_delay: Span::ZERO,
        host_processing: Span::ZERO,
    }
}
