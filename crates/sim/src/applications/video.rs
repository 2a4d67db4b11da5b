//! A client of adaptive video: segments of a ladder of bitrates, chosen by the buffer (BBA-0, Huang et al., "A Buffer-Based
//! Approach to Rate Adaptation", SIGCOMM 2014, section 4).

use super::requests::{RequestPath, Requests};
use super::{Application, Connections, Playback};
use crate::transfers::Transfer;
use millpond_units::{Bytes, Rate, Span, Time};

/// A video and its player.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoSettings {
    /// The bitrates, ascending; at least one.
    pub ladder: Vec<Rate>,
    /// How long a segment plays.
    pub segment: Span,
    /// The most playback time that the buffer holds.
    pub buffer: Span,
    /// Up to this buffer the least bitrate is chosen.
    pub reservoir: Span,
    /// From reservoir and cushion on the greatest bitrate is chosen.
    pub cushion: Span,
}

impl VideoSettings {
    fn rate(&self, level: usize) -> Rate {
        self.ladder.get(level).copied().unwrap_or(Rate::ZERO)
    }

    fn highest(&self) -> usize {
        self.ladder.len().saturating_sub(1)
    }

    /// The rate map f(B) of BBA-0, in bit/s: linear between the least and the greatest bitrate over the cushion.
    fn rate_map(&self, buffer: Span) -> f64 {
        let (least, greatest) = (self.rate(0).as_f64(), self.rate(self.highest()).as_f64());
        let share = buffer.saturating_sub(self.reservoir).secs() / self.cushion.secs();
        least + (greatest - least) * share.clamp(0.0, 1.0)
    }

    /// Algorithm 1 of Huang et al.: the level of the next segment after one of `level`.
    fn next_level(&self, level: usize, buffer: Span) -> usize {
        let highest = self.highest();
        let (up, down) = ((level + 1).min(highest), level.saturating_sub(1));
        if buffer <= self.reservoir {
            return 0;
        }
        if buffer >= self.reservoir + self.cushion {
            return highest;
        }
        let wanted = self.rate_map(buffer);
        let below = |wanted: f64| self.ladder.iter().rposition(|rate| rate.as_f64() < wanted);
        let above = |wanted: f64| self.ladder.iter().position(|rate| rate.as_f64() > wanted);
        if wanted >= self.rate(up).as_f64() {
            below(wanted).unwrap_or(0)
        } else if wanted <= self.rate(down).as_f64() {
            above(wanted).unwrap_or(highest)
        } else {
            level
        }
    }
}

/// A viewer with its server.
pub struct VideoClient {
    settings: VideoSettings,
    connection: Requests,
    started: Option<Time>,
    level: usize,
    /// Playback time in the buffer at `as_of`.
    buffered: Span,
    as_of: Time,
    playing: bool,
    /// When the next segment is requested, if none is outstanding.
    next_request: Time,
    statistics: Statistics,
    startup: Option<Span>,
    transfers: Vec<Transfer>,
}

/// Statistics since the measurement began.
#[derive(Clone, Copy, Default)]
struct Statistics {
    segments: u64,
    bits_per_s: f64,
    rebuffering: Span,
    switches: u64,
}

impl VideoClient {
    /// A client that requests its first segment at the start.
    pub fn new(settings: VideoSettings, path: RequestPath) -> Self {
        Self {
            settings,
            connection: Requests::new(path),
            started: None,
            level: 0,
            buffered: Span::ZERO,
            as_of: Time::ZERO,
            playing: false,
            next_request: Time::ZERO,
            statistics: Statistics::default(),
            startup: None,
            transfers: Vec::new(),
        }
    }

    /// Buffer and standstill at `now`: playback needs a second of video for each second.
    fn played(&self, now: Time) -> (Span, Span) {
        let waited = if self.playing { now.since(self.as_of) } else { Span::ZERO };
        (self.buffered.saturating_sub(waited), waited.saturating_sub(self.buffered))
    }

    fn play(&mut self, now: Time) {
        let (buffered, stood) = self.played(now);
        (self.buffered, self.as_of) = (buffered, now);
        self.statistics.rebuffering += stood;
    }

    fn request_segment(&mut self, now: Time) {
        self.play(now);
        let level = match self.transfers.is_empty() {
            true => 0,
            false => self.settings.next_level(self.level, self.buffered),
        };
        self.statistics.switches += u64::from(level != self.level);
        self.level = level;
        let size = self.settings.rate(level).bytes_in(self.settings.segment);
        let delivered = Bytes::ZERO;
        self.transfers.push(Transfer { arrived: now, size, delivered, completed: None });
        self.next_request = Time::NEVER;
        self.connection.request(now, size);
    }

    fn complete_segment(&mut self, now: Time) {
        self.play(now);
        if let Some(segment) = self.transfers.last_mut() {
            (segment.delivered, segment.completed) = (segment.size, Some(now));
        }
        self.playing = true;
        self.startup = self.startup.or(self.started.map(|started| now.since(started)));
        self.buffered += self.settings.segment;
        self.statistics.segments += 1;
        self.statistics.bits_per_s += self.settings.rate(self.level).as_f64();
        // The next segment is requested when the buffer has room for it.
        let room = self.settings.buffer.saturating_sub(self.settings.segment);
        self.next_request = now + self.buffered.saturating_sub(room);
    }
}

impl Application for VideoClient {
    fn on_time(&mut self, now: Time, connections: &mut dyn Connections) {
        self.started.get_or_insert(now);
        if self.next_request <= now && self.connection.is_idle() {
            self.request_segment(now);
        }
        self.connection.answer(now, 0, connections);
    }

    fn on_arrival(
        &mut self,
        now: Time,
        _connection: usize,
        prefix: Bytes,
        connections: &mut dyn Connections,
    ) {
        if self.connection.completes(prefix) {
            self.complete_segment(now);
            self.on_time(now, connections);
        }
    }

    fn next(&self) -> Time {
        self.next_request.min(self.connection.next())
    }

    fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    fn start_measuring(&mut self, now: Time) {
        self.play(now);
        self.statistics = Statistics::default();
    }

    fn playback(&self, now: Time) -> Option<Playback> {
        let Statistics { segments, bits_per_s, rebuffering, switches } = self.statistics;
        let bitrate = (segments > 0).then(|| bits_per_s / segments as f64);
        let rebuffering = rebuffering + self.played(now).1;
        Some(Playback { bitrate, rebuffering, switches, startup: self.startup })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Span {
        Span::from_secs(seconds)
    }

    /// The player of Huang et al. with four bitrates.
    fn player() -> VideoSettings {
        VideoSettings {
            ladder: [1.0, 2.0, 3.0, 4.0].map(Rate::from_mbps).to_vec(),
            segment: seconds(4.0),
            buffer: seconds(240.0),
            reservoir: seconds(90.0),
            cushion: seconds(126.0),
        }
    }

    /// A segment of 4 s arrives at 10 s, and no other one.
    #[test]
    fn a_standstill_that_lasts_counts_until_now() {
        let at = |secs: f64| Time::from_secs(secs);
        let mut client = VideoClient::new(player(), RequestPath::default());
        client.complete_segment(at(10.0));
        let stood = |now| client.playback(at(now)).map(|playback| playback.rebuffering);
        assert_eq!([12.0, 14.0, 20.0].map(stood), [0.0, 0.0, 6.0].map(|stood| Some(seconds(stood))));
    }

    #[test]
    fn the_rate_map_is_linear_over_the_cushion() {
        let map = |buffer| player().rate_map(seconds(buffer));
        assert_eq!([0.0, 90.0, 216.0, 240.0].map(map), [1e6, 1e6, 4e6, 4e6]);
        // A third of the cushion is a third of the way from the least to the greatest bitrate.
        assert!((map(132.0) - 2e6).abs() < 1e-3 && (map(153.0) - 2.5e6).abs() < 1e-3);
    }

    #[test]
    fn the_next_bitrate_is_that_of_algorithm_1() {
        let next = |level, buffer| player().next_level(level, seconds(buffer));
        // The least up to the reservoir, the greatest from reservoir and cushion on, whatever came before.
        assert_eq!([next(3, 90.0), next(0, 216.0), next(2, 240.0)], [0, 3, 3]);
        // f = 2.5 Mbit/s: from 1 to the greatest below f, and from 4 to the least above it.
        assert_eq!([next(0, 153.0), next(3, 153.0)], [1, 2]);
        // It stays while f lies strictly between the next lower and the next higher bitrate.
        assert_eq!([next(1, 153.0), next(2, 153.0)], [1, 2]);
        // f = 3 at 174 s: the next higher bitrate of 2, which is not below f; the next lower of 4, which is not above f.
        assert_eq!([next(1, 174.0), next(3, 174.0)], [1, 3]);
        assert_eq!([next(1, 175.0), next(3, 173.0)], [2, 2]);
    }
}
