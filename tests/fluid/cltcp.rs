//! CLTCP's system (6): Fig. 6, and a parking lot.

use crate::network::{Lab, PACKET};
use millpond_fluid::{Accuracy, Assembly, Entity, LinkId, Solution};

/// Figure 6: flows with round-trip times of 50, 100, 200, 400 ms share 120 Mbit/s. They join at 0, 50, 100, 150 s and leave
/// in reverse order from 250 s on.
fn figure_6() -> Solution {
    let mut lab = Lab::new("cltcp", &[]);
    let link = lab.link("L", 120.0, 10_000.0);
    let flows = [(0.05, 0.0, 400.0), (0.1, 50.0, 350.0), (0.2, 100.0, 300.0), (0.4, 150.0, 250.0)];
    for (i, (rtt, start, stop)) in flows.into_iter().enumerate() {
        let flow = lab.flow(&format!("flow {}", i + 1), rtt, &[(link, rtt / 2.0)]);
        let flow = flow.from(start);
        lab.network.add(if stop < 400.0 { flow.until(stop) } else { flow });
    }
    Assembly::new(lab.network).unwrap().run(400.0, 0.01, Accuracy::default()).unwrap()
}

const STAGES: [(usize, usize); 7] =
    [(0, 50), (50, 100), (100, 150), (150, 250), (250, 300), (300, 350), (350, 400)];

#[test]
fn figure_6_has_its_rates_queues_and_peaks() {
    let solution = figure_6();
    let queue: Vec<f64> = solution.of(Entity::Link(0), "queue").iter().map(|q| q / PACKET).collect();
    let peaks = STAGES.map(|(from, to)| queue[100 * from..100 * to].iter().copied().fold(0.0, f64::max));
    println!("peaks {peaks:?}, {} steps", solution.steps);
    // tests/reference/cltcp_fluid.py, Fig. 6, with steps of 10 ms: +-3 %.
    for (peak, theory) in peaks.into_iter().zip([791.0, 8944.0, 5326.0, 3979.0, 477.0, 487.0, 573.0]) {
        assert!((peak / theory - 1.0_f64).abs() < 0.03, "{peak} {theory}");
    }
    for ((_, to), rate) in STAGES.into_iter().zip([120.0, 60.0, 40.0, 30.0, 40.0, 60.0, 120.0]) {
        let end = 100 * to - 1;
        assert!((queue[end] - 100.0).abs() < 0.5, "{to} s: {}", queue[end]);
        for l in 0..4 {
            let found = solution.of(Entity::Loop(l), "sending rate")[end] / 1e6;
            assert!(found == 0.0 || (found - rate).abs() < 0.05, "{to} s, flow {l}: {found}");
        }
    }
    let lost = solution.of(Entity::Link(0), "loss probability");
    assert!(lost.iter().all(|p| *p == 0.0), "the buffer of 10000 packets is never full");
}

#[test]
fn figure_6_has_its_settling_times() {
    let solution = figure_6();
    let rates: Vec<Vec<f64>> = (0..4).map(|l| solution.of(Entity::Loop(l), "sending rate")).collect();
    // tests/reference/cltcp_fluid.py, Fig. 6.
    let theory = [6.8, 6.2, 5.8, 5.7, 1.9, 2.0, 2.4];
    for (((from, to), fair), theory) in
        STAGES.into_iter().zip([120.0, 60.0, 40.0, 30.0, 40.0, 60.0, 120.0]).zip(theory)
    {
        let is_off = |i: &usize| {
            rates.iter().map(|r| r[*i] / 1e6).any(|r| r > 0.0 && (r / fair - 1.0_f64).abs() > 0.05)
        };
        let last = (100 * from + 1..100 * to).rfind(is_off).map_or(0.0, |i| i as f64 / 100.0 - from as f64);
        println!("{from} s: {last} {theory}");
        assert!((last - theory).abs() < 0.3, "{from} s: {last} {theory}");
    }
}

#[test]
fn the_parking_lot_is_max_min_fair() {
    let mut lab = Lab::new("cltcp", &[]);
    let links: Vec<LinkId> = (1..4).map(|i| lab.link(&format!("L{i}"), 120.0, 1e6)).collect();
    // Three long flows over all links, and one flow on each link: 30 Mbit/s for all, for any round-trip times.
    let long = [(links[0], 0.005), (links[1], 0.025), (links[2], 0.045)];
    let flow = lab.flow("long", 0.12, &long);
    lab.network.add(flow.times(3.0));
    for (i, link) in links.iter().enumerate() {
        let flow = lab.flow(&format!("cross {i}"), 0.04, &[(*link, 0.005)]);
        lab.network.add(flow);
    }
    let solution = Assembly::new(lab.network).unwrap().run(120.0, 1.0, Accuracy::default()).unwrap();
    for l in 0..4 {
        let rate = solution.of(Entity::Loop(l), "sending rate")[120] / 1e6;
        assert!((rate - 30.0).abs() < 0.05, "{l}: {rate}");
    }
    for l in 0..3 {
        let queue = solution.of(Entity::Link(l), "queue")[120] / PACKET;
        assert!((queue - 100.0).abs() < 0.5, "{l}: {queue}");
    }
}
