//! Equilibrium and stability of whole scenarios against theory.

use crate::loop_protocols::split;
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_scenario::{Disk, Scenario};
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{
    VariedParameter, analyze_stability, find_critical_values, stability_json, stability_sentence,
};
use millpond_theory::{AnalysisError, Study};
use std::path::Path;

fn scenario(
    links: &[(&str, &str, &str, &str)],
    flows: &[(&str, &[&str], &str, u32)],
    protocol: &str,
) -> Scenario {
    let mut text = String::from("title = \"t\"\nduration = \"60s\"\n");
    for (name, from, to, rate) in links {
        text += &format!(
            "[[links]]\nname = \"{name}\"\nbetween = [\"{from}\", \"{to}\"]\nrate = \"{rate}\"\ndelay = \"1ms\"\nbuffer = \"10MB\"\n"
        );
    }
    for (name, path, rtt, count) in flows {
        text += &format!(
            "[[flows]]\nname = \"{name}\"\nprotocol = \"{protocol}\"\npath = {path:?}\nrtt = \"{rtt}\"\ncount = {count}\npacket = \"1000B\"\n"
        );
    }
    Scenario::parse(&text, "t.toml", Path::new(""), &[], &Disk).unwrap()
}

fn one_link(protocol: &str, flows: &[(&str, &str)]) -> Scenario {
    let flows: Vec<(&str, &[&str], &str, u32)> =
        flows.iter().map(|(name, rtt)| (*name, &["A", "B"][..], *rtt, 1)).collect();
    scenario(&[("L", "A", "B", "120Mbps")], &flows, protocol)
}

fn rightmost(scenario: &Scenario) -> f64 {
    let plan = fluid::plan(scenario, &Registry::builtin()).unwrap();
    analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap().spectrum.rightmost()
}

/// CLTCP, errata section 2: the rightmost root for several round-trip times; it crosses zero at 0.643501 s. The delay of the
/// loop in Eq. (6) excludes queueing delay.
#[test]
fn cltcp_is_unstable_above_643_ms() {
    for (rtt, expected) in [("50ms", -0.4714), ("200ms", -0.3536), ("600ms", -0.0267), ("800ms", 0.0803)] {
        let found = rightmost(&one_link("cltcp", &[("f", rtt)]));
        assert!((found - expected).abs() < 1e-4, "{rtt}: {found}");
    }
    let scenario = one_link("cltcp", &[("f", "200ms")]);
    let registry = Registry::builtin();
    let search = find_critical_values(Study::new(&scenario, &registry), &VariedParameter::Rtt).unwrap();
    let found = &search.found;
    assert!((found[0].value - 0.643_501).abs() < 1e-5 && found[0].stable_below, "{found:?}");
    let range = search.range;
    assert!((range.low / 0.002 - 1.0).abs() < 1e-9 && (range.high - 0.643_501).abs() < 1e-5, "{range:?}");
}

/// Numbers of flows are whole. The windows of a single flow are so large that it oscillates about RED; two do not.
#[test]
fn a_critical_number_of_flows_is_the_last_stable_one_whatever_the_number_of_the_scenario() {
    const FEW: &str = r#"
duration = "60s"
links = [{ name = "L", between = ["A", "B"], rate = "8Mbps", delay = "20ms", buffer = "unlimited", queue = { red = { min_th = "5KB", max_th = "100KB", max_p = 0.1, weight = 0.02, shape = "gentle" } } }]
flows = [{ name = "f", protocol = "newreno", path = ["A", "B"] }]
"#;
    let of = |count: u32| {
        let sets = [format!("flows.f.count={count}")];
        Scenario::parse(FEW, "few.toml", Path::new(""), &sets, &Disk).unwrap()
    };
    assert!(rightmost(&of(1)) > 0.0 && rightmost(&of(2)) < 0.0);
    let registry = Registry::builtin();
    for count in [1, 2, 3, 10] {
        let scenario = of(count);
        let search = find_critical_values(Study::new(&scenario, &registry), &VariedParameter::Flows).unwrap();
        let found: Vec<(f64, bool)> = search.found.iter().map(|one| (one.value, one.stable_below)).collect();
        assert_eq!(found, [(2.0, false)], "{count}");
    }
}

/// For an unstable loop the analysis gives the factors of gain and of delays that make it stable. At 800 ms the factor of
/// delays is 0.643501 / 0.8, and that of the gain is the inverse of the loop gain at a phase of -180 degrees.
#[test]
fn an_unstable_loop_has_the_factors_that_make_it_stable() {
    let plan = fluid::plan(&one_link("cltcp", &[("f", "800ms")]), &Registry::builtin()).unwrap();
    let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
    let (gain, delay) = (judged.stabilizing_gain.unwrap(), judged.stabilizing_delay.unwrap());
    assert!((delay - 0.643_501 / 0.8).abs() < 1e-4, "{delay}");
    let w = crossing(0.8);
    let size = 2.0 * (w * w + 0.25).sqrt() / (w * w * (w * w + 4.0).sqrt());
    assert!((gain - 1.0 / size).abs() < 1e-4, "{gain} {}", 1.0 / size);
}

/// Where exp(-s tau) 2 (s + 1/2) / (s^2 (s + 2)) is a negative real number: w tau + atan(w / 2) = atan(2 w).
fn crossing(tau: f64) -> f64 {
    let turned = |w: f64| w * tau + (w / 2.0).atan() - (2.0 * w).atan();
    let (mut low, mut high) = (0.1, 3.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if turned(middle) < 0.0 { low = middle } else { high = middle }
    }
    low
}

/// The same section: mixed round-trip times.
#[test]
fn cltcp_with_mixed_round_trip_times_has_its_equilibrium_and_roots() {
    let mixed = one_link("cltcp", &[("a", "50ms"), ("b", "100ms"), ("c", "200ms"), ("d", "400ms")]);
    assert!((rightmost(&mixed) + 0.358).abs() < 1e-3);
    let long = one_link("cltcp", &[("a", "5s"), ("b", "50ms")]);
    assert!((rightmost(&long) - 0.076).abs() < 1e-3);
}

/// CLTCP, Fig. 10: 30, 90, 30 and 90 Mb/s, three full links. The equilibrium of the equations is that of progressive filling.
#[test]
fn cltcp_on_a_parking_lot_has_a_max_min_equilibrium() {
    let links = [("L1", "A", "B", "120Mbps"), ("L2", "B", "C", "60Mbps"), ("L3", "C", "D", "120Mbps")];
    let flows: [(&str, &[&str], &str, u32); 4] = [
        ("f1", &["A", "B", "C", "D"], "120ms", 1),
        ("f2", &["A", "B"], "40ms", 1),
        ("f3", &["B", "C"], "40ms", 1),
        ("f4", &["C", "D"], "40ms", 1),
    ];
    let scenario = scenario(&links, &flows, "cltcp");
    let plan = fluid::plan(&scenario, &Registry::builtin()).unwrap();
    let settled = find_equilibrium(&plan).unwrap();
    let closed = settled.closed_form.as_ref().unwrap();
    for (index, expected) in [30e6, 90e6, 30e6, 90e6].into_iter().enumerate() {
        let found = settled.value(millpond_fluid::Entity::Loop(index), "sending rate").unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{index}: {found}");
        assert!((closed.allocation.rates[index] / expected - 1.0).abs() < 1e-9);
    }
    assert!(analyze_stability(&settled).unwrap().spectrum.is_stable());
}

#[test]
fn laws_in_discrete_time_are_refused_by_name() {
    let scenario = one_link("mcp", &[("f", "100ms")]);
    let plan = fluid::plan(&scenario, &Registry::builtin()).unwrap();
    assert!(
        matches!(find_equilibrium(&plan).map(|_| ()), Err(AnalysisError::DiscreteTime { protocol }) if protocol == "mcp")
    );
}

#[test]
fn an_unknown_parameter_is_refused_with_the_nearest_name() {
    let scenario = one_link("cltcp", &[("f", "100ms")]);
    let registry = Registry::builtin();
    let study = Study::new(&scenario, &registry);
    let error = VariedParameter::parse("protocols.cltcp.params.alfa", study).unwrap_err();
    assert!(error.contains("did you mean \"protocols.cltcp.params.alpha\"?"), "{error}");
}

#[test]
fn the_parameters_of_the_protocols_of_single_loops_can_be_varied() {
    let text = split("cltcp", "pledge");
    let scenario = Scenario::parse(&text, "split.toml", Path::new(""), &[], &Disk).unwrap();
    let registry = Registry::builtin();
    let study = Study::new(&scenario, &registry);
    for name in ["protocols.split.params.alpha", "protocols.pledge.params.target"] {
        assert_eq!(VariedParameter::parse(name, study).unwrap().name(), name);
    }
    let error = VariedParameter::parse("protocols.pledge.params.traget", study).unwrap_err();
    assert!(error.contains("did you mean \"protocols.pledge.params.target\"?"), "{error}");
}

/// Ten flows of ACP on a link, with these overrides.
fn ten_of_acp(overrides: &[String]) -> Scenario {
    let text = r#"
        title = "ACP"
        duration = "10s"
        links = [{ name = "L", between = ["A", "B"], rate = "155Mbps", delay = "40ms" }]
        flows = [{ name = "u", count = 10, protocol = "acp", path = ["A", "B"], packet = "1000B" }]
    "#;
    Scenario::parse(text, "acp.toml", Path::new(""), overrides, &Disk).unwrap()
}

/// ACP's window grows ten times more slowly than it shrinks while the congestion bit is set, and in equilibrium it always is.
/// The characteristic equation of each side is `1 + e^-z (1 + g (ki + kq / z) / (z + g)) / z = 0` with `z = s tau`, if the link
/// is to be full; without a queue, `1 + e^-z g ki / (z (z + g)) = 0`.
#[test]
fn an_equilibrium_on_a_threshold_has_the_roots_of_both_sides_and_says_which_is_followed() {
    let registry = Registry::builtin();
    let scenario = ten_of_acp(&[]);
    let study = Study::new(&scenario, &registry);
    let plan = fluid::plan(&scenario, &registry).unwrap();
    let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
    let sides = judged.two_sided.as_ref().unwrap();
    assert_eq!(sides.thresholds[0].name, "desired window less window");
    let slow = sides.sides[1].spectrum.roots[0].s;
    assert!((slow.re + 0.521_875).abs() < 1e-3 && (slow.im - 1.479).abs() < 1e-3, "{slow}");
    // Windows shrink: a real root, -4.09 / s, and that of the estimate, -.1 / tau.
    assert_eq!(sides.followed_name().unwrap(), "below");
    assert!((judged.spectrum.rightmost() + 1.25).abs() < 1e-4 && judged.disturbances_decay());
    let ki = VariedParameter::parse("protocols.acp.params.ki", study).unwrap();
    let search = find_critical_values(study, &ki).unwrap();
    let of_side = |side: usize| search.sides[side][0].value;
    assert!((of_side(0) - 1.1349).abs() < 1e-3 && (of_side(1) - 1.0163).abs() < 1e-3, "{search:?}");
    let json = stability_json("", &judged, &[search], None);
    let sides = json.two_sided.unwrap();
    assert_eq!((sides.sides[0].side.as_str(), sides.sides[1].side.as_str()), ("below", "above"));
    assert!(sides.sides[1].roots[0].frequency_rad_per_s > 1.0 && !sides.sides[0].boundaries.is_empty());

    let full = ten_of_acp(&["protocols.acp.params.target_utilization=1".to_owned()]);
    let plan = fluid::plan(&full, &registry).unwrap();
    let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
    assert_eq!(judged.two_sided.as_ref().unwrap().followed_name().unwrap(), "both");
    let sentence = stability_sentence(&judged, &[]);
    assert!(sentence.starts_with("stable: ") && sentence.contains("trajectories cross it"), "{sentence}");
}
