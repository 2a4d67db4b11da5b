//! The laws that sit at one link: its queue law, and one header law for each protocol present.

use crate::packet_pool::Packet;
use millpond_endpoint::Frame;
use millpond_law::{
    Context, Ecn, Gauge, Header, HeaderId, Hooks, Kind, Link as Law, PacketView, QueueView, Random, Verdict,
};
use millpond_units::{Bytes, Span, Time};

/// A law and what it draws from.
pub(super) struct Seat {
    /// Whose headers it reads; none for a queue law.
    header: HeaderId,
    law: Box<dyn Law>,
    hooks: Hooks,
    random: Random,
    next_tick: Time,
}

impl Seat {
    pub(super) fn new(header: HeaderId, law: Box<dyn Law>, random: Random) -> Self {
        let hooks = law.hooks();
        let next_tick = if hooks.tick { Time::ZERO } else { Time::NEVER };
        Self { header, law, hooks, random, next_tick }
    }

    /// What the law says of a packet, if it wants to be asked.
    #[inline(always)]
    fn judge(
        &mut self,
        moment: Moment,
        now: Time,
        packet: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> Verdict {
        let cx = &mut Context { now, random: &mut self.random };
        match moment {
            Moment::Arrival if self.hooks.arrive => self.law.arrive(cx, packet, queue),
            Moment::Departure if self.hooks.depart => self.law.depart(cx, packet, queue),
            _ => Verdict::Keep,
        }
    }
}

/// When a packet is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Arrival,
    Departure,
}

/// All laws of one link.
pub(super) struct Laws {
    seats: Vec<Seat>,
    /// Does any of them want to know at arrivals how long the packet at the head has been here?
    sojourn: bool,
    /// Packets with headers that no law here reads.
    foreign: u64,
}

impl Laws {
    pub(super) fn new(seats: Vec<Seat>) -> Self {
        let sojourn = seats.iter().any(|seat| seat.hooks.sojourn);
        Self { seats, sojourn, foreign: 0 }
    }

    /// Does any law want to be told [`QueueView::head_sojourn`] at arrivals?
    #[inline]
    pub(super) fn want_sojourn(&self) -> bool {
        self.sojourn
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Does any law judge departures?
    pub(super) fn judge_departures(&self) -> bool {
        self.seats.iter().any(|seat| seat.hooks.depart)
    }

    /// What becomes of a packet by what the laws together say of it: Drop beats Mark beats Keep.
    #[inline(always)]
    pub(super) fn judge(
        &mut self,
        moment: Moment,
        now: Time,
        packet: &mut Packet,
        queue: &QueueView,
    ) -> Fate {
        let mut none = None;
        let view = &mut view(packet, &mut none);
        if moment == Moment::Arrival {
            self.note_foreign(view.header.protocol());
        }
        self.judge_view(moment, now, view, queue)
    }

    /// The same of a packet that arrives where none is queued and whose turn comes at once: its fates at both moments.
    #[inline(always)]
    pub(super) fn judge_both(&mut self, now: Time, packet: &mut Packet, mut queue: QueueView) -> [Fate; 2] {
        let mut none = None;
        let view = &mut view(packet, &mut none);
        self.note_foreign(view.header.protocol());
        let arrived = self.judge_view(Moment::Arrival, now, view, &queue);
        if arrived == Fate::Dropped {
            return [arrived; 2];
        }
        (queue.bytes, queue.packets) = (view.bytes, 1);
        [arrived, self.judge_view(Moment::Departure, now, view, &queue)]
    }

    #[inline(always)]
    fn judge_view(
        &mut self,
        moment: Moment,
        now: Time,
        view: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> Fate {
        let verdict = match &mut self.seats[..] {
            [alone] => alone.judge(moment, now, view, queue),
            seats => judge_all(seats, moment, now, view, queue),
        };
        carry_out(verdict, view.ecn)
    }

    /// Counts a header that no law here reads.
    #[inline]
    fn note_foreign(&mut self, protocol: HeaderId) {
        if protocol != HeaderId::NONE && self.seats.last().is_none_or(|seat| seat.header != protocol) {
            self.foreign += u64::from(self.seats.iter().all(|seat| seat.header != protocol));
        }
    }

    /// Tells the laws whose interval ends now; returns when the next one ends.
    pub(super) fn tick(&mut self, now: Time, queue: &QueueView) -> Time {
        for seat in self.seats.iter_mut().filter(|seat| seat.next_tick <= now) {
            let next = seat.law.tick(&mut Context { now, random: &mut seat.random }, queue);
            // A tick that asks for itself at once would stop time.
            seat.next_tick = next.map_or(Time::NEVER, |next| next.max(now + Span::from_picos(1)));
        }
        self.next_tick()
    }

    /// When the next interval of any law ends.
    pub(super) fn next_tick(&self) -> Time {
        self.seats.iter().map(|seat| seat.next_tick).min().unwrap_or(Time::NEVER)
    }

    /// How many headers no law read: of no law's protocol, or of one whose law could not.
    pub(super) fn unread(&self) -> u64 {
        self.foreign + self.seats.iter().map(|seat| seat.law.unread()).sum::<u64>()
    }

    pub(super) fn observe(&self, gauge: &mut dyn Gauge) {
        self.seats.iter().for_each(|seat| seat.law.observe(gauge));
    }
}

/// Of several laws the one that says the worst.
#[inline(never)]
fn judge_all(
    seats: &mut [Seat],
    moment: Moment,
    now: Time,
    view: &mut PacketView<'_>,
    queue: &QueueView,
) -> Verdict {
    let verdicts = seats.iter_mut().map(|seat| seat.judge(moment, now, view, queue));
    verdicts.fold(Verdict::Keep, Verdict::max)
}

/// A packet as laws may see it. They cannot touch the echo: what they see in an acknowledgement is an empty header.
#[inline(always)]
fn view<'a>(packet: &'a mut Packet, none: &'a mut Option<Header>) -> PacketView<'a> {
    let (bytes, kind, ecn, header) = match &mut packet.frame {
        Frame::Data(segment) => (segment.bytes, Kind::Data, &mut segment.ecn, &mut segment.header),
        Frame::Ack(ack) => (ack.bytes, Kind::Ack, &mut packet.ack_ecn, none.insert(Header::NONE)),
    };
    PacketView { bytes: Bytes::new(bytes.into()), kind, ecn, header }
}

/// Carries out a verdict: sets the CE mark, or says that the packet must go.
#[inline]
fn carry_out(verdict: Verdict, ecn: &mut Ecn) -> Fate {
    match verdict {
        Verdict::Keep => Fate::Goes,
        Verdict::Mark if ecn.is_capable() => {
            *ecn = Ecn::Ce;
            Fate::GoesMarked
        }
        Verdict::Mark | Verdict::Drop => Fate::Dropped,
    }
}

/// What becomes of a packet that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Goes,
    GoesMarked,
    Dropped,
}
