//! A chain of loops over a capacity that changes every 100 ms, so that queues of relays empty and fill again.

use millpond_fluid::{Accuracy, Entity, Solution};
use millpond_plan::fluid::plan;
use millpond_protocols::Registry;
use millpond_scenario::{Disk, Scenario};
use std::path::Path;

const SECONDS: f64 = 12.0;

fn solution(tolerance: f64) -> Solution {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join("last-hop-5g.toml")).unwrap();
    let sets = ["flows.second.start=5s", "duration=12s"].map(str::to_owned);
    let scenario = Scenario::parse(&text, "last-hop-5g.toml", &folder, &sets, &Disk)
        .unwrap_or_else(|faults| panic!("{faults}"));
    let plan = plan(&scenario, &Registry::builtin()).unwrap_or_else(|faults| panic!("{faults}"));
    plan.assembly.run(SECONDS, 0.1, Accuracy { tolerance, ..Accuracy::default() }).unwrap()
}

/// A kink that went round between a relay and the loop before it for ever made 70000 steps of each second. What is
/// delivered and what waits do not change by more than a thousandth if every step is ten times as exact.
#[test]
fn relays_whose_queues_empty_cost_hundreds_of_steps_and_no_accuracy() {
    let (usual, exact) = (solution(1e-6), solution(1e-7));
    assert!((usual.steps as f64) < 4000.0 * SECONDS, "{}", usual.steps);
    for column in usual.columns[..usual.states].iter().filter(|column| column.quantity == "queue") {
        let [a, b] = [&usual, &exact].map(|solution| solution.of(column.entity, column.quantity));
        let most = b.iter().copied().fold(1.0, f64::max);
        let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs() / most).fold(0.0, f64::max);
        assert!(off < 1e-3, "{:?}: {off}", column.entity);
    }
    for l in 0..6 {
        let total = |solution: &Solution| {
            let column = solution.column(Entity::Loop(l), "delivered rate").unwrap();
            solution.integral(column).unwrap().last().unwrap()
        };
        let (a, b) = (total(&usual), total(&exact));
        assert!((a / b - 1.0).abs() < 1e-3, "loop {l}: {a} {b}");
    }
}
