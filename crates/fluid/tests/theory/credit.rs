//! Relays with limited buffers, and the loops before them.

use crate::laws::{P, Ramp, Steady};
use millpond_fluid::{
    Accuracy, Assembly, Entity, FluidNetwork, Frozen, LinkId, Loop, Relay, RelayBuffer, Solver,
};
use millpond_law::fluid::{SenderLaws, sender_law};

/// The base round-trip time of the loop before the relay, and the way to it.
const RTT: f64 = 0.2;
const FORWARD: f64 = 0.1;
const TAU: f64 = RTT / 64.0;
/// The rate of the loop after the relay.
const NEXT: f64 = 1000.0;

/// What a chain of two loops does: its sending rates, and the backlog and what is outstanding at the relay between them.
struct Chain {
    times: Vec<f64>,
    rates: [Vec<f64>; 2],
    backlog: Vec<f64>,
    outstanding: Vec<f64>,
    /// The rate that a law with a state permits; otherwise none.
    permitted: Option<Vec<f64>>,
}

impl Chain {
    fn run(before: Box<dyn SenderLaws>, buffer: RelayBuffer, seconds: f64) -> Self {
        Self::over([1e5, f64::INFINITY], before, buffer, seconds)
    }

    /// With this capacity and buffer of the first link.
    fn over(
        [capacity, room]: [f64; 2],
        before: Box<dyn SenderLaws>,
        buffer: RelayBuffer,
        seconds: f64,
    ) -> Self {
        let mut network = FluidNetwork::new();
        let links = [network.link("A", capacity, room), network.link("B", 1e5, f64::INFINITY)];
        let upstream = network.add(Loop::new("first", P, before, RTT).over(links[0], 0.0));
        let next = Loop::new("second", P, sender_law(Steady(NEXT)), 0.1).over(LinkId(1), 0.02);
        let downstream = network.add(next);
        network.add_relay(Relay { upstream, downstream, forward: FORWARD, buffer });
        let accuracy = Accuracy { tolerance: 1e-8, ..Accuracy::default() };
        let size = if buffer.size.is_finite() { buffer.size } else { 0.0 };
        let solution = Assembly::new(network).unwrap().run(seconds, 0.01, accuracy).unwrap();
        let permitted =
            solution.column(Entity::Loop(0), "x").map(|_| solution.of(Entity::Loop(0), "x").to_vec());
        let of = |entity, quantity| solution.of(entity, quantity).to_vec();
        Self {
            times: solution.times.clone(),
            rates: [0, 1].map(|l| of(Entity::Loop(l), "sending rate")),
            backlog: of(Entity::Relay(0), "backlog"),
            permitted,
            outstanding: of(Entity::Relay(0), "credit").iter().map(|credit| size - credit).collect(),
        }
    }

    fn last(list: &[f64]) -> f64 {
        list[list.len() - 1]
    }
}

fn near(found: f64, theory: f64) {
    assert!((found - theory).abs() < 1e-3 * theory.abs().max(1.0), "{found}, not {theory}");
}

/// o = B - tau x2, of which x2 times the round-trip time is under way.
#[test]
fn a_full_relay_has_its_buffer_without_what_is_under_way() {
    let by_time = RelayBuffer { size: f64::INFINITY, delay: 0.5, least: 0.0 };
    for buffer in [RelayBuffer::of_size(500.0), by_time] {
        let chain = Chain::run(sender_law(Steady(3000.0)), buffer, 6.0);
        near(Chain::last(&chain.rates[0]), NEXT);
        near(Chain::last(&chain.outstanding), 500.0 - TAU * NEXT);
        near(Chain::last(&chain.backlog), 500.0 - (TAU + RTT) * NEXT);
    }
}

/// Before the first credit returns, after a round trip, the loop has sent B (1 - e^(-t/tau)) from the time at which its law
/// permits more than (B - o) / tau.
#[test]
fn what_is_outstanding_never_exceeds_the_buffer() {
    const LAW: f64 = 5000.0;
    let chain = Chain::run(sender_law(Steady(LAW)), RelayBuffer::of_size(500.0), 6.0);
    assert!(chain.outstanding.iter().all(|outstanding| (0.0..=500.0 + 1e-6).contains(outstanding)));
    assert!(
        chain
            .backlog
            .iter()
            .zip(&chain.outstanding)
            .all(|(backlog, outstanding)| backlog <= &(outstanding + 1e-6))
    );
    let limited_from = (500.0 - LAW * TAU) / LAW;
    for (t, outstanding) in chain.times.iter().zip(&chain.outstanding).filter(|(t, _)| **t < RTT) {
        let theory = match t - limited_from {
            before if before < 0.0 => LAW * t,
            after => 500.0 - LAW * TAU * (-after / TAU).exp(),
        };
        near(*outstanding, theory);
    }
}

/// The first burst comes again after each round trip, and tau spreads it slowly: the mean over ten round trips counts.
#[test]
fn a_buffer_below_the_bandwidth_delay_product_permits_one_buffer_per_round_trip() {
    let chain = Chain::run(sender_law(Steady(3000.0)), RelayBuffer::of_size(100.0), 12.0);
    for rates in &chain.rates {
        let last: &[f64] = &rates[rates.len() - 203..];
        near(last.iter().sum::<f64>() / last.len() as f64, 100.0 / (RTT + TAU));
    }
    assert_eq!(Chain::last(&chain.backlog), 0.0);
}

/// A law that raises its rate by 2000 per second, and one that lowers it by 400.
#[test]
fn credit_stops_the_growth_of_a_rate_but_not_its_fall() {
    let buffer = RelayBuffer::of_size(500.0);
    let rising = Chain::run(sender_law(Ramp::<false> { initial: 100.0, slope: 2000.0 }), buffer, 8.0);
    near(Chain::last(&rising.rates[0]), NEXT);
    // It has what it had when the relay was full.
    let permitted = rising.permitted.unwrap();
    near(Chain::last(&permitted), permitted[200]);
    assert!((NEXT / 0.9..3000.0).contains(&permitted[200]), "{}", permitted[200]);
    let falling = Chain::run(sender_law(Ramp::<false> { initial: 3000.0, slope: -400.0 }), buffer, 6.0);
    near(Chain::last(&falling.rates[0]), 3000.0 - 400.0 * 6.0);
    near(Chain::last(&falling.permitted.unwrap()), 3000.0 - 400.0 * 6.0);
}

/// The first link loses what its buffer of 20 bits does not hold of the first burst. The sender sends it again, and needs no
/// further credit for it.
#[test]
fn lost_data_do_not_remain_outstanding() {
    let buffer = RelayBuffer::of_size(500.0);
    let chain = Chain::over([2000.0, 20.0], sender_law(Steady(3000.0)), buffer, 6.0);
    near(Chain::last(&chain.backlog), 500.0 - (TAU + RTT) * NEXT);
    near(Chain::last(&chain.rates[0]), NEXT);
}

/// With constant rates, what is under way is the rate times the round-trip time.
#[test]
fn a_run_from_a_steady_state_begins_with_the_credit_that_is_left() {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 1e5, f64::INFINITY), network.link("B", 1e5, f64::INFINITY)];
    let upstream = network.add(Loop::new("first", P, sender_law(Steady(800.0)), RTT).over(links[0], 0.0));
    let downstream = network.add(Loop::new("second", P, sender_law(Steady(NEXT)), 0.1).over(links[1], 0.02));
    network.add_relay(Relay { upstream, downstream, forward: FORWARD, buffer: RelayBuffer::of_size(500.0) });
    let assembly = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&assembly, 1.0);
    let mut solver = Solver::at(&frozen, &assembly.initial(), Accuracy::default()).unwrap();
    let place = assembly.state_columns().iter().position(|column| column.quantity == "credit").unwrap();
    let credit = |solver: &Solver<'_>| solver.state()[place];
    near(credit(&solver), 500.0 - 800.0 * RTT);
    solver.advance(1.0).unwrap();
    near(credit(&solver), 500.0 - 800.0 * RTT);
}

/// Equal rates, and a backlog that therefore stays: it counts beside what is under way, `NEXT` times the round-trip time.
#[test]
fn a_backlog_takes_its_part_of_the_buffer() {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 1e5, f64::INFINITY), network.link("B", 1e5, f64::INFINITY)];
    let upstream = network.add(Loop::new("first", P, sender_law(Steady(NEXT)), RTT).over(links[0], 0.0));
    let downstream = network.add(Loop::new("second", P, sender_law(Steady(NEXT)), 0.1).over(links[1], 0.02));
    network.add_relay(Relay { upstream, downstream, forward: FORWARD, buffer: RelayBuffer::of_size(500.0) });
    let assembly = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&assembly, 1.0);
    let columns = assembly.state_columns();
    let place = |quantity: &str| columns.iter().position(|column| column.quantity == quantity).unwrap();
    let with_backlog = |bits: f64| {
        let mut states = assembly.initial();
        states[place("backlog")] = bits;
        states
    };
    let mut solver = Solver::at(&frozen, &with_backlog(100.0), Accuracy::default()).unwrap();
    for time in [0.0, 1.0] {
        solver.advance(time).unwrap();
        near(solver.state()[place("credit")], 500.0 - NEXT * RTT - 100.0);
        near(solver.state()[place("backlog")], 100.0);
    }
    let short = |bits: f64| frozen.loop_after_short_buffer(&frozen.at(&with_backlog(bits)).unwrap());
    assert_eq!([299.0, 301.0].map(short), [None, Some(downstream)]);
}

#[test]
fn without_a_bound_a_relay_has_no_states_for_it() {
    let chain = |buffer| {
        let mut network = FluidNetwork::new();
        let link = network.link("A", 1e5, f64::INFINITY);
        let upstream = network.add(Loop::new("first", P, sender_law(Steady(1.0)), RTT).over(link, 0.0));
        let downstream = network.add(Loop::new("second", P, sender_law(Steady(1.0)), 0.1).over(link, 0.0));
        network.add_relay(Relay { upstream, downstream, forward: FORWARD, buffer });
        Assembly::new(network).map(|assembly| assembly.states())
    };
    let unlimited = chain(RelayBuffer::UNLIMITED).unwrap();
    // The credit, and what the loop before the relay has in queues.
    assert_eq!(chain(RelayBuffer::of_size(10.0)).unwrap(), unlimited + 2);
    for size in [0.0, -1.0, f64::NAN] {
        let said = chain(RelayBuffer::of_size(size)).unwrap_err().to_string();
        assert!(said.contains("first") && said.contains("buffer"), "{said}");
    }
}
