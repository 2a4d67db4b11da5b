//! The price of a link in a field of each packet (`price = "field"`); docs/extensions/lgcc-price.md derives it.

use super::header::{ID, PriceField};
use crate::parts::interval;
use crate::parts::logistic::Bases;
use millpond_law::fluid::Number;
use millpond_law::key::{Key, above, from, number, span};
use millpond_law::{
    Context, Gauge, Hooks, Link, PacketKind, PacketView, QueueView, SettingError, Settings, Unread, Verdict,
};
use millpond_units::{Bytes, Span, Time};

pub(super) const PRICE_RTT: Key<Span> = span("price_rtt", Span::from_millis(100))
    .source("not in the paper: see docs/extensions/lgcc-price.md")
    .meaning("with price = \"field\": T of the links, the longest base RTT of the loops that cross them");
pub(super) const PRICE_GAIN: Key<f64> = number("price_gain", "1", 0.1, above(0.0).to(10.0))
    .source("not in the paper: see docs/extensions/lgcc-price.md")
    .meaning("with price = \"field\": growth of eta times the price in T at twice the virtual capacity");
pub(super) const PRICE_CAPACITY: Key<f64> = number("price_capacity", "1", 0.97, above(0.0).to(1.0))
    .source("not in the paper: see docs/extensions/lgcc-price.md")
    .meaning("with price = \"field\": virtual capacity as a share of the link's: the price rises above it");
pub(super) const PRICE_DRAIN: Key<f64> = number("price_drain", "1", 0.3, from(0.0).to(1e3))
    .source("not in the paper: see docs/extensions/lgcc-price.md")
    .meaning("with price = \"field\": a queueing delay of T counts as this share of the capacity in excess");

/// The largest price in nats: a share of 1e-6 is unmarked. A price must be able to fall again.
pub(super) const MOST_NATS: f64 = 13.8;

/// Price updates of a link in T.
const UPDATES_IN_RTT: u64 = 2;

/// The parameters of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PriceParams {
    /// eta.
    exponent: f64,
    /// T in seconds.
    rtt: f64,
    /// g.
    gain: f64,
    /// c0 / C.
    pub(super) capacity: f64,
    /// d.
    pub(super) drain: f64,
    /// Time between updates.
    interval: Span,
}

impl PriceParams {
    /// Reads the parameters; T must be at least two of the shortest intervals of a timer.
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let rtt = settings.get(PRICE_RTT);
        let interval = interval::checked(PRICE_RTT, rtt / UPDATES_IN_RTT)?;
        Ok(Self {
            exponent: Bases::read(settings).exponent(),
            rtt: rtt.secs(),
            gain: settings.get(PRICE_GAIN),
            capacity: settings.get(PRICE_CAPACITY),
            drain: settings.get(PRICE_DRAIN),
            interval,
        })
    }

    /// Eq. (P1): `eta n' = (g / T) ((y - c0) / c0 + d q / (C T))`, for a load `y / c0` and a queueing delay `q / C` in
    /// seconds. Returns n' in nats per second.
    pub(super) fn growth<T: Number>(&self, load: T, queueing: T) -> T {
        (load - 1.0 + queueing * (self.drain / self.rtt)) * (self.gain / (self.exponent * self.rtt))
    }
}

/// Eq. (P3): the marking probability that marks of this probability and a price in nats are together, `1 - (1 - p) e^-n`.
pub(super) fn with_price(marking: f64, nats: f64) -> f64 {
    // Without a price exactly that of the marks.
    if nats == 0.0 { marking } else { 1.0 - (1.0 - marking) * libm::exp(-nats) }
}

/// The state of a link.
pub(super) struct PriceLink {
    params: PriceParams,
    arrived: Bytes,
    nats: f64,
    unread: Unread,
}

impl PriceLink {
    pub(super) fn new(params: PriceParams) -> Self {
        Self { params, arrived: Bytes::ZERO, nats: 0.0, unread: Unread::default() }
    }

    /// Ends an interval; without capacity the price is constant.
    fn update(&mut self, queue: &QueueView) {
        let arrived = std::mem::take(&mut self.arrived).as_f64();
        let capacity = queue.configured_capacity.bytes_per_sec();
        if capacity > 0.0 {
            let interval = self.params.interval.secs();
            let load = arrived / (self.params.capacity * capacity * interval);
            let growth = self.params.growth(load, queue.bytes.as_f64() / capacity);
            self.nats = (self.nats + growth * interval).clamp(0.0, MOST_NATS);
        }
    }
}

impl Link for PriceLink {
    fn hooks(&self) -> Hooks {
        Hooks { arrive: true, depart: true, tick: true, ..Hooks::default() }
    }

    /// Packets of other protocols, and acknowledgements, are load as well.
    fn arrive(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        self.arrived += packet.bytes;
        Verdict::Keep
    }

    /// Eq. (P2): a link adds its price to those of the links before it.
    fn depart(&mut self, _cx: &mut Context<'_>, packet: &mut PacketView<'_>, _queue: &QueueView) -> Verdict {
        if packet.kind == PacketKind::Data {
            let protocol = packet.header.protocol();
            if let Some(field) = self.unread.note_own(ID, protocol, PriceField::parse_mut(packet.header)) {
                field.add(self.nats);
            }
        }
        Verdict::Keep
    }

    fn tick(&mut self, cx: &mut Context<'_>, queue: &QueueView) -> Option<Time> {
        // At the start nothing has been measured yet.
        if cx.now > Time::ZERO {
            self.update(queue);
        }
        Some(cx.now + self.params.interval)
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        gauge.quantity("price", "1", self.nats);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use millpond_law::{Ecn, Header, HeaderId, Random, Value};
    use millpond_units::Rate;

    const PACKET: Bytes = Bytes::new(1000);

    fn params(written: &[(&'static str, Value)]) -> Result<PriceParams, SettingError> {
        PriceParams::read(&Settings::check(PARAMETERS, written.iter().cloned()).unwrap())
    }

    /// A link of 8 Mbit/s, 1000 packets/s, whose T is 200 ms: intervals of 100 ms. The virtual capacity is that of 80.
    fn price_link() -> PriceLink {
        let written = [("price_rtt", Value::text("200ms")), ("price_capacity", Value::Number(0.8))];
        PriceLink::new(params(&written).unwrap())
    }

    fn view(queued: u64, mbps: f64) -> QueueView {
        QueueView {
            configured_capacity: Rate::from_mbps(mbps),
            bytes: PACKET * queued,
            link_bytes: PACKET * queued,
            packets: queued,
            head_sojourn: Span::ZERO,
        }
    }

    fn visit(link: &mut PriceLink, kind: PacketKind, header: &mut Header) {
        let (mut ecn, mut random) = (Ecn::Ect0, Random::stream(1, "link"));
        let mut cx = Context { now: Time::ZERO, random: &mut random };
        let mut packet = PacketView { bytes: PACKET, kind, flow: 0, ecn: &mut ecn, header };
        assert_eq!(link.arrive(&mut cx, &mut packet, &view(0, 8.0)), Verdict::Keep);
        assert_eq!(link.depart(&mut cx, &mut packet, &view(0, 8.0)), Verdict::Keep);
    }

    /// An interval with this number of arrivals, and of queued packets at its end.
    fn interval(link: &mut PriceLink, arrivals: u64, queued: u64, mbps: f64) {
        (0..arrivals).for_each(|_| visit(link, PacketKind::Ack, &mut Header::NONE.clone()));
        let mut random = Random::stream(1, "tick");
        let mut cx = Context { now: Time::from_secs(1.0), random: &mut random };
        let next = link.tick(&mut cx, &view(queued, mbps));
        assert_eq!(next, Some(Time::from_secs(1.1)));
    }

    #[test]
    fn the_price_grows_by_eq_p1_and_an_outage_keeps_it() {
        // eta = ln 10 / ln 5 = 1.430677. Twice the virtual capacity: .1 / 200 ms * 1 in 100 ms, over eta.
        let (mut link, unit) = (price_link(), 0.05 / 1.430_676_558);
        interval(&mut link, 160, 0, 8.0);
        assert!((link.nats - unit).abs() < 1e-9, "{}", link.nats);
        // 40 packets are 40 ms: .3 * 40 / 200 = .06 of the virtual capacity.
        interval(&mut link, 80, 40, 8.0);
        assert!((link.nats - 1.06 * unit).abs() < 1e-9, "{}", link.nats);
        interval(&mut link, 160, 40, 0.0);
        assert!((link.nats - 1.06 * unit).abs() < 1e-9, "{}", link.nats);
        (0..3).for_each(|_| interval(&mut link, 0, 0, 8.0));
        assert_eq!(link.nats, 0.0);
        link.nats = MOST_NATS;
        interval(&mut link, 160, 0, 8.0);
        assert_eq!(link.nats, MOST_NATS);
    }

    #[test]
    fn a_link_adds_its_price_to_that_of_the_links_before_it_and_counts_headers_without_a_field() {
        let mut link = price_link();
        link.nats = 0.25;
        // 1.5 nats are 3072 units = 0x0c00, and .25 are 512.
        for (kind, bytes, expected) in [
            (PacketKind::Data, &[0x0c, 0x00][..], &[0x0e, 0x00][..]),
            (PacketKind::Ack, &[0x0c, 0x00], &[0x0c, 0x00]),
            (PacketKind::Data, &[7], &[7]),
        ] {
            let mut header = Header::new(ID, bytes);
            visit(&mut link, kind, &mut header);
            assert_eq!(header.of(ID), Some(expected));
        }
        let mut foreign = Header::new(HeaderId(99), &[1, 2]);
        visit(&mut link, PacketKind::Data, &mut foreign);
        assert_eq!((foreign.bytes(), link.unread()), (&[1, 2][..], 1));
    }

    /// Two links with the prices n and m leave the share that independent marks of both would leave.
    #[test]
    fn a_price_is_a_marking_probability_whose_logarithms_add() {
        let (n, m) = (0.7, 1.9);
        let marked = |nats: f64| with_price(0.0, nats);
        assert!((1.0 - marked(n + m) - (1.0 - marked(n)) * (1.0 - marked(m))).abs() < 1e-15);
        assert!((with_price(marked(n), m) - marked(n + m)).abs() < 1e-15);
        assert_eq!(with_price(0.3, 0.0), 0.3);
    }

    #[test]
    fn a_round_trip_time_below_two_microseconds_is_rejected_by_name() {
        let fault = params(&[("price_rtt", Value::text("1us"))]).unwrap_err();
        assert!(fault.to_string().starts_with("price_rtt: expected a time"), "{fault}");
    }
}
