//! The sending rate of a law that computes rates, and its conversion to a permit.

use millpond_law::key::{Key, above, number, word};
use millpond_law::{Permit, Settings, words};
use millpond_units::{Bytes, Rate, Span};

pub(crate) const CONTROL: Key<Control> = word("control", Control::Window)
    .source("not in the paper: see ERRATA.md")
    .meaning("\"send at rate x\": a window of x times the base RTT; the same, paced at x; or pacing only");
pub(crate) const INITIAL_WINDOW: Key<f64> = number("initial_window", "packets", 1.0, above(0.0).to(1e6))
    .source("x_init, LGCC Algorithm 1 lines 2 and 20, section IX")
    .meaning("initial and least rate, in packets per base RTT");

pub(crate) const ROUNDING: Key<Rounding> = word("rounding", Rounding::Up)
    .source("not in the paper: see ERRATA.md")
    .meaning("whole packets of a window: rounded up, to the nearest number, or down; at least one");

words! {
    /// The meaning of "send at rate x".
    pub(crate) enum Control { Window = "window", PacedWindow = "paced-window", Rate = "rate" }

    /// How windows become whole packets.
    pub(crate) enum Rounding { Up = "up", Nearest = "nearest", Down = "down" }
}

/// A sending rate in bit/s, at least its floor, as a [`Permit`].
#[derive(Clone, Debug, PartialEq)]
pub struct SendRate {
    control: Control,
    rounding: Rounding,
    initial_window: f64,
    packet: Bytes,
    base_rtt: Option<Span>,
    /// The longest time between packets; zero: that of the initial window per base RTT.
    probe_interval: Span,
    /// The longest time between packets now, if it is longer than that.
    longest_pause: Span,
    /// What the window holds besides the rate times the base RTT.
    extra_window: Bytes,
    bps: f64,
    permit: Permit,
}

impl SendRate {
    /// The rate under these settings. Before the first base RTT sample it permits only the initial window.
    pub fn read(settings: &Settings) -> Self {
        Self {
            control: settings.get(CONTROL),
            rounding: settings.get(ROUNDING),
            initial_window: settings.get(INITIAL_WINDOW),
            packet: Bytes::new(1),
            base_rtt: None,
            probe_interval: Span::ZERO,
            longest_pause: Span::ZERO,
            extra_window: Bytes::ZERO,
            bps: 0.0,
            permit: Permit { window: Some(Bytes::ZERO), ..Permit::default() },
        }
    }

    /// The same rate, whose floor is a packet per probe interval, or per base RTT if that is longer; the initial rate
    /// remains. Zero: the floor is the initial rate.
    pub fn with_probe_interval(self, probe_interval: Span) -> Self {
        Self { probe_interval, ..self }
    }

    /// Lowers the floor to a packet in this time, if it is longer than the probe interval, for the rates set from now on.
    pub fn set_longest_pause(&mut self, pause: Span) {
        self.longest_pause = pause;
    }

    /// Lets windows from now on hold this much besides the rate times the base RTT.
    pub fn set_extra_window(&mut self, extra: Bytes) {
        self.extra_window = extra;
    }

    /// Starts the loop with packets of this size.
    pub fn start(&mut self, packet: Bytes) {
        self.packet = packet;
        let window = self.whole_packets(Bytes::from_f64(self.initial_window * packet.as_f64()));
        self.permit = Permit { window: Some(window), ..Permit::default() };
    }

    /// Lowers the base RTT to this value. At the first sample the rate starts at its floor.
    pub fn set_base_rtt(&mut self, base_rtt: Span) {
        if self.base_rtt != Some(base_rtt) {
            let bps = if self.base_rtt.is_none() { 0.0 } else { self.bps };
            self.base_rtt = Some(base_rtt);
            let start = if bps > 0.0 { bps } else { self.initial() };
            self.set(start);
        }
    }

    /// Sets the rate in bit/s, or the floor if that is more.
    pub fn set(&mut self, bps: f64) {
        self.bps = bps.max(self.floor());
        self.permit = self.renewed();
    }

    /// Resets the rate to its floor.
    pub fn restart(&mut self) {
        self.set(0.0);
    }

    /// The rate in bit/s; zero before the first base RTT sample.
    pub fn get(&self) -> f64 {
        self.bps
    }

    /// The initial rate in bit/s: the initial window per base RTT.
    fn initial(&self) -> f64 {
        self.initial_window * self.packet.bits() as f64 / self.rtt_secs()
    }

    /// The floor in bit/s: the initial window per base RTT, or a packet per probe interval.
    pub fn floor(&self) -> f64 {
        if self.probe_interval.is_zero() {
            return self.initial();
        }
        let probe = self.probe_interval.max(self.longest_pause).secs();
        self.packet.bits() as f64 / self.rtt_secs().max(probe)
    }

    /// The permit of this rate.
    #[inline]
    pub fn permit(&self) -> Permit {
        self.permit
    }

    /// The base RTT in seconds, at least a nanosecond; infinite before the first sample.
    fn rtt_secs(&self) -> f64 {
        self.base_rtt.map_or(f64::INFINITY, |rtt| rtt.secs().max(1e-9))
    }

    fn renewed(&self) -> Permit {
        let Some(base_rtt) = self.base_rtt else {
            return self.permit;
        };
        let rate = Rate::from_bps_f64(self.bps.max(1.0));
        let window = self.whole_packets(rate.bytes_in(base_rtt) + self.extra_window);
        Permit {
            window: (self.control != Control::Rate).then_some(window),
            pace: (self.control != Control::Window).then_some(rate),
            ..Permit::default()
        }
    }

    /// A window in whole packets, at least one. Rounded down, it would leave the link partly idle.
    fn whole_packets(&self, window: Bytes) -> Bytes {
        let (window, packet) = (window.get(), self.packet.get().max(1));
        let packets = match self.rounding {
            Rounding::Up => window.div_ceil(packet),
            Rounding::Nearest => window.saturating_add(packet / 2) / packet,
            Rounding::Down => window / packet,
        };
        self.packet * packets.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_law::Value;
    use millpond_law::key::Keys;

    static PARAMETERS: Keys = &[&CONTROL, &INITIAL_WINDOW, &ROUNDING];

    fn at_100_mbps(key: &'static str, value: &'static str) -> Permit {
        let settings = Settings::check(PARAMETERS, [(key, Value::text(value))]).unwrap();
        let mut rate = SendRate::read(&settings);
        rate.start(Bytes::new(1500));
        assert_eq!(
            rate.permit().window,
            Some(Bytes::new(1500)),
            "one packet before the first base RTT sample"
        );
        rate.set_base_rtt(Span::from_millis(2));
        assert_eq!(rate.get(), 6e6, "one packet of 1500 B in 2 ms");
        rate.set(100e6);
        rate.permit()
    }

    #[test]
    fn a_rate_limits_the_packets_in_flight_or_paces_or_both() {
        // 25 kB are 16.7 packets.
        let (window, pace) = (Some(Bytes::new(17 * 1500)), Some(Rate::from_mbps(100.0)));
        assert_eq!(at_100_mbps("control", "window"), Permit { window, pace: None, ..Permit::default() });
        assert_eq!(at_100_mbps("control", "paced-window"), Permit { window, pace, ..Permit::default() });
        assert_eq!(at_100_mbps("control", "rate"), Permit { window: None, pace, ..Permit::default() });
    }

    #[test]
    fn a_window_is_rounded_up_or_down_or_to_the_nearest_number_of_packets() {
        // 25 kB are 16.7 packets.
        for (rounding, packets) in [("up", 17), ("nearest", 17), ("down", 16)] {
            assert_eq!(
                at_100_mbps("rounding", rounding).window,
                Some(Bytes::new(packets * 1500)),
                "{rounding}"
            );
        }
        let settings = Settings::check(PARAMETERS, [("rounding", Value::text("down"))]).unwrap();
        let mut rate = SendRate::read(&settings);
        rate.start(Bytes::new(1500));
        rate.set_base_rtt(Span::from_millis(2));
        assert_eq!(rate.permit().window, Some(Bytes::new(1500)), "at least one packet");
    }

    /// 100 Mbit/s are 16.7 packets in 2 ms, and 33.3 in 4 ms; the floor is a packet in either.
    #[test]
    fn a_lower_base_rtt_keeps_the_rate_and_its_floor_and_shortens_the_window() {
        let mut rate = SendRate::read(&Settings::check(PARAMETERS, []).unwrap());
        rate.start(Bytes::new(1500));
        rate.set_base_rtt(Span::from_millis(4));
        rate.set(100e6);
        assert_eq!(rate.permit().window, Some(Bytes::new(34 * 1500)));
        rate.set_base_rtt(Span::from_millis(2));
        assert_eq!((rate.get(), rate.permit().window), (100e6, Some(Bytes::new(17 * 1500))));
        rate.restart();
        rate.set_base_rtt(Span::from_millis(1));
        assert_eq!(rate.get(), 12e6);
    }

    #[test]
    fn the_rate_is_at_least_its_floor_for_any_requested_value() {
        let settings = Settings::check(PARAMETERS, []).unwrap();
        let mut rate = SendRate::read(&settings);
        rate.start(Bytes::new(1500));
        rate.set_base_rtt(Span::from_millis(2));
        for bps in [-1e9, 0.0, f64::NEG_INFINITY, f64::NAN] {
            rate.set(bps);
            assert_eq!(rate.get(), 6e6);
        }
        rate.set_base_rtt(Span::ZERO);
        assert!(rate.get().is_finite() && rate.permit().window.is_some());
    }
}
