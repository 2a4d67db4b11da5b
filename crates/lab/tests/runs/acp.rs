//! ACP against what its paper and theory say: Table I, Figures 5, 8, 9-11 and 16.

use crate::common::{flow, greatest, link, mean, near, results, series, settles};

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
"#;

/// More users on the same path.
fn with_users(groups: &[&str]) -> String {
    let group = |rest: &&str| {
        format!("[[flows]]\nprotocol = \"acp\"\npath = [\"A\", \"B\"]\npacket = \"1000B\"\n{rest}\n")
    };
    DUMBBELL.to_owned() + &groups.iter().map(group).collect::<String>()
}

/// A user behind an access link of 20 ms, as all of Fig. 2 are: its first packet is at the router after 20 ms, and the
/// first that knows a round-trip time after 100 ms.
const LONE: &str = r#"
title = "ACP, a lone user"
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
fn a_lone_users_first_updates_are_those_of_equations_6_and_8() {
    let run = results(LONE, &[]);
    let at = |quantity, time: f64| mean(series(&run, "L ->", quantity), (time - 0.01, time));
    // One packet in the first 50 ms: p(1) = .1587 (.99 * 155 - .16) / 10 Mbit/s. Updates are at .05, .10, .15 and .23 s.
    for (time, mbps, users) in
        [(0.06, 2.433, 10.0), (0.11, 4.868, 9.0), (0.16, 7.571, 8.1), (0.24, 10.48, 7.36)]
    {
        let (rate, estimate) = (at("desired rate", time) / 1e6, at("estimated users", time));
        assert!(near(rate, mbps, 0.005) && near(estimate, users, 0.005), "{time}: {rate} {estimate}");
    }
    // A window moves once per round trip, when its acknowledgements come: the values are passed within 80 ms.
    let window = |time: f64| mean(series(&run, "first", "window"), (time - 0.01, time));
    for (time, packets) in [(1.0, 402.0), (2.0, 1091.0), (3.0, 1481.0)] {
        let passed = 0.99 * window(time - 0.08)..1.01 * window(time + 0.08);
        assert!(passed.contains(&packets), "{time}: {passed:?}");
    }
}

#[test]
fn a_second_user_takes_half_within_a_second_of_a_link_that_stays_full() {
    let text = with_users(&["name = \"second\"\nstart = \"10s\""]);
    let run = results(&text, &[]);
    // .99 of 1550 packets, then half of it each.
    let (first, second) = (series(&run, "first", "window"), series(&run, "second", "window"));
    assert!(near(mean(first, (8.0, 10.0)), 1534.5, 0.01));
    assert!(near(mean(first, (16.0, 20.0)), 767.25, 0.01) && near(mean(second, (16.0, 20.0)), 767.25, 0.01));
    let (alone, joined) =
        (settles(first, (0.0, 10.0), 1550.0, 0.1), settles(second, (10.0, 20.0), 767.25, 0.1));
    assert!((1.6..3.6).contains(&alone) && (0.4..1.6).contains(&joined), "{alone} {joined}");
    let peak = greatest(series(&run, "L ->", "queue"), (10.0, 20.0));
    assert!((200.0..620.0).contains(&peak), "{peak}");
}

#[test]
fn without_its_delayed_increase_a_second_user_fills_more_of_the_queue() {
    let text = with_users(&["name = \"second\"\nstart = \"10s\""]);
    let peak = |gain: &str| {
        let run = results(&text, &[&format!("protocols.acp.params.delayed_increase={gain}")]);
        greatest(series(&run, "L ->", "queue"), (10.0, 20.0))
    };
    let (delayed, at_once) = (peak("0.1"), peak("1"));
    assert!(at_once > 1.5 * delayed, "{delayed} {at_once}");
}

/// Figs. 9 to 11: 30 users, of whom 20 leave at 30 s; 40 come at 45 s, one per round trip.
#[test]
fn users_leave_and_join_and_the_estimate_follows() {
    let text = with_users(&[
        "name = \"stay\"\ncount = 9\nstart = { first = \"80ms\", every = \"80ms\" }",
        "name = \"leave\"\ncount = 20\nstart = { first = \"800ms\", every = \"80ms\" }\nstop = \"30s\"",
        "name = \"join\"\ncount = 40\nstart = { first = \"45s\", every = \"80ms\" }",
    ]);
    let run = results(&text, &["duration=60s", "measure.every=80ms"]);
    let (window, users) = (series(&run, "first", "window"), series(&run, "L ->", "estimated users"));
    for (interval, packets, number) in
        [((20.0, 30.0), 51.15, 30.0), ((38.0, 45.0), 153.45, 10.0), ((54.0, 60.0), 30.69, 50.0)]
    {
        let used = mean(series(&run, "L ->", "throughput"), interval) / 155e6;
        // The window is real, what is in flight is whole packets: on average half a packet less.
        let window = mean(window, interval);
        assert!(near(window - 0.5, packets, 0.01), "{number}: {window}");
        assert!(near(used, 0.99, 0.01), "{number}: {used}");
        // Whole packets: p stands above the rate that windows give, N-hat = N (1 - .5/w) within 3 %.
        let estimate = number * (1.0 - 0.5 / packets);
        assert!(near(mean(users, interval), estimate, 0.03), "{number}: {}", mean(users, interval));
    }
    // Errors shrink by a tenth in 80 ms. The last of the 40 comes after 3.1 s.
    let (left, came) = (settles(users, (30.0, 45.0), 10.0, 0.05), settles(users, (45.0, 60.0), 50.0, 0.05));
    assert!((1.3..3.3).contains(&left) && (4.5..6.5).contains(&came), "{left} {came}");
}

/// Fig. 5, and its explanation: whole packets where the fair window is small.
#[test]
fn fifty_users_and_three_hundred_fill_the_link_and_leave_the_queue_almost_empty() {
    for (users, utilization, queue) in [(50, 0.99, 5.0), (300, 0.97, 50.0)] {
        let text = with_users(&[&format!(
            "name = \"more\"\ncount = {}\nstart = {{ uniform = [\"0s\", \"8s\"] }}",
            users - 1
        )]);
        let run = results(&text, &["duration=30s", "measure.from=20s", "measure.every=80ms"]);
        let link = link(&run, "L");
        assert!((link.utilization - utilization).abs() < 0.02, "{users}: {}", link.utilization);
        assert!(link.queue_packets.mean < queue, "{users}: {}", link.queue_packets.mean);
        assert_eq!(link.drops, 0);
    }
}

/// Fig. 7: three links of 155 Mbit/s and 20 ms, and an access link of the same kind for each user. Three users join at
/// once: that nothing is lost needs more buffer than the bandwidth-delay product of the paper, 3100 packets.
fn three_links() -> String {
    let link = |name: &str, ends: [&str; 2]| {
        format!(
            "[[links]]\nname = \"{name}\"\nbetween = {ends:?}\nrate = \"155Mbps\"\ndelay = \"20ms\"\nbuffer = \"4500packets\"\n"
        )
    };
    let user = |name: &str, path: &[&str], start: &str| {
        let access = link(&format!("access-{name}"), [path[0], path[1]]);
        access
            + &format!(
                "[[flows]]\nname = \"{name}\"\nprotocol = \"acp\"\npath = {path:?}\npacket = \"1000B\"\nstart = \"{start}\"\n"
            )
    };
    let head = "title = \"ACP, Fig. 8\"\nduration = \"60s\"\nmeasure = { every = \"80ms\" }\n".to_owned();
    let links = [("L1", ["R1", "R2"]), ("L2", ["R2", "R3"]), ("L3", ["R3", "R4"])];
    let users = [
        user("1", &["U1", "R1", "R2", "R3", "R4"], "0s"),
        user("2", &["U2", "R1", "R2"], "0s"),
        user("3", &["U3", "R2", "R3"], "20s"),
        user("4", &["U4", "R2", "R3"], "20s"),
        user("5", &["U5", "R3", "R4"], "40s"),
        user("6", &["U6", "R3", "R4"], "40s"),
        user("7", &["U7", "R3", "R4"], "40s"),
    ];
    head + &links.map(|(name, ends)| link(name, ends)).concat() + &users.concat()
}

#[test]
fn three_links_share_max_min_fairly_while_users_join() {
    let run = results(&three_links(), &[]);
    for (interval, windows) in [
        ((15.0, 20.0), &[("1", 1534.5), ("2", 767.25)][..]),
        ((35.0, 40.0), &[("1", 1023.0), ("2", 1023.0), ("3", 511.5), ("4", 511.5)]),
        (
            (55.0, 60.0),
            &[("1", 767.25), ("2", 1150.9), ("3", 575.4), ("4", 575.4), ("5", 383.6), ("7", 383.6)],
        ),
    ] {
        for (user, theory) in windows {
            let window = mean(series(&run, user, "window"), interval);
            assert!(near(window, *theory, 0.01), "{interval:?}, user {user}: {window}");
        }
    }
    // The second link has asked for all it has until then: the newcomer takes it, C RTT = 1550 packets.
    let overshoot = greatest(series(&run, "3", "window"), (20.0, 22.0));
    assert!(near(overshoot, 1550.0, 0.01), "{overshoot}");
    let peak = link(&run, "L3").queue_packets.max;
    assert!(near(peak, 3980.0, 0.05), "{peak}");
    assert!(run.summary.links.iter().all(|link| link.drops == 0));
}

/// Fig. 14: 155 and 80 Mbit/s in a row, and round-trip times from 60 to 260 ms.
const TABLE_1: &str = r#"
title = "ACP, Table I"
duration = "60s"
measure = { from = "40s", every = "1s" }
[[links]]
name = "L1"
between = ["R0", "R1"]
rate = "155Mbps"
delay = "15ms"
[[links]]
name = "L2"
between = ["R1", "R2"]
rate = "80Mbps"
delay = "15ms"
[[flows]]
name = "a"
count = 10
protocol = "acp"
path = ["R0", "R1"]
rtt = "60ms"
packet = "1000B"
start = { uniform = ["0s", "10s"] }
[[flows]]
name = "b"
count = 50
protocol = "acp"
path = ["R0", "R1", "R2"]
rtt = "90ms"
packet = "1000B"
start = { uniform = ["0s", "10s"] }
[[flows]]
name = "c"
count = 10
protocol = "acp"
path = ["R0", "R1", "R2"]
rtt = "260ms"
packet = "1000B"
start = { uniform = ["0s", "10s"] }
[[flows]]
name = "d"
count = 10
protocol = "acp"
path = ["R0", "R1", "R2"]
rtt = "64ms"
packet = "1000B"
start = { uniform = ["0s", "10s"] }
"#;

#[test]
fn two_bottlenecks_and_four_round_trip_times_share_max_min_fairly() {
    let run = results(TABLE_1, &[]);
    for (name, mbps, packets) in
        [("a", 7.425, 56.0), ("b", 1.131, 13.0), ("c", 1.131, 37.0), ("d", 1.131, 9.0)]
    {
        let group = run.summary.groups.iter().find(|group| group.name == name).unwrap();
        assert!(near(group.goodput_bps.mean / 1e6, mbps, 0.02), "{name}: {:?}", group.goodput_bps);
        let window = group.window_packets.unwrap();
        assert!((window - packets).abs() <= 1.0, "{name}: {window}");
    }
    for (name, mbps) in [("L1", 7.50), ("L2", 1.161)] {
        assert!((link(&run, name).utilization - 0.99).abs() < 0.01);
        let rate = mean(series(&run, &format!("{name} ->"), "desired rate"), (40.0, 60.0)) / 1e6;
        assert!(near(rate, mbps, 0.03), "{name}: {rate}");
    }
    // Not the number of flows, but y/p.
    let users = mean(series(&run, "L1 ->", "estimated users"), (40.0, 60.0));
    assert!(near(users, 20.4, 0.03), "{users}");
    assert!(flow(&run, "a.0").lost == 0);
}
