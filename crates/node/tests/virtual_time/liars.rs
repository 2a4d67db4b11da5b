//! A relay whose rate messages are false: the rate of its next loop is zero, unlimited, random, that of the beginning, or
//! missing. Transfers continue with the right bytes, within the bounds that each test states.

use crate::world::{App, Wire, World};
use millpond_law::{
    Card, Context, Data, Echo, Header, Needs, Protocol, Receiver, RelayView, Sender, SettingError, Settings,
};
use millpond_node::config::LGCC_DEFAULTS;
use millpond_protocols::lgcc::{Lgcc, LgccEcho, NextRate};
use millpond_units::{Bytes, Rate};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    Zero,
    Unlimited,
    Random,
    Stale,
    Stripped,
}

/// LGCC whose receivers lie.
struct Liar(Lie);

impl Protocol for Liar {
    fn card(&self) -> &'static Card {
        Lgcc.card()
    }

    fn needs(&self, settings: &Settings) -> Needs {
        Lgcc.needs(settings)
    }

    fn sender(&self, settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        Lgcc.sender(settings)
    }

    fn receiver(&self, settings: &Settings) -> Result<Box<dyn Receiver>, SettingError> {
        Ok(Box::new(LyingReceiver { truth: Lgcc.receiver(settings)?, lie: self.0, first: None }))
    }
}

struct LyingReceiver {
    truth: Box<dyn Receiver>,
    lie: Lie,
    first: Option<Header>,
}

impl Receiver for LyingReceiver {
    fn on_data(&mut self, cx: &mut Context<'_>, data: &Data, relay: Option<&RelayView>, echo: &mut Echo) {
        self.truth.on_data(cx, data, relay, echo);
        let mut signal = |next| LgccEcho::new(next).emit(&mut echo.header);
        match self.lie {
            Lie::Zero => signal(NextRate::Limit(Rate::ZERO)),
            Lie::Unlimited => signal(NextRate::NoLimit),
            Lie::Random => signal(NextRate::Limit(Rate::from_mbps(100.0).scale(cx.random.uniform()))),
            Lie::Stale => echo.header = *self.first.get_or_insert(echo.header),
            Lie::Stripped => echo.header = Header::NONE,
        }
    }
}

/// Rates of the two links in Mbit/s, and their delay in milliseconds.
const RATES: [f64; 2] = [50.0, 20.0];
const DELAY: f64 = 5.0;

/// A chain of which the relay lies.
fn chain(lie: Lie) -> World {
    let liar: &'static Liar = Box::leak(Box::new(Liar(lie)));
    let wires = RATES.map(|rate| Wire::new(rate, DELAY));
    World::chain_with(&wires, "lgcc", LGCC_DEFAULTS, |place, config| {
        config.capacity = RATES.get(place).map(|rate| Rate::from_mbps(*rate));
        if place == 1 {
            config.protocol = liar;
        }
    })
}

/// What arrives at the exit in Mbit/s, and the most that the relay holds.
fn transfer(lie: Lie) -> (f64, Bytes) {
    let mut world = chain(lie);
    world.open(App::sending(1 << 40));
    world.run(3.0);
    let received = |world: &World| world.hosts[2].apps.values().map(|app| app.received).sum::<u64>();
    let (before, mut most) = (received(&world), Bytes::ZERO);
    for _ in 0..500 {
        world.run(0.01);
        let relay = world.node(1).stats().loops.into_iter().find(|link| link.is_next).unwrap();
        most = most.max(relay.held);
    }
    let exit = world.hosts[2].apps.values().next().unwrap();
    assert!(!exit.is_wrong && exit.aborted.is_none(), "{lie:?}: {exit:?}");
    ((received(&world) - before) as f64 * 8.0 / 5e6, most)
}

/// Stream data in a packet of 1500 bytes, in bits.
const PAYLOAD: f64 = 1427.0 * 8.0;

#[test]
fn a_loop_that_receives_a_rate_of_zero_sends_its_least_rate() {
    let (mbps, _) = transfer(Lie::Zero);
    // A packet per base RTT, the least rate of LGCC. Its acknowledgement waits a millisecond for a second packet, and a packet
    // takes .24 ms of 50 Mbit/s.
    let (fastest, slowest) = (2.0 * DELAY, 2.0 * DELAY + 0.24 + 1.0 + 0.2);
    assert!((PAYLOAD / slowest / 1e3..=PAYLOAD / fastest / 1e3).contains(&mbps), "{mbps} Mbit/s");
}

#[test]
fn a_relay_that_signals_too_high_a_rate_fills_its_own_queue_to_its_bound_and_no_more() {
    for lie in [Lie::Unlimited, Lie::Random, Lie::Stale, Lie::Stripped] {
        let (mbps, held) = transfer(lie);
        let share = mbps / (RATES[1] * PAYLOAD / 12e3);
        assert!((0.98..=1.01).contains(&share), "{lie:?}: {share} of the slower link");
        // What its loop sends in 20 ms, and a packet.
        let bound = RATES[1] * 1e6 / 8.0 * 0.020 + 1500.0;
        assert!(held.as_f64() <= bound, "{lie:?}: {held} held, bound {bound}");
    }
}
