//! Shares under drop-tail and step marking do not depend on the phases of packets (Floyd and Jacobson, "On Traffic Phase
//! Effects in Packet-Switched Gateways", 1992), because hosts and routers have a random processing time.

use crate::common::results;
use millpond_law::Settings;
use millpond_law::fluid::LoopFacts;
use millpond_protocols::Registry;
use millpond_results::Run;

/// One flow over three links, and one over each of them.
const THREE_LINKS: &str = r#"
title = "Three links"
duration = "330s"
measure = { from = "30s", every = "1s" }
[parking-lot]
hops = 3
link = { rate = "20Mbps", delay = "10ms", buffer = "1bdp" }
access = { rate = "1Gbps", delay = "1ms" }
[[flows]]
name = "long"
protocol = "newreno"
path = "long"
[[flows]]
name = "cross"
protocol = "newreno"
path = "cross"
"#;

/// One link, three base RTTs.
const THREE_RTTS: &str = r#"
title = "Three round-trip times"
duration = "430s"
measure = { from = "30s", every = "1s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "50Mbps"
delay = "5ms"
buffer = "300packets"
[[flows]]
name = "short"
protocol = "newreno"
path = ["A", "B"]
rtt = "20ms"
[[flows]]
name = "middle"
protocol = "newreno"
path = ["A", "B"]
rtt = "80ms"
[[flows]]
name = "long"
protocol = "newreno"
path = ["A", "B"]
rtt = "200ms"
"#;

/// A loop of 20 Mbit/s and 68 ms: the longest of [`THREE_LINKS`].
const LOOP: LoopFacts =
    LoopFacts { packet: 12e3, base_rtt: 0.068, capacity: 20e6, hops: 5, weight: 1.0, chained: false };

/// A protocol that reacts to losses or to marks above a threshold.
struct Stepped {
    name: &'static str,
    /// Whether it oscillates or stops at rates that depend on its history: one run then shows one of its cycles.
    depends_on_history: bool,
}

/// All of them: those whose equations declare a cycle of reductions. A protocol without equations, such as BBR, declares nothing.
fn stepped_protocols() -> Vec<Stepped> {
    let mut found = Vec::new();
    for protocol in Registry::builtin().protocols() {
        let card = protocol.card();
        let defaults = Settings::check(card.parameters, []).unwrap();
        let Some(model) = protocol.fluid(&defaults).unwrap() else { continue };
        let facts = model.steady_state(&LOOP);
        if facts.cycle.is_some() {
            found.push(Stepped { name: card.name, depends_on_history: facts.limit_cycle.is_some() });
        }
    }
    found
}

fn run_of(text: &str, protocol: &str, sets: &[&str]) -> Run {
    let text = text.replace("\"newreno\"", &format!("\"{protocol}\""));
    results(&text, sets)
}

/// Goodput in bit/s of the flow over three links, at this link rate.
fn goodput_of_the_long_flow(protocol: &str, rate: &str, sets: &[&str]) -> f64 {
    let rate = format!("parking-lot.link.rate={rate}");
    let sets: Vec<&str> = sets.iter().copied().chain([rate.as_str()]).collect();
    run_of(THREE_LINKS, protocol, &sets).summary.flows[0].goodput_bps
}

/// The same, as a mean over five seeds if one run shows one of several cycles.
fn mean_goodput_of_the_long_flow(protocol: &Stepped, rate: &str) -> f64 {
    if !protocol.depends_on_history {
        return goodput_of_the_long_flow(protocol.name, rate, &[]);
    }
    let goodput = |seed| goodput_of_the_long_flow(protocol.name, rate, &[&format!("seed={seed}")]);
    (1..=5).map(goodput).sum::<f64>() / 5.0
}

#[test]
fn shares_change_by_less_than_a_tenth_if_the_link_rate_changes_by_three_thousandths() {
    for protocol in stepped_protocols() {
        let [lower, higher] =
            ["19.94Mbps", "20Mbps"].map(|rate| mean_goodput_of_the_long_flow(&protocol, rate));
        assert!((higher / lower - 1.0).abs() < 0.1, "{}: {lower} and {higher}", protocol.name);
    }
}

#[test]
fn strictly_periodic_hosts_and_routers_have_phase_effects() {
    let goodput = |rate| goodput_of_the_long_flow("newreno", rate, &["hosts.jitter=0s"]);
    let ratio = goodput("19.94Mbps") / goodput("20Mbps");
    assert!(ratio > 3.0, "the setting that the default avoids: {ratio}");
}

/// The range of a, if goodput is proportional to RTT^-a.
///
/// Loss-driven additive increase: a is 1 if losses of different flows are independent and 2 if they are synchronized
/// (Lakshman and Madhow, "The Performance of TCP/IP for Networks with High Bandwidth-Delay Products and Random Loss",
/// IEEE/ACM Transactions on Networking 5(3), 1997). DCTCP's windows grow by one packet per round trip as well. CUBIC: W is
/// proportional to (RTT / p)^(3/4) if losses are independent (RFC 9438, section 5.1), a = 1/4, and independent of the RTT if
/// they are synchronized, a = 1.
///
/// VCP scales its increases with (RTT / 200 ms)^2 and MCP adjusts rates in steps of 80 kbit/s and 1.1 whatever the RTT is: a is
/// 0, by up to one packet in the smallest window of VCP (29 of 1500 bytes at 50 / 3 Mbit/s and 21 ms), and up to two steps of
/// 1.1 of MCP, ln(1.21) / ln(10) = .083. Vegas keeps 2 to 4 packets of each flow queued, whatever its RTT is, so that rates
/// differ by a factor of two at most: ln(2) / ln(8.8) = .32 (Low, Peterson, Wang, "Understanding Vegas", JACM 49(2), 2002).
fn literature_exponents(protocol: &str) -> std::ops::Range<f64> {
    match protocol {
        "newreno" | "dctcp" => 1.0..2.0,
        "cubic" => 0.25..1.0,
        "vcp" => -0.035..0.035,
        "mcp" => -0.083..0.083,
        "vegas" => -0.32..0.32,
        _ => panic!("{protocol} reacts to losses or steps: state the exponent of its RTT unfairness"),
    }
}

#[test]
fn the_rtt_unfairness_has_the_sign_and_the_exponent_of_the_literature() {
    for Stepped { name, .. } in stepped_protocols() {
        let run = run_of(THREE_RTTS, name, &[]);
        let [short, _, long] = run.summary.flows.as_slice() else { panic!("three flows") };
        let exponent = (short.goodput_bps / long.goodput_bps).ln()
            / (long.rtt_ms.unwrap().mean / short.rtt_ms.unwrap().mean).ln();
        assert!(literature_exponents(name).contains(&exponent), "{name}: {exponent}");
    }
}

/// A flow at .99 of its link: periodic arrivals would never wait (D/D/1). With processing times U of up to a service time s
/// two arrivals are s / .99 + U' - U apart, so a packet waits at least max(0, s - that): on average (1 - .0101)^3 / 6 s.
/// Independent arrivals (M/D/1) would wait .99 / (2 (1 - .99)) s.
#[test]
fn a_flow_at_almost_full_load_waits_for_a_part_of_a_service_time_unless_its_hosts_are_periodic() {
    let text = "title = \"ACP at 99 %\"\nduration = \"20s\"\nmeasure = { from = \"10s\" }\n[[links]]\nname = \"L\"\n\
                between = [\"A\", \"B\"]\nrate = \"100Mbps\"\ndelay = \"20ms\"\n[[flows]]\nname = \"f\"\n\
                protocol = \"acp\"\npath = [\"A\", \"B\"]\npacket = \"1500B\"\n";
    let service_ms = 0.12;
    let queueing = |sets: &[&str]| {
        let run = results(text, sets);
        assert!((run.summary.links[0].utilization - 0.99).abs() < 0.005);
        run.summary.links[0].queueing_ms.mean
    };
    let waits = queueing(&[]) / service_ms;
    assert!((0.99_f64.powi(3) / 6.0..49.5).contains(&waits), "{waits} service times");
    assert!(queueing(&["hosts.jitter=0s"]) < 0.01 * service_ms);
}
