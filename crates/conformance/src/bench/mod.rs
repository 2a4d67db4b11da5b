//! Test tools of several laws: packets, queues and acknowledgements at given times.

pub mod fluid;

use millpond_law::{
    Ack, Cause, Congestion, Context, Ecn, Episode, Header, LimitedBy, Link, PacketKind, PacketView, Protocol,
    QueueView, Random, Sender, Settings, Start, Value, Verdict,
};
use millpond_units::{Bytes, Rate, Span, Time};

/// Packet size of all tests: 1000 bytes.
pub const PACKET: Bytes = Bytes::new(1000);

/// Passes packets of [`PACKET`] bytes to a link law at 8 Mbit/s, one packet per millisecond.
pub struct LinkBench<L> {
    /// The law.
    pub law: L,
    random: Random,
}

impl<L: Link> LinkBench<L> {
    /// A bench for this law.
    pub fn new(law: L) -> Self {
        Self { law, random: Random::stream(1, "link") }
    }

    /// A packet arrives at a queue of `packets`.
    pub fn arrive(&mut self, now: Time, packets: u64) -> Verdict {
        self.present(now, packets, Span::ZERO, L::arrive)
    }

    /// A packet departs that has waited for `sojourn` and leaves `packets - 1` behind.
    pub fn depart(&mut self, now: Time, packets: u64, sojourn: Span) -> Verdict {
        self.present(now, packets, sojourn, L::depart)
    }

    fn present(&mut self, now: Time, packets: u64, sojourn: Span, hook: Hook<L>) -> Verdict {
        let (mut ecn, mut header) = (Ecn::Ect0, Header::NONE);
        let mut packet =
            PacketView { bytes: PACKET, kind: PacketKind::Data, flow: 0, ecn: &mut ecn, header: &mut header };
        let queue = QueueView {
            configured_capacity: Rate::from_mbps(8.0),
            bytes: PACKET * packets,
            link_bytes: PACKET * packets,
            packets,
            head_sojourn: sojourn,
        };
        hook(&mut self.law, &mut Context { now, random: &mut self.random }, &mut packet, &queue)
    }
}

type Hook<L> = fn(&mut L, &mut Context<'_>, &mut PacketView<'_>, &QueueView) -> Verdict;

/// A sender that receives acknowledgements and congestion events round by round, as from a network without a queue.
pub struct SenderBench {
    /// The law.
    pub law: Box<dyn Sender>,
    random: Random,
    /// The present time.
    pub now: Time,
    rtt: Span,
    delivered: Bytes,
    round: u64,
}

impl SenderBench {
    /// A started sender of `protocol` with some settings changed, on a path of this round-trip time.
    pub fn new(protocol: &dyn Protocol, written: &[(&'static str, Value)], rtt: Span) -> Self {
        Self::with_capacity(protocol, written, rtt, None)
    }

    /// [`Self::new`] with this capacity signalled at the start.
    pub fn with_capacity(
        protocol: &dyn Protocol,
        written: &[(&'static str, Value)],
        rtt: Span,
        capacity: Option<Rate>,
    ) -> Self {
        Self::with_start(protocol, written, rtt, &Start { capacity, ..Start::plain(PACKET) })
    }

    /// [`Self::new`] with this start.
    pub fn with_start(
        protocol: &dyn Protocol,
        written: &[(&'static str, Value)],
        rtt: Span,
        start: &Start,
    ) -> Self {
        let settings = Settings::check(protocol.card().parameters, written.iter().cloned()).unwrap();
        let mut bench = Self {
            law: protocol.sender(&settings).unwrap(),
            random: Random::stream(1, "sender"),
            now: Time::ZERO,
            rtt,
            delivered: Bytes::ZERO,
            round: 0,
        };
        bench.law.on_start(&mut Context { now: bench.now, random: &mut bench.random }, start);
        bench
    }

    /// The window in packets.
    pub fn window(&self) -> f64 {
        self.law.permit().window.unwrap().as_f64() / PACKET.as_f64()
    }

    /// Lets the sender fill the header of a packet.
    pub fn stamp(&mut self, header: &mut Header) {
        self.law.stamp(&mut Context { now: self.now, random: &mut self.random }, header);
    }

    /// The internal quantity of this name.
    pub fn gauge(&self, name: &str) -> f64 {
        let mut gauges: Vec<(&'static str, &'static str, f64)> = Vec::new();
        self.law.observe(&mut gauges);
        gauges.iter().find(|(found, ..)| *found == name).unwrap().2
    }

    /// A plain acknowledgement of one packet sent a full window ago, for [`SenderBench::ack`] to alter.
    pub fn plain(&self) -> Ack {
        let window = self.law.permit().window.unwrap_or(PACKET);
        let delivered = self.delivered + PACKET;
        Ack {
            delivered,
            prior_delivered: delivered.saturating_sub(window),
            round: self.round,
            ..Ack::plain(PACKET, self.rtt, window.saturating_sub(PACKET))
        }
    }

    /// Processes one acknowledgement.
    pub fn ack(&mut self, ack: &Ack) {
        self.delivered = ack.delivered;
        self.law.on_ack(&mut Context { now: self.now, random: &mut self.random }, ack);
    }

    /// Processes one acknowledgement that found the window unused.
    pub fn ack_with_unused_window(&mut self) {
        self.ack(&Ack { limited_by: LimitedBy::Data, ..self.plain() });
    }

    /// Acknowledges `packets` one by one within one round-trip time, then starts the next round.
    pub fn round_of(&mut self, packets: u64) {
        let gap = self.rtt / packets;
        for _ in 0..packets {
            self.now += gap;
            self.ack(&self.plain());
        }
        self.next_round();
    }

    /// Advances to the sender's wake time and calls its timer.
    pub fn wake(&mut self) {
        self.now = self.law.permit().wake.unwrap();
        self.law.on_timer(&mut Context { now: self.now, random: &mut self.random });
    }

    /// The sender lacked data until nothing was in flight, and is about to send a packet.
    pub fn restart_from_idle(&mut self) {
        self.law.on_idle_restart(&mut Context { now: self.now, random: &mut self.random });
    }

    /// Starts the next round trip: later acknowledgements belong to it.
    pub fn next_round(&mut self) {
        self.round += 1;
    }

    /// A round in which the whole window is acknowledged.
    pub fn full_round(&mut self) {
        self.round_of(self.window() as u64);
    }

    /// Reports a congestion event.
    pub fn congestion(&mut self, cause: Cause, episode: Episode) {
        let in_flight = self.law.permit().window.unwrap_or(PACKET);
        let congestion =
            Congestion { cause, episode, bytes: PACKET, in_flight, prior_in_flight: in_flight + PACKET };
        self.law.on_congestion(&mut Context { now: self.now, random: &mut self.random }, &congestion);
    }
}
