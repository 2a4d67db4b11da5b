//! Links whose laws are configured with another capacity than the actual one.

use crate::common::{results, scenario};
use millpond_lab::run;
use millpond_protocols::Registry;
use millpond_results::{About, Unwatched, World};

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

#[test]
fn the_fluid_world_refuses_them_by_name() {
    for set in [
        "links.L.configured_rate=80%",
        "links.L.configured_delay=1s",
        "links.L.configured_levels=2",
        "links.L.configured_noise=0.1",
    ] {
        let about = About { world: World::Fluid, ..About::default() };
        let refused = run(&scenario(ONE_FLOW, &[set]), &Registry::builtin(), about, &Unwatched).map(drop);
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("link \"L\": the fluid world has no") && text.contains("configured_rate"),
            "{text}"
        );
    }
}
