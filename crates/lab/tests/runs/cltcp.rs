//! CLTCP beyond its delay margin, where Theorem 1 of its paper does not hold. The figures and tables of the paper are recipes.

use crate::common::{fluid, greatest, least, link, results, series};

/// Fig. 5: 120 Mbit/s, a buffer of 10 MB, packets of 1000 bytes; the first simulation of section VI-B.
const BOTTLENECK: &str = r#"
title = "CLTCP, Fig. 5"
duration = "60s"
measure = { every = "100ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "120Mbps"
delay = "20ms"
buffer = "10MB"
[[flows]]
name = "f"
count = 1
protocol = "cltcp"
path = ["A", "B"]
rtt = "50ms"
packet = "1000B"
"#;

struct Oscillation {
    /// Peak to peak of a single flow's rate from 90 to 120 s, as a fraction of the capacity.
    amplitude: f64,
    /// Whether a warning mentions Theorem 1.
    is_warned_of: bool,
}

fn oscillation(rtt: &str, exponent: &str) -> Oscillation {
    let sets = [
        "duration=120s".to_owned(),
        "links.L.rate=60Mbps".to_owned(),
        format!("flows.f.rtt={rtt}"),
        format!("protocols.cltcp.params.exponent={exponent}"),
    ];
    let run = results(BOTTLENECK, &sets.each_ref().map(String::as_str));
    let (rate, late) = (series(&run, "f", "rate"), (90.0, 120.0));
    let is_warned_of = run.summary.warnings.iter().any(|warning| warning.contains("Theorem 1"));
    let amplitude = (greatest(rate, late) - least(rate, late)) / 60e6;
    Oscillation { amplitude, is_warned_of }
}

#[test]
fn a_flow_with_400_ms_converges_and_one_with_1_s_oscillates_and_has_a_warning() {
    for exponent in ["capped", "raw", "exact"] {
        let Oscillation { amplitude, is_warned_of } = oscillation("400ms", exponent);
        assert!(amplitude < 0.01 && !is_warned_of, "{exponent}: {amplitude} {is_warned_of}");
    }
    // In the differential equations the amplitude at 1 s is 1.38 capacities.
    let Oscillation { amplitude, is_warned_of } = oscillation("1s", "capped");
    assert!(amplitude > 1.0 && is_warned_of, "{amplitude} {is_warned_of}");
}

#[test]
fn at_750_ms_the_printed_exponent_converges_and_the_exact_one_oscillates() {
    // The difference equations are unstable from 0.90 s on as printed, and from 0.62 s on with 1 - exp(-2 rtt).
    let [raw, exact] = ["raw", "exact"].map(|exponent| oscillation("750ms", exponent).amplitude);
    assert!(raw < 0.02 && exact > 0.3, "{raw} {exact}");
}

#[test]
fn in_both_worlds_a_flow_uses_a_capacity_that_has_grown_fourfold() {
    // The limit of the factor is two capacities, the present ones: two of the first would be half of the second.
    let sets = [
        r#"links.L.rate={ steps = [["0s", "30Mbps"], ["20s", "120Mbps"]] }"#,
        "duration=45s",
        "measure.from=40s",
    ];
    for run in [results(BOTTLENECK, &sets), fluid(BOTTLENECK, &sets)] {
        let utilization = link(&run, "L").utilization;
        assert!(utilization > 0.999, "{utilization}");
    }
}
