//! ACP's phase portraits: `x' = -(ki/d) x(t-d) - (kq/d^2) q(t-d)`, `q' = x`, q >= 0 (Eqs. 19 and 20).

use crate::laws::{BASE, P};
use millpond_fluid::motion::{Component, LongTermBehavior, long_term_behavior, record};
use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Frozen, Loop, Solution, Solver};
use millpond_law::fluid::{
    Feedback, FluidLink, FluidSender, LinkInput, Number, PathAggregation, Quantity, SenderInput, State,
    link_law, sender_law,
};

const KI: f64 = 0.1587;
const KQ: f64 = 0.3175;

/// The rate; all of its delay is on the return path.
struct Source {
    delay: f64,
    excess: f64,
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] = &[
        Feedback { name: "excess", unit: "bit/s", over_path: PathAggregation::Sum },
        Feedback { name: "queue", unit: "bit", over_path: PathAggregation::Sum },
    ];

    fn states(&self) -> Vec<State> {
        vec![State::new("rate", "bit/s", BASE + self.excess)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let [excess, queue] = [input.feedback[0], input.feedback[1]];
        dx[0] = excess * (-KI / self.delay) - queue * (KQ / (self.delay * self.delay));
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// Emits its inputs.
struct Mirror;

impl FluidLink for Mirror {
    const SIGNALS: &'static [Quantity] =
        &[Quantity { name: "excess", unit: "bit/s" }, Quantity { name: "queue", unit: "bit" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = input.arriving - input.capacity;
        signals[1] = input.queue;
    }
}

/// Sends at a constant rate.
struct Steady(f64);

impl FluidSender for Steady {
    const FEEDBACK: &'static [Feedback] = Source::FEEDBACK;

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>) -> T {
        T::from(self.0)
    }
}

/// From an excess of 100 and an empty queue. The history is constant at that excess, or zero.
fn portrait(delay: f64, was_the_same: bool) -> Solution {
    let mut network = FluidNetwork::new();
    let link = network.link("L", BASE, f64::INFINITY);
    network.add_router(link, P, link_law(Mirror));
    let source = sender_law(Source { delay, excess: 100.0 });
    let flow = Loop::new("f", P, source, delay).over(link, 0.0);
    if was_the_same {
        network.add(flow.always());
    } else {
        network.add(flow);
        network.add(
            Loop::new("before", P, sender_law(Steady(BASE)), delay).over(link, 0.0).always().until(1e-12),
        );
    }
    let accuracy = Accuracy { tolerance: 1e-8, ..Accuracy::default() };
    Assembly::new(network).unwrap().run(80.0 * delay, SAMPLE * delay, accuracy).unwrap()
}

struct Shape {
    most_queue: f64,
    at: f64,
    least_excess: f64,
    empty_at: f64,
    sign_changes: usize,
    last: f64,
}

fn shape(solution: &Solution) -> Shape {
    let queue = solution.of(Entity::Link(0), "queue");
    let excess: Vec<f64> = solution.of(Entity::Loop(0), "rate").iter().map(|rate| rate - BASE).collect();
    let top = (0..queue.len()).max_by(|a, b| queue[*a].total_cmp(&queue[*b])).unwrap();
    let empty = (top..queue.len()).find(|i| queue[*i] == 0.0).unwrap();
    Shape {
        most_queue: queue[top],
        at: solution.times[top],
        least_excess: excess.iter().copied().fold(f64::INFINITY, f64::min),
        empty_at: solution.times[empty],
        sign_changes: excess.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count(),
        last: excess[excess.len() - 1],
    }
}

/// The relative difference that is permitted to the numbers of `tests/reference/acp_phase_plane.py`. It covers the rounding
/// of those numbers and the error of their fixed step.
const TOLERANCE: f64 = 1e-4;

/// The time between two samples, in delays.
const SAMPLE: f64 = 0.01;

fn is_near(value: f64, reference: f64) -> bool {
    (value / reference - 1.0).abs() < TOLERANCE
}

#[test]
fn with_a_constant_history_the_queue_peaks_at_193_25_and_the_rate_changes_sign_once() {
    let Shape { most_queue, at, least_excess, empty_at, sign_changes, last } = shape(&portrait(1.0, true));
    assert!(is_near(most_queue, 193.25), "{most_queue}");
    assert!(is_near(least_excess, -139.99), "{least_excess}");
    assert!((at - 3.03).abs() < 1.5 * SAMPLE && (empty_at - 5.59).abs() < 1.5 * SAMPLE, "{at} {empty_at}");
    assert!(sign_changes == 1 && last.abs() < 1e-3, "{sign_changes} {last}");
}

#[test]
fn with_a_history_of_zero_the_queue_peaks_at_227_31() {
    let Shape { most_queue, least_excess, sign_changes, .. } = shape(&portrait(1.0, false));
    assert!(is_near(most_queue, 227.31), "{most_queue}");
    assert!(is_near(least_excess, -164.66), "{least_excess}");
    assert_eq!(sign_changes, 1);
}

#[test]
fn the_peak_is_proportional_to_the_delay() {
    for delay in [0.1, 0.6] {
        let peak = shape(&portrait(delay, true)).most_queue;
        assert!(is_near(peak, 193.25 * delay), "{delay}: {peak}");
    }
}

/// Fig. 19: from every start of 0, 20, ... 100 by 0, 20, ... 100. All converge, to 1e-4 of the start within 80 delays;
/// the longest queue is 201.54, with constant histories.
#[test]
fn trajectories_from_all_starts_of_the_grid_converge_and_the_queue_peaks_at_201_54() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", BASE, f64::INFINITY);
    network.add_router(link, P, link_law(Mirror));
    let source = sender_law(Source { delay: 1.0, excess: 0.0 });
    network.add(Loop::new("f", P, source, 1.0).over(link, 0.0).always());
    let asm = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&asm, 0.0);
    let accuracy = Accuracy { tolerance: 1e-8, ..Accuracy::default() };
    let mut most_queue = 0.0_f64;
    for (excess, queue) in (0..36).map(|i| (f64::from(i % 6) * 20.0, f64::from(i / 6) * 20.0)) {
        let mut solver = Solver::at(&frozen, &[BASE + excess, queue], accuracy).unwrap();
        let found = record(&mut solver, 80.0, 8000, &[Component::State(0), Component::State(1)], &|| true);
        let end = long_term_behavior(&found, &[BASE, 0.0], &[100.0, 100.0], 1e-4);
        assert!(matches!(end, LongTermBehavior::Settles { .. }), "{excess}, {queue}: {end:?}");
        most_queue = found.values[1].iter().copied().fold(most_queue, f64::max);
    }
    assert!(is_near(most_queue, 201.54), "{most_queue}");
}
