//! The cycles of MCP's rates against closed forms. The figures of its report are recipes.

use crate::common::{link, results};
use millpond_results::Run;

/// Section V-A: three flows with round-trip times of 20, 40 and 100 ms share 20 Mbit/s.
const THREE_FLOWS: &str = r#"
title = "MCP, Fig. 3"
duration = "150s"
measure = { from = "130s", every = "200ms" }
hosts = { jitter = "0s" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "8ms"
buffer = "50packets"
[[flows]]
name = "short"
protocol = "mcp"
path = ["A", "B"]
packet = "1000B"
rtt = "20ms"
[[flows]]
name = "middle"
protocol = "mcp"
path = ["A", "B"]
packet = "1000B"
rtt = "40ms"
start = "1s"
[[flows]]
name = "long"
protocol = "mcp"
path = ["A", "B"]
packet = "1000B"
rtt = "100ms"
start = "2s"
"#;

const ONE_FLOW: &str = r#"
title = "MCP alone"
duration = "380s"
measure = { from = "360s", every = "200ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "20Mbps"
delay = "8ms"
buffer = "50packets"
[[flows]]
name = "single"
protocol = "mcp"
path = ["A", "B"]
packet = "1000B"
rtt = "40ms"
"#;

/// Times and values of a flow's rate.
fn rate<'a>(run: &'a Run, flow: &str) -> (&'a [f64], &'a [f64]) {
    let series = run.series.iter().find(|s| s.entity == flow && s.quantity == "paced rate");
    series.map(|s| (&*s.times, s.values.as_slice())).expect("a rate")
}

/// The times at which a flow halves its rate.
fn halvings(run: &Run, flow: &str) -> Vec<f64> {
    let (times, values) = rate(run, flow);
    let falls = values.windows(2).zip(&times[1..]);
    falls.filter(|(pair, _)| pair[1] < 0.6 * pair[0]).map(|(_, time)| *time).collect()
}

/// The time in seconds of the last change of a flow's rate.
fn last_change(run: &Run, flow: &str) -> f64 {
    let (times, values) = rate(run, flow);
    let changes = values.windows(2).zip(&times[1..]);
    changes.filter(|(pair, _)| pair[0] != pair[1]).map(|(_, time)| *time).fold(0.0, f64::max)
}

/// The time in seconds between two peaks: (.98 - .49) C / (n 80 kbit/s) decisions of .4 s, and a period of 200 ms until
/// the overload is detected.
fn time_between_peaks(flows: f64) -> f64 {
    0.49 * 20e6 / (flows * 80e3) * 0.4 + 0.2
}

#[test]
fn three_flows_halve_seven_times_together_and_then_keep_their_rates() {
    let run = results(THREE_FLOWS, &[]);
    for flow in ["short", "middle", "long"] {
        let halvings = halvings(&run, flow);
        assert_eq!(halvings.len(), 7, "{flow}: {halvings:?}");
        for pair in halvings.windows(2) {
            let theory = time_between_peaks(3.0);
            assert!(((pair[1] - pair[0]) / theory - 1.0).abs() < 0.05, "{flow}: {halvings:?} {theory}");
        }
        // tests/reference/mcp_packets.py, Fig. 3: the last change of a rate is at 118.9 s. A cycle lasts 16.5 s.
        let last_change = last_change(&run, flow);
        assert!((107.0..132.0).contains(&last_change), "{flow}: {last_change}");
    }
}

#[test]
fn a_single_flow_needs_seven_cycles_and_stays_one_step_below_overload() {
    for (cycles, count) in [("halvings", 7), ("peaks", 8)] {
        let sets = [
            format!("protocols.mcp.params.cycles={cycles}"),
            "duration=430s".into(),
            "measure.from=415s".into(),
        ];
        let run = results(ONE_FLOW, &sets.each_ref().map(String::as_str));
        let halvings = halvings(&run, "single");
        assert_eq!(halvings.len(), count, "{halvings:?}");
        for (k, time) in (0..).map(f64::from).zip(&halvings) {
            // Scaling ends at 80 kbit/s * 2^7 = .512 C after 2.8 s; then the rate increases to .98 C in steps of 80 kbit/s.
            let theory = 2.8 + (0.98 - 0.512) * 20e6 / 80e3 * 0.4 + k * time_between_peaks(1.0);
            assert!((time / theory - 1.0).abs() < 0.02, "{k}: {time} {theory}");
        }
        let utilization = link(&run, "L").utilization;
        assert!((0.97..0.98).contains(&utilization), "{utilization}");
    }
}
