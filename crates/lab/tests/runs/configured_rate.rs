//! Links whose laws are configured with another capacity than the actual one.

use crate::common::{fluid, near, results, scenario};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};

const ONE_FLOW: &str = r#"
duration = "20s"
measure.from = "10s"

[[links]]
name = "L"
between = ["A", "B"]
rate = "10Mbps"
delay = "20ms"
queue = "droptail"

[[flows]]
name = "f"
protocol = "rcp"
path = ["A", "B"]
"#;

fn utilization(sets: &[&str]) -> f64 {
    results(ONE_FLOW, sets).summary.links[0].utilization
}

/// In the steady state without a queue the sum of rates is the configured capacity.
#[test]
fn laws_fill_the_percentage_of_the_capacity_with_which_they_are_configured() {
    for (protocol, share) in [("rcp", "80%"), ("xcp", "80%"), ("rcp", "50%")] {
        let protocol = format!("flows.f.protocol={protocol}");
        let expected = share.trim_end_matches('%').parse::<f64>().unwrap() / 100.0;
        let actual = utilization(&[&protocol, &format!("links.L.configured_rate={share}")]);
        assert!((actual / expected - 1.0).abs() < 0.02, "{protocol} at {share}: {actual}");
    }
}

/// The capacity falls from 10 to 6 Mbit/s at 5 s. With one level the law assumes 10 Mbit/s for ever and the buffer fills; with
/// ten levels it receives 6 Mbit/s exactly.
#[test]
fn a_rate_of_one_level_is_the_highest_one() {
    let steps = r#"links.L.rate={ steps = [["0s", "10Mbps"], ["5s", "6Mbps"]] }"#;
    let queue = |levels: &str| {
        let run = results(ONE_FLOW, &[steps, "links.L.buffer=50packets", levels]);
        run.summary.links[0].queue_packets.mean
    };
    assert!(queue("links.L.configured_levels=1") > 40.0);
    assert!(queue("links.L.configured_levels=10") < 5.0);
}

/// The capacity falls at 15 s, and the law learns it 4 s later: until then it offers 4 Mbit/s too much, and afterwards drains
/// the queue.
#[test]
fn a_delay_defers_the_change_of_the_configured_rate() {
    let steps = r#"links.L.rate={ steps = [["0s", "10Mbps"], ["15s", "6Mbps"]] }"#;
    let run = results(
        ONE_FLOW,
        &[steps, "links.L.configured_delay=4s", "links.L.buffer=100packets", "measure.every=500ms"],
    );
    let queue = crate::common::series(&run, "L ->", "queue");
    let at = |time: f64| crate::common::mean(queue, (time - 0.6, time));
    assert!(at(15.0) < 5.0 && at(18.5) > 80.0, "{} {}", at(15.0), at(18.5));
}

/// The capacity falls from 10 to 6 Mbit/s at 5 s, and the law learns 80 % of it two seconds later.
#[test]
fn the_configured_capacity_is_a_series_if_it_is_not_the_actual_one() {
    let steps = r#"links.L.rate={ steps = [["0s", "10Mbps"], ["5s", "6Mbps"]] }"#;
    let wrong = ["links.L.configured_rate=80%", "links.L.configured_delay=2s"];
    let run = results(ONE_FLOW, &[steps, wrong[0], wrong[1]]);
    let at = |quantity: &str, time: f64| {
        let series = crate::common::series(&run, "L ->", quantity);
        crate::common::mean(series, (time - 1.0, time))
    };
    for (time, actual, configured) in [(4.0, 10e6, 8e6), (7.0, 6e6, 8e6), (8.5, 6e6, 4.8e6)] {
        assert!((at("capacity", time) - actual).abs() < 1.0, "{time}");
        assert!((at("configured capacity", time) - configured).abs() < 1.0, "{time}");
    }
    let exact = results(ONE_FLOW, &[steps]);
    assert!(exact.series.iter().all(|series| series.quantity != "configured capacity"));
}

/// RCP adds alpha (1 - y / C) per interval to the logarithm of its rate, so that its load y is the harmonic mean of the
/// configured capacities: for errors that are uniform up to 20 %, 0.4 / ln(1.2 / 0.8) = 0.9865 of the mean. Four flows, because
/// RCP bounds its rate by the capacity.
#[test]
fn noise_of_the_configured_rate_depends_on_the_seed_alone() {
    let noise = "links.L.configured_noise=20%";
    let with = |seed: &str| {
        utilization(&[noise, "links.L.configured_rate=60%", "flows.f.count=4", "duration=60s", seed])
    };
    let (one, again, other) = (with("seed=1"), with("seed=1"), with("seed=2"));
    assert_eq!(one.to_bits(), again.to_bits());
    assert_ne!(one.to_bits(), other.to_bits());
    // Five hundred independent errors of 20 % over the square root of three: a standard error of 0.5 %.
    for utilization in [one, other] {
        assert!((utilization / (0.6 * 0.9865) - 1.0).abs() < 0.02, "{one} {other}");
    }
}

/// In equilibrium the law gives as much as it takes, alpha (C' - y) = beta q / d, and the link serves y = C; with d = d0 + q / C
/// the queueing delay is d0 k / (1 - k), where k = alpha / beta (C' / C - 1). RCP and XCP have the same alpha and beta.
#[test]
fn a_router_that_assumes_too_much_keeps_the_queue_of_its_equilibrium_in_both_worlds() {
    let k = 0.4 / 0.226 * 0.2;
    let queue = k / (1.0 - k) * 0.040 * 10e6 / 12e3;
    let sets = ["links.L.configured_rate=120%", "links.L.buffer=100packets"];
    let measured = |run: &Run| (run.summary.links[0].queue_packets.mean, run.summary.links[0].utilization);
    for (mean, utilization) in [measured(&results(ONE_FLOW, &sets)), measured(&fluid(ONE_FLOW, &sets))] {
        assert!(near(mean, queue, 0.01) && near(utilization, 1.0, 1e-3), "{mean} {queue} {utilization}");
    }
    let (mean, _) = measured(&fluid(ONE_FLOW, &[sets[0], sets[1], "flows.f.protocol=xcp"]));
    assert!(near(mean, queue, 1e-3), "xcp: {mean} {queue}");
}

#[test]
fn both_worlds_have_the_load_with_which_routers_are_configured() {
    for (protocol, rate) in [("rcp", "80%"), ("xcp", "80%"), ("rcp", "5Mbps")] {
        let sets = [format!("flows.f.protocol={protocol}"), format!("links.L.configured_rate={rate}")];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let [packets, equations] =
            [results(ONE_FLOW, &sets), fluid(ONE_FLOW, &sets)].map(|run| run.summary.links[0].utilization);
        assert!(
            near(packets, equations, 0.02) && equations < 0.81,
            "{protocol} {rate}: {packets} {equations}"
        );
    }
}

/// The capacity falls from 10 to 6 Mbit/s at 15 s, and the law receives the change 4 s later, and with one level never.
#[test]
fn delay_and_levels_of_the_configured_rate_are_those_of_the_packet_world_with_both_methods() {
    let steps = r#"links.L.rate={ steps = [["0s", "10Mbps"], ["15s", "6Mbps"]] }"#;
    for wrong in ["links.L.configured_delay=4s", "links.L.configured_levels=1"] {
        let sets = [steps, wrong, "links.L.buffer=100packets", "measure.every=500ms", "duration=30s"];
        let fixed = [&sets[..], &["fluid.method=fixed-step", "fluid.step=1ms"]].concat();
        let runs = [results(ONE_FLOW, &sets), fluid(ONE_FLOW, &sets), fluid(ONE_FLOW, &fixed)];
        let at = |run: &Run, quantity: &str, time: f64| {
            crate::common::mean(crate::common::series(run, "L ->", quantity), (time - 0.6, time))
        };
        for time in [14.0, 15.5, 16.5, 18.5, 29.0] {
            // While the queue grows, packets that leave have the shorter delay of their arrival.
            let grows = (15.0..18.0).contains(&time);
            let [packets, adaptive, fixed] = [0, 1, 2].map(|run| at(&runs[run], "queueing delay", time));
            let both = format!("{wrong}: {time} s: {packets} {adaptive} {fixed}");
            assert!(grows || (packets - adaptive).abs() < 6.0, "{both}");
            assert!((fixed - adaptive).abs() < 0.5, "{both}");
            let configured = [0, 1, 2].map(|run| at(&runs[run], "configured capacity", time));
            assert!(configured.iter().all(|rate| (rate - configured[0]).abs() < 1.0), "{configured:?}");
        }
    }
}

/// A law promises its allocation for the actual capacity; with another one, the equations alone have the equilibrium.
#[test]
fn the_equilibrium_of_a_misconfigured_router_is_that_of_its_equations() {
    let misconfigured = scenario(ONE_FLOW, &["links.L.configured_rate=80%"]);
    let plan = millpond_plan::fluid::plan(&misconfigured, &Registry::builtin()).unwrap();
    let equilibrium = millpond_theory::equilibrium::find_equilibrium(&plan).unwrap();
    assert!(equilibrium.closed_form.is_none());
    let rate = equilibrium.value(millpond_fluid::Entity::Loop(0), "sending rate").unwrap();
    assert!(near(rate, 8e6, 1e-6), "{rate}");
}

#[test]
fn the_fluid_world_refuses_noise_because_it_is_random() {
    let about = About { world: World::Fluid, ..About::default() };
    let noise = scenario(ONE_FLOW, &["links.L.configured_noise=0.1"]);
    let text = run(&noise, &Registry::builtin(), about, &Unwatched).map(drop).unwrap_err().to_string();
    assert!(text.contains("link \"L\": the fluid world has no noise of the configured capacity"), "{text}");
    assert!(text.contains("leave out `configured_noise`"), "{text}");
}

#[test]
fn the_fluid_world_refuses_a_configured_capacity_of_zero() {
    let about = About { world: World::Fluid, ..About::default() };
    let set = r#"links.L.configured_rate={ steps = [["0s", "10Mbps"], ["5s", "0bps"]] }"#;
    let outage = run(&scenario(ONE_FLOW, &[set]), &Registry::builtin(), about, &Unwatched).map(drop);
    let text = outage.unwrap_err().to_string();
    assert!(text.contains("L ->: the configured capacity is zero from 5s on"), "{text}");
}
