//! Solutions of shipped laws near thresholds: joins of MCP, and aggregation trees of ACP in both worlds. A router of ACP inside
//! a tree can stay where its traffic equals its capacity: flows increase below and decrease above, and the fluid slides along
//! this threshold.

use crate::common::{flow, link, scenario};
use millpond_fluid::{Accuracy, Error, Solution};
use millpond_lab::run;
use millpond_plan::fluid::{self, FluidPlan};
use millpond_protocols::Registry;
use millpond_results::{About, Run, Unwatched, World};
use millpond_scenario::{Disk, Scenario};
use std::fmt::Write as _;
use std::path::Path;

/// A generator of whole numbers below a bound (Knuth, MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A tree of six nodes with eight flows to its root, and the capacity in bit/s of the slowest link of each flow.
fn tree(seed: u64) -> (Scenario, Vec<f64>) {
    const NODES: u64 = 6;
    let mut numbers = Numbers(seed);
    let mut text = String::from(
        "title = \"tree\"\nduration = \"40s\"\nmeasure = { from = \"20s\", every = \"100ms\" }\n",
    );
    let (mut parents, mut rates, mut slowest) = (vec![0], vec![f64::INFINITY], Vec::new());
    for node in 1..NODES {
        let parent = numbers.below(node);
        parents.push(parent);
        let (rate, delay) = ([20, 40, 50, 80, 100][numbers.below(5) as usize], 2 + numbers.below(29));
        rates.push(1e6 * f64::from(rate));
        writeln!(
            text,
            "[[links]]\nname = \"L{node}\"\nbetween = [\"N{node}\", \"N{parent}\"]\nrate = \"{rate}Mbps\"\ndelay = \
             \"{delay}ms\"\nbuffer = \"1bdp\""
        )
        .unwrap();
    }
    for flow in 0..8_usize {
        let mut node = 1 + numbers.below(NODES - 1);
        let mut path = vec![format!("N{node}")];
        slowest.push(f64::INFINITY);
        while node > 0 {
            slowest[flow] = slowest[flow].min(rates[node as usize]);
            node = parents[node as usize];
            path.push(format!("N{node}"));
        }
        let start = numbers.below(11);
        writeln!(
            text,
            "[[flows]]\nname = \"f{flow}\"\nprotocol = \"acp\"\npath = {path:?}\nstart = \"{start}s\""
        )
        .unwrap();
    }
    (Scenario::parse(&text, "tree.toml", Path::new(""), &[], &Disk).unwrap(), slowest)
}

fn simulate(seed: u64, tree: &Scenario, world: World) -> Run {
    let about = About { world, ..About::default() };
    let finished = run(tree, &Registry::builtin(), about, &Unwatched);
    finished.unwrap_or_else(|error| panic!("{seed}: {error}")).run
}

/// Rates may differ by a packet per round-trip time, because windows in packets are whole, and by the share of one packet in
/// what the slowest link serves in a round-trip time: a router of the packet world counts whole packets in its control period.
#[test]
fn trees_of_acp_have_the_same_means_in_both_worlds() {
    const PACKET: f64 = 12e3;
    for seed in 1..=8 {
        let (tree, slowest) = tree(seed);
        let [fluid, packets] = [World::Fluid, World::Packets].map(|world| simulate(seed, &tree, world));
        for (number, capacity) in slowest.iter().enumerate() {
            let name = format!("f{number}");
            let [rate, found] = [&fluid, &packets].map(|run| flow(run, &name).goodput_bps);
            let per_round_trip = PACKET / (1e-3 * flow(&fluid, &name).rtt_ms.unwrap().mean);
            let tolerance = per_round_trip * (1.0 + rate / capacity);
            assert!((rate - found).abs() < tolerance, "tree {seed}, {name}: {rate} {found} +- {tolerance}");
        }
    }
}

/// Flows of MCP with random round-trip times that join within 30 s.
fn joins(seed: u64) -> Scenario {
    let mut numbers = Numbers(seed);
    let (rate, flows) = ([5, 10, 20, 50, 100][numbers.below(5) as usize], 2 + numbers.below(5));
    let mut text = format!(
        "title = \"joins\"\nduration = \"60s\"\nmeasure = {{ from = \"40s\", every = \"200ms\" }}\n[[links]]\nname = \"L\"\n\
         between = [\"A\", \"B\"]\nrate = \"{rate}Mbps\"\ndelay = \"5ms\"\n"
    );
    for flow in 0..flows {
        let (rtt, start) = (20 * (1 + numbers.below(8)), numbers.below(31));
        writeln!(
            text,
            "[[flows]]\nname = \"f{flow}\"\nprotocol = \"mcp\"\npath = [\"A\", \"B\"]\nrtt = \"{rtt}ms\"\nstart = \"{start}s\""
        )
        .unwrap();
    }
    scenario(&text, &[])
}

/// A halving at a load of .98 leaves .49.
#[test]
fn joins_of_mcp_run_in_the_fluid_world_and_use_more_than_half_of_the_link() {
    for seed in 1..=8 {
        let utilization = link(&simulate(seed, &joins(seed), World::Fluid), "L").utilization;
        assert!((0.49..=1.0).contains(&utilization), "joins {seed}: {utilization}");
    }
}

/// A solution that slides says so, with the threshold and the time.
#[test]
fn a_run_names_the_threshold_along_which_it_slid() {
    const SLIDES: u64 = 31;
    let warnings = simulate(SLIDES, &tree(SLIDES).0, World::Fluid).summary.warnings;
    let named = warnings.iter().any(|warning| {
        warning.starts_with("the solution slides along the threshold of \"rate less C of L5 ->\" from 5.6")
    });
    assert!(named, "{warnings:?}");
}

/// The first ten seconds of a solution, with or without hystereses.
fn solution(plan: &FluidPlan, hysteresis: bool) -> Result<Solution, Error> {
    plan.assembly.run(10.0, 0.1, Accuracy { hysteresis, max_steps: 200_000, ..Accuracy::default() })
}

/// Every state and every channel has the same bits, unless the solution slides.
#[test]
fn the_hysteresis_changes_no_solution_that_crosses_its_thresholds() {
    let (mut compared, registry) = (0, Registry::builtin());
    let joins = (1..=8).map(joins);
    for scenario in (1..=8).map(|seed| tree(seed).0).chain(joins).chain(shipped()) {
        let Ok(plan) = fluid::plan(&scenario, &registry) else { continue };
        if plan.loops.len() > 40 {
            continue;
        }
        let Ok(with) = solution(&plan, true) else { continue };
        if with.sliding.is_empty() {
            let without = solution(&plan, false).unwrap();
            assert!(with == without, "{}", scenario.title);
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared} solutions");
}

/// The scenarios of `scenarios/` that have a fluid form.
fn shipped() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    files.iter().filter_map(|path| Scenario::load(path, &[]).ok()).collect()
}
