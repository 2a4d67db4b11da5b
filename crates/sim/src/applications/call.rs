//! A live video encoder: the statistical model of RFC 8593, section 5.

use super::{Application, Connections};
use crate::transfers::Transfer;
use millpond_law::Random;
use millpond_units::{Bytes, Rate, Span, Time};

/// An encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSettings {
    /// `R_min` and `R_max`: the range of the output rate.
    pub range: (Rate, Rate),
    /// `FPS`: frames per second.
    pub frames_per_s: f64,
    /// `tau_v`: for how long after a change of its rate the encoder ignores requests.
    pub reaction: Span,
    /// `K_d`: the number of frames of a transient.
    pub burst_frames: u32,
    /// `K_B`: the size of the first frame of a transient.
    pub burst_size: Bytes,
    /// The least size of the other frames of a transient, relative to the mean size.
    pub least_share: f64,
    /// `SCALE_t`: scale of the Laplacian deviations of frame intervals, relative to `1 / FPS`.
    pub interval_scale: f64,
    /// `SCALE_B`: scale of the Laplacian deviations of frame sizes, relative to their mean.
    pub size_scale: f64,
    /// A change of the rate by more than this fraction of it begins a transient.
    pub abrupt: f64,
    /// From when until when no frames are produced, in the order of time.
    pub pauses: Vec<(Time, Time)>,
}

impl CallSettings {
    /// `t_0`: the mean frame interval.
    fn interval(&self) -> Span {
        Span::from_secs(1.0 / self.frames_per_s)
    }

    /// `B_0 = R_v / (8 FPS)`: the mean frame size in bytes.
    fn mean_size(&self, rate: Rate) -> f64 {
        rate.as_f64() / (8.0 * self.frames_per_s)
    }

    /// The size in bytes of the frames of a transient after its first: with it they have the mean `B_0`, unless the
    /// first is so large that they would be smaller than the least share of it.
    fn later_size(&self, rate: Rate) -> f64 {
        let (mean, frames) = (self.mean_size(rate), f64::from(self.burst_frames));
        let later = (frames * mean - self.burst_size.as_f64()) / (frames - 1.0).max(1.0);
        later.max(self.least_share * mean)
    }

    /// The end of the pause at a time, if it is one.
    fn pause_end(&self, now: Time) -> Option<Time> {
        let pause = self.pauses.iter().find(|(from, until)| (*from..*until).contains(&now));
        pause.map(|(_, until)| *until)
    }
}

/// A sample of a Laplacian distribution with zero mean.
fn laplacian(random: &mut Random, scale: f64) -> f64 {
    random.exponential(scale) - random.exponential(scale)
}

/// An encoder whose frames are sent over one flow.
pub struct VideoCall {
    settings: CallSettings,
    random: Random,
    /// `R_v`, as accepted last.
    rate: Rate,
    /// Until when requests are ignored.
    ignores_until: Time,
    /// Frames of the transient that are still to come.
    burst_left: u32,
    next: Time,
    produced: Bytes,
    frames: Vec<Transfer>,
    /// Number of complete frames, and the bytes of these and the next one.
    complete: usize,
    awaited: Bytes,
}

impl VideoCall {
    /// An encoder that begins at its least rate.
    pub fn new(settings: CallSettings, random: Random) -> Self {
        Self {
            rate: settings.range.0,
            settings,
            random,
            ignores_until: Time::ZERO,
            burst_left: 0,
            next: Time::ZERO,
            produced: Bytes::ZERO,
            frames: Vec::new(),
            complete: 0,
            awaited: Bytes::ZERO,
        }
    }

    /// Section 5.1 and 5.4: accepts a requested rate, within the range, if no change was accepted for `tau_v`.
    fn request(&mut self, now: Time, rate: Rate) {
        let (least, most) = self.settings.range;
        let rate = rate.clamp(least, most);
        if now < self.ignores_until || rate == self.rate {
            return;
        }
        if (rate.as_f64() / self.rate.as_f64() - 1.0).abs() > self.settings.abrupt {
            self.burst_left = self.settings.burst_frames;
        }
        self.rate = rate;
        self.ignores_until = now + self.settings.reaction;
    }

    /// The size of the next frame in bytes: section 5.2 in a transient, section 5.3 otherwise.
    fn frame_size(&mut self) -> Bytes {
        let size = match self.burst_left {
            0 => {
                let deviation = laplacian(&mut self.random, self.settings.size_scale);
                self.settings.mean_size(self.rate) * (1.0 + deviation)
            }
            left if left == self.settings.burst_frames => self.settings.burst_size.as_f64(),
            _ => self.settings.later_size(self.rate),
        };
        self.burst_left = self.burst_left.saturating_sub(1);
        Bytes::from_f64(size.max(1.0)).max(Bytes::new(1))
    }

    /// The time to the next frame: section 5.3.
    fn frame_interval(&mut self) -> Span {
        let deviation = laplacian(&mut self.random, self.settings.interval_scale);
        self.settings.interval().scale((1.0 + deviation).max(0.0))
    }
}

impl Application for VideoCall {
    fn on_time(&mut self, now: Time, connections: &mut dyn Connections) {
        if now < self.next {
            return;
        }
        if let Some(end) = self.settings.pause_end(now) {
            self.next = end;
            return;
        }
        if let Some(rate) = connections.allowed_rate(0) {
            self.request(now, rate);
        }
        let size = self.frame_size();
        if self.complete == self.frames.len() {
            self.awaited = self.produced + size;
        }
        self.produced += size;
        self.frames.push(Transfer { arrived: now, size, delivered: Bytes::ZERO, completed: None });
        connections.supply(0, size);
        self.next = now + self.frame_interval();
    }

    fn on_arrival(&mut self, now: Time, _connection: usize, prefix: Bytes, _: &mut dyn Connections) {
        while let Some(frame) = self.frames.get_mut(self.complete).filter(|_| self.awaited <= prefix) {
            (frame.delivered, frame.completed) = (frame.size, Some(now));
            self.complete += 1;
            self.awaited += self.frames.get(self.complete).map_or(Bytes::ZERO, |next| next.size);
        }
    }

    fn next(&self) -> Time {
        self.next
    }

    fn transfers(&self) -> &[Transfer] {
        &self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example values of RFC 8593.
    const EXAMPLE: CallSettings = CallSettings {
        range: (Rate::from_bps(150_000), Rate::from_bps(1_500_000)),
        frames_per_s: 30.0,
        reaction: Span::from_millis(200),
        burst_frames: 8,
        burst_size: Bytes::new(13_500),
        least_share: 0.2,
        interval_scale: 0.15,
        size_scale: 0.15,
        abrupt: 0.5,
        pauses: Vec::new(),
    };

    fn call() -> VideoCall {
        VideoCall::new(EXAMPLE, Random::stream(1, "call"))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn frames_of_the_example_have_the_sizes_and_intervals_of_the_rfc() {
        // 1 Mbit/s at 30 Hz: 4.17 KB every 33 ms.
        assert!((EXAMPLE.mean_size(Rate::from_mbps(1.0)) - 4166.7).abs() < 0.1);
        assert!((EXAMPLE.interval().millis() - 33.333).abs() < 0.001);
    }

    #[test]
    fn a_transient_has_the_mean_rate_that_was_requested() {
        let mut call = call();
        call.request(at(0), Rate::from_mbps(1.0));
        let sizes: Vec<f64> = (0..8).map(|_| call.frame_size().as_f64()).collect();
        assert_eq!(sizes[0], 13_500.0);
        assert!((sizes.iter().sum::<f64>() - 8.0 * 1e6 / 240.0).abs() < 8.0, "{sizes:?}");
        assert!(sizes[1..].iter().all(|size| *size == sizes[1]), "{sizes:?}");
        // At the least rate the first frame exceeds the whole transient: the others keep a fifth of their mean.
        assert_eq!(EXAMPLE.later_size(EXAMPLE.range.0), 0.2 * 625.0);
    }

    #[test]
    fn requests_are_ignored_for_the_reaction_time_and_kept_within_the_range() {
        let mut call = call();
        call.request(at(0), Rate::from_mbps(1.0));
        call.request(at(199), Rate::from_mbps(0.5));
        assert_eq!(call.rate, Rate::from_mbps(1.0));
        call.request(at(200), Rate::from_mbps(9.0));
        assert_eq!(call.rate, EXAMPLE.range.1);
        call.request(at(400), Rate::from_bps(1));
        assert_eq!(call.rate, EXAMPLE.range.0);
    }

    #[test]
    fn a_change_of_half_of_the_rate_is_not_abrupt() {
        let mut call = call();
        call.rate = Rate::from_mbps(1.0);
        call.request(at(0), Rate::from_mbps(1.5));
        assert_eq!(call.burst_left, 0);
        call.request(at(200), Rate::from_mbps(0.7));
        assert_eq!(call.burst_left, 8);
    }

    /// A flow whose sender may always send at this rate.
    struct Permitted(Rate, Bytes);

    impl Connections for Permitted {
        fn supply(&mut self, _: usize, bytes: Bytes) {
            self.1 += bytes;
        }
        fn allowed_rate(&self, _: usize) -> Option<Rate> {
            Some(self.0)
        }
    }

    #[test]
    fn no_frame_is_produced_in_a_pause_and_one_at_its_end() {
        let settings = CallSettings { pauses: vec![(at(1000), at(3000)), (at(4000), at(5000))], ..EXAMPLE };
        let mut call = VideoCall::new(settings, Random::stream(1, "call"));
        let mut flow = Permitted(Rate::from_mbps(1.0), Bytes::ZERO);
        while call.next() < at(6000) {
            let now = call.next();
            call.on_time(now, &mut flow);
        }
        let times: Vec<Time> = call.frames.iter().map(|frame| frame.arrived).collect();
        let count =
            |from: u64, until: u64| times.iter().filter(|time| (at(from)..at(until)).contains(*time)).count();
        assert_eq!([count(1000, 3000), count(4000, 5000)], [0, 0]);
        assert!(times.contains(&at(3000)) && times.contains(&at(5000)), "{times:?}");
        // 30 frames per second at other times; five standard deviations of the sum of 30 Laplacian intervals.
        let error = 5.0 * 0.15 * (2.0_f64 * 30.0).sqrt();
        let counts = [count(0, 1000), count(3000, 4000), count(5000, 6000)];
        assert!(counts.iter().all(|count| (*count as f64 - 30.0).abs() <= error + 1.0), "{counts:?}");
        let sizes = call.frames.iter().fold(Bytes::ZERO, |sum, frame| sum + frame.size);
        assert_eq!(flow.1, sizes);
    }

    #[test]
    fn frames_in_the_steady_state_have_the_mean_rate_and_laplacian_deviations() {
        let mut call = call();
        let frames = 20_000;
        let mean = EXAMPLE.mean_size(call.rate);
        let sizes: Vec<f64> = (0..frames).map(|_| call.frame_size().as_f64() / mean).collect();
        let intervals: f64 = (0..frames).map(|_| call.frame_interval().secs()).sum();
        // The standard deviation of a Laplacian distribution is sqrt(2) times its scale; five standard errors.
        let error = 5.0 * 0.15 * std::f64::consts::SQRT_2 / f64::from(frames).sqrt();
        let average = sizes.iter().sum::<f64>() / f64::from(frames);
        assert!((average - 1.0).abs() < error, "{average}");
        assert!((intervals * 30.0 / f64::from(frames) - 1.0).abs() < error, "{intervals}");
        // Half of the deviations exceed ln 2 times the scale.
        let far = sizes.iter().filter(|size| (**size - 1.0).abs() > 0.15 * std::f64::consts::LN_2).count();
        let expected = f64::from(frames) / 2.0;
        assert!((far as f64 - expected).abs() < 5.0 * f64::from(frames).sqrt() / 2.0, "{far}");
    }
}
