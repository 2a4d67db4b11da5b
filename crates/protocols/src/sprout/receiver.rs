//! The receiver: observes in ticks of 20 ms what arrives, and forecasts what the link will deliver (sections 3.2 to 3.4).

use super::belief::Belief;
use super::forecast::{Forecast, Forecaster};
use super::header::SproutHeader;
use super::model::{TICK, UNIT};
use super::params::Params;
use millpond_law::{Context, Data, Echo, Receiver, RelayView, Unread};
use millpond_units::{Span, Time};

/// Silent ticks that are observed one by one. After ten seconds of silence further ones change the belief no more.
const MOST_SILENT_TICKS: u64 = 500;

/// The receiver's state.
pub(super) struct SproutReceiver {
    risk: f64,
    belief: Belief,
    forecast: Forecast,
    /// Beginning of the present tick; none before the first packet.
    tick_start: Option<Time>,
    /// Its number.
    tick: u16,
    /// Packets that arrived in it, in units of 1500 bytes.
    count: f64,
    /// Until then silence says nothing, because the sender sends no packet.
    silent_until: Time,
    unread: Unread,
}

impl SproutReceiver {
    pub(super) fn new(params: &Params) -> Self {
        let belief = Belief::uniform();
        Self {
            risk: params.risk,
            forecast: Forecaster::get().forecast(&belief, params.risk),
            belief,
            tick_start: None,
            tick: 0,
            count: 0.0,
            silent_until: Time::ZERO,
            unread: Unread::default(),
        }
    }

    /// Ends all ticks that are over, and forecasts from the end of the last one.
    fn advance_to(&mut self, now: Time) {
        let start = *self.tick_start.get_or_insert(now);
        let over = now.since(start).picos() / TICK.picos();
        let mut end = start;
        for _ in 0..over.min(MOST_SILENT_TICKS) {
            end += TICK;
            self.end_tick(end);
        }
        if over > 0 {
            self.tick_start = Some(start + Span::from_picos(over * TICK.picos()));
            // Only whether two numbers differ matters, so that they may wrap.
            self.tick = self.tick.wrapping_add(over as u16);
            self.forecast = Forecaster::get().forecast(&self.belief, self.risk);
        }
    }

    /// The tick that ends now: a count, or a lower bound if silence was announced beyond it. A tick without packets is an
    /// observation if no part of it was announced.
    fn end_tick(&mut self, end: Time) {
        self.belief.evolve();
        if self.count > 0.0 {
            self.belief.observe(self.count, self.silent_until < end);
        } else if self.silent_until + TICK <= end {
            self.belief.observe(0.0, true);
        }
        self.count = 0.0;
    }
}

impl Receiver for SproutReceiver {
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, _relay: Option<&RelayView>, echo: &mut Echo) {
        let Some(header) = self.unread.note(SproutHeader::parse(&data.header)) else { return };
        if header.after_idle() {
            self.silent_until = cx.now;
        }
        self.advance_to(cx.now);
        self.count += data.bytes.as_f64() / UNIT.as_f64();
        self.silent_until = cx.now + header.silence();
        SproutHeader::echo(self.tick, self.forecast).emit(&mut echo.header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::header::ID;
    use crate::sprout::params::PARAMETERS;
    use millpond_law::{Ecn, Header, Random, Settings};
    use millpond_units::Bytes;

    fn data(after_idle: bool, silence: Span) -> Header {
        let mut header = Header::NONE;
        SproutHeader::data(after_idle, silence).emit(&mut header);
        header
    }

    struct Bench {
        receiver: SproutReceiver,
        now: Time,
    }

    impl Bench {
        fn new() -> Self {
            let settings = Settings::check(PARAMETERS, []).unwrap();
            Self { receiver: SproutReceiver::new(&Params::read(&settings).unwrap()), now: Time::ZERO }
        }

        fn packet(&mut self, bytes: Bytes, header: Header) -> Header {
            let mut echo = Echo::default();
            let mut cx = Context { now: self.now, random: &mut Random::stream(1, "receiver") };
            let data = Data { bytes, ecn: Ecn::NotCapable, header };
            self.receiver.on_data(&mut cx, &data, None, &mut echo);
            echo.header
        }

        /// A packet arrives after this time; the echo's tick and its forecast of 100 ms.
        fn arrive(&mut self, after: Span, after_idle: bool, silence: Span) -> (u16, u8) {
            self.now += after;
            let echo = SproutHeader::parse(&self.packet(UNIT, data(after_idle, silence))).unwrap();
            (echo.tick(), echo.forecast()[4])
        }

        /// A packet every two milliseconds for this number of ticks: 10 packets per tick.
        fn busy(&mut self, ticks: usize) -> u8 {
            (0..10 * ticks).map(|_| self.arrive(Span::from_millis(2), false, Span::ZERO).1).last().unwrap()
        }
    }

    #[test]
    fn the_first_echo_has_the_forecast_of_an_unknown_link_and_each_tick_of_20_ms_a_new_one() {
        let mut bench = Bench::new();
        let unknown = Forecaster::get().forecast(&Belief::uniform(), 0.05)[4];
        assert_eq!(bench.arrive(Span::ZERO, false, Span::ZERO), (0, unknown));
        assert_eq!(bench.arrive(Span::from_millis(19), false, Span::ZERO), (0, unknown));
        assert_eq!(bench.arrive(Span::from_millis(1), false, Span::ZERO).0, 1);
        assert_eq!(bench.arrive(Span::from_millis(65), false, Span::ZERO).0, 4);
    }

    #[test]
    fn ten_packets_in_each_tick_are_forecast_with_caution() {
        // The rate is 50 packets per 100 ms; the 5 % quantile of a Poisson process is 39, and the belief is wider. At least half
        // of the link must be left for the forecast to be of use.
        let forecast = Bench::new().busy(50);
        assert!((25..39).contains(&forecast), "{forecast}");
    }

    #[test]
    fn silence_lowers_the_forecast_unless_it_was_announced_or_the_sender_was_idle() {
        let after = |silence: Span, after_idle: bool| {
            let mut bench = Bench::new();
            bench.busy(50);
            bench.arrive(Span::ZERO, false, silence);
            bench.arrive(Span::from_millis(200), after_idle, Span::ZERO).1
        };
        let (outage, announced, idle) =
            (after(Span::ZERO, false), after(Span::from_millis(200), false), after(Span::ZERO, true));
        assert!(outage == 0 && announced > 10 && idle > 10, "{outage} {announced} {idle}");
    }

    #[test]
    fn a_tick_whose_last_packet_announces_silence_is_a_lower_bound() {
        // One packet per tick: as a count it is a rate of 50 packets per second, as a bound it excludes only low rates.
        let forecast = |silence: Span| {
            let mut bench = Bench::new();
            (0..100).map(|_| bench.arrive(TICK, false, silence).1).last().unwrap()
        };
        assert!(forecast(Span::ZERO) <= 3, "{}", forecast(Span::ZERO));
        assert!(forecast(TICK * 2) > 10, "{}", forecast(TICK * 2));
    }

    #[test]
    fn a_tick_without_packets_is_an_observation_if_no_part_of_it_was_announced() {
        let mut bench = Bench::new();
        bench.arrive(Span::ZERO, false, Span::from_millis(30));
        bench.arrive(TICK * 3, false, Span::ZERO);
        let mut belief = Belief::uniform();
        belief.evolve();
        belief.observe(1.0, false);
        belief.evolve();
        belief.evolve();
        belief.observe(0.0, true);
        assert_eq!(bench.receiver.belief, belief);
    }

    #[test]
    fn packets_count_by_their_size() {
        let mut bench = Bench::new();
        for bytes in [1500, 1500, 300] {
            bench.packet(Bytes::new(bytes), data(false, Span::ZERO));
        }
        assert!((bench.receiver.count - 2.2).abs() < 1e-12);
    }

    #[test]
    fn a_silence_of_a_day_costs_ten_seconds_of_ticks_and_foreign_headers_are_counted() {
        let mut bench = Bench::new();
        bench.arrive(Span::ZERO, false, Span::ZERO);
        let (tick, forecast) = bench.arrive(Span::from_millis(86_400_000), false, Span::ZERO);
        assert_eq!((tick, forecast), ((86_400_000_u64 / 20) as u16, 0));
        assert_eq!(bench.packet(UNIT, Header::new(ID, &[0; 4])), Header::NONE);
        assert_eq!(bench.receiver.unread(), 1);
    }
}
