//! What a sender has to send for several flows: a queue and a credit for each, and whose turn it is.

use crate::fair_scheduler::FairTurns;
use crate::send_buffer::{Chunk, Stop};
use crate::sent::Piece;
use millpond_law::Sharing;
use millpond_units::{Span, Time};
use std::collections::VecDeque;

/// One of the flows that share a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Its share of turns, relative to the others.
    pub weight: f64,
    /// Which of the incoming loops brings it, numbered from 0. A loop that is shared itself brings several.
    pub incoming: u32,
    /// How much of its stream the receiver has room for to begin with; `u64::MAX` if that is no relay.
    pub credit: u64,
}

/// A member that has sent nothing for so long, and for which nothing waits, no longer counts as one: the usual least
/// retransmission timeout, after which a sender that had something to send would have sent it.
const PATIENCE: Span = Span::from_millis(200);

/// A member's part of the send queue.
#[derive(Clone, Debug)]
struct Queue {
    member: Member,
    waiting: VecDeque<Chunk>,
    backlog: u64,
    taken: u64,
    total: Option<u64>,
    /// Does it count as one of those that share?
    joined: bool,
    /// When the last packet of it arrived.
    heard: Time,
}

impl Queue {
    fn new(member: Member) -> Self {
        Self {
            member,
            waiting: VecDeque::new(),
            backlog: 0,
            taken: 0,
            total: None,
            joined: false,
            heard: Time::ZERO,
        }
    }

    /// How long its next piece is, if it may leave.
    fn next_payload(&self, packet: u32) -> Result<u32, Stop> {
        let Some(chunk) = self.waiting.front() else { return Err(Stop::Data) };
        let payload = chunk.len.min(u64::from(packet));
        let room = self.member.credit.saturating_sub(self.taken);
        if payload > room { Err(Stop::Credit) } else { Ok(payload as u32) }
    }

    /// Nothing more will come of it.
    fn is_over(&self) -> bool {
        self.total == Some(self.taken)
    }
}

/// The queues of all members. A member takes part in turns while it has something that may leave.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    packet: u32,
    queues: Vec<Queue>,
    turns: FairTurns,
    /// For each incoming loop, the weights of its members that count.
    incoming: Vec<f64>,
    /// Those weights have changed since [`Self::renewed_weight`] was asked.
    changed: bool,
    next_review: Time,
    /// Where the search for a member without credit goes on.
    asked: usize,
}

impl Shared {
    /// Nothing waits; pieces hold at most `packet` bytes.
    pub(crate) fn new(packet: u32, members: Vec<Member>) -> Self {
        let loops = members.iter().map(|member| member.incoming as usize + 1).max().unwrap_or(0);
        Self {
            packet: packet.max(1),
            turns: FairTurns::new(members.iter().map(|member| member.weight)),
            queues: members.into_iter().map(Queue::new).collect(),
            incoming: vec![0.0; loops],
            changed: false,
            next_review: Time::ZERO,
            asked: 0,
        }
    }

    /// An earlier loop hands on a part of a member's stream; `last`: the stream ends with it.
    pub(crate) fn forward(&mut self, member: u16, chunk: Chunk, last: bool) {
        let packet = self.packet;
        let Some(queue) = self.queues.get_mut(usize::from(member)) else { return };
        let waited = queue.next_payload(packet).is_ok();
        queue.waiting.push_back(chunk);
        queue.backlog += chunk.len;
        if last {
            queue.total = Some(chunk.offset + chunk.len);
        }
        if !waited && queue.next_payload(packet).is_ok() {
            self.turns.enlist(member.into());
        }
    }

    /// How long the next piece is.
    pub(crate) fn next_payload(&self) -> Result<u32, Stop> {
        match self.turns.next().and_then(|who| self.queues.get(who as usize)) {
            Some(queue) => queue.next_payload(self.packet),
            None if self.queues.iter().any(|queue| queue.backlog > 0) => Err(Stop::Credit),
            None => Err(Stop::Data),
        }
    }

    /// Takes the next piece, as long as [`Self::next_payload`] said.
    pub(crate) fn take(&mut self, now: Time, payload: u32) -> Option<Piece> {
        let who = self.turns.next()?;
        let queue = self.queues.get_mut(who as usize)?;
        let chunk = queue.waiting.front_mut()?;
        let piece = chunk.take(now, payload, queue.total, who as u16);
        if chunk.len == 0 {
            queue.waiting.pop_front();
        }
        let len = u64::from(payload);
        queue.backlog -= len;
        queue.taken += len;
        self.turns.serve(len, queue.next_payload(self.packet).is_ok());
        if queue.is_over() {
            self.leave(who as usize);
        }
        Some(piece)
    }

    /// The receiver has room for so many bytes of a member in all; returns whether that is more than before.
    pub(crate) fn grant(&mut self, member: u16, credit: u64) -> bool {
        let packet = self.packet;
        let Some(queue) = self.queues.get_mut(usize::from(member)) else { return false };
        let (more, waited) = (credit > queue.member.credit, queue.next_payload(packet).is_ok());
        queue.member.credit = queue.member.credit.max(credit);
        if !waited && queue.next_payload(packet).is_ok() {
            self.turns.enlist(member.into());
        }
        more
    }

    /// A member that has something to send and no credit for it: each in turn, the first if there is none.
    pub(crate) fn next_without_credit(&mut self) -> u16 {
        let count = self.queues.len().max(1);
        let blocked = |index: &usize| {
            self.queues.get(*index).is_some_and(|queue| queue.next_payload(self.packet) == Err(Stop::Credit))
        };
        let found = (1..=count).map(|step| (self.asked + step) % count).find(blocked);
        self.asked = found.unwrap_or(0);
        self.asked as u16
    }

    /// Bytes of a member that wait.
    pub(crate) fn backlog(&self, member: u16) -> u64 {
        self.queues.get(usize::from(member)).map_or(0, |queue| queue.backlog)
    }

    /// Bytes of a member that were sent at least once.
    pub(crate) fn taken(&self, member: u16) -> u64 {
        self.queues.get(usize::from(member)).map_or(0, |queue| queue.taken)
    }

    /// A packet of a member has arrived: it counts from now on. Those that have long been silent no longer do.
    pub(crate) fn on_arrival(&mut self, now: Time, member: u16) {
        if let Some(queue) = self.queues.get_mut(usize::from(member)) {
            queue.heard = now;
            if !queue.joined && !queue.is_over() {
                queue.joined = true;
                self.recount(usize::from(member));
            }
        }
        if now >= self.next_review {
            self.next_review = now + PATIENCE / 4;
            let silent =
                |queue: &Queue| queue.joined && queue.backlog == 0 && now.since(queue.heard) > PATIENCE;
            for index in 0..self.queues.len() {
                if self.queues.get(index).is_some_and(silent) {
                    self.leave(index);
                }
            }
        }
    }

    fn leave(&mut self, member: usize) {
        if let Some(queue) = self.queues.get_mut(member).filter(|queue| queue.joined) {
            queue.joined = false;
            self.recount(member);
        }
    }

    /// Sums up anew the weights of the members that come with this one.
    fn recount(&mut self, member: usize) {
        let Some(incoming) = self.queues.get(member).map(|queue| queue.member.incoming) else { return };
        let counted = self.queues.iter().filter(|queue| queue.joined && queue.member.incoming == incoming);
        let weight = counted.map(|queue| queue.member.weight).sum();
        if let Some(place) = self.incoming.get_mut(incoming as usize) {
            *place = weight;
            self.changed = true;
        }
    }

    /// The weights of all that share now, if they have changed since this was last asked and any is left.
    pub(crate) fn renewed_weight(&mut self) -> Option<f64> {
        let weight: f64 = self.incoming.iter().sum();
        (std::mem::take(&mut self.changed) && weight > 0.0).then_some(weight)
    }

    /// What the loop that brings a member is to know of the others.
    pub(crate) fn sharing(&self, member: u16) -> Sharing {
        let Some(queue) = self.queues.get(usize::from(member)) else { return Sharing::ALONE };
        let own = self.incoming.get(queue.member.incoming as usize).copied().unwrap_or(0.0);
        let sum: f64 = self.incoming.iter().sum();
        if own <= 0.0 {
            return Sharing::ALONE;
        }
        let weights = || self.incoming.iter().copied().filter(|weight| *weight > 0.0);
        Sharing {
            members: weights().count() as u32,
            weight: own / sum,
            largest: weights().fold(own, f64::max) / sum,
            inverses: weights().map(|weight| sum / weight).sum(),
        }
    }
}
