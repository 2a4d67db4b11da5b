//! The sender: what it has in flight is to be delivered within 100 ms (section 3.5).

use super::belief::Belief;
use super::forecast::{Forecast, Forecaster};
use super::header::SproutHeader;
use super::model::{TICK, TICKS, UNIT};
use super::params::Params;
use millpond_law::{
    Ack, Cause, Congestion, Context, Gauge, Header, LimitedBy, Permit, Sender, Start, Unread,
};
use millpond_units::{Bytes, Span, Time};

/// Least time after the last packet that the window allows in which silence is no observation: the period of the
/// packets without data of the authors' implementation.
const LEAST_SILENCE: Span = Span::from_millis(50);

/// The deliveries that are forecast until the end of this number of ticks.
fn delivered_after(forecast: &Forecast, ticks: usize) -> Bytes {
    let count = ticks.min(TICKS).checked_sub(1).map_or(0, |last| forecast[last]);
    UNIT * u64::from(count)
}

/// What may be sent now: the deliveries that are forecast for the next `look_ahead` ticks, less what is in the queue
/// (section 3.5). `elapsed`: ticks since the forecast arrived.
fn window(forecast: &Forecast, elapsed: usize, look_ahead: usize, queued: Bytes) -> Bytes {
    let until = delivered_after(forecast, elapsed.saturating_add(look_ahead));
    until.saturating_sub(delivered_after(forecast, elapsed)).saturating_sub(queued)
}

/// The sender's state.
pub(super) struct SproutSender {
    params: Params,
    packet: Bytes,
    forecast: Forecast,
    /// The number of the tick in which the receiver made the forecast; none before the first acknowledgement.
    tick: Option<u16>,
    /// Arrival of the forecast.
    arrived: Time,
    /// Ticks since then.
    elapsed: usize,
    /// Bytes in flight when the forecast arrived, and sent since then.
    unacknowledged: Bytes,
    /// Smoothed round-trip time: the acknowledgement of a packet allows the next one.
    rtt: Span,
    /// Was the newest packet acknowledged within the delay that packets may have? A path whose base round-trip time is longer
    /// has a tick for its queue.
    meets_delay: bool,
    in_flight: Bytes,
    /// Did the application supply less than the window at the last acknowledgement?
    lacks_data: bool,
    /// Had the sender nothing in flight and no data before the next packet?
    after_idle: bool,
    unread: Unread,
}

impl SproutSender {
    pub(super) fn new(params: Params) -> Self {
        Self {
            params,
            packet: UNIT,
            forecast: Forecaster::get().forecast(&Belief::uniform(), params.risk),
            tick: None,
            arrived: Time::ZERO,
            elapsed: 0,
            unacknowledged: Bytes::ZERO,
            rtt: Span::ZERO,
            meets_delay: true,
            in_flight: Bytes::ZERO,
            lacks_data: false,
            after_idle: false,
            unread: Unread::default(),
        }
    }

    fn take(&mut self, now: Time, forecast: Forecast) {
        self.forecast = forecast;
        self.arrived = now;
        self.elapsed = 0;
        self.unacknowledged = self.in_flight;
    }

    /// What is in the queue: what was in flight when the forecast arrived or was sent since then, less the deliveries: those
    /// that were forecast, or those that were acknowledged if they are more.
    fn queued(&self) -> Bytes {
        let drained = delivered_after(&self.forecast, self.elapsed);
        self.unacknowledged.saturating_sub(drained).min(self.in_flight)
    }

    /// What may be sent now.
    fn window(&self) -> Bytes {
        window(&self.forecast, self.elapsed, self.params.ticks, self.queued())
    }

    /// Upper limit of the bytes in flight, at least one packet.
    fn permitted(&self) -> Bytes {
        (self.in_flight + self.window()).max(self.packet)
    }
}

impl Sender for SproutSender {
    fn on_start(&mut self, cx: &mut Context<'_>, start: &Start) {
        self.packet = start.packet;
        self.arrived = cx.now;
    }

    fn on_ack(&mut self, cx: &mut Context<'_>, ack: &Ack) {
        self.in_flight = ack.in_flight;
        self.rtt = ack.smoothed_rtt;
        if let Some(rtt) = ack.rtt {
            self.meets_delay = rtt < self.params.delay().max(ack.min_rtt + TICK);
        }
        self.lacks_data = matches!(ack.limited_by, LimitedBy::Data | LimitedBy::Credit);
        if let Some(header) = self.unread.note(SproutHeader::parse(&ack.header))
            && self.tick != Some(header.tick())
        {
            self.tick = Some(header.tick());
            self.take(cx.now, header.forecast());
        }
    }

    /// Losses only leave the queue: the forecast has them in it. After persistent congestion nothing is forecast.
    fn on_congestion(&mut self, cx: &mut Context<'_>, congestion: &Congestion) {
        self.in_flight = congestion.in_flight;
        if congestion.cause == Cause::NoFeedback {
            self.take(cx.now, [0; TICKS]);
        }
    }

    fn on_idle_restart(&mut self, _cx: &mut Context<'_>) {
        self.after_idle = true;
    }

    fn on_timer(&mut self, cx: &mut Context<'_>) {
        let ticks = cx.now.since(self.arrived).picos() / TICK.picos();
        self.elapsed = usize::try_from(ticks).map_or(TICKS, |ticks| ticks.min(TICKS));
    }

    fn on_sent(&mut self, _cx: &mut Context<'_>, bytes: Bytes, in_flight: Bytes) {
        self.in_flight = in_flight;
        self.unacknowledged += bytes;
    }

    fn permit(&self) -> Permit {
        let next_tick = TICK.scale((self.elapsed + 1) as f64);
        Permit {
            window: Some(self.permitted()),
            wake: (self.elapsed < TICKS).then(|| self.arrived + next_tick),
            ..Permit::default()
        }
    }

    /// The last packet that the window allows announces that silence follows, while packets are in time; the silence after a late
    /// one is that of the link. A sender that lacks data announces it with each packet.
    fn stamp(&mut self, _cx: &mut Context<'_>, header: &mut Header) {
        let is_last = self.window() < self.packet * 2 && self.meets_delay;
        let silence = if is_last || self.lacks_data { self.rtt.max(LEAST_SILENCE) } else { Span::ZERO };
        SproutHeader::data(core::mem::take(&mut self.after_idle), silence).emit(header);
    }

    fn unread(&self) -> u64 {
        self.unread.count()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        let packets = |bytes: Bytes| bytes.as_f64() / self.packet.as_f64();
        gauge.quantity("window", "packets", packets(self.permitted()));
        gauge.quantity("forecast", "packets", packets(delivered_after(&self.forecast, self.params.ticks)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::Sprout;
    use crate::sprout::params::PARAMETERS;
    use crate::testing::{PACKET, SenderBench};
    use millpond_law::{Episode, Random, Settings, Value};

    /// A forecast of 10 packets of 1500 bytes per tick.
    const TEN_PER_TICK: Forecast = [10, 20, 30, 40, 50, 60, 70, 80];
    const RTT: Span = Span::from_millis(40);

    fn bench(settings: &[(&'static str, Value)]) -> SenderBench {
        SenderBench::new(&Sprout, settings, RTT)
    }

    fn echo(bench: &SenderBench, tick: u16, in_flight: Bytes) -> Ack {
        let mut header = Header::NONE;
        SproutHeader::echo(tick, TEN_PER_TICK).emit(&mut header);
        Ack { header, in_flight, ..bench.plain() }
    }

    fn acknowledge(bench: &mut SenderBench, tick: u16, in_flight: Bytes) {
        let ack = echo(bench, tick, in_flight);
        bench.ack(&ack);
    }

    fn permitted(bench: &SenderBench) -> Bytes {
        bench.law.permit().window.unwrap()
    }

    fn stamped(bench: &mut SenderBench) -> SproutHeader {
        let mut header = Header::NONE;
        bench.stamp(&mut header);
        SproutHeader::parse(&header).unwrap()
    }

    #[test]
    fn a_forecast_of_100_ms_less_the_queue_may_be_sent() {
        // 20 packets are in the queue, 50 leave within five ticks, and later 60 - 10 of which 10 were in the queue.
        let queue = UNIT * 20;
        for (elapsed, queued, allowed) in [(0, 20, 30), (1, 10, 40), (3, 0, 50), (4, 0, 40), (8, 0, 0)] {
            assert_eq!(window(&TEN_PER_TICK, elapsed, 5, UNIT * queued), UNIT * allowed, "{elapsed}");
        }
        assert_eq!(window(&TEN_PER_TICK, 0, 5, queue * 3), Bytes::ZERO);
    }

    #[test]
    fn before_the_first_forecast_the_window_is_that_of_an_unknown_link() {
        let unknown = Forecaster::get().forecast(&Belief::uniform(), 1.0 - 0.95);
        assert_eq!(permitted(&bench(&[])), UNIT * u64::from(unknown[4]));
    }

    #[test]
    fn acknowledgements_of_one_tick_let_as_much_leave_as_they_report() {
        let mut bench = bench(&[]);
        for in_flight in [60, 50, 49, 20] {
            acknowledge(&mut bench, 1, UNIT * in_flight);
            let most = if in_flight == 60 { 60 } else { 50 };
            assert_eq!(permitted(&bench), UNIT * most, "{in_flight}");
        }
    }

    #[test]
    fn without_a_new_forecast_the_queue_drains_as_forecast_until_it_ends() {
        let mut bench = bench(&[]);
        acknowledge(&mut bench, 1, UNIT * 50);
        // 50 packets are in flight. After 1 to 5 ticks 40 to 0 of them are in the queue. 50 packets are forecast for the next
        // five ticks, but after more than 3 ticks only what is left of the forecast.
        for packets in [60, 70, 80, 80, 80, 70, 60, 50] {
            let before = bench.now;
            bench.wake();
            assert_eq!((bench.now.since(before), permitted(&bench)), (TICK, UNIT * packets));
        }
        assert_eq!(bench.law.permit().wake, None);
    }

    #[test]
    fn a_longer_delay_or_less_confidence_allow_more() {
        let of = |settings: &[(&'static str, Value)]| permitted(&bench(settings));
        let usual = of(&[]);
        assert!(of(&[("delay", Value::text("160ms"))]) > usual);
        assert!(of(&[("confidence", Value::Number(0.5))]) > usual);
    }

    #[test]
    fn a_delay_that_is_no_multiple_of_a_tick_is_refused() {
        for delay in ["10ms", "30ms", "180ms"] {
            let settings = Settings::check(PARAMETERS, [("delay", Value::text(delay))]).unwrap();
            let refused = Params::read(&settings).unwrap_err().to_string();
            assert!(refused.contains("a multiple of 20ms from 20ms to 160ms"), "{refused}");
        }
    }

    #[test]
    fn the_last_packet_of_the_window_announces_a_silence_of_a_round_trip_time_and_at_least_50_ms() {
        for (rtt, silence) in [(40, 50), (90, 90)] {
            let mut bench = SenderBench::new(&Sprout, &[], Span::from_millis(rtt));
            acknowledge(&mut bench, 1, UNIT * 40);
            assert_eq!(stamped(&mut bench).silence(), Span::ZERO);
            acknowledge(&mut bench, 2, UNIT * 50 - PACKET);
            assert_eq!(stamped(&mut bench).silence(), Span::from_millis(silence));
        }
    }

    #[test]
    fn while_packets_are_late_no_silence_is_announced() {
        let mut bench = bench(&[]);
        for (rtt, silence) in [(99, true), (100, false), (99, true)] {
            let rtt = Some(Span::from_millis(rtt));
            let ack = Ack { rtt, ..echo(&bench, 1, UNIT * 50) };
            bench.ack(&ack);
            assert_eq!(stamped(&mut bench).silence() > Span::ZERO, silence, "{rtt:?}");
        }
    }

    #[test]
    fn a_sender_without_data_announces_silence_and_says_so_when_it_resumes() {
        let mut bench = bench(&[]);
        bench.ack_with_unused_window();
        assert_eq!(stamped(&mut bench).silence(), Span::from_millis(50));
        assert!(!stamped(&mut bench).after_idle());
        bench.restart_from_idle();
        assert!(stamped(&mut bench).after_idle());
        assert!(!stamped(&mut bench).after_idle());
    }

    #[test]
    fn a_loss_only_leaves_the_queue_and_persistent_congestion_ends_the_forecast() {
        let mut bench = bench(&[]);
        acknowledge(&mut bench, 1, UNIT * 50);
        let in_flight = UNIT * 48;
        let lost = |cause| Congestion {
            cause,
            episode: Episode::New,
            bytes: UNIT * 2,
            in_flight,
            prior_in_flight: UNIT * 50,
        };
        let mut random = Random::stream(1, "sender");
        let mut report = |bench: &mut SenderBench, cause| {
            bench.law.on_congestion(&mut Context { now: bench.now, random: &mut random }, &lost(cause));
            permitted(bench)
        };
        assert_eq!(report(&mut bench, Cause::Loss), UNIT * 50);
        assert_eq!(report(&mut bench, Cause::NoFeedback), in_flight);
    }
}
