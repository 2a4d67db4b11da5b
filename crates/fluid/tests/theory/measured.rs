//! Channels and integrals of the fixed-step scheme: closed forms, conservation, and second order against the adaptive
//! solver.

use crate::laws::{BASE, P, Price, Steady};
use millpond_fluid::{
    Accuracy, Assembly, Entity, FixedStepIntegration, FluidNetwork, Integration, Loop, Solver,
};
use millpond_law::fluid::{
    Feedback, FluidSender, Number, PathAggregation, SenderInput, State, link_law, sender_law,
};

/// `x' = gain x (1 - price)` from a tenth of [`BASE`] on: no state leaves a bound at the start.
struct Grow(f64);

impl FluidSender for Grow {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "price", unit: "1", over_path: PathAggregation::Sum }];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", 0.1 * BASE)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = x[0] * (-input.feedback[0] + 1.0) * self.0;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// The index of a channel.
fn channel(asm: &Assembly, entity: Entity, quantity: &str) -> usize {
    let columns = asm.channel_columns();
    columns.iter().position(|c| c.entity == entity && c.quantity == quantity).unwrap()
}

fn advance(run: &mut impl Integration, until: f64) {
    while !run.advance_some(until, 1000).unwrap() {}
}

/// A link of 10 kbit/s with flows of 4 and 9 kbit/s that start and stop between steps. The first flow finds it idle;
/// both fill it at 3 kbit/s for 1.4 s; then it empties at 6 kbit/s for 0.7 s.
#[test]
fn integrals_of_constant_flows_agree_with_closed_forms_for_starts_between_steps() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 10.0 * BASE, f64::INFINITY);
    let flow = |name: &str, rate: f64| Loop::new(name, P, sender_law(Steady(rate * BASE)), 0.2);
    // The first bits arrive at 1.0037 s and at 2.5 s.
    network.add(flow("a", 4.0).over(link, 0.0307).from(0.973));
    network.add(flow("b", 9.0).over(link, 0.05).from(2.45).until(3.85));
    let asm = Assembly::new(network).unwrap();
    let mut run = FixedStepIntegration::new(&asm, 0.01).unwrap();
    let [a, b, l] = [Entity::Loop(0), Entity::Loop(1), Entity::Link(0)];
    let of = |run: &FixedStepIntegration<'_>, entity, quantity| {
        run.integrals()[channel(&asm, entity, quantity)] / BASE
    };
    advance(&mut run, 2.0);
    assert!((of(&run, a, "sending rate") - 4.0 * (2.0 - 0.973)).abs() < 1e-9);
    // Delays are rounded to 1/65536 of a step.
    let rounded = 4.0 * 0.01 / 65536.0;
    assert!((of(&run, a, "delivered rate") - 4.0 * (2.0 - 1.0037)).abs() < rounded);
    assert!((of(&run, l, "departing rate") - 4.0 * (2.0 - 1.0037)).abs() < rounded);
    assert!((BASE * of(&run, a, "round-trip time") - 0.2 * 2.0).abs() < 1e-9);
    // A jump moves the queue off its bound: the scheme is of first order there, with an error of half a step.
    let off = 0.5 * 0.01 * 3.0;
    advance(&mut run, 3.5);
    let queue = run.state().last().unwrap() / BASE;
    assert!((queue - 3.0 * 1.0).abs() <= off + 1e-9, "{queue}");
    advance(&mut run, 6.0);
    assert!((of(&run, b, "sending rate") - 9.0 * 1.4).abs() < 1e-9);
    // While the queue has data of both flows, each is served in proportion to its arrivals; after b has stopped, the
    // rest of the queue counts as a's.
    let [to_a, to_b] = [a, b].map(|flow| of(&run, flow, "delivered rate"));
    // In the steps of its jumps it has the mean share, which changes from 1 to 10/13 and from 10/13 to 10/4.
    let jumps = 0.5 * 0.01 * 9.0 * (3.0 / 13.0 + 10.0 / 4.0 - 10.0 / 13.0);
    assert!((to_b - 1.4 * 10.0 * 9.0 / 13.0).abs() < off + jumps, "{to_b}");
    assert!((to_a + to_b - 4.0 * (6.0 - 1.0037) - 9.0 * 1.4).abs() < 4.0 * rounded, "{to_a} {to_b}");
    assert!((to_a + to_b - of(&run, l, "departing rate")).abs() < 1e-9);
    assert!((of(&run, l, "departing rate") - of(&run, l, "arriving rate")).abs() < 1e-9);
    // A triangle of 4.2 kbit over 1.4 and .7 s, at 10 kbit/s.
    let area = 0.5 * 4.2 * (1.4 + 0.7) / 10.0;
    let waited = of(&run, l, "queueing delay") * BASE;
    assert!((waited - area).abs() < off / 10.0 * 2.1, "{waited} {area}");
    assert!((BASE * of(&run, a, "round-trip time") - 0.2 * 6.0 - waited).abs() < 1e-9);
}

/// Three flows over two links with prices, queues that fill and empty, a buffer that overflows, and a stop and a new
/// capacity between steps.
fn growing() -> Assembly {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 10.0 * BASE, f64::INFINITY), network.link("B", 8.0 * BASE, 1500.0)];
    for (link, target) in links.into_iter().zip([9.0, 7.5]) {
        network.add_router(link, P, link_law(Price { target: target * BASE, gain: 3e-4 }));
    }
    let flow = |name: &str, rtt: f64| Loop::new(name, P, sender_law(Grow(1.5)), rtt);
    network.add(flow("long", 0.17).over(links[0], 0.021).over(links[1], 0.053));
    network.add(flow("a", 0.1).over(links[0], 0.0).from(0.333).times(2.0));
    network.add(flow("b", 0.23).over(links[1], 0.03).from(1.0).until(14.127));
    network.set_capacity_at(9.0417, links[0], 7.0 * BASE);
    Assembly::new(network).unwrap()
}

/// The largest differences of states, present channels and integrals at whole seconds from 2 s on, each relative to its
/// largest value, for all channels of links and loops.
fn off(reference: &[(Vec<f64>, Vec<f64>, Vec<f64>)], step: f64) -> [f64; 3] {
    let asm = growing();
    let mut run = FixedStepIntegration::new(&asm, step).unwrap();
    let mut worst = [0.0_f64; 3];
    for (i, (states, channels, integrals)) in reference.iter().enumerate() {
        advance(&mut run, 2.0 + i as f64);
        let pairs = [(states, run.state()), (channels, run.channels()), (integrals, run.integrals())];
        for (k, (exact, seen)) in pairs.into_iter().enumerate() {
            for (place, (exact, seen)) in exact.iter().zip(seen).enumerate() {
                let of = |r: &(Vec<f64>, Vec<f64>, Vec<f64>)| [&r.0, &r.1, &r.2][k][place].abs();
                let size = reference.iter().map(of).fold(1e-9, f64::max);
                worst[k] = worst[k].max((exact - seen).abs() / size);
            }
        }
    }
    worst
}

#[test]
fn states_channels_and_integrals_are_of_second_order() {
    let asm = growing();
    // The delivered rate jumps when an earlier link becomes empty; no law uses it, so it is integrated with short
    // steps.
    let accuracy = Accuracy { tolerance: 1e-9, longest_step: 2e-4, ..Accuracy::default() };
    let mut solver = Solver::new(&asm, accuracy).unwrap();
    let reference: Vec<_> = (2..20)
        .map(|second| {
            solver.advance(f64::from(second)).unwrap();
            (solver.state().to_vec(), solver.channels().to_vec(), solver.integrals().to_vec())
        })
        .collect();
    let (coarse, fine) = (off(&reference, 8e-3), off(&reference, 2e-3));
    println!("off by {coarse:?} and {fine:?}");
    for (coarse, fine) in coarse.iter().zip(fine) {
        let order = (coarse / fine).log2() / 2.0;
        assert!(order > 1.8, "{coarse} {fine}: {order}");
    }
}
