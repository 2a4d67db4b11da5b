//! The RCP router: one advised rate for all flows (Eq. (2), IWQoS 2005).

use super::header::{ID, RcpHeader};
use super::params::RouterParams;
use crate::parts::interval;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Unread, Verdict};
use millpond_units::{Rate, Span, Time};

/// Measurements of an update interval, in bits and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    /// T.
    interval: f64,
    /// C.
    capacity: f64,
    /// y(t).
    input: f64,
    /// q(t).
    queue: f64,
    /// d.
    mean_rtt: f64,
}

/// Eq. (2): `R <- R (1 + (T/d) (alpha (C - y) - beta q/d) / C)`. C/R is the implicit estimate of the number of flows.
fn next_rate(params: &RouterParams, rate: f64, measured: &Measured) -> f64 {
    let spare = params.alpha * (measured.capacity - measured.input)
        - params.beta * measured.queue / measured.mean_rtt;
    rate * (1.0 + measured.interval / measured.mean_rtt * spare / measured.capacity)
}

/// The mean round-trip time after a sample, with the weight interval / mean round-trip time.
fn next_mean_rtt(mean_rtt: f64, sample: f64, interval: f64) -> f64 {
    mean_rtt + (interval / mean_rtt).min(1.0) * (sample - mean_rtt)
}

/// The RCP router's state at one link.
pub(super) struct RcpRouter {
    params: RouterParams,
    packet_bits: f64,
    /// R in bit/s.
    rate: f64,
    offer: Rate,
    /// d in seconds.
    mean_rtt: f64,
    interval: Span,
    /// Bits that arrived in this interval.
    bits: f64,
    /// Sum of the round-trip times that packets carried in this interval.
    rtts: f64,
    samples: u32,
    unread: Unread,
}

impl RcpRouter {
    pub(super) fn new(params: RouterParams, facts: &LinkFacts) -> Self {
        let rate = params.initial_rate * facts.capacity.as_f64();
        let mean_rtt = params.initial_rtt.secs();
        Self {
            params,
            packet_bits: facts.packet.as_f64() * 8.0,
            rate,
            offer: Rate::from_bps_f64(rate),
            mean_rtt,
            interval: update_interval(&params, mean_rtt),
            bits: 0.0,
            rtts: 0.0,
            samples: 0,
            unread: Unread::default(),
        }
    }

    fn end_interval(&mut self, queue: &QueueView) {
        let interval = self.interval.secs();
        if self.samples > 0 {
            let sample = self.rtts / f64::from(self.samples);
            self.mean_rtt = next_mean_rtt(self.mean_rtt, sample, interval);
        }
        let capacity = queue.configured_capacity.as_f64();
        if capacity > 0.0 {
            let measured = Measured {
                interval,
                capacity,
                input: self.bits / interval,
                queue: queue.bytes.as_f64() * 8.0,
                mean_rtt: self.mean_rtt,
            };
            self.rate = self.clamp_rate(next_rate(&self.params, self.rate, &measured), capacity);
            self.offer = Rate::from_bps_f64(self.rate);
        }
        (self.bits, self.rtts, self.samples) = (0.0, 0.0, 0);
        self.interval = update_interval(&self.params, self.mean_rtt);
    }

    /// Limits a rate to the range from the floor to the capacity.
    fn clamp_rate(&self, rate: f64, capacity: f64) -> f64 {
        rate.max(self.params.floor * self.packet_bits / self.mean_rtt).min(capacity)
    }
}

/// T: the mean round-trip time, or the parameter's value if that is less.
fn update_interval(params: &RouterParams, mean_rtt: f64) -> Span {
    let mean_rtt = Span::from_secs(mean_rtt).max(interval::LEAST);
    params.interval.map_or(mean_rtt, |longest| longest.min(mean_rtt))
}

impl Link for RcpRouter {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, tick: true, ..Hooks::default() }
    }

    fn arrive(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        self.bits += packet.bytes.as_f64() * 8.0;
        if let Some(rtt) = RcpHeader::parse(packet.header).map(|header| header.rtt())
            && !rtt.is_zero()
        {
            self.rtts += rtt.secs();
            self.samples = self.samples.saturating_add(1);
        }
        Verdict::Keep
    }

    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        if let Some(mut header) =
            self.unread.note_own(ID, packet.header.protocol(), RcpHeader::parse(packet.header))
        {
            header.lower_to(self.offer);
            header.emit(packet.header);
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.end_interval(queue);
        }
        Some(cx.now + self.interval)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("offered rate", "bit/s", self.rate);
        gauge.quantity("mean round-trip time", "s", self.mean_rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcp::params::PARAMETERS;
    use millpond_law::{Settings, Value};
    use millpond_units::Bytes;

    const CAPACITY: f64 = 155e6;
    const RTT: f64 = 0.08;

    fn params(written: &[(&'static str, Value)]) -> RouterParams {
        RouterParams::read(&Settings::check(PARAMETERS, written.iter().cloned()).unwrap()).unwrap()
    }

    fn first_gains() -> RouterParams {
        params(&[
            ("alpha", Value::Number(0.1)),
            ("beta", Value::Number(1.0)),
            ("interval", Value::text("mean-rtt")),
            ("floor", Value::Number(1.0)),
        ])
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * b.abs()
    }

    #[test]
    fn the_rate_follows_equation_2_computed_by_hand() {
        let params = params(&[]);
        let measured = Measured { interval: 0.01, capacity: 100e6, input: 80e6, queue: 1e6, mean_rtt: 0.1 };
        // (.01/.1) (.4 * 20 - .226 * 10) / 100 = .1 * .0574.
        assert!(near(next_rate(&params, 10e6, &measured), 10e6 * 1.00574, 1e-12));
    }

    #[test]
    fn the_weight_of_a_sample_in_the_mean_is_interval_over_mean() {
        assert!(near(next_mean_rtt(0.2, 0.1, 0.01), 0.195, 1e-12));
        assert_eq!(next_mean_rtt(0.01, 0.1, 0.02), 0.1);
    }

    /// Lets `flows` flows adopt the advised rate without delay for this number of intervals; returns rate and queue.
    fn settle(params: &RouterParams, flows: f64, mut rate: f64, intervals: u32) -> (f64, f64) {
        let interval = update_interval(params, RTT).secs();
        let mut queue = 0.0;
        for _ in 0..intervals {
            let input = flows * rate;
            queue = f64::max(0.0, queue + (input - CAPACITY) * interval);
            let measured = Measured { interval, capacity: CAPACITY, input, queue, mean_rtt: RTT };
            rate = next_rate(params, rate, &measured).min(CAPACITY);
        }
        (rate, queue)
    }

    #[test]
    fn the_equilibrium_is_the_equal_share_with_an_empty_queue_for_any_number_of_flows() {
        let params = params(&[]);
        for flows in [1.0, 7.0, 100.0] {
            let (rate, queue) = settle(&params, flows, CAPACITY / 20.0, 3000);
            assert!(near(rate * flows, CAPACITY, 1e-6) && queue < 1.0, "{flows}: {rate} {queue}");
        }
    }

    #[test]
    fn from_the_floor_the_rate_of_the_first_gains_grows_by_a_tenth_per_round_trip() {
        // ln(775) / ln(1.1) = 69.8 round trips of 80 ms from one packet to half of 1550 packets per round trip.
        let params = first_gains();
        assert_eq!(update_interval(&params, RTT), Span::from_millis(80));
        let (floor, idle) = (8000.0 / RTT, |rate| {
            let measured =
                Measured { interval: RTT, capacity: CAPACITY, input: 0.0, queue: 0.0, mean_rtt: RTT };
            next_rate(&params, rate, &measured)
        });
        let (mut rate, mut rounds) = (floor, 0);
        while rate < CAPACITY / 2.0 {
            rate = idle(rate);
            rounds += 1;
        }
        assert_eq!(rounds, 70);
    }

    #[test]
    fn the_rate_stays_between_the_floor_and_the_capacity() {
        let facts = LinkFacts::fifo(Rate::from_bps_f64(CAPACITY), None, Bytes::new(1000));
        let mut router = RcpRouter::new(first_gains(), &facts);
        assert_eq!(router.offer, Rate::from_mbps(7.75));
        let view = |packets| QueueView {
            configured_capacity: facts.capacity,
            bytes: facts.packet * packets,
            link_bytes: facts.packet * packets,
            packets,
            head_sojourn: Span::ZERO,
        };
        (0..200).for_each(|_| router.end_interval(&view(0)));
        assert_eq!(router.offer, facts.capacity);
        (0..200).for_each(|_| router.end_interval(&view(100_000)));
        // A packet per 200 ms.
        assert_eq!(router.offer, Rate::from_bps(40_000));
    }
}
