//! Differences between equal flows of one class.

use crate::common::{fluid, mean, near, scenario, series};
use millpond_law::fluid::{
    Allocation, FluidModel, FluidSender, LoopFacts, Number, SenderInput, SenderLaws, State, sender_law,
};
use millpond_law::key::{Key, above, number};
use millpond_law::{Card, Needs, Protocol, QueueChoice, Sender, SettingError, Settings};
use millpond_plan::fluid::plan;
use millpond_protocols::Registry;
use millpond_theory::Study;
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{Stability, VariedParameter, analyze_stability, find_critical_values};

const LINK: &str = r#"
title = "Equal flows"
duration = "12s"
measure = { every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "10ms"
"#;

/// Groups of this many flows.
fn flows(protocol: &str, counts: &[usize]) -> String {
    let group = |(index, count): (usize, &usize)| {
        let name = ["one", "two"][index];
        format!(
            "[[flows]]\nname = \"{name}\"\ncount = {count}\nprotocol = \"{protocol}\"\npath = [\"A\", \"B\"]\nrtt = \"60ms\"\n"
        )
    };
    counts.iter().enumerate().map(group).collect()
}

fn stability(protocol: &str, counts: &[usize], sets: &[&str]) -> Stability {
    let text = LINK.to_owned() + &flows(protocol, counts);
    let plan = plan(&scenario(&text, sets), &Registry::builtin()).unwrap();
    analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap()
}

/// The slope of CUBIC's function is zero at the plateau, so that one root is zero, and that of differences between flows: no result
/// contains what rounding makes of them.
#[test]
fn roots_that_are_zero_within_the_accuracy_of_the_computation_are_exactly_zero() {
    let found = stability("cubic", &[5], &["links.L.queue=pie"]);
    let zeros: Vec<_> = found.spectrum.roots.iter().filter(|root| found.spectrum.is_zero(root)).collect();
    assert_eq!(zeros.iter().map(|root| root.s.norm()).collect::<Vec<_>>(), [0.0]);
    let differences: Vec<_> = found.differences.iter().map(|found| found.root.unwrap().s.norm()).collect();
    assert_eq!(differences, [0.0]);
}

/// Two classes have the root of the differences between them; in one class it is that of the differences within it.
#[test]
fn the_root_of_differences_within_a_class_is_that_between_two_halves_of_it() {
    for protocol in ["xcp", "lgc", "lgcc", "cltcp", "paganini-ecn"] {
        let (whole, halves) = (stability(protocol, &[4], &[]), stability(protocol, &[2, 2], &[]));
        let root = whole.differences[0].root.unwrap().s;
        let is_same = |s: millpond_fluid::stability::Complex<f64>| (s - root).norm() < 1e-6 * root.norm();
        assert!(halves.spectrum.roots.iter().any(|other| is_same(other.s)), "{protocol}: {root}");
        assert!(!whole.spectrum.roots.iter().any(|other| is_same(other.s)), "{protocol}: {root}");
        assert_eq!(
            (whole.differences.len(), whole.differences[0].count, halves.differences.len()),
            (1, 4, 2)
        );
    }
    assert!(stability("rcp", &[4], &[]).differences.is_empty(), "its senders have no states");
    assert!(stability("xcp", &[1], &[]).differences.is_empty(), "one flow");
}

#[test]
fn the_difference_between_two_flows_decays_as_its_root_says() {
    let root = stability("xcp", &[2], &[]).differences[0].root.unwrap().s;
    let late = LINK.to_owned() + &flows("xcp", &[1, 1]) + "start = \"5s\"\n";
    let run = fluid(&late, &[]);
    let difference = |time: f64| {
        let rate = |flow: &str| mean(series(&run, flow, "send rate"), (time - 0.05, time + 0.05));
        rate("one") - rate("two")
    };
    let measured = (difference(9.0) / difference(7.5)).ln() / 1.5;
    assert!(root.im == 0.0 && near(measured, root.re, 0.01), "{measured} is not {root}");
}

/// Without shuffled traffic XCP keeps the differences between its flows: the sum of their rates is stable, their shares are not.
#[test]
fn differences_that_stay_leave_the_stability_unknown() {
    let kept = stability("xcp", &[4], &["protocols.xcp={ params = { gamma = 0 } }"]);
    assert_eq!(kept.steady_state().is_stable(), None);
    let reason = kept.zero_root.unwrap().reason;
    assert!(reason.starts_with("differences between the 4 flows of one neither grow nor decay"), "{reason}");
}

/// At its plateau the slope of CUBIC's window is zero, for each flow as for all of them.
#[test]
fn differences_between_flows_of_cubic_decay_more_slowly_than_an_exponential() {
    let judged = stability("cubic", &[4], &["links.L.queue=red"]);
    let clauses: Vec<String> = judged.difference_clauses().collect();
    assert_eq!(clauses, ["differences between the 4 flows of one decay more slowly than an exponential"]);
    assert_eq!(judged.steady_state().is_stable(), Some(true));
    // An exponential would fall from 50 s to 100 s by the same factor as from 100 s to 150 s.
    let late = LINK.replace("12s", "150s") + &flows("cubic", &[1, 1]) + "start = \"5s\"\n";
    let run = fluid(&late, &["links.L.queue=red"]);
    let difference = |time: f64| {
        let rate = |flow: &str| mean(series(&run, flow, "send rate"), (time - 1.0, time + 1.0));
        (rate("one") - rate("two")).abs()
    };
    let (first, second) = (difference(100.0) / difference(50.0), difference(150.0) / difference(100.0));
    assert!(first < 0.99 * second && second < 1.0, "{first} and {second}");
}

/// A law without a packet form: `r' = k (c (1 + q0 - q + q') - acked)` and the rate `r - b c q`, with a share `c` and a queueing
/// delay `q` that is `q0` in equilibrium. What all flows together send more lengthens the queue, so that `c q'` is what each sends
/// more than its share; only a difference to the other flows is left of `c (1 + q') - acked`.
struct OwnRate;

const GAIN: Key<f64> = number("k", "1/s", 8.0, above(0.0).to(1e3)).meaning("gain").source("this test");

static OWN_RATE: Card = Card {
    name: "own-rate",
    title: "Own rate",
    summary: "moves its rate until what is acknowledged is its share",
    source: "this test",
    needs: Needs::NONE,
    queue: QueueChoice { name: "droptail", settings: &[] },
    parameters: &[&GAIN],
};

impl Protocol for OwnRate {
    fn card(&self) -> &'static Card {
        &OWN_RATE
    }

    fn sender(&self, _settings: &Settings) -> Result<Box<dyn Sender>, SettingError> {
        // Planned and never run.
        let other = Registry::builtin().protocol("newreno").unwrap();
        other.sender(&Settings::check(other.card().parameters, []).unwrap())
    }

    fn fluid(&self, settings: &Settings) -> Result<Option<Box<dyn FluidModel>>, SettingError> {
        Ok(Some(Box::new(OwnRateFluid { gain: settings.get(GAIN) })))
    }
}

#[derive(Clone, Copy)]
struct OwnRateFluid {
    /// In 1/s.
    gain: f64,
}

/// The share of each of four flows of 20 Mbit/s, in bit/s.
const SHARE: f64 = 5e6;
/// In equilibrium.
const QUEUEING: f64 = 0.04;
/// Round-trip time of the equations in seconds.
const RTT: f64 = 0.06;

impl FluidModel for OwnRateFluid {
    fn sender(&self, _facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(*self)
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric { reason: "its utility is not of interest here" }
    }
}

impl FluidSender for OwnRateFluid {
    fn states(&self) -> Vec<State> {
        vec![State::new("rate without a queue", "bit/s", SHARE)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let served = (input.queueing_slope + 1.0) * SHARE;
        dx[0] = (served - input.acked + (-input.queueing + QUEUEING) * SHARE) * self.gain;
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] - input.queueing * (1_f64.sin() / RTT * SHARE)
    }
}

/// A difference of two rates `v` follows `v' = -k v(t - T)`: it oscillates from `k = pi / (2 T)` on. The sum of the rates has the
/// equation `s^2 + (b s + k) e^(-s T) = 0`. With `b T = sin 1` its roots cross the axis at `s T = i`, at `k = cos 1 / T^2`.
#[test]
fn a_critical_value_is_that_of_differences_if_these_oscillate_first() {
    static LAW: OwnRate = OwnRate;
    let registry = Registry::builtin().with(&LAW);
    let critical = |counts: &[usize], rate: &str| {
        let text = LINK.to_owned() + &flows("own-rate", counts);
        let scenario = scenario(&text, &[&format!("links.L.rate={rate}"), "links.L.buffer=10MB"]);
        let study = Study::new(&scenario, &registry);
        let gain = VariedParameter::parse("protocols.own-rate.params.k", study).unwrap();
        let found = find_critical_values(study, &gain).unwrap().found;
        assert!(found.len() == 1 && found[0].stable_below, "{found:?}");
        found[0].value
    };
    let differences = std::f64::consts::FRAC_PI_2 / RTT;
    for counts in [&[4][..], &[2, 2]] {
        let found = critical(counts, "20Mbps");
        assert!(near(found, differences, 1e-4), "{counts:?}: {found} is not {differences}");
    }
    let text = LINK.to_owned() + &flows("own-rate", &[4]);
    let sets = ["protocols.own-rate={ params = { k = 40 } }", "links.L.buffer=10MB"];
    let plan = plan(&scenario(&text, &sets), &registry).unwrap();
    let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
    let factor = judged.stabilizing_delay.unwrap();
    assert!(!judged.disturbances_decay() && near(factor, differences / 40.0, 1e-3), "{factor}");
    let (single, sum) = (critical(&[1], "5Mbps"), 1_f64.cos() / (RTT * RTT));
    assert!(near(single, sum, 1e-4), "{single} is not {sum}");
}
