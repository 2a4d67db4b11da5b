//! A law with different gains on the sides of its equilibrium: `x' = -a x(t - 1)` with one `a` for positive and another for
//! negative x(t - 1).

use crate::laws::{BASE, Excess, P};
use millpond_fluid::motion::{Followed, motion_about};
use millpond_fluid::stability::{Side, one_sided, rightmost};
use millpond_fluid::{Assembly, FluidNetwork, Frozen, Loop, OperatingPoint};
use millpond_law::fluid::{
    Feedback, FluidSender, Number, PathAggregation, SenderInput, State, link_law, sender_law,
};

/// `x' = -above f` if `f > 0`, otherwise `x' = -below f`.
struct TwoGains {
    below: f64,
    above: f64,
}

impl FluidSender for TwoGains {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "excess", unit: "1", over_path: PathAggregation::Sum }];
    const GUARDS: &'static [&'static str] = &["excess", "excess less one"];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 0.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let excess = input.feedback[0];
        dx[0] = -excess * if excess > 0.0 { self.above } else { self.below };
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0] + BASE
    }

    fn guards<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        guards[0] = input.feedback[0];
        guards[1] = input.feedback[0] - 1.0;
    }
}

fn network(below: f64, above: f64) -> Assembly {
    let mut network = FluidNetwork::new();
    let link = network.link("L", 1e9, f64::INFINITY);
    network.add_router(link, P, link_law(Excess(BASE)));
    let sender = sender_law(TwoGains { below, above });
    network.add(Loop::new("f", P, sender, 1.0).over(link, 0.5).always());
    Assembly::new(network).unwrap()
}

fn equilibrium<'a>(asm: &'a Assembly) -> (Frozen<'a>, OperatingPoint) {
    let frozen = Frozen::new(asm, 0.0);
    let point = frozen.at(&asm.initial()).unwrap();
    (frozen, point)
}

/// The growth rate of `x' = -a x(t - 1)` with two gains, by Heun's method with 500 steps per delay: logarithm of the ratio of
/// two positive peaks 20 periods apart, over the time between them.
fn integrated_growth(below: f64, above: f64) -> f64 {
    const STEPS: usize = 500;
    const DELAYS: usize = 150;
    let slope = |x: f64| -x * if x > 0.0 { above } else { below };
    let mut x = vec![1.0_f64; STEPS + 1];
    for n in STEPS..STEPS * (DELAYS + 1) {
        let moves = (slope(x[n - STEPS]) + slope(x[n - STEPS + 1])) / 2.0;
        x.push(x[n] + moves / STEPS as f64);
    }
    let is_peak = |i: &usize| x[*i] > 0.0 && x[i - 1] <= x[*i] && x[i + 1] < x[*i];
    let peaks: Vec<usize> = (20 * STEPS..x.len() - 1).filter(is_peak).collect();
    let (first, last) = (peaks[0], peaks[20]);
    (x[last] / x[first]).ln() * STEPS as f64 / (last - first) as f64
}

#[test]
fn each_side_has_the_roots_of_its_own_gain() {
    // s = W(-a): -.259171 for a = .2, -.318132 +- 1.337236 i for a = 1.
    let asm = network(0.2, 1.0);
    let (frozen, point) = equilibrium(&asm);
    let found = one_sided(&frozen, &point);
    assert_eq!(found.thresholds.len(), 1);
    assert_eq!(found.thresholds[0].name, "excess");
    let sides: Vec<Side> = found.linearizations.iter().flat_map(|one| one.sides.clone()).collect();
    assert_eq!(sides, [Side::Below, Side::Above]);
    let roots: Vec<_> =
        found.linearizations.iter().map(|one| rightmost(&one.linear.system).unwrap().roots[0].s).collect();
    assert!((roots[0].re + 0.259171).abs() < 1e-5 && roots[0].im.abs() < 1e-6, "{roots:?}");
    assert!((roots[1].re + 0.318132).abs() < 1e-5 && (roots[1].im - 1.337236).abs() < 1e-5, "{roots:?}");
}

#[test]
fn without_a_difference_between_the_sides_there_is_no_threshold() {
    let asm = network(0.7, 0.7);
    let (frozen, point) = equilibrium(&asm);
    let found = one_sided(&frozen, &point);
    assert!(found.thresholds.is_empty() && found.linearizations.is_empty(), "{found:?}");
}

#[test]
fn a_trajectory_stays_on_the_side_whose_root_is_real() {
    // Above, .2 < 1/e: an overshoot from below ends there.
    let asm = network(1.0, 0.2);
    let (frozen, point) = equilibrium(&asm);
    let thresholds = one_sided(&frozen, &point).thresholds;
    let motion = motion_about(&frozen, &point, &thresholds).unwrap();
    assert_eq!(motion.followed, [Followed::Side(Side::Above)], "{motion:?}");
    assert!((motion.growth + 0.259171).abs() < 5e-3 && motion.period.is_none(), "{motion:?}");
}

#[test]
fn a_trajectory_that_crosses_has_the_growth_rate_of_neither_side() {
    for (below, above) in [(1.4, 1.9), (1.0, 2.2), (1.2, 1.3)] {
        let asm = network(below, above);
        let (frozen, point) = equilibrium(&asm);
        let thresholds = one_sided(&frozen, &point).thresholds;
        let motion = motion_about(&frozen, &point, &thresholds).unwrap();
        assert_eq!(motion.followed, [Followed::BothSides], "{motion:?}");
        let expected = integrated_growth(below, above);
        assert!((motion.growth - expected).abs() < 5e-3, "{below} {above}: {motion:?} {expected}");
        assert!(motion.period.is_some_and(|period| (3.0..6.0).contains(&period)), "{motion:?}");
    }
}
