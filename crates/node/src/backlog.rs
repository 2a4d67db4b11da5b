//! What a node holds for one loop: a queue for each stream, served in rotation, one packet at a time.

use bytes::Bytes;
use millpond_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// The data of one stream that has not been given to the library.
#[derive(Debug, Default)]
struct StreamQueue {
    /// The connection from which the data comes; none: a local socket.
    source: Option<u32>,
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

/// The send queues of one loop. A stream receives its turn in rotation.
#[derive(Debug, Default)]
pub struct Backlog {
    queues: BTreeMap<u64, StreamQueue>,
    rotation: VecDeque<u64>,
    bytes: usize,
    times: HoldTimes,
}

impl Backlog {
    /// Adds a stream whose data comes from `source`.
    pub fn add(&mut self, stream: u64, source: Option<u32>) {
        self.queues.insert(stream, StreamQueue { source, ..StreamQueue::default() });
    }

    /// Removes a stream and what it holds.
    pub fn remove(&mut self, stream: u64) {
        if let Some(queue) = self.queues.remove(&stream) {
            self.bytes -= queue.bytes;
            self.rotation.retain(|other| *other != stream);
        }
    }

    /// Appends data to a stream.
    pub fn push(&mut self, now: Time, stream: u64, data: Bytes) {
        let Some(queue) = self.queues.get_mut(&stream).filter(|_| !data.is_empty()) else { return };
        if queue.bytes == 0 && !queue.is_finished {
            self.rotation.push_back(stream);
        }
        queue.bytes += data.len();
        self.bytes += data.len();
        queue.chunks.push_back((now, data));
    }

    /// The stream ends with what it holds.
    pub fn finish(&mut self, stream: u64) {
        if let Some(queue) = self.queues.get_mut(&stream).filter(|queue| !queue.is_finished) {
            queue.is_finished = true;
            if queue.bytes == 0 {
                self.rotation.push_back(stream);
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

    /// The stream whose turn it is, which goes to the end of the rotation.
    pub fn next_stream(&mut self) -> Option<u64> {
        let is_ready = |stream: &u64| self.queues.get(stream).is_some_and(|queue| !queue.is_blocked);
        let place = self.rotation.iter().position(is_ready)?;
        let stream = self.rotation.remove(place)?;
        self.rotation.push_back(stream);
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
        queue.bytes -= bytes;
        self.bytes -= bytes;
        self.times.longest = self.times.longest.max(held);
        self.times.byte_seconds += held.secs() * bytes as f64;
        self.times.bytes += bytes as u64;
        if queue.bytes == 0 && !queue.is_finished {
            self.rotation.retain(|other| *other != stream);
        }
    }

    /// True if the stream has ended and holds nothing; it then leaves the rotation.
    pub fn is_complete(&mut self, stream: u64) -> bool {
        let complete = self.queues.get(&stream).is_some_and(|queue| queue.is_finished && queue.bytes == 0);
        if complete {
            self.rotation.retain(|other| *other != stream);
        }
        complete
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if a stream has data or its end to send.
    pub fn has_work(&self) -> bool {
        !self.rotation.is_empty()
    }

    /// True if all streams with data wait for credit.
    pub fn is_blocked(&self) -> bool {
        let is_blocked = |stream: &u64| self.queues.get(stream).is_some_and(|queue| queue.is_blocked);
        self.has_work() && self.rotation.iter().all(is_blocked)
    }

    /// Streams that have data.
    pub fn active(&self) -> usize {
        self.with_data().count()
    }

    /// Streams with data are in the rotation, so that the many that have none cost no time.
    fn with_data(&self) -> impl Iterator<Item = &StreamQueue> {
        self.rotation.iter().filter_map(|stream| self.queues.get(stream)).filter(|queue| queue.bytes > 0)
    }

    /// Bytes and streams with data by source.
    pub fn by_source(&self) -> BTreeMap<Option<u32>, (usize, usize)> {
        let mut sums = BTreeMap::new();
        for queue in self.with_data() {
            let sum: &mut (usize, usize) = sums.entry(queue.source).or_default();
            sum.0 += queue.bytes;
            sum.1 += 1;
        }
        sums
    }

    /// How much more a stream may hold, if the queues together may hold `limit` bytes and each gets an equal part, at least
    /// `least`.
    pub fn room(&self, stream: u64, limit: usize, least: usize) -> usize {
        let Some(queue) = self.queues.get(&stream) else { return 0 };
        let streams = self.active() + usize::from(queue.bytes == 0);
        (limit / streams.max(1)).max(least).saturating_sub(queue.bytes)
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
            backlog.add(*stream, None);
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
        assert_eq!((backlog.bytes(), backlog.active(), backlog.has_work()), (0, 0, false));
    }

    #[test]
    fn a_stream_without_credit_does_not_block_others() {
        let mut backlog = filled(&[(0, 10), (4, 10)]);
        backlog.on_blocked(0);
        assert_eq!([backlog.next_stream(), backlog.next_stream()], [Some(4), Some(4)]);
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
        empty.add(4, None);
        empty.finish(4);
        assert_eq!((empty.next_stream(), empty.is_complete(4)), (Some(4), true));
    }

    #[test]
    fn the_limit_is_shared_equally() {
        let backlog = filled(&[(0, 400), (4, 100)]);
        assert_eq!([backlog.room(0, 1000, 50), backlog.room(4, 1000, 50)], [100, 400]);
        assert_eq!(backlog.room(0, 100, 50), 0);
        assert_eq!(backlog.room(9, 1000, 50), 0, "an unknown stream");
    }

    #[test]
    fn a_removed_stream_holds_nothing() {
        let mut backlog = filled(&[(0, 400), (4, 100)]);
        backlog.remove(0);
        assert_eq!((backlog.bytes(), backlog.next_stream()), (100, Some(4)));
    }
}
