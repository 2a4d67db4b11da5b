//! What a sender has to send: new pieces of the stream, and lost ones again.

use crate::sent::Piece;
use crate::stream_queues::{Member, Shared};
use millpond_units::{Span, Time};
use std::collections::VecDeque;

/// A part of the stream that came from an earlier loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    /// When the flow's first sender first sent it.
    pub(crate) birth: Time,
    /// How long it had waited in queues when it arrived here.
    pub(crate) queueing: Span,
    /// When it arrived here.
    pub(crate) since: Time,
    /// Did it bear a CE mark on the way here?
    pub(crate) marked: bool,
}

/// Consecutive bytes of the stream that came from an earlier loop and were not yet sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chunk {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) origin: Origin,
}

impl Chunk {
    /// Takes a piece from its beginning, which has waited until now; `total`: where its stream ends, if that is known.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, payload: u32, total: Option<u64>, member: u16) -> Piece {
        let (offset, len, origin) = (self.offset, u64::from(payload), self.origin);
        self.offset += len;
        self.len -= len;
        Piece {
            offset,
            payload,
            last: total == Some(offset + len),
            member,
            marked: origin.marked,
            birth: origin.birth,
            queueing: origin.queueing + now.since(origin.since),
        }
    }
}

/// Why a sender does not send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// There is nothing to send.
    Data,
    /// The receiver has no room.
    Credit,
    /// The window is full.
    Window,
    /// It is not yet time.
    Pace,
    /// Nothing has come back for so long that only probes may leave.
    Silence,
}

/// What earlier loops bring.
#[derive(Clone, Debug)]
enum Relayed {
    /// One stream.
    One(VecDeque<Chunk>),
    /// Several, which share this sender.
    Several(Shared),
}

/// The stream as its sender sees it. A piece that came from an earlier loop is sent as it came or in parts, never
/// joined with another, so that its birth and its queueing stay its own.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    packet: u32,
    /// None if an application supplies it, or nothing came yet.
    relayed: Option<Box<Relayed>>,
    backlog: u64,
    taken: u64,
    credit: u64,
    acked: u64,
    total: Option<u64>,
    /// Numbers of lost packets whose pieces wait to be sent again.
    lost: VecDeque<u64>,
}

impl Stream {
    /// Pieces hold at most `packet` bytes; the receiver has room for `credit` bytes to begin with.
    pub(crate) fn new(packet: u32, credit: u64) -> Self {
        Self {
            packet: packet.max(1),
            relayed: None,
            backlog: 0,
            taken: 0,
            credit,
            acked: 0,
            total: None,
            lost: VecDeque::new(),
        }
    }

    /// The streams of several flows, brought by earlier loops.
    pub(crate) fn shared(packet: u32, members: Vec<Member>) -> Self {
        let several = Relayed::Several(Shared::new(packet, members));
        Self { relayed: Some(Box::new(several)), ..Self::new(packet, u64::MAX) }
    }

    /// The application adds `bytes` to the stream.
    pub(crate) fn supply(&mut self, bytes: u64) {
        let end = self.taken.saturating_add(self.backlog);
        self.backlog += bytes.min(u64::MAX - end);
    }

    /// The application will add nothing more.
    pub(crate) fn finish(&mut self) {
        self.total = Some(self.taken.saturating_add(self.backlog));
    }

    /// The application withdraws what was never sent.
    pub(crate) fn withdraw(&mut self) {
        if let Some(Relayed::One(chunks)) = self.relayed.as_deref_mut() {
            chunks.clear();
        }
        self.backlog = 0;
        self.finish();
    }

    /// An earlier loop hands on a part of a member's stream; `last`: the stream ends with it.
    #[inline]
    pub(crate) fn forward(&mut self, member: u16, offset: u64, len: u64, last: bool, origin: Origin) {
        self.backlog += len;
        let chunk = Chunk { offset, len, origin };
        match &mut **self.relayed.get_or_insert_with(|| Box::new(Relayed::One(VecDeque::new()))) {
            Relayed::Several(shared) => return shared.forward(member, chunk, last),
            Relayed::One(chunks) => chunks.push_back(chunk),
        }
        if last {
            self.total = Some(offset + len);
        }
    }

    /// Not yet sent at all, in bytes.
    #[inline]
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog
    }

    /// Sent at least once, in bytes.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// The same of one member's stream.
    #[inline]
    pub(crate) fn backlog_of(&self, member: u16) -> u64 {
        self.members().map_or(self.backlog, |shared| shared.backlog(member))
    }

    /// The same of one member's stream.
    #[inline]
    pub(crate) fn taken_of(&self, member: u16) -> u64 {
        self.members().map_or(self.taken, |shared| shared.taken(member))
    }

    /// The flows that share it, if several do.
    #[inline]
    pub(crate) fn members(&self) -> Option<&Shared> {
        if let Some(Relayed::Several(shared)) = self.relayed.as_deref() { Some(shared) } else { None }
    }

    /// The same, to change.
    #[inline]
    pub(crate) fn members_mut(&mut self) -> Option<&mut Shared> {
        if let Some(Relayed::Several(shared)) = self.relayed.as_deref_mut() { Some(shared) } else { None }
    }

    /// Acknowledged at least once, in bytes.
    #[inline]
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }

    /// Has the whole stream been acknowledged?
    pub(crate) fn is_complete(&self) -> bool {
        self.total == Some(self.acked)
    }

    /// The receiver has room for so many bytes of a member's stream in all; returns whether that is more than before.
    #[inline]
    pub(crate) fn grant(&mut self, member: u16, credit: u64) -> bool {
        if let Some(shared) = self.members_mut() {
            return shared.grant(member, credit);
        }
        let more = credit > self.credit;
        self.credit = self.credit.max(credit);
        more
    }

    /// A piece was acknowledged for the first time.
    #[inline]
    pub(crate) fn on_acked(&mut self, payload: u32) {
        self.acked += u64::from(payload);
    }

    /// This packet's piece must be sent again.
    pub(crate) fn on_lost(&mut self, number: u64) {
        self.lost.push_back(number);
    }

    /// The first lost packet whose piece waits.
    #[inline]
    pub(crate) fn first_lost(&self) -> Option<u64> {
        self.lost.front().copied()
    }

    /// The first lost packet is dealt with.
    pub(crate) fn pop_lost(&mut self) {
        self.lost.pop_front();
    }

    /// How long the next new piece is.
    #[inline]
    pub(crate) fn next_payload(&self) -> Result<u32, Stop> {
        let available = match self.relayed.as_deref() {
            None => self.backlog,
            Some(Relayed::One(chunks)) => chunks.front().map_or(0, |chunk| chunk.len),
            Some(Relayed::Several(shared)) => return shared.next_payload(),
        };
        let payload = available.min(u64::from(self.packet));
        if payload == 0 {
            return Err(Stop::Data);
        }
        if payload > self.credit.saturating_sub(self.taken) {
            return Err(Stop::Credit);
        }
        Ok(payload as u32)
    }

    /// Takes the next new piece, as long as [`Self::next_payload`] said.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, payload: u32) -> Piece {
        let piece = match self.relayed {
            None => self.own_piece(now, payload),
            Some(_) => self.take_relayed(now, payload).unwrap_or_else(|| self.own_piece(now, payload)),
        };
        let len = u64::from(payload);
        self.backlog -= len;
        self.taken += len;
        piece
    }

    /// A piece that this stream's own application has supplied, or an empty one.
    #[inline]
    pub(crate) fn own_piece(&self, now: Time, payload: u32) -> Piece {
        let offset = self.taken;
        let last = self.total == Some(offset + u64::from(payload));
        Piece { offset, payload, last, member: 0, marked: false, birth: now, queueing: Span::ZERO }
    }

    /// Takes a piece of what earlier loops have handed on.
    #[inline(never)]
    fn take_relayed(&mut self, now: Time, payload: u32) -> Option<Piece> {
        match self.relayed.as_deref_mut()? {
            Relayed::Several(shared) => shared.take(now, payload),
            Relayed::One(chunks) => {
                let chunk = chunks.front_mut()?;
                let piece = chunk.take(now, payload, self.total, 0);
                if chunk.len == 0 {
                    chunks.pop_front();
                }
                Some(piece)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(stream: &mut Stream, now: Time) -> Option<Piece> {
        let payload = stream.next_payload().ok()?;
        Some(stream.take(now, payload))
    }

    #[test]
    fn full_pieces_then_a_shorter_last_one() {
        let mut stream = Stream::new(1000, u64::MAX);
        stream.supply(1500);
        stream.supply(1000);
        stream.finish();
        let pieces: Vec<_> = std::iter::from_fn(|| take(&mut stream, Time::ZERO)).collect();
        let shape: Vec<_> = pieces.iter().map(|piece| (piece.offset, piece.payload, piece.last)).collect();
        assert_eq!(shape, [(0, 1000, false), (1000, 1000, false), (2000, 500, true)]);
        assert_eq!(stream.next_payload(), Err(Stop::Data));
        pieces.iter().for_each(|piece| stream.on_acked(piece.payload));
        assert!(stream.is_complete());
    }

    #[test]
    fn what_is_withdrawn_is_never_sent() {
        let mut stream = Stream::new(1000, u64::MAX);
        stream.supply(u64::MAX);
        let piece = take(&mut stream, Time::ZERO).unwrap();
        stream.withdraw();
        assert_eq!((stream.next_payload(), stream.backlog()), (Err(Stop::Data), 0));
        stream.on_acked(piece.payload);
        assert!(stream.is_complete());
    }

    #[test]
    fn an_endless_stream_has_no_end() {
        let mut stream = Stream::new(1000, u64::MAX);
        stream.supply(u64::MAX);
        stream.supply(u64::MAX);
        assert!((0..100).all(|_| take(&mut stream, Time::ZERO).is_some_and(|piece| !piece.last)));
        assert!(!stream.is_complete());
    }

    #[test]
    fn credit_bounds_what_is_taken_for_the_first_time() {
        let mut stream = Stream::new(1000, 2500);
        stream.supply(5000);
        assert!(take(&mut stream, Time::ZERO).is_some() && take(&mut stream, Time::ZERO).is_some());
        assert_eq!(stream.next_payload(), Err(Stop::Credit));
        assert!(stream.grant(0, 3000) && !stream.grant(0, 3000) && !stream.grant(0, 1000));
        assert_eq!(stream.next_payload(), Ok(1000));
    }

    #[test]
    fn what_came_from_an_earlier_loop_keeps_its_birth_and_adds_its_wait() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut stream = Stream::new(600, u64::MAX);
        let origin = Origin { birth: at(1), queueing: Span::from_millis(2), since: at(10), marked: true };
        stream.forward(0, 7000, 1000, true, origin);
        let (first, second) = (take(&mut stream, at(15)).unwrap(), take(&mut stream, at(20)).unwrap());
        assert_eq!((first.offset, first.payload, first.last), (7000, 600, false));
        assert_eq!((second.offset, second.payload, second.last), (7600, 400, true));
        assert_eq!((first.birth, first.queueing, first.marked), (at(1), Span::from_millis(7), true));
        assert_eq!((second.birth, second.queueing), (at(1), Span::from_millis(12)));
    }
}
