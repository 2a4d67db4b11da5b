//! Equilibria at discontinuities, and unstable equilibria.

use crate::common::{flow as of_run, fluid, near, scenario};
use crate::loop_protocols::{split, unsplit};
use millpond_fluid::Entity;
use millpond_plan::fluid::{FluidPlan, plan};
use millpond_protocols::Registry;
use millpond_theory::AnalysisError;
use millpond_theory::equilibrium::{PlanEquilibrium, equilibrium_summary, find_equilibrium};
use millpond_theory::stability::{ZeroRootKind, analyze_stability};
use millpond_theory::steady_state::steady_state_sentence;

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
fn flow(equilibrium: &PlanEquilibrium<'_>) -> (f64, f64, f64) {
    let value = |quantity| equilibrium.value(Entity::Loop(0), quantity).unwrap();
    let (rate, rtt) = (value("sending rate"), value("round-trip time"));
    (rate, rate * rtt / PACKET, rtt)
}

fn link(equilibrium: &PlanEquilibrium<'_>, quantity: &str) -> f64 {
    equilibrium.value(Entity::Link(0), quantity).unwrap()
}

/// A full buffer drops the excess: p = 2 / w^2 (Misra, Gong, Towsley 2000), and N x (1 - p) = C.
#[test]
fn newreno_has_its_equilibrium_at_a_full_buffer_with_a_loss_rate_of_two_over_the_window_squared() {
    let plan = planned(LINK, &[]);
    let equilibrium = find_equilibrium(&plan).unwrap();
    let ((rate, window, rtt), loss) = (flow(&equilibrium), link(&equilibrium, "loss probability"));
    assert!(near(rtt, 0.024 + 200.0 * PACKET / RATE, 1e-9), "{rtt}");
    assert!(near(loss, 2.0 / window.powi(2), 1e-6) && near(4.0 * rate * (1.0 - loss), RATE, 1e-9), "{loss}");
}

/// Eight flows at a full buffer of ten packets, of which RED marks 5 % and the end of the buffer drops the share l: `w^2 p = 2`
/// with `1 - p = (1 - l) .95`, and 8 x (1 - l) = C. What is dropped is not marked.
#[test]
fn the_marked_share_of_arriving_packets_is_less_than_the_marking_probability_of_a_full_buffer() {
    let sets = [
        "flows.f.count=8",
        "protocols.newreno.params.ecn=true",
        "links.L.rate=10Mbps",
        "links.L.buffer=10packets",
        "links.L.queue={ red = { min_th = \"0B\", max_th = \"30KB\", max_p = 0.1, weight = 1, spacing = \"geometric\" } }",
    ];
    let lost = (0..100).fold(0.0, |lost: f64, _| {
        let window = 0.036 * 10e6 / PACKET / 8.0 / (1.0 - lost);
        1.0 - (1.0 - 2.0 / window.powi(2)) / 0.95
    });
    let summary = equilibrium_summary(&scenario(LINK, &sets), &Registry::builtin()).unwrap();
    let share = summary.links[0].unwrap().marked_share;
    assert!(near(share, 0.05 * (1.0 - lost), 1e-4), "{share} {lost}");
}

/// One loss in K = cbrt((1 - beta) W / C) seconds, in which the window returns to its plateau. The window is flat
/// there, C (s - K)^3, so that a relative change of 1e-7 per second may be 1e-3 K away from the equilibrium.
#[test]
fn cubic_has_its_equilibrium_at_a_full_buffer_with_one_loss_per_k() {
    let plan = planned(LINK, &["flows.f.protocol=cubic"]);
    let equilibrium = find_equilibrium(&plan).unwrap();
    let ((rate, window, _), loss) = (flow(&equilibrium), link(&equilibrium, "loss probability"));
    let recovery_time = (0.3 * window / 0.4).cbrt();
    assert!(near(rate / PACKET * loss * recovery_time, 1.0, 1e-3), "{loss}");
}

/// Alizadeh and others, SIGMETRICS 2011: w alpha p / 2 = 1 and alpha = p in equilibrium, so that p = sqrt(2 / w). A
/// threshold has this probability only at a queue of K = 65 packets: the round-trip time is 24 ms + K / C.
#[test]
fn dctcp_has_its_equilibrium_at_the_marking_threshold() {
    let plan = planned(LINK, &["flows.f.protocol=dctcp", "protocols.dctcp.params.growth=always"]);
    let equilibrium = find_equilibrium(&plan).unwrap();
    let ((rate, window, rtt), marked) = (flow(&equilibrium), link(&equilibrium, "marking probability"));
    assert!(near(4.0 * rate, RATE, 1e-9) && near(rtt, 0.024 + 65.0 * PACKET / RATE, 1e-9), "{rtt}");
    assert!(near(marked, (2.0 / window).sqrt(), 1e-6), "{marked}");
}

/// R = 0 is another zero of RCP's equation; it is unstable.
#[test]
fn a_rate_of_zero_that_is_unstable_is_not_reported_as_equilibrium() {
    let plan = planned(PARKING_LOT, &[]);
    assert!(find_equilibrium(&plan).unwrap().closed_form_error() < 1e-6);
}

/// Fifty flows with an initial rate of fifty times the capacity.
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
    let Err(AnalysisError::NoEquilibrium(reason)) = find_equilibrium(&plan).map(drop) else {
        panic!("expected no equilibrium")
    };
    assert!(reason.contains("the queue of L -> grows without bound"), "{reason}");
}

/// Paganini et al., Proposition 2: flows react to the sum of the prices of two links that all of them cross, so that one
/// combination of the prices has no feedback.
#[test]
fn a_root_at_zero_is_not_instability_and_is_explained() {
    const TWO: &str = r#"
title = "Two links in series"
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
    assert!(judged.disturbances_decay() && !judged.spectrum.is_stable());
    let reason = judged.zero_root.unwrap().reason;
    assert!(reason.contains("not of full rank (1 of 2)"), "{reason}");
}

/// The slope of the cubic function at its plateau is zero at any round-trip time, however near the equilibrium is found.
#[test]
fn cubic_at_marks_has_a_slow_decay_at_any_round_trip_time() {
    let red = "links.L.queue={ red = { min_th = \"15KB\", max_th = \"150KB\", max_p = 0.1 } }";
    for rtt in ["24ms", "100ms", "1s"] {
        let rtt = format!("flows.f.rtt={rtt}");
        let sets = ["flows.f.protocol=cubic", "flows.f.count=1", "links.L.rate=20Mbps", red, &rtt];
        let plan = planned(
            LINK,
            &[&sets[..], &["protocols.cubic.params.ecn=true", "links.L.buffer=unlimited"]].concat(),
        );
        let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
        assert_eq!(judged.zero_root.map(|zero| zero.kind), Some(ZeroRootKind::SlowDecay), "{rtt}");
    }
}

/// Without shuffled traffic XCP keeps the differences between its flows, and RCP without a queue term keeps a queue: each value
/// of these is an equilibrium, which the laws do not declare.
#[test]
fn a_root_at_zero_that_no_law_explains_is_not_called_a_slow_decay() {
    const PAIR: &str = r#"
title = "Two flows that start one after the other"
duration = "30s"
[dumbbell]
bottleneck = { rate = "20Mbps", delay = "30ms", buffer = "unlimited" }
[[flows]]
name = "one"
protocol = "xcp"
[[flows]]
name = "two"
protocol = "xcp"
[protocols.xcp]
params = { gamma = 0 }
[protocols.rcp]
params = { beta = 0 }
"#;
    for sets in [&[][..], &["flows.one.protocol=rcp", "flows.two.protocol=rcp"]] {
        let plan = planned(PAIR, sets);
        let judged = analyze_stability(&find_equilibrium(&plan).unwrap()).unwrap();
        let state = judged.steady_state();
        assert_eq!((judged.zero_root.unwrap().kind, state.is_stable()), (ZeroRootKind::Unknown, None));
        let sentence = steady_state_sentence(&state);
        assert!(sentence.contains("stability is unknown: a characteristic root is at zero"), "{sentence}");
    }
    let kept = fluid(PAIR, &["flows.two.start=5s", "duration=60s", "measure={from=\"50s\"}"]);
    assert!(of_run(&kept, "one").goodput_bps > 10.0 * of_run(&kept, "two").goodput_bps, "differences stay");
}

/// Five LGCC windows at 1 Gbit/s and 20 ms, a bandwidth-delay product of 33 max_th. Far from the equilibrium the loop
/// oscillates even without delays, so that no search from an initial state converges. The equilibrium is
/// 5 (1 - p)^eta = 1 + p max_th / (c T) with 75 KB and 2.5 MB.
#[test]
fn the_mean_of_an_oscillation_leads_to_the_equilibrium() {
    let text = "duration = \"5s\"\ndumbbell = { bottleneck = { rate = \"1Gbps\", delay = \"10ms\", buffer = \"4MB\" } }\n\
                flows = [{ name = \"user\", count = 5, protocol = \"lgcc\" }]\n";
    let plan = plan(&scenario(text, &[]), &Registry::builtin()).unwrap_or_else(|faults| panic!("{faults}"));
    let equilibrium = find_equilibrium(&plan).unwrap_or_else(|refusal| panic!("{refusal}"));
    let eta = 10.0_f64.ln() / 5.0_f64.ln();
    let excess = |p: f64| 5.0 * (1.0 - p).powf(eta) - 1.0 - p * 75e3 / 2.5e6;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    let marked = equilibrium.value(Entity::Link(0), "marking probability").unwrap();
    assert!((marked - low).abs() < 1e-6, "{marked} {low}");
}

/// ACP's senders carry a quantity to their routers that a queue law does not read.
#[test]
fn the_equilibrium_of_a_law_with_routers_beside_a_queue_law_is_found() {
    let scenario = scenario(LINK, &["flows.f.protocol=acp", "links.L.queue=red"]);
    let plan = plan(&scenario, &Registry::builtin()).unwrap();
    let equilibrium = find_equilibrium(&plan).unwrap();
    let rate = equilibrium.value(Entity::Loop(0), "sending rate").unwrap();
    assert!(rate > 0.0 && rate < RATE, "{rate}");
}

/// What arrives at a relay leaves it. The second loop has the equilibrium that it has alone: the relay always has data.
#[test]
fn before_a_slower_loop_lgcc_has_its_rate_whatever_the_law_there_is() {
    for next in ["xcp", "rcp", "abc", "pledge"] {
        let (split, alone) = (planned(&split("lgcc", next), &[]), planned(&unsplit(next), &[]));
        let (split, alone) = (find_equilibrium(&split).unwrap(), find_equilibrium(&alone).unwrap());
        let of = |number, quantity| split.value(Entity::Loop(number), quantity).unwrap();
        let (rate, _, rtt) = flow(&alone);
        assert!(
            near(of(1, "sending rate"), rate, 1e-4) && near(of(1, "round-trip time"), rtt, 1e-4),
            "{next}"
        );
        assert!(near(of(0, "sending rate"), rate, 1e-4), "{next}: {} {rate}", of(0, "sending rate"));
        assert!(near(of(0, "round-trip time"), 0.01, 1e-6), "{next}: the first link has no queue");
    }
}

#[test]
fn a_relay_that_receives_more_than_it_sends_is_named() {
    for first in ["xcp", "newreno", "pledge"] {
        for (buffer, limit) in [("60KB", "only relay_buffer limits it"), ("unlimited", "grows without bound")]
        {
            let set = format!("protocols.split.relay_buffer={buffer}");
            let plan = planned(&split(first, "rcp"), &[&set]);
            let Err(AnalysisError::NoEquilibrium(reason)) = find_equilibrium(&plan).map(drop) else {
                panic!("{first}: expected no equilibrium")
            };
            assert!(["relay f@R", "f/loop1", limit].iter().all(|words| reason.contains(words)), "{reason}");
        }
    }
}

/// The relay has 2 packets of LGCC, and 12.5 KB are under way to it.
#[test]
fn a_relay_whose_buffer_is_too_short_for_the_equilibrium_is_named() {
    let plan = |buffer| planned(&split("lgcc", "xcp"), &[&format!("protocols.split.relay_buffer={buffer}")]);
    assert!(find_equilibrium(&plan("20KB")).is_ok());
    let Err(AnalysisError::NoEquilibrium(reason)) = find_equilibrium(&plan("10KB")).map(drop) else {
        panic!("expected no equilibrium")
    };
    assert!(reason.contains("is more than relay_buffer") && reason.contains("relay f@R"), "{reason}");
}
