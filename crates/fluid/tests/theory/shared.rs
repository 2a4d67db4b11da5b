//! A loop that several flows share: the rate of each flow, the feedback to each loop, and the exact Jacobian.
//!
//! ```text
//!  first  --A--+                    +--C--> loop of its own
//!              |==S== shared loop ==|
//!  second --B--+                    +-----> destination
//! ```

use crate::laws::{BASE, P, Steady};
use millpond_fluid::{
    Accuracy, Assembly, Entity, FluidNetwork, Frozen, Loop, LoopId, ProtocolId, Relay, RelayBuffer, Solution,
};
use millpond_law::fluid::{
    FluidLink, FluidSender, LinkInput, Number, Quantity, SenderInput, State, Verdicts, link_law, sender_law,
};

/// Sends in proportion to the total weight of the flows that share it.
struct PerWeight(f64);

impl FluidSender for PerWeight {
    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        let weight = input.upstream.and_then(|upstream| upstream.weight);
        T::from(self.0 * weight.unwrap_or(0.0))
    }
}

/// Indices: loops in the order first, second, shared, share of the first, share of the second, last.
struct Shape {
    laws: [Box<dyn millpond_law::fluid::SenderLaws>; 4],
    weights: [f64; 2],
    /// When the second flow starts and stops.
    second: (f64, Option<f64>),
    /// The shared link's queue marks this share of packets per bit.
    marks: f64,
}

const SHARED: usize = 2;
const PARTS: [usize; 2] = [3, 4];
const LAST: usize = 5;

fn network(Shape { laws, weights, second, marks }: Shape) -> Assembly {
    let mut network = FluidNetwork::new();
    let links = ["A", "B", "S", "C"].map(|name| network.link(name, 1e4, f64::INFINITY));
    for link in [links[0], links[2]] {
        network.set_queue(link, link_law(Marks(marks)), Verdicts::Marks);
    }
    let [first, other, shared, last] = laws;
    let upstream = [
        network.add(Loop::new("first", P, first, 0.2).over(links[0], 0.0)),
        network.add(Loop {
            stop: second.1,
            ..Loop::new("second", P, other, 0.4).over(links[1], 0.0).from(second.0)
        }),
    ];
    let whole = network.add(Loop::new("shared", ProtocolId(1), shared, 0.2).over(links[2], 0.0));
    let first = network.shared_flow(whole, "first/2", weights[0]).from(0.1);
    let other = network.shared_flow(whole, "second/2", weights[1]).from(second.0 + 0.2);
    let parts = [network.add(first), network.add(other)];
    for (upstream, downstream, forward) in [(upstream[0], parts[0], 0.1), (upstream[1], parts[1], 0.2)] {
        network.add_relay(Relay { upstream, downstream, forward, buffer: RelayBuffer::UNLIMITED });
    }
    let last = network.add(Loop::new("last", ProtocolId(2), last, 0.2).over(links[3], 0.0));
    network.add_relay(Relay {
        upstream: parts[0],
        downstream: last,
        forward: 0.1,
        buffer: RelayBuffer::UNLIMITED,
    });
    assert_eq!(
        (upstream[1], whole, parts[1], last),
        (LoopId(1), LoopId(SHARED), LoopId(PARTS[1]), LoopId(LAST))
    );
    Assembly::new(network).unwrap()
}

fn at(solution: &Solution, time: f64, l: usize, quantity: &str) -> f64 {
    let column = solution.of(Entity::Loop(l), quantity);
    let place = solution.times.iter().position(|known| (known - time).abs() < 1e-9).unwrap();
    column[place]
}

fn backlog(solution: &Solution, time: f64, relay: usize) -> f64 {
    let place = solution.times.iter().position(|known| (known - time).abs() < 1e-9).unwrap();
    solution.of(Entity::Relay(relay), "backlog")[place]
}

/// With inflows of 100 and 600 and a permitted rate of 400, the first flow has no backlog and passes; the second has
/// the rest and a backlog. It starts at 1 s and reaches the relay .2 s later; until then the first flow has the whole
/// rate.
#[test]
fn a_flow_without_backlog_passes_and_the_others_share_the_rest() {
    let laws = [100.0, 600.0, 400.0, 1e4].map(|rate| sender_law(Steady(rate)));
    let asm = network(Shape { laws, weights: [1.0, 1.0], second: (1.0, Some(3.0)), marks: 0.0 });
    let found = asm.run(6.0, 0.05, Accuracy::default()).unwrap();
    for (time, expected) in [
        (0.95, [100.0, 0.0]),
        (1.15, [100.0, 0.0]),
        (1.25, [100.0, 300.0]),
        (3.15, [100.0, 300.0]),
        (5.15, [100.0, 300.0]),
    ] {
        for (part, expected) in PARTS.into_iter().zip(expected) {
            assert_eq!(at(&found, time, part, "sending rate"), expected, "{time}");
        }
        assert_eq!(at(&found, time, SHARED, "sending rate"), expected[0] + expected[1]);
    }
    // An inflow of 600 and an outflow of 300, from 1.2 s to 3.2 s.
    assert!((backlog(&found, 2.2, 1) - 300.0).abs() < 1e-6);
    assert_eq!(backlog(&found, 2.2, 0), 0.0);
    // It has sent its backlog of 600 after 2 s more, and .1 s later nothing of it arrives any more.
    assert!((backlog(&found, 4.2, 1) - 300.0).abs() < 1e-6);
    assert_eq!(
        (at(&found, 5.3, PARTS[1], "sending rate"), at(&found, 5.35, PARTS[1], "delivered rate")),
        (0.0, 0.0)
    );
    // The first flow continues: .1 s over S, then over its own loop.
    assert_eq!(at(&found, 4.0, LAST, "sending rate"), 100.0);
}

/// Both have a backlog: 3 to 1. Then 75 and 25 per 100 of the permitted rate, which is proportional to the total
/// weight.
#[test]
fn flows_share_by_weight_and_the_shared_law_receives_the_total_weight() {
    let laws = [sender_law(Steady(900.0)), sender_law(Steady(900.0)), sender_law(PerWeight(100.0))];
    let [first, second, shared] = laws;
    let laws = [first, second, shared, sender_law(Steady(1e4))];
    let asm = network(Shape { laws, weights: [3.0, 1.0], second: (1.0, None), marks: 0.0 });
    let found = asm.run(3.0, 0.05, Accuracy::default()).unwrap();
    let rates = |time| PARTS.map(|part| at(&found, time, part, "sending rate"));
    assert_eq!((rates(1.1), rates(1.3)), ([300.0, 0.0], [300.0, 100.0]));
}

/// Marks in proportion to its queue in bits, times a gain.
struct Marks(f64);

impl FluidLink for Marks {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "marking probability", unit: "1" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = input.queue * self.0;
    }
}

/// Uses all feedback of relays: `x' = downstream rate w - (backlog - 30) / downstream rtt + 100 upstream marks - x`.
struct AllFeedback;

impl FluidSender for AllFeedback {
    fn states(&self) -> Vec<State> {
        vec![State::new("x", "bit/s", BASE)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let downstream = input
            .downstream
            .map_or(T::zero(), |next| next.rate * next.sharing.weight - (next.backlog - 30.0) / next.rtt);
        let before = input.upstream.map_or(T::zero(), |upstream| upstream.marked * 100.0);
        dx[0] = downstream + before - x[0] + input.marked * 10.0;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// Rates of the first, second, shared and last loop, then the backlogs of the three relays.
fn agrees_with_differences(rates: [f64; 4], backlogs: [f64; 3], stop: Option<f64>) {
    let laws = [0; 4].map(|_| sender_law(AllFeedback));
    let asm = network(Shape { laws, weights: [2.0, 1.0], second: (0.0, stop), marks: 1e-3 });
    let frozen = Frozen::new(&asm, 2.0);
    let mut values = rates.into_iter();
    let of = |column: &millpond_fluid::SolutionColumn| match (column.entity, column.quantity) {
        (Entity::Link(_), _) => 20.0,
        (Entity::Relay(relay), _) => backlogs[relay],
        _ => values.next().unwrap(),
    };
    let x: Vec<f64> = asm.state_columns().iter().map(of).collect();
    let point = frozen.at(&x).unwrap();
    let jacobian = frozen.jacobian(&point).unwrap();
    for j in (0..x.len()).filter(|j| !point.is_held(*j)) {
        let step = 1e-5 * x[j].abs().max(1e-3);
        let beside = |sign: f64| {
            let mut x = x.clone();
            x[j] += sign * step;
            frozen.at(&x).unwrap().derivatives()
        };
        let (above, below) = (beside(1.0), beside(-1.0));
        for i in 0..x.len() {
            let slope = (above[i] - below[i]) / (2.0 * step);
            let exact = jacobian[(i, j)];
            assert!((exact - slope).abs() < 1e-4 * (1.0 + slope.abs()), "{i} {j}: {exact} {slope}");
        }
    }
}

#[test]
fn the_jacobian_of_a_shared_loop_agrees_with_differences_for_all_combinations_of_backlogs() {
    // Of 600, the first flow may have 400 and the second 200.
    let rates = [500.0, 300.0, 600.0, 800.0];
    agrees_with_differences(rates, [50.0, 40.0, 30.0], None);
    // The first flow's inflow is below its share; the second gets the rest.
    agrees_with_differences([300.0, 400.0, 600.0, 800.0], [0.0, 40.0, 30.0], None);
    // Both inflows are below their shares.
    agrees_with_differences([300.0, 200.0, 600.0, 800.0], [0.0, 0.0, 0.0], None);
    // The second flow has stopped.
    agrees_with_differences(rates, [50.0, 40.0, 30.0], Some(1.0));
}

#[test]
fn an_invalid_shared_loop_is_rejected_with_the_name_of_its_part() {
    let whole = |network: &mut FluidNetwork| {
        let link = network.link("S", 1e4, f64::INFINITY);
        network.add(Loop::new("shared", P, sender_law(Steady(1.0)), 0.2).over(link, 0.0))
    };
    let mut without_relay = FluidNetwork::new();
    let shared = whole(&mut without_relay);
    without_relay.add(without_relay.shared_flow(shared, "part", 1.0));
    let error = Assembly::new(without_relay).err().unwrap().to_string();
    assert!(error.contains("part") && error.contains("relay"), "{error}");
    let mut joined = FluidNetwork::new();
    let shared = whole(&mut joined);
    let upstream =
        joined.add(Loop::new("first", P, sender_law(Steady(1.0)), 0.2).over(millpond_fluid::LinkId(0), 0.0));
    let part = joined.add(joined.shared_flow(shared, "part", 0.0));
    joined.add_relay(Relay { upstream, downstream: part, forward: 0.1, buffer: RelayBuffer::UNLIMITED });
    let error = Assembly::new(joined).err().unwrap().to_string();
    assert!(error.contains("part") && error.contains("weight"), "{error}");
}
