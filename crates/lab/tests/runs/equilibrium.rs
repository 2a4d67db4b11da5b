//! Equilibria at discontinuities, and unstable equilibria.

use crate::common::{near, scenario};
use millpond_fluid::Entity;
use millpond_plan::fluid::{FluidPlan, plan};
use millpond_protocols::Registry;
use millpond_theory::AnalysisError;
use millpond_theory::equilibrium::{PlanEquilibrium, find_equilibrium};
use millpond_theory::stability::analyze_stability;

const PACKET: f64 = 12000.0;
const RATE: f64 = 100e6;

/// Four flows over 100 Mbit/s and 24 ms, a buffer of 200 packets.
const LINK: &str = r#"
title = "A link"
duration = "30s"
[[links]]
name = "L"
between = ["A", "B"]
rate = "100Mbps"
delay = "12ms"
buffer = "200packets"
[[flows]]
name = "f"
count = 4
protocol = "newreno"
path = ["A", "B"]
"#;

const PARKING_LOT: &str = r#"
title = "Parking lot"
duration = "30s"
[parking-lot]
hops = 3
link = { rate = "100Mbps", delay = "10ms", buffer = "1bdp" }
access = { rate = "1Gbps", delay = "1ms" }
[[flows]]
name = "long"
protocol = "rcp"
path = "long"
[[flows]]
name = "cross"
protocol = "rcp"
path = "cross"
"#;

fn planned(text: &str, sets: &[&str]) -> FluidPlan {
    plan(&scenario(text, sets), &Registry::builtin()).unwrap()
}

/// Rate in bit/s, window in packets and round-trip time in seconds of the first loop.
fn flow(settled: &PlanEquilibrium<'_>) -> (f64, f64, f64) {
    let value = |quantity| settled.value(Entity::Loop(0), quantity).unwrap();
    let (rate, rtt) = (value("sending rate"), value("round-trip time"));
    (rate, rate * rtt / PACKET, rtt)
}

fn link(settled: &PlanEquilibrium<'_>, quantity: &str) -> f64 {
    settled.value(Entity::Link(0), quantity).unwrap()
}

/// A full buffer loses what does not fit: p = 2 / w^2 (Misra, Gong, Towsley 2000), of which N x (1 - p) = C passes.
#[test]
fn newreno_has_its_equilibrium_at_a_full_buffer_with_a_loss_rate_of_two_over_the_window_squared() {
    let plan = planned(LINK, &[]);
    let settled = find_equilibrium(&plan).unwrap();
    let ((rate, window, rtt), lost) = (flow(&settled), link(&settled, "loss probability"));
    assert!(near(rtt, 0.024 + 200.0 * PACKET / RATE, 1e-9), "{rtt}");
    assert!(near(lost, 2.0 / window.powi(2), 1e-6) && near(4.0 * rate * (1.0 - lost), RATE, 1e-9), "{lost}");
}

/// One loss in the K = cbrt((1 - beta) W / C) seconds in which the window comes back to its plateau. The
/// window is flat there, C (s - K)^3: what moves by 1e-7 of itself in a second may be some 1e-3 of K away.
#[test]
fn cubic_has_its_equilibrium_at_a_full_buffer_with_one_loss_per_k() {
    let plan = planned(LINK, &["flows.f.protocol=cubic"]);
    let settled = find_equilibrium(&plan).unwrap();
    let ((rate, window, _), lost) = (flow(&settled), link(&settled, "loss probability"));
    let back_after = (0.3 * window / 0.4).cbrt();
    assert!(near(rate / PACKET * lost * back_after, 1.0, 1e-3), "{lost}");
}

/// Alizadeh and others, SIGMETRICS 2011: w alpha p / 2 = 1 and alpha = p at rest, p = sqrt(2 / w), which a step says at its
/// threshold alone: the queue is K = 65 packets, the round-trip time 24 ms + K / C.
#[test]
fn dctcp_has_its_equilibrium_at_the_marking_threshold() {
    let plan = planned(LINK, &["flows.f.protocol=dctcp", "protocols.dctcp.params.growth=always"]);
    let settled = find_equilibrium(&plan).unwrap();
    let ((rate, window, rtt), marked) = (flow(&settled), link(&settled, "marking probability"));
    assert!(near(4.0 * rate, RATE, 1e-9) && near(rtt, 0.024 + 65.0 * PACKET / RATE, 1e-9), "{rtt}");
    assert!(near(marked, (2.0 / window).sqrt(), 1e-6), "{marked}");
}

/// R = 0 is a zero of RCP's equation, too, but it is unstable.
#[test]
fn a_rate_of_zero_that_is_unstable_is_not_reported_as_equilibrium() {
    let plan = planned(PARKING_LOT, &[]);
    assert!(find_equilibrium(&plan).unwrap().closed_form_error() < 1e-6);
}

/// Fifty flows that begin with fifty times what the link carries.
#[test]
fn the_search_converges_from_a_distant_initial_state() {
    let sets = [
        "flows.f.protocol=cltcp",
        "flows.f.count=50",
        "links.L.buffer=unlimited",
        "protocols.cltcp.params.initial_rate=8333",
        "protocols.cltcp.params.initial_factor=8333",
    ];
    let plan = planned(LINK, &sets);
    assert!(find_equilibrium(&plan).unwrap().closed_form_error() < 1e-6);
}

#[test]
fn a_queue_that_grows_without_bound_is_named() {
    let plan = planned(LINK, &["links.L.buffer=unlimited"]);
    let Err(AnalysisError::NoEquilibrium(why)) = find_equilibrium(&plan).map(drop) else {
        panic!("it cannot rest")
    };
    assert!(why.contains("the queue of L -> grows without bound"), "{why}");
}

/// Paganini et al., Proposition 2: two links that the same flows cross charge together, so that one combination of their
/// prices has no feedback.
#[test]
fn a_root_at_zero_is_not_instability_and_is_explained() {
    const TWO: &str = r#"
title = "One after the other"
duration = "30s"
[chain]
hops = 2
link = { rate = "100Mbps", delay = "10ms", buffer = "unlimited" }
[[flows]]
name = "f"
protocol = "paganini-ecn"
"#;
    let plan = planned(TWO, &[]);
    let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
    assert!(judged.nonzero_roots_decay() && !judged.spectrum.is_stable());
    let why = judged.marginal.unwrap();
    assert!(why.contains("not of full rank (1 of 2)"), "{why}");
}

/// Five LGCC windows at 1 Gbit/s and 20 ms, a loop of 33 max_th: far from rest it swings even without its delays, and every search
/// from its starts goes round. It rests at 5 (1 - p)^eta = 1 + p max_th / (c T) with 75 KB and 2.5 MB.
#[test]
fn the_mean_of_an_oscillation_leads_to_the_equilibrium() {
    let text = "duration = \"5s\"\ndumbbell = { bottleneck = { rate = \"1Gbps\", delay = \"10ms\", buffer = \"4MB\" } }\n\
                flows = [{ name = \"user\", count = 5, protocol = \"lgcc\" }]\n";
    let plan = plan(&scenario(text, &[]), &Registry::builtin()).unwrap_or_else(|faults| panic!("{faults}"));
    let settled = find_equilibrium(&plan).unwrap_or_else(|refusal| panic!("{refusal}"));
    let eta = 10.0_f64.ln() / 5.0_f64.ln();
    let excess = |p: f64| 5.0 * (1.0 - p).powf(eta) - 1.0 - p * 75e3 / 2.5e6;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    let marked = settled.value(Entity::Link(0), "marking probability").unwrap();
    assert!((marked - low).abs() < 1e-6, "{marked} {low}");
}
