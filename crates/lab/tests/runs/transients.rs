//! Trajectories, step responses and convergence times of whole scenarios against theory.

use millpond_fluid::motion::{LongTermBehavior, StepResponse};
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::Unwatched;
use millpond_scenario::{Disk, Scenario};
use millpond_theory::Study;
use millpond_theory::equilibrium::{PlanEquilibrium, find_equilibrium};
use millpond_theory::stability::{ParameterAxis, VariedParameter};
use millpond_theory::transients::{
    ConvergenceCriterion, InitialConditions, Observables, PhasePortrait, StepChange, StepTransient,
    compute_convergence_times, compute_phase_portrait, simulate_steps,
};
use std::path::Path;

fn scenario(protocol: &str, rtt: &str, params: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\nduration = \"60s\"\n\
         [[links]]\nname = \"L\"\nbetween = [\"A\", \"B\"]\nrate = \"120Mbps\"\ndelay = \"1ms\"\nbuffer = \"unlimited\"\n\
         [[flows]]\nname = \"f\"\nprotocol = \"{protocol}\"\npath = [\"A\", \"B\"]\nrtt = \"{rtt}\"\npacket = \"1000B\"\n\
         [protocols.{protocol}]\nparams = {{ {params} }}\n"
    );
    Scenario::parse(&text, "t.toml", Path::new(""), &[], &Disk).unwrap()
}

fn with_equilibrium<T>(scenario: &Scenario, function: impl FnOnce(&PlanEquilibrium<'_>) -> T) -> T {
    let plan = fluid::plan(scenario, &Registry::builtin()).unwrap();
    function(&find_equilibrium(&plan).unwrap())
}

fn portrait(scenario: &Scenario, plane: [&str; 2], from: &str, points: usize) -> PhasePortrait {
    with_equilibrium(scenario, |equilibrium| {
        let observables = Observables::new(equilibrium);
        let plane = plane.map(|name| observables.find(name).unwrap());
        let conditions =
            InitialConditions::parse(from, points, &[&plane[0], &plane[1]], &observables).unwrap();
        compute_phase_portrait(equilibrium, plane, &conditions, None, &Unwatched).unwrap()
    })
}

fn step(scenario: &Scenario, text: &str, seconds: f64) -> StepTransient {
    let registry = Registry::builtin();
    with_equilibrium(scenario, |equilibrium| {
        let step = StepChange::parse(text, scenario, equilibrium).unwrap();
        let study = Study::new(scenario, &registry);
        simulate_steps(&[step], study, equilibrium, Some(seconds), &Unwatched).unwrap().remove(0)
    })
}

/// (6) of CLTCP in logarithms about the equilibrium, the link 1 ms before the end of the round trip: X' = 2 (R(t - back) - X),
/// R' = -(Y + Q / 2), Q' = Y with Y = X(t - forth) - c, for a step c of the logarithm of the capacity. By Euler's method.
fn cltcp_overshoot_by_hand(forth: f64, back: f64) -> f64 {
    const H: f64 = 2e-4;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
    let steps = |time: f64| (time / H).round() as usize;
    let (forth, back) = (steps(forth), steps(back));
    let (mut x, mut r, mut q) = (vec![0.0], vec![0.0], 0.0);
    let ago = |values: &[f64], steps: usize| {
        if values.len() > steps { values[values.len() - 1 - steps] } else { 0.0 }
    };
    for _ in 0..steps(30.0) {
        let (now, load) = (x[x.len() - 1], ago(&x, forth) - 1.0);
        let (slope_x, slope_r) = (2.0 * (ago(&r, back) - now), -(load + q / 2.0));
        q += H * load;
        x.push(now + H * slope_x);
        r.push(r[r.len() - 1] + H * slope_r);
    }
    x.into_iter().fold(0.0, f64::max) - 1.0
}

/// A step of half a per cent is small: the delay equations respond as their linearization does.
#[test]
fn the_response_of_cltcp_to_a_small_step_is_that_of_its_linearization() {
    for (rtt, back) in [("200ms", 0.199), ("500ms", 0.499)] {
        let response = step(&scenario("cltcp", rtt, ""), "L=100.5%", 30.0);
        let StepResponse::Step { overshoot, .. } = response.rates[0].response else {
            panic!("expected a step response")
        };
        // The position of the link on the path affects only the step itself.
        let theory = cltcp_overshoot_by_hand(0.001, back);
        assert!((overshoot / theory - 1.0).abs() < 0.02, "{rtt}: {overshoot} {theory}");
        let StepResponse::Excursion { settling, .. } = response.queues[0].response else {
            panic!("expected an excursion of the queue")
        };
        assert!(settling.is_some() == (rtt == "200ms"), "{settling:?}");
    }
}

/// With r constant (beta near zero) (6) is X' = -alpha X: from r / P the rate is within 5 % after
/// ln(ln P / -ln 0.95) / alpha, which grows like ln ln P.
#[test]
fn cltcp_converges_in_the_time_of_its_closed_form() {
    let scenario =
        scenario("cltcp", "100ms", "beta = 0.000001, initial_rate = 15000, initial_factor = 15000");
    for p in [10.0_f64, 100.0, 1000.0] {
        let from = format!("x={}%", 100.0 / p);
        let over = ParameterAxis::logarithmic(VariedParameter::Rtt, 0.1, 0.2, 2);
        let criterion = ConvergenceCriterion { tolerance: 0.05, initial_condition: Some(from) };
        let found = compute_convergence_times(
            Study::new(&scenario, &Registry::builtin()),
            over,
            criterion,
            &Unwatched,
        )
        .unwrap();
        let theory = (p.ln() / -(0.95_f64.ln())).ln() / 2.0;
        for time in found.times {
            assert!((time.unwrap() - theory).abs() < 0.01, "{p}: {time:?} {theory}");
        }
    }
}

/// Round-trip times of the errata below and above 0.6435 s. Below, all trajectories near the equilibrium converge to it.
#[test]
fn cltcp_converges_from_all_initial_states_near_equilibrium_only_below_its_delay_margin() {
    let near = "x=100Mbps..130Mbps,q=90packets..110packets";
    let converging = |rtt: &str| {
        let found = portrait(&scenario("cltcp", rtt, ""), ["x", "q"], near, 3);
        assert_eq!(found.trajectories.len(), 9);
        found.count(|behavior| matches!(behavior, LongTermBehavior::Settles { .. }))
    };
    assert_eq!(converging("200ms"), 9);
    assert_eq!(converging("800ms"), 0);
}

/// Paganini et al., Theorem 1: locally stable; every trajectory near the equilibrium converges to it.
#[test]
fn paganinis_primal_dual_law_returns_to_its_equilibrium() {
    let found = portrait(
        &scenario("paganini-ecn", "50ms", ""),
        ["rate", "price"],
        "rate=95%..105%,price=95%..105%",
        3,
    );
    let converged = found.count(|behavior| matches!(behavior, LongTermBehavior::Settles { .. }));
    assert_eq!(converged, 9, "{:?}", found.trajectories.iter().map(|path| path.behavior).collect::<Vec<_>>());
}

/// A second flow joins: each has half of the capacity.
#[test]
fn a_flow_that_joins_reaches_its_share() {
    let response = step(&scenario("cltcp", "100ms", ""), "join=f", 60.0);
    let ends: Vec<f64> = response.rates.iter().map(|one| one.values[one.values.len() - 1] / 60e6).collect();
    assert_eq!(ends.len(), 2);
    assert!(ends.iter().all(|end| (end - 1.0).abs() < 1e-3), "{ends:?}");
    assert!((response.rates[0].values[0] / 120e6 - 1.0).abs() < 1e-6, "alone before");
}

/// The root at 50 ms is -0.4714 (errata of CLTCP, section 2): from half the rate to within 5 % it needs ln(10) / 0.4714.
#[test]
fn the_predicted_convergence_time_is_a_logarithm_over_the_real_part_of_the_rightmost_root() {
    let over = ParameterAxis::logarithmic(VariedParameter::Rtt, 0.05, 0.1, 2);
    let criterion = ConvergenceCriterion { tolerance: 0.05, initial_condition: Some("x=50%".to_owned()) };
    let (scenario, registry) = (scenario("cltcp", "50ms", ""), Registry::builtin());
    let study = Study::new(&scenario, &registry);
    let found = compute_convergence_times(study, over, criterion, &Unwatched).unwrap();
    let predicted = found.predicted_times[0].unwrap();
    assert!((predicted * 0.4714 / 10_f64.ln() - 1.0).abs() < 1e-3, "{predicted}");
    assert!(found.times.iter().all(Option::is_some), "{:?}", found.times);
}

/// CLTCP's time constant of 2.1 s does not become shorter with the round-trip time: at 10 ms it is 200 round trips.
#[test]
fn the_convergence_time_of_a_law_with_a_time_constant_of_its_own_is_found_at_short_round_trip_times() {
    let over = ParameterAxis::logarithmic(VariedParameter::Rtt, 0.01, 0.05, 2);
    let criterion = ConvergenceCriterion { tolerance: 0.05, initial_condition: None };
    let (scenario, registry) = (scenario("cltcp", "10ms", ""), Registry::builtin());
    let found =
        compute_convergence_times(Study::new(&scenario, &registry), over, criterion, &Unwatched).unwrap();
    // From 20 % to within 5 % by the slowest root: ln(0.8 / 0.05) / 0.5 at the least.
    for (time, predicted) in found.times.iter().zip(&found.predicted_times) {
        let (time, predicted) = (time.unwrap(), predicted.unwrap());
        assert!((time / predicted - 1.0).abs() < 0.1, "{time} against {predicted}");
    }
}
