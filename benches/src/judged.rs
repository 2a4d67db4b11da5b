//! The speed of stability analysis: a network of 20 links and 100 flows with different round-trip times, and two maps of
//! 100 x 100 points. The first map is that of a linear loop; the second computes the equilibrium of a scenario for each
//! point.

use crate::Outcome;
use crate::measure::cpu_seconds;
use millpond_fluid::stability::{Block, BlockInput, BlockOutput, Connection, System, margins, rightmost};
use millpond_protocols::Registry;
use millpond_results::Unwatched;
use millpond_scenario::{Disk, Scenario};
use millpond_theory::Study;
use millpond_theory::stability::{ParameterAxis, VariedParameter, compute_stability_map};
use nalgebra::DMatrix;
use std::path::Path;
use std::time::Instant;

/// Prints the times of all measurements.
pub(crate) fn bench() -> Outcome<()> {
    let begun = clock();
    let (spectrum, margins) = (rightmost(&backbone(1.5))?, margins(&backbone(1.5))?);
    println!(
        "stability, 20 links, 100 flows   {:6.2} s CPU, stable: {}, gain margin {:.3}",
        clock() - begun,
        spectrum.is_stable(),
        margins.gain.map_or(f64::INFINITY, |gain| gain.margin)
    );
    let begun = clock();
    let mut stable = 0;
    for gain in 1..=100 {
        for delay in 1..=100 {
            let system = one_link(f64::from(gain) * 0.03, f64::from(delay) * 0.01);
            stable += usize::from(rightmost(&system)?.is_stable());
        }
    }
    println!("stability, map of 100 x 100      {:6.2} s CPU, {stable} stable", clock() - begun);
    scenario_map()
}

/// `millpond stability scenarios/delay-margin.toml --map rtt=10ms..2s,flows=1..100 --points 100`, on all processors.
fn scenario_map() -> Outcome<()> {
    const POINTS: usize = 100;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/delay-margin.toml");
    let text = std::fs::read_to_string(path)?;
    let scenario = Scenario::parse(&text, "delay-margin.toml", Path::new(""), &[], &Disk);
    let scenario = scenario.map_err(|faults| faults.to_string())?;
    let rtt = ParameterAxis::logarithmic(VariedParameter::Rtt, 0.01, 2.0, POINTS);
    let flows = ParameterAxis::logarithmic(VariedParameter::Flows, 1.0, 100.0, POINTS);
    let registry = Registry::builtin();
    let study = Study::new(&scenario, &registry);
    #[allow(clippy::disallowed_methods, reason = "a bench reads the clock")]
    let begun = Instant::now();
    let map = compute_stability_map(study, rtt, flows, &Unwatched).map_err(|error| error.to_string())?;
    let blank = map.growth_rates.iter().flatten().filter(|growth| growth.is_none()).count();
    let seconds = begun.elapsed().as_secs_f64();
    println!("stability, scenario of 100 x 100 {seconds:6.2} s elapsed, {blank} blank");
    Ok(())
}

/// A connection of gain one.
const fn wire(from: BlockOutput, to: BlockInput, delay: f64) -> Connection {
    Connection { from, to, gain: 1.0, delay }
}

/// x' = -gain x(t - delay): stable below gain · delay = pi/2.
fn one_link(gain: f64, delay: f64) -> System {
    let blocks =
        vec![Block::single(0.0, 1.0, 1.0, 0.0).as_link(), Block::gain(DMatrix::from_element(1, 1, -gain))];
    let wire = |from, to, delay| wire(BlockOutput::new(from, 0), BlockInput::new(to, 0), delay);
    System { blocks, connections: vec![wire(0, 1, 0.0), wire(1, 0, delay)] }
}

/// The dual law of Paganini et al., (12) and (15), each flow over one to four of 20 links.
fn backbone(alpha: f64) -> System {
    const LINKS: u32 = 20;
    let flow = |index: u32| {
        let hops = 1 + index % 4;
        let path: Vec<usize> = (0..hops).map(|hop| ((index * 7 + hop * 3) % LINKS) as usize).collect();
        (path, 1.0 + f64::from(index % 9), 0.02 + 0.0023 * f64::from(index * 37 % 100))
    };
    let flows: Vec<(Vec<usize>, f64, f64)> = (0..100).map(flow).collect();
    let mut capacity = [0.0; LINKS as usize];
    flows.iter().for_each(|(path, rate, _)| path.iter().for_each(|link| capacity[*link] += rate));
    let link = |capacity: &f64| Block::single(0.0, 1.0 / capacity, 1.0, 0.0).as_link();
    let mut system = System { blocks: capacity.iter().map(link).collect(), connections: Vec::new() };
    for (path, rate, rtt) in &flows {
        let index = system.blocks.len();
        let kappa = alpha * rate / (path.len() as f64 * rtt);
        system.blocks.push(Block::gain(DMatrix::from_element(1, path.len(), -kappa)));
        for (hop, link) in path.iter().enumerate() {
            let forward = rtt * (0.1 + 0.15 * hop as f64);
            let arrives = wire(BlockOutput::new(index, 0), BlockInput::new(*link, 0), forward);
            let returns = wire(BlockOutput::new(*link, 0), BlockInput::new(index, hop), rtt - forward);
            system.connections.extend([arrives, returns]);
        }
    }
    system
}

/// CPU seconds so far; NaN if the kernel does not provide them.
fn clock() -> f64 {
    cpu_seconds().unwrap_or(f64::NAN)
}
