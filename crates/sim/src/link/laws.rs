//! The laws of one link: its queue law, and one router law for each protocol present.

use super::law_view::{LawView, QueueCount};
use crate::packet_pool::Packet;
use millpond_endpoint::Frame;
use millpond_law::{
    Context, Ecn, Header, HeaderId, Hooks, Link as Law, PacketKind, PacketView, QueueView, Random, Verdict,
};
use millpond_units::{Bytes, Span, Time};

/// A law and its random stream.
pub(super) struct AttachedLaw {
    /// The protocol whose headers it reads; none for a queue law.
    header: HeaderId,
    law: Box<dyn Law>,
    hooks: Hooks,
    random: Random,
    next_tick: Time,
}

impl AttachedLaw {
    pub(super) fn new(header: HeaderId, law: Box<dyn Law>, random: Random) -> Self {
        let hooks = law.hooks();
        let next_tick = if hooks.tick { Time::ZERO } else { Time::NEVER };
        Self { header, law, hooks, random, next_tick }
    }

    /// The verdict of the law on a packet; [`Verdict::Keep`] if the law does not use this hook.
    #[inline(always)]
    fn apply(&mut self, hook: LawHook, now: Time, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        let cx = &mut Context { now, random: &mut self.random };
        match hook {
            LawHook::Arrival if self.hooks.arrive => self.law.arrive(cx, packet, queue),
            LawHook::Departure if self.hooks.depart => self.law.depart(cx, packet, queue),
            _ => Verdict::Keep,
        }
    }
}

/// When laws are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LawHook {
    Arrival,
    Departure,
}

/// All laws of one link.
pub(super) struct AttachedLaws {
    attached: Vec<AttachedLaw>,
    /// True if a law needs the sojourn time of the head packet at arrivals.
    sojourn: bool,
    /// True if a law holds packets back.
    release: bool,
    /// True if a law needs to know the flow of a packet.
    flow: bool,
    /// Number of packets with headers that no law here reads.
    foreign: u64,
}

impl AttachedLaws {
    pub(super) fn new(attached: Vec<AttachedLaw>) -> Self {
        let sojourn = attached.iter().any(|law| law.hooks.sojourn);
        let release = attached.iter().any(|law| law.hooks.release);
        let flow = attached.iter().any(|law| law.hooks.flow);
        Self { attached, sojourn, release, flow, foreign: 0 }
    }

    /// True if a law needs [`QueueView::head_sojourn`] at arrivals.
    #[inline]
    pub(super) fn need_sojourn(&self) -> bool {
        self.sojourn
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.attached.is_empty()
    }

    /// True if a law acts on departures.
    pub(super) fn act_on_departures(&self) -> bool {
        self.attached.iter().any(|law| law.hooks.depart || law.hooks.release)
    }

    /// When the packet at the head, of `bytes`, may be served.
    #[inline]
    pub(super) fn release(&mut self, now: Time, bytes: u32) -> Time {
        if !self.release {
            return now;
        }
        let holding = self.attached.iter_mut().filter(|law| law.hooks.release);
        holding.map(|law| law.law.release(now, Bytes::new(bytes.into()))).fold(now, Time::max)
    }

    /// The buffer has no room for a packet of `bytes`.
    #[cold]
    pub(super) fn refuse(&mut self, bytes: u32) {
        self.attached.iter_mut().for_each(|law| law.law.refuse(Bytes::new(bytes.into())));
    }

    /// Evaluates all laws for a packet. Drop has priority over Mark, and Mark over Keep.
    #[inline(always)]
    pub(super) fn apply(
        &mut self,
        hook: LawHook,
        now: Time,
        packet: &mut Packet,
        queue: &QueueView,
    ) -> LawResult {
        let mut none = None;
        let view = &mut view(packet, &mut none, self.flow);
        if hook == LawHook::Arrival {
            self.count_foreign(view.header.protocol());
        }
        self.apply_to_view(hook, now, view, queue)
    }

    /// As [`Self::apply`], for a packet that arrives at an empty queue: the results at arrival and at departure.
    #[inline(always)]
    pub(super) fn apply_both(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut queue: QueueView,
    ) -> [LawResult; 2] {
        let mut none = None;
        let view = &mut view(packet, &mut none, self.flow);
        self.count_foreign(view.header.protocol());
        let arrived = self.apply_to_view(LawHook::Arrival, now, view, &queue);
        if arrived == LawResult::Dropped {
            return [arrived; 2];
        }
        (queue.bytes, queue.link_bytes, queue.packets) = (view.bytes, view.bytes, 1);
        [arrived, self.apply_to_view(LawHook::Departure, now, view, &queue)]
    }

    #[inline(always)]
    fn apply_to_view(
        &mut self,
        hook: LawHook,
        now: Time,
        view: &mut PacketView<'_>,
        queue: &QueueView,
    ) -> LawResult {
        let verdict = match &mut self.attached[..] {
            [only] => only.apply(hook, now, view, queue),
            attached => apply_all(attached, hook, now, view, queue),
        };
        apply_verdict(verdict, view.ecn)
    }

    /// Counts a header that no law here reads.
    #[inline]
    fn count_foreign(&mut self, protocol: HeaderId) {
        if protocol != HeaderId::NONE && self.attached.last().is_none_or(|law| law.header != protocol) {
            self.foreign += u64::from(self.attached.iter().all(|law| law.header != protocol));
        }
    }

    /// Calls the laws whose control interval ends now; returns when the next one ends.
    pub(super) fn tick(&mut self, now: Time, queue: &QueueView) -> Time {
        for law in self.attached.iter_mut().filter(|law| law.next_tick <= now) {
            let next = law.law.tick(&mut Context { now, random: &mut law.random }, queue);
            // A law that requests its next tick at once would stop the simulated time.
            law.next_tick = next.map_or(Time::NEVER, |next| next.max(now + Span::from_picos(1)));
        }
        self.next_tick()
    }

    /// When the next control interval of any law ends.
    pub(super) fn next_tick(&self) -> Time {
        self.attached.iter().map(|law| law.next_tick).min().unwrap_or(Time::NEVER)
    }

    /// Number of headers that no law could read: of protocols without a law here, or malformed.
    pub(super) fn unread(&self) -> u64 {
        self.foreign + self.attached.iter().map(|law| law.law.unread()).sum::<u64>()
    }

    /// Each law with the protocol whose headers it reads.
    pub(super) fn views(&self) -> impl Iterator<Item = LawView<'_>> {
        self.attached.iter().map(|law| LawView { header: law.header, law: QueueCount::Single(&*law.law) })
    }
}

/// The most severe verdict of several laws.
#[inline(never)]
fn apply_all(
    attached: &mut [AttachedLaw],
    hook: LawHook,
    now: Time,
    view: &mut PacketView<'_>,
    queue: &QueueView,
) -> Verdict {
    let verdicts = attached.iter_mut().map(|law| law.apply(hook, now, view, queue));
    verdicts.fold(Verdict::Keep, Verdict::max)
}

/// A packet as laws see it, with the number of its flow if `identified`. In an acknowledgement they see an empty header, so
/// that they cannot change the echo.
#[inline(always)]
pub(super) fn view<'a>(
    packet: &'a mut Packet,
    none: &'a mut Option<Header>,
    identified: bool,
) -> PacketView<'a> {
    let flow = if identified { packet.flow } else { 0 };
    let (bytes, kind, ecn, header) = match &mut packet.frame {
        Frame::Data(segment) => (segment.bytes, PacketKind::Data, &mut segment.ecn, &mut segment.header),
        Frame::Ack(ack) => (ack.bytes, PacketKind::Ack, &mut packet.ack_ecn, none.insert(Header::NONE)),
    };
    PacketView { bytes: Bytes::new(bytes.into()), kind, flow, ecn, header }
}

/// Applies a verdict: sets the CE mark, or returns that the packet is dropped.
#[inline]
pub(super) fn apply_verdict(verdict: Verdict, ecn: &mut Ecn) -> LawResult {
    match verdict {
        Verdict::Keep => LawResult::Forwarded,
        Verdict::Mark if ecn.is_capable() => {
            *ecn = Ecn::Ce;
            LawResult::Marked
        }
        Verdict::Mark | Verdict::Drop => LawResult::Dropped,
    }
}

/// Result of the laws for a packet; of several, the greatest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LawResult {
    Forwarded,
    Marked,
    Dropped,
}
