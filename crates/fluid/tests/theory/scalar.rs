//! `x' = -a x(t - 1)`: exact polynomials, the characteristic roots, and the order of the method.

use crate::laws::{BASE, scalar, scalar_at, scalar_exactly};
use millpond_fluid::{Accuracy, DenseOutput, Entity, Integration, Solver};

fn exact(tolerance: f64) -> Accuracy {
    Accuracy { tolerance, ..Accuracy::default() }
}

/// Fixed steps, regardless of the error.
fn steps_of(h: f64, track_discontinuities: bool) -> Accuracy {
    Accuracy { tolerance: 1e12, longest_step: h, track_discontinuities, ..Accuracy::default() }
}

#[test]
fn it_agrees_with_the_exact_polynomials() {
    for a in [0.5, 1.5, 3.0] {
        for t in [0.3, 1.0, 2.5, 7.9] {
            let (found, theory) = (scalar_at(a, t, exact(1e-10)), scalar_exactly(a, t));
            assert!(
                (found - theory).abs() < 2e-9 * theory.abs().max(1.0),
                "a = {a}, t = {t}: {found} {theory}"
            );
        }
    }
}

/// The slope of the error over the step on a log-log scale, between steps of `h` and `h / 4`.
fn order(h: f64, track_discontinuities: bool) -> f64 {
    let (a, t) = (1.5, 5.3);
    let error = |h| (scalar_at(a, t, steps_of(h, track_discontinuities)) - scalar_exactly(a, t)).abs();
    (error(h) / error(h / 4.0)).log2() / 2.0
}

#[test]
fn the_order_is_five_only_if_discontinuities_are_tracked() {
    // Steps that do not divide the delay: without tracking they cross the discontinuities at 0, 1, 2, ...
    let followed = order(0.317, true);
    let ignored = order(0.317, false);
    println!("order {followed} with kinks, {ignored} without");
    assert!((4.5..6.5).contains(&followed), "{followed}");
    assert!(ignored < 3.5, "{ignored}");
}

#[test]
fn the_error_is_within_the_tolerance() {
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let error = (scalar_at(1.5, 9.3, exact(tolerance)) - scalar_exactly(1.5, 9.3)).abs();
        // About fifty steps with such an error each.
        assert!(error < 100.0 * tolerance, "{tolerance}: {error}");
    }
}

/// The principal root `s = W_0(-a)` of `s = -a exp(-s)`, by Newton's method.
fn root(a: f64) -> (f64, f64) {
    let (mut re, mut im) = (0.0_f64, 1.5_f64);
    for _ in 0..100 {
        // f = s + a e^-s, f' = 1 - a e^-s.
        let (er, ei) = ((-re).exp() * a * im.cos(), -(-re).exp() * a * im.sin());
        let (fr, fi, dr, di) = (re + er, im + ei, 1.0 - er, -ei);
        let norm = dr * dr + di * di;
        re -= (fr * dr + fi * di) / norm;
        im -= (fi * dr - fr * di) / norm;
    }
    (re, im)
}

#[test]
fn it_oscillates_with_the_growth_and_frequency_of_the_rightmost_root() {
    // Section 1 of the numbers for Paganini et al.: growth per oscillation.
    for (a, growth) in [(1.5, 0.8755), (1.65, 1.1482)] {
        let (re, im) = root(a);
        let period = 2.0 * std::f64::consts::PI / im;
        assert!(((re * period).exp() - growth).abs() < 1e-4);
        let solution = scalar(a).run(60.0 + period, period / 400.0, exact(1e-9)).unwrap();
        let x = solution.of(Entity::Loop(0), "x");
        let last = x.len() - 2;
        let ratio = |i: usize| x[i] / x[i - 400];
        assert!((ratio(last) - (re * period).exp()).abs() < 1e-3, "a = {a}: {}", ratio(last));
    }
}

/// State and integral of the sending rate at one time.
struct Sample {
    time: f64,
    x: f64,
    sent: f64,
}

/// The solution at equidistant times, and the number of steps.
fn sampled(a: f64, samples: u32, accuracy: Accuracy) -> (Vec<Sample>, u64) {
    let asm = scalar(a);
    let mut output = DenseOutput::new(Solver::new(&asm, accuracy).unwrap(), 9.3);
    let columns = asm.channel_columns();
    let rate = columns.iter().position(|c| c.entity == Entity::Loop(0) && c.quantity == "sending rate");
    let sample = |sample: u32| {
        let time = 9.3 * f64::from(sample) / f64::from(samples);
        assert!(output.advance_some(time, 100_000).unwrap());
        Sample { time, x: output.state()[0], sent: output.integrals()[rate.unwrap()] }
    };
    let samples = (0..=samples).map(sample).collect();
    (samples, output.steps())
}

#[test]
fn values_within_steps_agree_with_the_exact_polynomials_and_do_not_shorten_steps() {
    let a = 1.5;
    let (few, steps) = sampled(a, 10, exact(1e-8));
    let (many, same_steps) = sampled(a, 10_000, exact(1e-8));
    assert_eq!(steps, same_steps);
    for Sample { time, x, sent } in few.into_iter().chain(many) {
        let theory = scalar_exactly(a, time);
        // A hundred steps, and an interpolant of degree four.
        assert!((x - theory).abs() < 1e-6, "{time}: {x} {theory}");
        // The flow sends BASE + x, and x(t + 1) = x(1) - a times the integral of x from zero to t.
        let integral = (scalar_exactly(a, 1.0) - scalar_exactly(a, time + 1.0)) / a;
        assert!((sent - BASE * time - integral).abs() < 1e-6, "{time}: {sent} {integral}");
    }
}
