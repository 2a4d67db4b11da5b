//! The fixed-step scheme: its order, its roots, and its agreement with the accurate solver.

use crate::laws::{BASE, Follow, P, Price, Spring, scalar, scalar_exactly};
use millpond_fluid::{
    Accuracy, Assembly, Entity, Executor, FixedStep, FixedStepIntegration, FluidNetwork, Integration, Loop,
};
use millpond_law::fluid::{FluidSender, Number, SenderInput, State, exp, link_law, sender_law};

fn scalar_at(a: f64, until: f64, step: f64) -> f64 {
    let run = scalar(a).run_fixed(until, until, step, |_| true).unwrap();
    *run.of(Entity::Loop(0), "x").last().unwrap()
}

#[test]
fn the_order_is_two_also_if_the_step_does_not_divide_the_delay() {
    for (until, steps) in [(6.0, [60, 240, 960]), (5.1, [64, 256, 1024])] {
        let error = |n: i32| (scalar_at(1.5, until, until / f64::from(n)) - scalar_exactly(1.5, until)).abs();
        let errors = steps.map(error);
        // Over two refinements: the position of a discontinuity within its step changes the error by a factor of up to
        // two.
        let order = (errors[0] / errors[2]).log2() / 4.0;
        println!("{until}: errors {errors:?}, order {order}");
        assert!((1.8..2.4).contains(&order), "{order}");
    }
}

#[test]
fn a_slow_disturbance_decays_or_grows_according_to_the_roots() {
    // Growth per oscillation of the principal roots W_0(-1.5) = -0.0328 + 1.5496i and W_0(-1.65) = 0.0350 + 1.5928i.
    for (a, growth, frequency) in [(1.5, 0.8755, 1.5496), (1.65, 1.1482, 1.5928)] {
        let period = 2.0 * std::f64::consts::PI / frequency;
        let step = period / 1000.0;
        let run = scalar(a).run_fixed(15.0 * period, step, step, |_| true).unwrap();
        let x = run.of(Entity::Loop(0), "x");
        let peak = |k: usize| x[1000 * k..1000 * (k + 1)].iter().copied().fold(0.0, f64::max);
        let ratio = peak(14) / peak(13);
        assert!((ratio - growth).abs() < 2e-3, "a = {a}: {ratio}");
    }
}

/// Sources over two links with prices that cannot be negative and queues that fill: bounds, marks, different delays,
/// starts and stops.
fn crossing() -> Assembly {
    let mut network = FluidNetwork::new();
    let links = [network.link("A", 10.0 * BASE, 300.0), network.link("B", 8.0 * BASE, f64::INFINITY)];
    for (link, target) in links.into_iter().zip([10.0, 8.0]) {
        network.add_router(link, P, link_law(Price { target: target * BASE, gain: 2e-5 }));
    }
    let source = || sender_law(Spring { rate: 500.0, demand: BASE });
    for i in 0..6 {
        let rtt = 0.1 + 0.037 * f64::from(i);
        let flow = Loop::new(&format!("f{i}"), P, source(), rtt).times(2.0);
        let flow = if i % 2 == 0 {
            flow.over(links[0], 0.02).over(links[1], 0.05)
        } else {
            flow.over(links[i as usize % 3 % 2], 0.011)
        };
        let start = 0.5 * f64::from(i);
        network.add(if i == 4 { flow.from(start).until(20.0) } else { flow.from(start) });
    }
    network.set_capacity_at(30.0, links[1], 5.0 * BASE);
    Assembly::new(network).unwrap()
}

#[test]
fn it_agrees_with_the_accurate_solver() {
    let accurate = crossing().run(40.0, 1.0, Accuracy { tolerance: 1e-9, ..Accuracy::default() }).unwrap();
    let off = |step: f64| {
        let fixed = crossing().run_fixed(40.0, 1.0, step, |_| true).unwrap();
        let columns = accurate.columns[..accurate.states].iter();
        let worst = columns.map(|column| {
            let (a, b) =
                (accurate.of(column.entity, column.quantity), fixed.of(column.entity, column.quantity));
            let size = a.iter().copied().fold(1e-9, |m: f64, v| m.max(v.abs()));
            a.iter().zip(&b).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
        });
        worst.fold(0.0, f64::max)
    };
    // A flow that starts on an idle link moves its price off the bound, which causes a small error of first order. All
    // other errors are of second order.
    let (coarse, fine) = (off(4e-3), off(1e-3));
    println!("off by {coarse} and {fine}");
    assert!(coarse < 1e-4 && fine < coarse / 3.5, "{coarse} {fine}");
}

#[test]
fn blocks_that_run_ahead_of_the_links_have_the_same_result_as_single_steps() {
    let asm = crossing();
    let mut ahead = FixedStep::new(&asm, 2e-3).unwrap();
    let mut abreast = FixedStep::new(&asm, 2e-3).unwrap();
    ahead.advance(9_000);
    (0..9_000).for_each(|_| abreast.advance(1));
    let (ahead, abreast) = (ahead.snapshot().unwrap(), abreast.snapshot().unwrap());
    // The order of summation at a link differs.
    for (a, b) in ahead.states.iter().zip(&abreast.states) {
        assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{a} {b}");
    }
}

/// Executes tasks on this number of threads, the last items first.
struct Threads(usize);

impl Executor for Threads {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        let each = items.len().div_ceil(self.0).max(1);
        std::thread::scope(|scope| {
            for part in items.rchunks_mut(each) {
                scope.spawn(|| part.iter_mut().rev().for_each(&work));
            }
        });
    }
}

/// 1000 sources over 1500 links with prices, in several blocks: each over two links that are far apart, with feedback
/// delays of one step to many, starts, stops, and a change of a capacity.
fn many() -> Assembly {
    let mut network = FluidNetwork::new();
    let links: Vec<_> = (0..1500).map(|l| network.link(&format!("L{l}"), 10.0 * BASE, 300.0)).collect();
    for link in &links {
        network.add_router(*link, P, link_law(Price { target: 5.0 * BASE, gain: 2e-5 }));
    }
    for i in 0..1000 {
        let rtt = 0.03 + 0.3 * f64::from(i * 37 % 100) / 100.0;
        let source = sender_law(Spring { rate: 500.0, demand: BASE });
        let flow = Loop::new(&format!("f{i}"), P, source, rtt).times(7.0);
        let [near, far] = [i * 7 % 300, 300 + i * 11 % 1200].map(|link| links[link as usize]);
        let flow = flow.over(near, 0.3 * rtt).over(far, 0.55 * rtt);
        let start = 0.001 * f64::from(i * 13 % 1000);
        network.add(if i % 5 == 0 { flow.from(start).until(start + 1.0) } else { flow.from(start) });
    }
    network.set_capacity_at(1.503, links[3], 5.0 * BASE);
    Assembly::new(network).unwrap()
}

#[test]
fn the_result_is_the_same_to_the_last_bit_for_any_number_of_threads() {
    let asm = many();
    let of = |executor: &Threads| {
        let mut fixed = FixedStep::new(&asm, 0.01).unwrap();
        fixed.advance_with(executor, 300);
        fixed.snapshot().unwrap()
    };
    let mut alone = FixedStep::new(&asm, 0.01).unwrap();
    alone.advance(300);
    let alone = alone.snapshot().unwrap();
    for threads in 1..=3 {
        assert_eq!(of(&Threads(threads)), alone, "{threads} threads");
    }
    assert!(alone.marked.len() == 1500 && alone.rates.iter().any(|rate| *rate > 0.0));
}

/// Independent sources under [`Follow`], each over a link of its own, with feedback delays of 4 to 50 steps of 0.01 s.
fn independent(sources: std::ops::Range<u32>) -> Assembly {
    let mut network = FluidNetwork::new();
    for i in sources {
        let link = network.link(&format!("L{i}"), 1e9, f64::INFINITY);
        network.add_router(link, P, link_law(crate::laws::Excess(BASE)));
        let rtt = 0.063 + 0.93 * f64::from(i * 37 % 100) / 100.0;
        let sender = sender_law(Follow { a: 1.3 / rtt, initial: 1.0 + f64::from(i) });
        network.add(Loop::new(&format!("f{i}"), P, sender, rtt).over(link, rtt / 3.0).always());
    }
    Assembly::new(network).unwrap()
}

#[test]
fn a_flow_that_shares_no_link_moves_among_a_thousand_others_as_it_does_alone() {
    let end = |asm: &Assembly, i: usize| {
        *asm.run_fixed(3.0, 3.0, 0.01, |_| true).unwrap().of(Entity::Loop(i), "x").last().unwrap()
    };
    let together = independent(0..1000);
    for i in [0, 1, 30, 77, 255, 256, 511, 512, 700, 999] {
        let alone = end(&independent(i..i + 1), 0);
        assert_eq!(end(&together, i as usize).to_bits(), alone.to_bits(), "{i}");
    }
}

#[test]
fn too_long_a_step_is_rejected_with_a_remedy() {
    let said = scalar(1.0).run_fixed(1.0, 1.0, 0.6, |_| true).unwrap_err().to_string();
    assert!(
        said.contains("feedback of L arrives after 0.5 s") && said.contains("try 0.5 s or less"),
        "{said}"
    );
    let said = scalar(1.0).run_fixed(1.0, 1.0, 1e-5, |_| true).unwrap_err().to_string();
    assert!(said.contains("too long for steps") && said.contains("s or more"), "{said}");
}

#[test]
fn a_single_sender_follows_its_link_from_an_empty_history() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e9, f64::INFINITY);
    network.add_router(link, P, link_law(crate::laws::Excess(BASE)));
    network.add(Loop::new("f", P, sender_law(Follow { a: 1.0, initial: 1.0 }), 1.0).over(link, 0.5));
    // Nothing arrives before the start: the signal of the link is larger by BASE during one round trip.
    let asm = Assembly::new(network).unwrap();
    let x = asm.run_fixed(1.0, 1.0, 0.01, |_| true).unwrap().of(Entity::Loop(0), "x");
    assert!((x[1] - (1.0 + BASE)).abs() < 1e-6, "{x:?}");
    let x = asm.run(1.0, 1.0, Accuracy::default()).unwrap().of(Entity::Loop(0), "x");
    assert!((x[1] - (1.0 + BASE)).abs() < 1e-6, "{x:?}");
}

/// `x' = 1000`; sends `exp(x)`, which is infinite from `x = 710` on.
struct Explosive;

impl FluidSender for Explosive {
    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 0.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = T::from(1000.0);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        exp(x[0])
    }
}

#[test]
fn an_infinite_rate_is_an_error_although_all_states_are_finite() {
    let mut network = FluidNetwork::new();
    let link = network.link("L", BASE, 2.0 * BASE);
    network.add(Loop::new("f", P, sender_law(Explosive), 0.2).over(link, 0.1).always());
    let asm = Assembly::new(network).unwrap();
    let mut run = FixedStepIntegration::new(&asm, 0.01).unwrap();
    assert!(run.advance_some(0.7, 1000).unwrap());
    let error = run.advance_some(0.8, 1000).unwrap_err().to_string();
    assert!(error.starts_with("at 0.8") && error.contains("sending rate of f is infinite"), "{error}");
}

/// Where `x' = -a x(t - 1)` begins to grow under this scheme with `n` steps per delay: a root on the unit circle of `z
/// - 1 = -(a / n) (3 - 1/z) / 2 z^-n`. For forward Euler it is `2 n sin(pi / (4 n + 2))`, for the equation itself pi /
/// 2.
fn boundary(n: f64) -> f64 {
    // (z - 1) z^n / ((3 - 1/z) / 2) at z = exp(i theta), as (re, im).
    let quotient = |theta: f64| {
        let (c, s) = ((n * theta).cos(), (n * theta).sin());
        let (re, im) = (theta.cos() - 1.0, theta.sin());
        let (top_re, top_im) = (re * c - im * s, re * s + im * c);
        let (low_re, low_im) = (1.5 - 0.5 * theta.cos(), 0.5 * theta.sin());
        let norm = low_re * low_re + low_im * low_im;
        ((top_re * low_re + top_im * low_im) / norm, (top_im * low_re - top_re * low_im) / norm)
    };
    let quarter = std::f64::consts::FRAC_PI_2 / n;
    let (mut low, mut high) = (0.5 * quarter, 1.5 * quarter);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if quotient(middle).1 * quotient(low).1 > 0.0 { low = middle } else { high = middle }
    }
    -n * quotient(low).0
}

#[test]
fn the_stability_boundary_of_the_scheme_agrees_with_its_formula_and_tends_to_half_pi() {
    let half_pi = std::f64::consts::FRAC_PI_2;
    let off = |n: f64| (boundary(n) / half_pi - 1.0).abs();
    // The error of Adams and Bashforth is 5/12 (s h)^2 with s = i pi / 2; the boundary of Euler with 100 steps is .5 %
    // away.
    let theory = |n: f64| 5.0 / 12.0 * (half_pi / n).powi(2);
    assert!(
        [50.0, 100.0].iter().all(|n| (off(*n) / theory(*n) - 1.0).abs() < 0.03),
        "{} {}",
        off(50.0),
        off(100.0)
    );
    for n in [10.0, 50.0] {
        let growth = |share: f64| {
            let run = scalar(share * boundary(n)).run_fixed(400.0, 1.0 / n, 1.0 / n, |_| true).unwrap();
            let x = run.of(Entity::Loop(0), "x");
            let most = |from: f64, to: f64| {
                x[(from * n) as usize..(to * n) as usize].iter().fold(0.0, |m: f64, v| m.max(v.abs()))
            };
            most(350.0, 400.0) / most(50.0, 100.0)
        };
        let (below, above) = (growth(0.99), growth(1.01));
        println!("{n} steps per delay: boundary {}, growth {below} {above}", boundary(n));
        assert!(below < 0.5 && above > 2.0, "{n}: {below} {above}");
    }
}
