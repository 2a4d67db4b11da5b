//! Explanations of oscillations: whole runs against the theory of their loops.

use super::common::scenario;
use millpond_diagnosis::explain::{
    ExplainError, Explanation, Finding, Fluctuation, FluctuationKind, explain, explanation_sentence,
};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Unwatched, World};
use millpond_theory::Study;

const DELAY_MARGIN: &str = include_str!("../../../../scenarios/delay-margin.toml");

fn explain_run(text: &str, sets: &[&str], world: World) -> Result<Explanation, ExplainError> {
    let (scenario, registry) = (scenario(text, sets), Registry::builtin());
    let about = About { world, ..About::default() };
    let finished = run(&scenario, &registry, about, &Unwatched).unwrap_or_else(|error| panic!("{error}"));
    explain(&finished.run, Study::new(&scenario, &registry))
}

/// CLTCP in packets: two links in each direction, of which `far` has nearly all of the delay.
fn cltcp(far: &str) -> Explanation {
    explain_run(DELAY_MARGIN, &[far], World::Packets).unwrap_or_else(|reason| panic!("{reason}"))
}

fn fluctuation(explained: &Explanation, kind: FluctuationKind) -> &Fluctuation {
    explained.fluctuations.iter().find(|found| found.kind == kind).expect("a fluctuation of this kind")
}

/// Eq. (38) of CLTCP, `L(s) = e^(-s tau) 2 (s + 1/2) / (s^2 (s + 2))`: the angular frequency in rad/s at which its phase
/// is -180 degrees, `w tau = atan 2w - atan w/2`, and its gain there.
fn crossover(tau: f64) -> (f64, f64) {
    let lead = |w: f64| (2.0 * w).atan() - (w / 2.0).atan() - w * tau;
    let (mut low, mut high) = (1e-3, 20.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if lead(middle) > 0.0 { low = middle } else { high = middle }
    }
    (low, 2.0 * low.hypot(0.5) / (low * low * low.hypot(2.0)))
}

fn assert_crossover(explained: &Explanation, tau: f64) {
    let (frequency, gain) = crossover(tau);
    let found = explained.model.as_ref().unwrap().loop_gain.unwrap();
    // The near link adds a microsecond to the round trip.
    assert!((found.frequency / frequency - 1.0).abs() < 1e-4, "{found:?} {frequency}");
    assert!((found.gain / gain - 1.0).abs() < 1e-4, "{found:?} {gain}");
}

/// 200 and 600 ms are below 643.5 ms: the fluctuations are those of packet granularity.
#[test]
fn cltcp_below_its_delay_margin_does_not_oscillate() {
    for (far, tau) in [("links.far.delay=100ms", 0.2), ("links.far.delay=300ms", 0.6)] {
        let explained = cltcp(far);
        assert_eq!(explained.verdict.finding, Finding::Noise);
        assert_crossover(&explained, tau);
        assert!(explained.model.as_ref().unwrap().loop_gain.unwrap().gain < 1.0);
        let sentence = explanation_sentence(&explained);
        assert!(sentence.starts_with("does not oscillate: the rates of f fluctuate by 0.0"), "{sentence}");
        // 8000 bits in 100 ms, over the square root of six, of 120 Mbit/s.
        assert!(
            (fluctuation(&explained, FluctuationKind::FlowRate).noise_floor.total_deviation()
                / (8e4 / 6_f64.sqrt())
                - 1.0)
                .abs()
                < 1e-9
        );
    }
}

/// 700 and 800 ms are above: the linear loop grows at the rate of its rightmost root, and packets oscillate near its
/// frequency.
#[test]
fn cltcp_beyond_its_delay_margin_oscillates_because_its_loop_is_unstable() {
    for (far, tau) in [("links.far.delay=350ms", 0.7), ("links.far.delay=400ms", 0.8)] {
        let explained = cltcp(far);
        assert_eq!(explained.verdict.finding, Finding::Unstable, "{tau}");
        assert_crossover(&explained, tau);
        let sentence = explanation_sentence(&explained);
        assert!(sentence.starts_with("oscillates because its loop is unstable (gain 1."), "{sentence}");
        let clearest = &explained.fluctuations[explained.verdict.clearest.unwrap()];
        assert!(clearest.peak.unwrap().variance_share > 0.8, "{clearest:?}");
    }
    // The rightmost root at 0.8 s is 0.0803 + 0.9529i (docs/from-a-law-to-its-stability.md): x1.70 per cycle.
    let growth = cltcp("links.far.delay=400ms").model.unwrap().growth_per_cycle().unwrap();
    assert!((growth - (2.0 * std::f64::consts::PI * 0.0803 / 0.9529).exp()).abs() < 2e-3, "{growth}");
}

/// In the fluid world, with the scenario's 600 ms, the oscillation decays as the root -0.0267 + 1.0112i: by 0.847 per
/// 6.21 s.
#[test]
fn in_the_fluid_world_an_oscillation_decays_at_the_rate_of_the_rightmost_root() {
    let explained = explain_run(DELAY_MARGIN, &["measure.from=10s"], World::Fluid)
        .unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(explained.verdict.finding, Finding::Decaying);
    let peak = explained.fluctuations[explained.verdict.clearest.unwrap()].peak.unwrap();
    // The Fourier bins of 80 s are 0.0125 Hz wide.
    assert!((peak.frequency - 1.0112 / (2.0 * std::f64::consts::PI)).abs() < 0.004, "{peak:?}");
    let growth = peak.growth.unwrap();
    assert!((growth.per_cycle - 0.847).abs() < 0.02, "{growth:?}");
    assert!(
        fluctuation(&explained, FluctuationKind::FlowRate).noise_floor.total_deviation() == 0.0,
        "the fluid has no packet granularity"
    );
}

/// Five flows of LGCC on 500 Mbit/s and 2 ms.
const LGCC: &str = r#"
title = "LGCC"
duration = "8s"
measure = { from = "2s", every = "8ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "500Mbps"
delay = "1ms"
buffer = "1MB"
[[flows]]
name = "f"
protocol = "lgcc"
count = 5
path = ["A", "B"]
"#;

/// The differences between S flows have no feedback from the link. Marks of variance p (1 - p) / n in each interval of n
/// packets pass the averaging (alpha) and the rate's own lag (g = gamma / ln phi1). In equilibrium `ln x` is
/// eta ln(1 - p). The variance is `eta^2 p / (1 - p) / n` times `alpha g / (2 (alpha + g))`, less the part that is slower
/// than the interval, which counts as mean and trend. A flow has the share 1 - 1/S of it, plus the small variance of the
/// sum.
#[test]
fn lgcc_is_at_the_noise_floor_of_its_marks() {
    let explained = explain_run(LGCC, &[], World::Packets).unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(explained.verdict.finding, Finding::Noise, "{:?}", explained.fluctuations);
    // S (1 - p)^eta = 1 + p max_th / (c T): errata of LGCC, section 7.
    let (eta, s, alpha, g) = (10_f64.ln() / 5_f64.ln(), 5.0, 0.05, 0.05 / 10_f64.ln());
    let excess = |p: f64| s * (1.0 - p).powf(eta) - 1.0 - p * 75e3 / 125e3;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    // An interval is a round trip without queues.
    let (p, n) = (low, 100e6 * 2e-3 / 12e3);
    let target = eta * eta * p / (1.0 - p) / n;
    let differences = target * (alpha * g / (2.0 * (alpha + g)) - 2.0 * 2e-3 / explained.interval.duration());
    let rate = fluctuation(&explained, FluctuationKind::FlowRate);
    let (_, marks) = rate.noise_floor.causes[0];
    let least = ((1.0 - 1.0 / s) * differences).sqrt();
    let predicted = marks / rate.mean;
    assert!((0.99 * least..1.03 * least).contains(&predicted), "{predicted} {least}");
    let sentence = explanation_sentence(&explained);
    assert!(sentence.contains("predicted from the randomness of marks"), "{sentence}");
}

#[test]
fn the_longest_interval_between_joins_leaves_and_steps_is_analyzed() {
    let text = DELAY_MARGIN.replace(
        "rate    = \"120Mbps\"",
        "rate = { steps = [[\"0s\", \"120Mbps\"], [\"80s\", \"90Mbps\"]] }",
    );
    let explained =
        explain_run(&text, &["links.far.delay=100ms", "measure.from=5s", "flows.f.stop=88s"], World::Packets)
            .unwrap_or_else(|reason| panic!("{reason}"));
    let interval = &explained.interval;
    assert_eq!((interval.start, interval.end), (5.0, 80.0));
    assert_eq!(
        (interval.start_event.as_str(), interval.end_event.as_str()),
        ("measure.from", "near -> becomes 90 Mbit/s")
    );
}

#[test]
fn an_interval_of_few_samples_or_few_cycles_is_refused_with_the_needed_duration() {
    let short = |sets: &[&str]| match explain_run(DELAY_MARGIN, sets, World::Packets) {
        Err(reason @ ExplainError::TooShort { .. }) => reason.to_string(),
        other => {
            panic!("{:?}", other.map(|explained| explained.verdict).map_err(|reason| reason.to_string()))
        }
    };
    let few_samples = short(&["measure.every=1s"]);
    assert!(few_samples.contains("30.000 s with 30 samples; 64.000 s are needed"), "{few_samples}");
    // Four cycles of 2 pi / 1.0112 s.
    let few_cycles = short(&["measure.from=70s"]);
    assert!(
        few_cycles.contains("24.85") && few_cycles.contains("4 cycles of the loop, 6.21"),
        "{few_cycles}"
    );
}

#[test]
fn a_scenario_without_equations_is_refused_with_its_queue() {
    let refused = |sets: &[&str]| match explain_run(LGCC, sets, World::Packets) {
        Err(ExplainError::Analysis(reason)) => reason,
        other => {
            panic!("{:?}", other.map(|explained| explained.verdict).map_err(|reason| reason.to_string()))
        }
    };
    let codel = refused(&["flows.f.protocol=newreno", "links.L.queue=codel"]).to_string();
    assert!(codel.contains("the queue codel has no fluid model"), "{codel}");
}

#[test]
fn a_missing_series_is_named() {
    let (scenario, registry) = (scenario(DELAY_MARGIN, &[]), Registry::builtin());
    let mut run = run(&scenario, &registry, About::default(), &Unwatched).unwrap().run;
    run.series.retain(|series| series.quantity != "send rate");
    let reason = explain(&run, Study::new(&scenario, &registry)).map(|_| ()).unwrap_err().to_string();
    assert!(reason.contains("the series send rate of f has 0 of 300 samples"), "{reason}");
}
