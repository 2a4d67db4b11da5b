//! Events at known times: full buffers, guards, ticks, relays; and rejected networks.

use crate::laws::{EXACT, Excess, Follow, P, Steady, scalar};
use millpond_fluid::{
    Accuracy, Assembly, DenseOutput, Entity, Error, FluidNetwork, Frozen, Integration, Loop, LoopId, Relay,
    RelayBuffer, Solver,
};
use millpond_law::fluid::{
    Feedback, FluidLink, FluidSender, LawState, LinkInput, Number, PathAggregation, Quantity, SenderInput,
    State, link_law, sender_law,
};

#[test]
fn a_buffer_fills_overflows_and_empties_at_the_computed_times() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 100.0, 50.0);
    // 150 bit/s from 0.1 s on for two seconds: full after 1 s, a third is lost for 1 s, empty .5 s after the end.
    network.add(Loop::new("f", P, sender_law(Steady(150.0)), 0.3).over(link, 0.1).until(2.0));
    let solution = Assembly::new(network).unwrap().run(4.0, 0.05, EXACT).unwrap();
    let (queue, lost) =
        (solution.of(Entity::Link(0), "queue"), solution.of(Entity::Link(0), "loss probability"));
    let theory = |t: f64| match t {
        t if t < 0.1 => 0.0,
        t if t < 1.1 => 50.0 * (t - 0.1),
        t if t < 2.1 => 50.0,
        t => (50.0 - 100.0 * (t - 2.1)).max(0.0),
    };
    for ((t, q), p) in solution.times.iter().zip(&queue).zip(&lost) {
        assert!((q - theory(*t)).abs() < 1e-6, "{t}: {q}");
        let is_full = *t > 1.12 && *t < 2.08;
        assert!(
            (p - if is_full { 1.0 / 3.0 } else { 0.0 }).abs() < 1e-9 || (1.08..2.12).contains(t) != is_full,
            "{t}: {p}"
        );
    }
    let bits_lost = queue.len();
    assert!(bits_lost > 0);
    // Arrivals: 2 s of 150 bit/s.
    let arriving = solution.column(Entity::Link(0), "arriving rate").unwrap();
    let total = solution.integral(arriving).unwrap().last().unwrap();
    assert!((total - 300.0).abs() < 1e-6, "{total}");
}

/// A thermostat: decreases by 2 per second above the upper threshold, increases by 1 below the lower one.
struct Thermostat;

impl FluidSender for Thermostat {
    const GUARDS: &'static [&'static str] = &["temperature less 2", "temperature less 1"];
    const DISCRETE: &'static [Quantity] = &[Quantity { name: "heats", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("temperature", "1", 1.5)]
    }

    fn initial_discrete(&self, discrete: &mut [u64]) {
        discrete[0] = 1;
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = if input.discrete[0] != 0 { T::from(1.0) } else { T::from(-2.0) };
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }

    fn guards<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, guards: &mut [T]) {
        (guards[0], guards[1]) = (x[0] - 2.0, x[0] - 1.0);
    }

    fn crossed(
        &self,
        guard: usize,
        is_rising: bool,
        state: &mut LawState<'_>,
        _input: &SenderInput<'_, f64>,
    ) {
        match (guard, is_rising) {
            (0, true) => state.discrete[0] = 0,
            (1, false) => state.discrete[0] = 1,
            _ => {}
        }
    }
}

/// Emits one while its capacity is above 1000 bit/s, otherwise zero.
struct HighCapacity;

impl FluidLink for HighCapacity {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "high", unit: "1" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = T::from(f64::from(input.capacity > 1000.0));
    }
}

/// `x' = 1` while the signal is high, otherwise zero; sends 10 bit/s.
struct WhileHigh;

impl FluidSender for WhileHigh {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "high", unit: "1", over_path: PathAggregation::Sum }];
    const GUARDS: &'static [&'static str] = &["high"];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "s", 0.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::from(f64::from(input.feedback[0] > T::from(0.5)));
    }

    fn rate<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>) -> T {
        T::from(10.0)
    }

    fn guards<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.feedback[0] - 0.5;
    }
}

/// The pulse is longer than rounding errors of times, but short beside the steps of the solver.
#[test]
fn a_pulse_of_some_hundredths_of_a_picosecond_has_a_beginning_and_an_end() {
    for length in [4e-14, 4e-13, 0.25] {
        let mut network = FluidNetwork::new();
        let link = network.link("L", 1000.0, f64::INFINITY);
        network.add_router(link, P, link_law(HighCapacity));
        network.set_capacity_at(0.5, link, 2000.0);
        network.set_capacity_at(0.5 + length, link, 1000.0);
        network.add(Loop::new("f", P, sender_law(WhileHigh), 1.0).over(link, 0.3));
        let solution = Assembly::new(network).unwrap().run(3.0, 0.1, EXACT).unwrap();
        let high = solution.of(Entity::Loop(0), "x")[30];
        // Times near 1.2 s are multiples of 2.2e-16 s, and each end of the pulse is rounded twice.
        assert!((high - length).abs() < 1e-15 + 1e-9 * length, "{high} s instead of {length} s");
    }
}

/// Without propagated discontinuities, bisection finds the time of a jump of the arrivals, and the last node of the step is beyond it.
#[test]
fn a_link_serves_no_more_than_its_capacity_where_a_step_ends_at_a_jump_of_its_arrivals() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 100.0, 50.0);
    network.add(Loop::new("f", P, sender_law(Steady(1e20)), 0.3).over(link, 0.1));
    let accuracy = Accuracy { track_discontinuities: false, ..EXACT };
    let solution = Assembly::new(network).unwrap().run(1.0, 0.05, accuracy).unwrap();
    let column = solution.column(Entity::Link(0), "departing rate").unwrap();
    let served = solution.integral(column).unwrap().last().unwrap();
    assert!((served - 90.0).abs() < 1e-6, "{served} bits in 0.9 s");
}

#[test]
fn a_step_ends_exactly_where_a_guard_changes_its_sign() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Thermostat), 1.0).over(link, 0.3));
    let solution = Assembly::new(network).unwrap().run(60.0, 0.05, EXACT).unwrap();
    // A sawtooth of period 1.5: up in 1, down in .5; at 2 after .5 s.
    for (t, x) in solution.times.iter().zip(solution.of(Entity::Loop(0), "temperature")) {
        let phase = (t + 0.5) % 1.5;
        let theory = if phase < 1.0 { 1.0 + phase } else { 2.0 - 2.0 * (phase - 1.0) };
        assert!((x - theory).abs() < 1e-7, "{t}: {x} {theory}");
    }
}

/// Adds one to its rate every quarter of a second.
struct Stairs;

impl FluidSender for Stairs {
    fn states(&self) -> Vec<State> {
        vec![State::new("rate", "bit/s", 1.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::zero();
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }

    fn ticks(&self) -> bool {
        true
    }

    fn period(&self, _x: &[f64], _input: &SenderInput<'_, f64>) -> Option<f64> {
        Some(0.25)
    }

    fn tick(&self, state: &mut LawState<'_>, _input: &SenderInput<'_, f64>) {
        state.x[0] += 1.0;
    }
}

#[test]
fn a_tick_happens_on_time_and_its_jump_arrives_one_delay_later() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Stairs), 1.0).over(link, 0.3).from(0.1));
    let solution = Assembly::new(network).unwrap().run(3.0, 0.02, EXACT).unwrap();
    let arriving = solution.of(Entity::Link(0), "arriving rate");
    for (t, y) in solution.times.iter().zip(arriving) {
        let since = t - 0.4;
        let near_a_step = (since / 0.25 - (since / 0.25).round()).abs() < 1e-9;
        let theory = if since < 0.0 { 0.0 } else { 1.0 + (since / 0.25).floor() };
        assert!(near_a_step || (y - theory).abs() < 1e-9, "{t}: {y} {theory}");
    }
    // The area under the steps up to 3 s, exactly: steps of 1 every .25 s from .4 s on.
    let column = solution.column(Entity::Link(0), "arriving rate").unwrap();
    let area = solution.integral(column).unwrap().last().unwrap();
    let theory: f64 = (1..=10).map(|n| f64::from(n) * 0.25).sum::<f64>() + 11.0 * 0.1;
    assert!((area - theory).abs() < 1e-9, "{area} {theory}");
}

/// Adds one to its rate after a quarter of a second and after half a second, by turns.
struct UnevenStairs;

impl FluidSender for UnevenStairs {
    const DISCRETE: &'static [Quantity] = &[Quantity { name: "ticks", unit: "1" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        T::from(input.discrete[0] as f64)
    }

    fn ticks(&self) -> bool {
        true
    }

    fn period(&self, _x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64> {
        Some(if input.discrete[0].is_multiple_of(2) { 0.25 } else { 0.5 })
    }

    fn tick(&self, state: &mut LawState<'_>, input: &SenderInput<'_, f64>) {
        assert_eq!(state.discrete, input.discrete, "the input has the discrete states before the event");
        state.discrete[0] += 1;
    }
}

#[test]
fn discrete_states_change_at_events_only_and_determine_the_next_period() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(UnevenStairs), 1.0).over(link, 0.3));
    let asm = Assembly::new(network).unwrap();
    let columns = asm.discrete_columns();
    assert_eq!((columns.len(), columns[0].quantity, columns[0].entity), (1, "ticks", Entity::Loop(0)));
    let mut output = DenseOutput::new(Solver::new(&asm, EXACT).unwrap(), 2.0);
    for (until, ticks) in [(0.2, 0), (0.3, 1), (0.7, 1), (0.8, 2), (0.9, 2), (1.1, 3), (1.45, 3), (1.55, 4)] {
        assert!(output.advance_some(until, 1000).unwrap());
        assert_eq!(output.discrete(), [ticks], "{until}");
        assert!((output.channels()[0] - ticks as f64).abs() < 1e-12);
    }
}

#[test]
fn linearizations_take_discrete_states_as_constants() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Thermostat), 1.0).over(link, 0.3));
    let asm = Assembly::new(network).unwrap();
    let frozen = Frozen::new(&asm, 0.0);
    let point = frozen.at(&asm.initial()).unwrap();
    let heating = &frozen.subsystems(&point)[0];
    assert_eq!((heating.states.len(), point.raw[0]), (1, 1.0), "it heats, and the mode is no variable");
}

#[test]
fn fixed_steps_refuse_laws_with_discrete_states() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Thermostat), 1.0).over(link, 0.3));
    let said = Assembly::new(network).unwrap().allows_steps_of(0.01).unwrap_err().to_string();
    assert!(said.contains('f') && said.contains("laws with discrete states"), "{said}");
}

#[test]
fn a_loop_after_a_relay_sends_at_most_what_the_relay_has() {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 1e6, f64::INFINITY), network.link("B", 1e6, f64::INFINITY)];
    // 100 for 1 s, then 20; the second loop may send 60.
    network.add(Loop::new("first", P, sender_law(Steady(80.0)), 0.4).over(links[0], 0.0).until(1.0));
    let upstream = network.add(Loop::new("steady", P, sender_law(Steady(20.0)), 0.4).over(links[0], 0.0));
    let downstream = network.add(Loop::new("second", P, sender_law(Steady(60.0)), 0.2).over(links[1], 0.05));
    network.add_relay(Relay { upstream, downstream, forward: 0.2, buffer: RelayBuffer::UNLIMITED });
    let solution = Assembly::new(network).unwrap().run(3.0, 0.1, EXACT).unwrap();
    let (sent, backlog) =
        (solution.of(Entity::Loop(2), "sending rate"), solution.of(Entity::Relay(0), "backlog"));
    for (i, t) in solution.times.iter().enumerate().filter(|(_, t)| (**t - 0.2).abs() > 1e-9) {
        let inflow = if *t > 0.2 { 20.0 } else { 0.0 };
        assert!((sent[i] - inflow).abs() < 1e-9 && backlog[i] == 0.0, "{t}: {} {}", sent[i], backlog[i]);
    }
    assert_eq!((upstream, downstream), (LoopId(1), LoopId(2)));
}

#[test]
fn a_relay_stores_data_that_its_downstream_loop_cannot_send_yet() {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 1e6, f64::INFINITY), network.link("B", 1e6, f64::INFINITY)];
    let upstream =
        network.add(Loop::new("first", P, sender_law(Steady(100.0)), 0.4).over(links[0], 0.0).until(1.0));
    let downstream = network.add(Loop::new("second", P, sender_law(Steady(60.0)), 0.2).over(links[1], 0.05));
    network.add_relay(Relay { upstream, downstream, forward: 0.2, buffer: RelayBuffer::UNLIMITED });
    let solution = Assembly::new(network).unwrap().run(3.0, 0.1, EXACT).unwrap();
    let (sent, backlog) =
        (solution.of(Entity::Loop(1), "sending rate"), solution.of(Entity::Relay(0), "backlog"));
    for (i, t) in solution.times.iter().enumerate() {
        // The inflow exceeds the outflow by 40 from .2 to 1.2 s; then the backlog decreases by 60 per second for 2/3 s.
        let theory = (40.0 * (t.min(1.2) - 0.2).max(0.0) - 60.0 * (t - 1.2).max(0.0)).max(0.0);
        assert!((backlog[i] - theory).abs() < 1e-6, "{t}: {} {theory}", backlog[i]);
    }
    let total =
        solution.integral(solution.column(Entity::Loop(1), "sending rate").unwrap()).unwrap().last().unwrap();
    assert!((total - 100.0).abs() < 1e-6 && sent[30] == 0.0, "all of it is sent, and no more: {total}");
}

#[test]
fn an_invalid_network_is_rejected_with_the_name_of_its_part_and_a_remedy() {
    let refused = |change: &dyn Fn(&mut FluidNetwork)| {
        let mut network = FluidNetwork::new();
        let link = network.link("L", 1e6, f64::INFINITY);
        network.add_router(link, P, link_law(Excess(0.0)));
        let source = || sender_law(Follow { a: 1.0, initial: 1.0 });
        network.add(Loop::new("good", P, source(), 1.0).over(link, 0.5));
        change(&mut network);
        match Assembly::new(network).err() {
            Some(Error::InvalidNetwork { name, reason }) => format!("{name}: {reason}"),
            other => panic!("{other:?}"),
        }
    };
    let source = || sender_law(Follow { a: 1.0, initial: 1.0 });
    let link = millpond_fluid::LinkId(0);
    let said = refused(&|n| {
        n.add(Loop::new("lost", P, source(), 1.0));
    });
    assert!(said.contains("lost") && said.contains("no link"), "{said}");
    let said = refused(&|n| {
        n.add(Loop::new("now", P, source(), 0.0).over(link, 0.0));
    });
    assert!(said.contains("now") && said.contains("above zero"), "{said}");
    let said = refused(&|n| {
        n.add(Loop::new("back", P, source(), 0.5).over(link, 0.5));
    });
    assert!(said.contains("back") && said.contains("return delay"), "{said}");
    let said = refused(&|n| n.set_capacity_at(1.0, link, 0.0));
    assert!(said.contains("L") && said.contains("outage"), "{said}");
    let said = refused(&|n| {
        let without_router = n.link("without router", 1e6, 1.0);
        n.add(Loop::new("f", P, source(), 1.0).over(without_router, 0.5));
    });
    assert!(said.contains("no router"), "{said}");
}

/// Diverges in finite time: `x' = x^2`.
struct Blast;

impl FluidSender for Blast {
    fn states(&self) -> Vec<State> {
        vec![State::new("blast", "1", 1.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = x[0] * x[0];
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

#[test]
fn an_integration_without_solution_ends_with_the_time_and_the_quantity() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e6, f64::INFINITY);
    network.add(Loop::new("f", P, sender_law(Blast), 1.0).over(link, 0.5));
    let error = Assembly::new(network).unwrap().run(2.0, 1.0, EXACT).unwrap_err();
    let said = error.to_string();
    // 1 / (1 - t).
    assert!(
        said.contains("blast of f") && (said.contains("at 1.000") || said.contains("at 0.999")),
        "{said}"
    );
    let too_few = Accuracy { max_steps: 10, ..EXACT };
    let said = scalar(1.5).run(100.0, 1.0, too_few).unwrap_err().to_string();
    assert!(said.contains("10 steps") && said.contains("try"), "{said}");
}
