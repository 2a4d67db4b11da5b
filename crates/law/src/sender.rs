//! The law at a sender.

use crate::{Ack, Congestion, Context, Event, Gauge, Header, LostPacket, SpuriousLoss, Start};
use millpond_units::{Bytes, Rate, Span, Time};

/// What a sender is allowed to send until the next event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permit {
    /// Upper limit of the bytes in flight; none for a law that only paces. A window may be a fraction of a packet: the
    /// endpoint sends the whole packets that fit, and always allows one packet in flight.
    pub window: Option<Bytes>,
    /// Upper limit of the sending rate; none for a law that only limits the bytes in flight. Zero: a pause, which the law's
    /// timer ends ([`Self::wake`]).
    pub pace: Option<Rate>,
    /// How much a paced sender may send at once, at least one packet; none: one packet. The pacing rate holds on average,
    /// so that the pause after such a burst is as long as the burst is large.
    pub quantum: Option<Bytes>,
    /// Longest time between two packets of a sender that has data. If the pacer delays the data for longer, a packet
    /// without data leaves, which carries the law's header and returns feedback. None: no such packets.
    pub feedback_within: Option<Span>,
    /// What leaves when a probe timeout expires.
    pub probes: Probes,
    /// Time of the next call of [`Sender::on_timer`], unless an event changes it before.
    pub wake: Option<Time>,
}

/// What leaves when a probe timeout expires (RFC 9002, section 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Probes {
    /// Packets with data, as many and as early as the endpoint has it.
    #[default]
    Data,
    /// One packet without data, at least this long after the last packet. For a window of hardly more than a packet: no other
    /// packet brings feedback, and the timeout of RFC 9002 is hardly longer than the smoothed round-trip time after a steady
    /// time, so that each rise of a queue causes probes, which would exceed the window.
    Empty(Span),
}

impl Probes {
    /// The shortest probe timeout that they permit.
    pub fn least_timeout(self) -> Span {
        match self {
            Self::Data => Span::ZERO,
            Self::Empty(least) => least,
        }
    }
}

/// A control law at a sender. The endpoint detects acknowledgements, losses and rounds; the law computes how much may
/// be sent.
pub trait Sender: Send {
    /// The loop starts; called once, before any other event.
    fn on_start(&mut self, _cx: &mut Context<'_>, _start: &Start) {}

    /// New data was acknowledged. If one packet reports both, this call precedes [`Sender::on_congestion`].
    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack);

    /// The endpoint detected a loss, a timeout, ECN marks or persistent congestion.
    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion);

    /// A packet was declared lost; only if [`Needs::samples`](crate::Needs::samples) declares it. The calls for all packets
    /// lost at one time precede [`Sender::on_congestion`] and, if an acknowledgement reports them, [`Sender::on_ack`].
    fn on_lost_packet(&mut self, _cx: &mut Context<'_>, _lost: &LostPacket) {}

    /// A packet that had been declared lost was acknowledged. Precedes [`Sender::on_ack`].
    fn on_spurious_loss(&mut self, _cx: &mut Context<'_>, _loss: &SpuriousLoss) {}

    /// The recovery after a loss episode ends: a packet sent after the episode began was acknowledged (RFC 9002, section
    /// 7.3.2). Precedes [`Sender::on_ack`].
    fn on_recovery_end(&mut self, _cx: &mut Context<'_>) {}

    /// The sender lacked data or credit until nothing was in flight, and is about to send a packet. The permit is read
    /// after this call and before the packet leaves.
    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {}

    /// An acknowledgement without newly acknowledged packets carried this feedback. Returns true if the permit may have
    /// changed.
    fn on_update(&mut self, _cx: &mut Context<'_>, _header: &Header) -> bool {
        false
    }

    /// The capacity that is signalled to this sender has changed; only if [`Needs`](crate::Needs) declares it.
    fn on_capacity(&mut self, _cx: &mut Context<'_>, _capacity: Rate) {}

    /// The time of [`Permit::wake`] has been reached.
    fn on_timer(&mut self, _cx: &mut Context<'_>) {}

    /// A packet was sent; only if [`Needs`](crate::Needs) declares it.
    fn on_sent(&mut self, _cx: &mut Context<'_>, _bytes: Bytes, _in_flight: Bytes) {}

    /// At a relay that several loops share: the sum of the weights of the backlogged flows has changed. The endpoint
    /// reads the permit after the next event.
    fn on_weight(&mut self, _cx: &mut Context<'_>, _weight: f64) {}

    /// At a relay: the bytes of a packet arrived from the previous loop; `marked`: it carried a CE mark in that or an
    /// earlier loop. The endpoint reads the permit after the next event.
    fn on_forwarded(&mut self, _cx: &mut Context<'_>, _marked: bool) {}

    /// What may be sent now. The endpoint reads it after every event, so it must be cheap.
    fn permit(&self) -> Permit;

    /// Writes the header of a packet before it is sent; only if [`Needs`](crate::Needs) declares a header.
    fn stamp(&mut self, _cx: &mut Context<'_>, _header: &mut Header) {}

    /// Number of unreadable echoes so far, see [`crate::Unread`]; zero for a law that reads none.
    fn unread(&self) -> u64 {
        0
    }

    /// Reports internal quantities with name and unit, for plots.
    fn observe(&self, _gauge: &mut dyn Gauge) {}
}

/// Calls the function of `sender` that handles `event`.
pub fn deliver(sender: &mut dyn Sender, cx: &mut Context<'_>, event: &Event) {
    match event {
        Event::Start(start) => sender.on_start(cx, start),
        Event::Ack(ack) => sender.on_ack(cx, ack),
        Event::Congestion(congestion) => sender.on_congestion(cx, congestion),
        Event::LostPacket(lost) => sender.on_lost_packet(cx, lost),
        Event::SpuriousLoss(loss) => sender.on_spurious_loss(cx, loss),
        Event::RecoveryEnd => sender.on_recovery_end(cx),
        Event::IdleRestart => sender.on_idle_restart(cx),
        Event::Capacity(rate) => sender.on_capacity(cx, *rate),
        Event::Timer => sender.on_timer(cx),
        Event::Sent { bytes, in_flight } => sender.on_sent(cx, *bytes, *in_flight),
        Event::Weight(weight) => sender.on_weight(cx, *weight),
        Event::Forwarded { marked } => sender.on_forwarded(cx, *marked),
    }
}
