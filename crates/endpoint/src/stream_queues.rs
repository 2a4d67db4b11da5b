//! The send queues of several streams that share a sender: one queue and one credit for each, served by fair queueing.

use crate::chunk::{Chunk, RelayWait};
use crate::loop_demands::LoopDemands;
use crate::sent::StreamData;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use millpond_law::{FairScheduler, LimitedBy, Sharing};
use millpond_units::{Bytes, Rate, Span, Time};

/// A stream that shares a sender with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamConfig {
    /// Weight of its flow in fair queueing.
    pub weight: f64,
    /// The incoming loop that delivers it, numbered from 0. A loop that is itself shared delivers several streams.
    pub incoming_loop: u32,
    /// Initial flow-control limit in bytes; `u64::MAX` if the receiver is not a relay.
    pub credit: u64,
}

/// A stream without backlog that has received nothing for this long no longer counts as active. It is the usual minimum
/// of the retransmission timeout, within which a sender with data would have sent some.
const IDLE_TIMEOUT: Span = Span::from_millis(200);

/// The send queue of one stream.
#[derive(Clone, Debug)]
struct StreamQueue {
    config: StreamConfig,
    waiting: VecDeque<Chunk>,
    waited: RelayWait,
    backlog: u64,
    sent: u64,
    total: Option<u64>,
    /// True if it counts among the streams that share the sender.
    active: bool,
    /// When its last packet arrived.
    last_arrival: Time,
}

impl StreamQueue {
    fn new(config: StreamConfig) -> Self {
        Self {
            config,
            waiting: VecDeque::new(),
            waited: RelayWait::default(),
            backlog: 0,
            sent: 0,
            total: None,
            active: false,
            last_arrival: Time::ZERO,
        }
    }

    /// Length in bytes of the next data to send, or why there is none.
    fn next_payload(&self, packet: u32) -> Result<u32, LimitedBy> {
        let Some(chunk) = self.waiting.front() else { return Err(LimitedBy::Data) };
        let payload = chunk.len.min(u64::from(packet));
        let room = self.config.credit.saturating_sub(self.sent);
        if payload > room { Err(LimitedBy::Credit) } else { Ok(payload as u32) }
    }

    /// True if all data of the stream has been sent.
    fn is_finished(&self) -> bool {
        self.total == Some(self.sent)
    }
}

/// The queues of all streams. A stream takes part in scheduling while it has data that credit permits to send.
#[derive(Clone, Debug)]
pub(crate) struct StreamQueues {
    packet: u32,
    queues: Vec<StreamQueue>,
    scheduler: FairScheduler,
    /// For each incoming loop, the sum of the weights of its active streams.
    loop_weights: Vec<f64>,
    /// What each incoming loop delivers.
    demands: LoopDemands,
    /// True if those sums have changed since [`Self::changed_weight`] was last called.
    weight_changed: bool,
    next_review: Time,
    /// Position of the search for a stream without credit.
    probe_cursor: usize,
}

impl StreamQueues {
    /// Empty queues; a packet carries at most `packet` bytes of data.
    pub(crate) fn new(packet: u32, streams: Vec<StreamConfig>) -> Self {
        let loops = streams.iter().map(|stream| stream.incoming_loop as usize + 1).max().unwrap_or(0);
        Self {
            packet: packet.max(1),
            scheduler: FairScheduler::new(streams.iter().map(|stream| stream.weight)),
            queues: streams.into_iter().map(StreamQueue::new).collect(),
            loop_weights: vec![0.0; loops],
            demands: LoopDemands::new(loops),
            weight_changed: false,
            next_review: Time::ZERO,
            probe_cursor: 0,
        }
    }

    /// Adds data that a relay forwards to a stream; `last`: the stream ends with it.
    pub(crate) fn forward(&mut self, stream_id: u16, chunk: Chunk, last: bool) {
        let packet = self.packet;
        let Some(queue) = self.queues.get_mut(usize::from(stream_id)) else { return };
        let was_ready = queue.next_payload(packet).is_ok();
        queue.waiting.push_back(chunk);
        queue.backlog += chunk.len;
        if last {
            queue.total = Some(chunk.offset + chunk.len);
        }
        if !was_ready && queue.next_payload(packet).is_ok() {
            self.scheduler.activate(stream_id.into());
        }
    }

    /// Length in bytes of the next data to send, or why there is none.
    pub(crate) fn next_payload(&self) -> Result<u32, LimitedBy> {
        match self.scheduler.next_flow().and_then(|stream| self.queues.get(stream as usize)) {
            Some(queue) => queue.next_payload(self.packet),
            None if self.queues.iter().any(|queue| queue.backlog > 0) => Err(LimitedBy::Credit),
            None => Err(LimitedBy::Data),
        }
    }

    /// Removes the next data; `payload` is the result of [`Self::next_payload`].
    pub(crate) fn take(&mut self, now: Time, payload: u32) -> Option<StreamData> {
        let stream = self.scheduler.next_flow()?;
        let queue = self.queues.get_mut(stream as usize)?;
        let chunk = queue.waiting.front_mut()?;
        let data = chunk.take(now, payload, queue.total, stream as u16, &mut queue.waited);
        if chunk.len == 0 {
            queue.waiting.pop_front();
        }
        let len = u64::from(payload);
        queue.backlog -= len;
        queue.sent += len;
        if queue.backlog == 0 {
            self.demands.on_empty(queue.config.incoming_loop);
        }
        self.scheduler.serve(len, queue.next_payload(self.packet).is_ok());
        if queue.is_finished() {
            self.deactivate(stream as usize);
        }
        Some(data)
    }

    /// Raises the flow-control limit of a stream, in bytes. Returns true if it has grown.
    pub(crate) fn grant(&mut self, stream_id: u16, credit: u64) -> bool {
        let packet = self.packet;
        let Some(queue) = self.queues.get_mut(usize::from(stream_id)) else { return false };
        let (more, was_ready) = (credit > queue.config.credit, queue.next_payload(packet).is_ok());
        queue.config.credit = queue.config.credit.max(credit);
        if !was_ready && queue.next_payload(packet).is_ok() {
            self.scheduler.activate(stream_id.into());
        }
        more
    }

    /// The next stream in rotation that has data but no credit; stream 0 if there is none.
    pub(crate) fn next_without_credit(&mut self) -> u16 {
        let count = self.queues.len().max(1);
        let blocked = |index: &usize| {
            self.queues
                .get(*index)
                .is_some_and(|queue| queue.next_payload(self.packet) == Err(LimitedBy::Credit))
        };
        let found = (1..=count).map(|step| (self.probe_cursor + step) % count).find(blocked);
        self.probe_cursor = found.unwrap_or(0);
        self.probe_cursor as u16
    }

    /// Bytes of a stream that were never sent.
    pub(crate) fn backlog(&self, stream_id: u16) -> u64 {
        self.queues.get(usize::from(stream_id)).map_or(0, |queue| queue.backlog)
    }

    /// How long the data of a stream waited since relays forwarded it.
    pub(crate) fn waited(&self, stream_id: u16) -> RelayWait {
        self.queues.get(usize::from(stream_id)).map_or_else(RelayWait::default, |queue| queue.waited)
    }

    /// Bytes of a stream that were sent at least once.
    pub(crate) fn sent(&self, stream_id: u16) -> u64 {
        self.queues.get(usize::from(stream_id)).map_or(0, |queue| queue.sent)
    }

    /// Marks a stream as active because a packet of this size of it has arrived, and idle ones as inactive.
    pub(crate) fn on_arrival(&mut self, now: Time, stream_id: u16, bytes: Bytes) {
        if let Some(queue) = self.queues.get_mut(usize::from(stream_id)) {
            queue.last_arrival = now;
            self.demands.on_arrival(queue.config.incoming_loop, bytes);
            if !queue.active && !queue.is_finished() {
                queue.active = true;
                self.update_weight(usize::from(stream_id));
            }
        }
        if now >= self.next_review {
            self.next_review = now + IDLE_TIMEOUT / 4;
            let idle = |queue: &StreamQueue| {
                queue.active && queue.backlog == 0 && now.since(queue.last_arrival) > IDLE_TIMEOUT
            };
            for index in 0..self.queues.len() {
                if self.queues.get(index).is_some_and(idle) {
                    self.deactivate(index);
                }
            }
        }
    }

    /// True if the demands of the incoming loops are to be measured: [`Self::measure_demands`] follows.
    pub(crate) fn must_measure(&mut self, now: Time) -> bool {
        self.demands.is_due(now)
    }

    /// Measures the demands of the incoming loops of a sender with this rate, for packets of this size.
    pub(crate) fn measure_demands(&mut self, now: Time, rate: Rate, packet: Bytes) {
        self.demands.end_period(now, &self.loop_weights, rate.as_f64(), packet);
    }

    fn deactivate(&mut self, stream: usize) {
        if let Some(queue) = self.queues.get_mut(stream).filter(|queue| queue.active) {
            queue.active = false;
            self.update_weight(stream);
        }
    }

    /// Updates the weight of the incoming loop that delivers this stream.
    fn update_weight(&mut self, stream: usize) {
        let Some(incoming) = self.queues.get(stream).map(|queue| queue.config.incoming_loop) else { return };
        let counted =
            self.queues.iter().filter(|queue| queue.active && queue.config.incoming_loop == incoming);
        let weight = counted.map(|queue| queue.config.weight).sum();
        if let Some(slot) = self.loop_weights.get_mut(incoming as usize) {
            *slot = weight;
            self.weight_changed = true;
        }
    }

    /// The sum of the weights of all active streams, if it has changed since the last call and is positive.
    pub(crate) fn changed_weight(&mut self) -> Option<f64> {
        let weight: f64 = self.loop_weights.iter().sum();
        (core::mem::take(&mut self.weight_changed) && weight > 0.0).then_some(weight)
    }

    /// The share of a stream in the weights of all active streams, or what it would be if the stream were active.
    pub(crate) fn share(&self, stream_id: u16) -> f64 {
        let Some(queue) = self.queues.get(usize::from(stream_id)) else { return 1.0 };
        let active: f64 = self.loop_weights.iter().sum();
        let all = if queue.active { active } else { active + queue.config.weight };
        if all > 0.0 { (queue.config.weight / all).min(1.0) } else { 1.0 }
    }

    /// How the incoming loop of a stream shares the sender, which has this rate, with other incoming loops.
    pub(crate) fn sharing(&self, stream_id: u16, rate: Rate) -> Sharing {
        let Some(queue) = self.queues.get(usize::from(stream_id)) else { return Sharing::ALONE };
        let own = self.loop_weights.get(queue.config.incoming_loop as usize).copied().unwrap_or(0.0);
        let sum: f64 = self.loop_weights.iter().sum();
        if own <= 0.0 {
            return Sharing::ALONE;
        }
        let weights = || self.loop_weights.iter().copied().filter(|weight| *weight > 0.0);
        Sharing {
            members: weights().count() as u32,
            weight: own / sum,
            largest: weights().fold(own, f64::max) / sum,
            inverses: weights().map(|weight| sum / weight).sum(),
            max_min: match rate > Rate::ZERO && rate < Rate::MAX {
                true => self.demands.share(queue.config.incoming_loop, &self.loop_weights, rate.as_f64()),
                false => own / sum,
            },
        }
    }
}
