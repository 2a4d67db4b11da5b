//! Laws after a relay that has less data than they permit.

use crate::laws::{P, Ramp, Steady};
use millpond_fluid::{Accuracy, Assembly, Entity, FluidNetwork, Loop, Relay, RelayBuffer};
use millpond_law::fluid::{SenderLaws, sender_law};

/// What arrives at the relay, from `FORWARD` on.
const INFLOW: f64 = 1000.0;
const FORWARD: f64 = 0.1;
const SLOPE: f64 = 400.0;

/// Times, and the rate that the law after the relay permits.
fn permitted(law: Box<dyn SenderLaws>, shared: bool, seconds: f64) -> Vec<(f64, f64)> {
    let mut network = FluidNetwork::new();
    let links = ["A", "B"].map(|name| network.link(name, 1e5, f64::INFINITY));
    let upstream = network.add(Loop::new("first", P, sender_law(Steady(INFLOW)), 0.2).over(links[0], 0.0));
    let whole = network.add(Loop::new("second", P, law, 0.1).over(links[1], 0.02));
    let downstream = if shared { network.add(network.shared_flow(whole, "part", 1.0)) } else { whole };
    network.add_relay(Relay { upstream, downstream, forward: FORWARD, buffer: RelayBuffer::UNLIMITED });
    let accuracy = Accuracy { tolerance: 1e-9, ..Accuracy::default() };
    let solution = Assembly::new(network).unwrap().run(seconds, 0.01, accuracy).unwrap();
    let x = solution.of(Entity::Loop(whole.0), "x");
    solution.times.iter().copied().zip(x.iter().copied()).collect()
}

/// The time at which the rate is `x` times the inflow, after it was equal to it: of `x' = s (10 / x - 9) / INFLOW`.
fn time_to(x: f64) -> f64 {
    let part = |x: f64| -x / 9.0 - 10.0 / 81.0 * (10.0 - 9.0 * x).ln();
    (part(x) - part(1.0)) * INFLOW / SLOPE
}

/// From a rate below the inflow the relay has data. When they are gone, the increase ends before 10/9 of the inflow.
#[test]
fn a_law_without_data_does_not_raise_its_rate() {
    for shared in [false, true] {
        let rates = permitted(sender_law(Ramp::<false> { initial: 800.0, slope: SLOPE }), shared, 12.0);
        // While it has no data at all it keeps its rate. Then 800 + s t, with a backlog until the sum of the deviations is zero.
        let at = |t: f64| rates.iter().find(|(time, _)| *time >= t - 1e-9).unwrap().1;
        assert!((at(0.1) - 800.0).abs() < 1e-3, "{}", at(0.1));
        let backlog_ends = FORWARD + 2.0 * (INFLOW - 800.0) / SLOPE;
        let above = 800.0 + SLOPE * (backlog_ends - FORWARD);
        assert!((at(backlog_ends) - above).abs() < 1.0, "{}, not {above}", at(backlog_ends));
        // It is above 10/9 of the inflow then.
        assert!((at(12.0) - above).abs() < 1.0, "{}, not {above}", at(12.0));
    }
}

#[test]
fn the_increase_ends_over_the_last_tenth_of_the_permitted_rate() {
    let rates = permitted(sender_law(Ramp::<false> { initial: INFLOW, slope: SLOPE }), false, 6.0);
    for (t, x) in rates.iter().filter(|(_, x)| (1.01 * INFLOW..1.11 * INFLOW).contains(x)) {
        let theory = FORWARD + time_to(x / INFLOW);
        assert!((t - theory).abs() < 0.01, "{x} at {t}, not {theory}");
    }
    assert!((rates[rates.len() - 1].1 - INFLOW / 0.9).abs() < 1e-3);
}

#[test]
fn a_law_that_grows_without_data_raises_its_rate_for_ever() {
    let rates = permitted(sender_law(Ramp::<true> { initial: INFLOW, slope: SLOPE }), false, 6.0);
    assert!(rates.iter().all(|(t, x)| (x - INFLOW - SLOPE * t).abs() < 1e-6));
}
