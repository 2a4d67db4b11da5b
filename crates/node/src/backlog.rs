//! What a node holds for one loop: a queue for each stream, served by start-time fair queueing, one packet at a time.

use crate::weight::Weight;
use bytes::Bytes;
use millpond_units::{Span, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The data of one stream that has not been given to the library.
#[derive(Debug, Default)]
struct StreamQueue {
    /// The connection from which the data comes; none: a local socket.
    source: Option<u32>,
    weight: Weight,
    /// Virtual start time of its next piece.
    start: u64,
    /// Its place in the schedule, while it has data or its end to send.
    turn: Option<Turn>,
    chunks: VecDeque<(Time, Bytes)>,
    bytes: usize,
    /// The library refused more data: the peer grants no credit.
    is_blocked: bool,
    is_finished: bool,
}

/// How long data was held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HoldTimes {
    /// The longest.
    pub longest: Span,
    /// Seconds times bytes, for the mean.
    pub byte_seconds: f64,
    /// Bytes that left.
    pub bytes: u64,
}

/// A place in the schedule: the virtual start time of the stream's next piece; among equals, the order in which they
/// entered the schedule; the stream.
type Turn = (u64, u64, u64);

/// What the streams with data from one source hold, or all streams together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes.
    pub bytes: usize,
    /// Streams with data.
    pub streams: usize,
    /// The sum of their weights, in hundredths.
    hundredths: u64,
}

impl Held {
    /// The sum of the weights of the streams with data.
    pub fn weight(&self) -> f64 {
        Weight::sum(self.hundredths)
    }

    /// Accounts for a stream of a weight, which held `before` bytes and now holds `after`.
    fn change(&mut self, weight: Weight, before: usize, after: usize) {
        self.bytes = self.bytes + after - before;
        let own = u64::from(weight.hundredths());
        match (before, after) {
            (0, 1..) => {
                self.streams += 1;
                self.hundredths += own;
            }
            (1.., 0) => {
                self.streams -= 1;
                self.hundredths -= own;
            }
            _ => {}
        }
    }
}

/// The send queues of one loop. Streams with data share it in proportion to their weights: start-time fair queueing (Goyal,
/// Vin and Cheng, "Start-Time Fair Queueing", 1997).
#[derive(Debug, Default)]
pub struct Backlog {
    queues: BTreeMap<u64, StreamQueue>,
    /// Streams with data or their end to send.
    schedule: BTreeSet<Turn>,
    /// Virtual time: the start of the piece that was served last.
    virtual_time: u64,
    turns: u64,
    held: Held,
    /// By source, so that a question about them does not cost time for each stream.
    by_source: BTreeMap<Option<u32>, Held>,
    times: HoldTimes,
}

impl Backlog {
    /// Adds a stream whose data comes from `source`.
    pub fn add(&mut self, stream: u64, source: Option<u32>, weight: Weight) {
        self.queues.insert(stream, StreamQueue { source, weight, ..StreamQueue::default() });
    }

    /// Changes the weight of a stream: the next piece is the first that it counts for.
    pub fn set_weight(&mut self, stream: u64, weight: Weight) {
        let Some(bytes) = self.queues.get(&stream).map(|queue| queue.bytes) else { return };
        self.account(stream, bytes, 0);
        if let Some(queue) = self.queues.get_mut(&stream) {
            queue.weight = weight;
        }
        self.account(stream, 0, bytes);
    }

    /// Removes a stream and what it holds.
    pub fn remove(&mut self, stream: u64) {
        self.leave(stream);
        let bytes = self.queues.get(&stream).map_or(0, |queue| queue.bytes);
        self.account(stream, bytes, 0);
        self.queues.remove(&stream);
    }

    /// Accounts for a stream that held `before` bytes and now holds `after`.
    fn account(&mut self, stream: u64, before: usize, after: usize) {
        let Some(queue) = self.queues.get(&stream) else { return };
        self.held.change(queue.weight, before, after);
        let source = self.by_source.entry(queue.source).or_default();
        source.change(queue.weight, before, after);
        if source.streams == 0 {
            self.by_source.remove(&queue.source);
        }
    }

    /// Puts a stream into the schedule, behind those with the same virtual start time.
    fn enter(&mut self, stream: u64) {
        self.leave(stream);
        let Some(queue) = self.queues.get_mut(&stream) else { return };
        self.turns += 1;
        queue.start = queue.start.max(self.virtual_time);
        let turn = (queue.start, self.turns, stream);
        queue.turn = Some(turn);
        self.schedule.insert(turn);
    }

    /// Takes a stream out of the schedule.
    fn leave(&mut self, stream: u64) {
        if let Some(turn) = self.queues.get_mut(&stream).and_then(|queue| queue.turn.take()) {
            self.schedule.remove(&turn);
        }
    }

    /// Appends data to a stream.
    pub fn push(&mut self, now: Time, stream: u64, data: Bytes) {
        let Some(queue) = self.queues.get_mut(&stream).filter(|_| !data.is_empty()) else { return };
        let before = queue.bytes;
        queue.bytes += data.len();
        let (after, is_scheduled) = (queue.bytes, queue.turn.is_some());
        queue.chunks.push_back((now, data));
        self.account(stream, before, after);
        if !is_scheduled {
            self.enter(stream);
        }
    }

    /// The stream ends with what it holds.
    pub fn finish(&mut self, stream: u64) {
        if let Some(queue) = self.queues.get_mut(&stream).filter(|queue| !queue.is_finished) {
            queue.is_finished = true;
            if queue.turn.is_none() {
                self.enter(stream);
            }
        }
    }

    /// The library refused data of this stream.
    pub fn on_blocked(&mut self, stream: u64) {
        if let Some(queue) = self.queues.get_mut(&stream) {
            queue.is_blocked = true;
        }
    }

    /// The library accepts data of this stream again.
    pub fn on_writable(&mut self, stream: u64) {
        if let Some(queue) = self.queues.get_mut(&stream) {
            queue.is_blocked = false;
        }
    }

    /// The stream that is served next: the one with the least virtual start time of those that have credit.
    pub fn next_stream(&mut self) -> Option<u64> {
        let is_ready = |turn: &&Turn| self.queues.get(&turn.2).is_some_and(|queue| !queue.is_blocked);
        let (start, _, stream) = *self.schedule.iter().find(is_ready)?;
        self.virtual_time = self.virtual_time.max(start);
        Some(stream)
    }

    /// At most `most` bytes of the stream from its oldest chunk; none if it holds nothing.
    pub fn front(&self, stream: u64, most: usize) -> Option<Bytes> {
        let (_, chunk) = self.queues.get(&stream)?.chunks.front()?;
        Some(chunk.slice(..chunk.len().min(most)))
    }

    /// The library has taken bytes from the oldest chunk of the stream.
    pub fn take(&mut self, now: Time, stream: u64, bytes: usize) {
        let Some(queue) = self.queues.get_mut(&stream) else { return };
        let Some((arrived_at, chunk)) = queue.chunks.front_mut() else { return };
        let (bytes, held) = (bytes.min(chunk.len()), now.since(*arrived_at));
        let _ = chunk.split_to(bytes);
        if chunk.is_empty() {
            queue.chunks.pop_front();
        }
        let before = queue.bytes;
        queue.bytes -= bytes;
        let (after, is_finished) = (queue.bytes, queue.is_finished);
        self.times.longest = self.times.longest.max(held);
        self.times.byte_seconds += held.secs() * bytes as f64;
        self.times.bytes += bytes as u64;
        queue.start = queue.start.saturating_add(queue.weight.virtual_length(bytes));
        self.account(stream, before, after);
        match after == 0 && !is_finished {
            true => self.leave(stream),
            false => self.enter(stream),
        }
    }

    /// True if the stream has ended and holds nothing; it then leaves the schedule.
    pub fn is_complete(&mut self, stream: u64) -> bool {
        let complete = self.queues.get(&stream).is_some_and(|queue| queue.is_finished && queue.bytes == 0);
        if complete {
            self.leave(stream);
        }
        complete
    }

    /// What all streams hold together.
    pub fn held(&self) -> Held {
        self.held
    }

    /// What the streams with data hold, by source; sources without data are left out.
    pub fn by_source(&self) -> &BTreeMap<Option<u32>, Held> {
        &self.by_source
    }

    /// True if a stream has data or its end to send.
    pub fn has_work(&self) -> bool {
        !self.schedule.is_empty()
    }

    /// True if all streams with data wait for credit.
    pub fn is_blocked(&self) -> bool {
        let is_blocked = |turn: &Turn| self.queues.get(&turn.2).is_some_and(|queue| queue.is_blocked);
        self.has_work() && self.schedule.iter().all(is_blocked)
    }

    /// How much more a stream may hold, if the queues together may hold `limit` bytes and each gets a part in proportion to
    /// its weight, at least `least`.
    pub fn room(&self, stream: u64, limit: usize, least: usize) -> usize {
        let Some(queue) = self.queues.get(&stream) else { return 0 };
        let own = queue.weight.value();
        let sum = self.held.weight() + if queue.bytes == 0 { own } else { 0.0 };
        let part = (limit as f64 * own / sum) as usize;
        part.max(least).saturating_sub(queue.bytes)
    }

    /// How long data was held.
    pub fn times(&self) -> HoldTimes {
        self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time::ZERO + Span::from_millis(ms);

    fn filled(streams: &[(u64, usize)]) -> Backlog {
        let mut backlog = Backlog::default();
        for (stream, bytes) in streams {
            backlog.add(*stream, None, Weight::default());
            backlog.push(MS(0), *stream, vec![0; *bytes].into());
        }
        backlog
    }

    #[test]
    fn streams_are_served_in_rotation() {
        let mut backlog = filled(&[(4, 30), (8, 10), (0, 30)]);
        let mut order = Vec::new();
        while let Some(stream) = backlog.next_stream() {
            let taken = backlog.front(stream, 10).unwrap().len();
            backlog.take(MS(1), stream, taken);
            order.push(stream);
        }
        assert_eq!(order, [4, 8, 0, 4, 0, 4, 0]);
        assert_eq!((backlog.held(), backlog.has_work()), (Held::default(), false));
    }

    #[test]
    fn streams_are_served_in_proportion_to_their_weights_while_all_have_data() {
        let weights = [(0, 1.0), (4, 2.0), (8, 0.5)];
        let mut backlog = Backlog::default();
        for (stream, weight) in weights {
            backlog.add(stream, None, Weight::new(weight).unwrap());
            backlog.push(MS(0), stream, vec![0; 100_000].into());
        }
        let mut served = BTreeMap::new();
        for turn in 0..700_usize {
            let stream = backlog.next_stream().unwrap();
            // Pieces of unequal sizes: what counts is bytes.
            let bytes = 50 + 37 * turn % 100;
            backlog.take(MS(1), stream, bytes);
            *served.entry(stream).or_insert(0.0) += bytes as f64;
        }
        let shares = weights.map(|(stream, weight)| served[&stream] / weight);
        // Start-time fair queueing: normalized service differs by at most the sum of the largest pieces over their weights.
        let most = 149.0 * (1.0 / 1.0 + 1.0 / 0.5);
        assert!((shares[0] - shares[1]).abs() <= most && (shares[0] - shares[2]).abs() <= most, "{shares:?}");
        assert!((1.0..=f64::MAX).contains(&(shares[0] / 10_000.0)), "{shares:?}: all had data");
    }

    #[test]
    fn a_stream_that_had_no_data_makes_up_for_nothing() {
        let mut backlog = filled(&[(0, 10_000)]);
        backlog.add(4, None, Weight::default());
        for _ in 0..50 {
            let stream = backlog.next_stream().unwrap();
            backlog.take(MS(1), stream, 100);
        }
        backlog.push(MS(2), 4, vec![0; 10_000].into());
        let order: Vec<u64> = std::iter::repeat_with(|| {
            let stream = backlog.next_stream().unwrap();
            backlog.take(MS(3), stream, 100);
            stream
        })
        .take(4)
        .collect();
        assert_eq!(order.iter().filter(|stream| **stream == 4).count(), 2, "{order:?}");
    }

    #[test]
    fn a_stream_without_credit_does_not_block_others() {
        let mut backlog = filled(&[(0, 10), (4, 10)]);
        backlog.on_blocked(0);
        assert_eq!(backlog.next_stream(), Some(4));
        backlog.on_blocked(4);
        assert!(backlog.is_blocked());
        backlog.on_writable(0);
        assert_eq!(backlog.next_stream(), Some(0));
    }

    #[test]
    fn the_end_of_a_stream_follows_its_data() {
        let mut backlog = filled(&[(0, 10)]);
        backlog.finish(0);
        assert!(!backlog.is_complete(0));
        backlog.take(MS(3), 0, 10);
        assert!(backlog.has_work() && backlog.is_complete(0) && !backlog.has_work());
        assert_eq!(
            backlog.times(),
            HoldTimes { longest: Span::from_millis(3), byte_seconds: 0.03, bytes: 10 }
        );
        let mut empty = Backlog::default();
        empty.add(4, None, Weight::default());
        empty.finish(4);
        assert_eq!((empty.next_stream(), empty.is_complete(4)), (Some(4), true));
    }

    #[test]
    fn the_limit_is_shared_equally() {
        let backlog = filled(&[(0, 400), (4, 100)]);
        assert_eq!([backlog.room(0, 1000, 50), backlog.room(4, 1000, 50)], [100, 400]);
        assert_eq!(backlog.room(0, 100, 50), 0);
        assert_eq!(backlog.room(9, 1000, 50), 0, "an unknown stream");
        let mut backlog = backlog;
        backlog.set_weight(0, Weight::new(4.0).unwrap());
        assert_eq!([backlog.room(0, 1000, 50), backlog.room(4, 1000, 50)], [400, 100], "by weight");
    }

    #[test]
    fn a_removed_stream_holds_nothing() {
        let mut backlog = filled(&[(0, 400), (4, 100)]);
        backlog.remove(0);
        let held = backlog.held();
        assert_eq!((held.bytes, held.streams, held.weight(), backlog.next_stream()), (100, 1, 1.0, Some(4)));
        assert_eq!(backlog.by_source().values().copied().collect::<Vec<_>>(), [held]);
        backlog.remove(4);
        assert!(backlog.by_source().is_empty() && backlog.held() == Held::default());
    }
}
