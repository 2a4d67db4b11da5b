//! Comparison with closed forms.

use super::*;
use crate::error::Error;
use crate::stability::{Complex, Root};

fn sampled(until: f64, value: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
    let times: Vec<f64> = (0..=40_000).map(|i| until * f64::from(i) / 40_000.0).collect();
    let values = times.iter().map(|t| value(*t)).collect();
    (times, values)
}

/// The unit step response of x'' + 2 z w x' + w^2 x = w^2 u for z < 1, w = 1.
fn second_order(z: f64) -> impl Fn(f64) -> f64 {
    let damped = (1.0 - z * z).sqrt();
    move |t| 1.0 - (-z * t).exp() * ((damped * t).cos() + z / damped * (damped * t).sin())
}

#[test]
fn the_overshoot_of_a_second_order_system_depends_on_its_damping_alone() {
    for z in [0.1_f64, 0.3, 0.5, 0.707] {
        let (times, values) = sampled(6.0 / z, second_order(z));
        // A step from 8 to 3 instead of from 0 to 1.
        let values: Vec<f64> = values.iter().map(|x| 8.0 - 5.0 * x).collect();
        let StepResponse::Step { overshoot, settling, .. } = StepResponse::of(&times, &values, 3.0, 1e-9)
        else {
            panic!("a step")
        };
        let theory = (-std::f64::consts::PI * z / (1.0 - z * z).sqrt()).exp();
        assert!((overshoot - theory).abs() < 1e-6, "{z}: {overshoot} {theory}");
        let root = Root { s: Complex::new(-z, (1.0 - z * z).sqrt()), multiplicity: 1 };
        let predicted = Predicted::of(&root);
        assert!((predicted.overshoot - theory).abs() < 1e-12 && (predicted.damping - z).abs() < 1e-12);
        // After one period, the deviation from the final value has its sign and the share exp(-z period) of its size.
        let period = predicted.period.unwrap();
        let response = second_order(z);
        for t in [0.3, 1.0] {
            let [now, later] = [t, t + period].map(|t| response(t) - 1.0);
            assert!((later - (-z * period).exp() * now).abs() < 1e-12, "{z}: {period}");
        }
        // The envelope is exp(-z t) / sqrt(1 - z^2); the response does not leave the band after the envelope has
        // entered it.
        let envelope = -(BAND * (1.0 - z * z).sqrt()).ln() / z;
        let settling = settling.unwrap();
        assert!(
            settling <= envelope + 1e-3 && settling > envelope - std::f64::consts::PI / 0.7,
            "{z}: {settling}"
        );
    }
}

/// 1 - exp(-t): ln 9 from 10 % to 90 %, ln 50 to 2 %.
#[test]
fn a_lag_rises_in_ln_9_and_settles_in_ln_50_and_does_not_overshoot() {
    let (times, values) = sampled(20.0, |t| 1.0 - (-t).exp());
    let StepResponse::Step { rise, overshoot, settling } = StepResponse::of(&times, &values, 1.0, 1e-9)
    else {
        panic!("a step")
    };
    assert!((rise.unwrap() - 9_f64.ln()).abs() < 1e-6, "{rise:?}");
    assert!((settling.unwrap() - 50_f64.ln()).abs() < 1e-5 && overshoot == 0.0, "{settling:?}");
    let root = Root { s: Complex::new(-1.0, 0.0), multiplicity: 1 };
    assert!((Predicted::of(&root).settling.unwrap() - 50_f64.ln()).abs() < 1e-12);
    assert_eq!((Predicted::of(&root).overshoot, Predicted::of(&root).period), (0.0, None));
}

/// t exp(-t) has its peak 1/e at 1.
#[test]
fn a_response_that_returns_to_its_start_is_an_excursion() {
    let (times, values) = sampled(30.0, |t| 7.0 - t * (-t).exp());
    let StepResponse::Excursion { peak, at, settling } = StepResponse::of(&times, &values, 7.0, 1e-3) else {
        panic!("an excursion")
    };
    assert!((peak + (-1_f64).exp()).abs() < 1e-6 && (at - 1.0).abs() < 1e-2);
    let left = |t: f64| t * (1.0 - t).exp() - BAND;
    assert!(left(settling.unwrap()).abs() < 1e-5, "{settling:?}");
}

#[test]
fn a_response_below_its_final_value_has_neither_rise_nor_settling_time() {
    let (times, values) = sampled(10.0, |t| 0.5 * (1.0 - (-t).exp()));
    let StepResponse::Step { rise, settling, .. } = StepResponse::of(&times, &values, 1.0, 1e-9) else {
        panic!("a step")
    };
    assert_eq!((rise, settling), (None, None));
}

/// A trajectory that was interrupted at its first sample has no rise.
#[test]
fn a_single_sample_has_neither_rise_nor_settling_time() {
    let StepResponse::Step { rise, overshoot, settling } = StepResponse::of(&[0.0], &[2.0], 3.0, 1e-3) else {
        panic!("a step")
    };
    assert_eq!((rise, overshoot, settling), (None, 0.0, None));
}

fn motion(value: impl Fn(f64) -> f64) -> Trajectory {
    let (times, values) = sampled(100.0, value);
    Trajectory { times, values: vec![values], error: None }
}

#[test]
fn long_term_behaviors_are_distinguished() {
    let of = |trajectory: &Trajectory| long_term_behavior(trajectory, &[0.0], &[1.0], 0.02);
    let LongTermBehavior::Settles { after } = of(&motion(|t| (-0.1 * t).exp())) else { panic!("settles") };
    assert!((after - 10.0 * 50_f64.ln()).abs() < 0.01, "{after}");
    assert_eq!(of(&motion(|t| (-0.01 * t).exp() * t.cos())), LongTermBehavior::Approaches);
    assert_eq!(of(&motion(f64::sin)), LongTermBehavior::Cycles);
    assert_eq!(of(&motion(|t| (0.02 * t).exp() * t.sin())), LongTermBehavior::Diverges);
    assert_eq!(of(&motion(|t| 1.0 - (-t).exp())), LongTermBehavior::OtherEquilibrium);
    assert_eq!(of(&motion(|_| 0.01)), LongTermBehavior::Settles { after: 0.0 });
    let error = Some(Error::NotFinite { time: 1.0, quantity: "x".to_owned() });
    assert_eq!(of(&Trajectory { error, ..motion(|_| 0.0) }), LongTermBehavior::Interrupted);
}
