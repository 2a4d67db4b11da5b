//! ACP: the first updates of a router, and the effect of the delayed increase. The figures and tables of the paper are
//! recipes.

use crate::common::{greatest, mean, near, results, series};

/// Fig. 2: one bottleneck of 155 Mbit/s, 80 ms, packets of 1000 bytes, a buffer of one bandwidth-delay product.
const DUMBBELL: &str = r#"
title = "ACP, Fig. 2"
duration = "20s"
measure = { every = "10ms" }
[[links]]
name = "L"
between = ["A", "B"]
rate = "155Mbps"
delay = "40ms"
buffer = "1bdp"
[[flows]]
name = "first"
protocol = "acp"
path = ["A", "B"]
packet = "1000B"
[[flows]]
name = "second"
protocol = "acp"
path = ["A", "B"]
packet = "1000B"
start = "10s"
"#;

/// A user behind an access link of 20 ms, as in Fig. 2: its first packet reaches the router after 20 ms, and the first
/// packet that carries a round-trip time after 100 ms.
const SINGLE_USER: &str = r#"
title = "ACP, a single user"
duration = "4s"
measure = { every = "10ms" }
[[links]]
name = "access"
between = ["user", "A"]
rate = "155Mbps"
delay = "20ms"
[[links]]
name = "L"
between = ["A", "B"]
rate = "155Mbps"
delay = "20ms"
[[flows]]
name = "first"
protocol = "acp"
path = ["user", "A", "B"]
packet = "1000B"
"#;

#[test]
fn the_first_updates_for_a_single_user_are_those_of_equations_6_and_8() {
    let run = results(SINGLE_USER, &[]);
    let at = |quantity, time: f64| mean(series(&run, "L ->", quantity), (time - 0.01, time));
    // One packet in the first 50 ms: p(1) = .1587 (.99 * 155 - .16) / 10 Mbit/s. Updates are at .05, .10, .15 and .23 s.
    for (time, mbps, users) in
        [(0.06, 2.433, 10.0), (0.11, 4.868, 9.0), (0.16, 7.571, 8.1), (0.24, 10.48, 7.36)]
    {
        let (rate, estimate) = (at("desired rate", time) / 1e6, at("estimated users", time));
        assert!(near(rate, mbps, 0.005) && near(estimate, users, 0.005), "{time}: {rate} {estimate}");
    }
    // A window changes once per round trip, when its acknowledgements arrive, so that values are reached within 80 ms.
    let window = |time: f64| mean(series(&run, "first", "window"), (time - 0.01, time));
    for (time, packets) in [(1.0, 402.0), (2.0, 1091.0), (3.0, 1481.0)] {
        let passed = 0.99 * window(time - 0.08)..1.01 * window(time + 0.08);
        assert!(passed.contains(&packets), "{time}: {passed:?}");
    }
}

#[test]
fn without_the_delayed_increase_a_second_user_causes_a_longer_queue() {
    let peak = |gain: &str| {
        let run = results(DUMBBELL, &[&format!("protocols.acp.params.delayed_increase={gain}")]);
        greatest(series(&run, "L ->", "queue"), (10.0, 20.0))
    };
    let (delayed, immediate) = (peak("0.1"), peak("1"));
    assert!(immediate > 1.5 * delayed, "{delayed} {immediate}");
}
