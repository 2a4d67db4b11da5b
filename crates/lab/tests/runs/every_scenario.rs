//! The headline check: on every scenario that both worlds run, the point of rest, the end of the fluid run and the mean of the
//! packets are the same, within what theory allows.
//!
//! Two things part the fluid from rest: what is left of the start, `exp(rightmost root times the time since the last start)`,
//! and the solver's own error. Two things part packets from the fluid: a window is a whole number of packets (half a packet
//! over the window), and a queue holds the packet in service and at most one of each flow that arrives in the same instant. Both
//! shrink, as shares, as rates grow.

use crate::common::near;
use millpond_fluid::stability::{Root, System, generator_roots, rightmost};
use millpond_lab::{Case, Choice, cases, compare};
use millpond_plan::fluid;
use millpond_protocols::Registry;
use millpond_results::{Unwatched, World};
use millpond_scenario::{Disk, Scenario};
use millpond_theory::Study;
use millpond_theory::agreement::{Agreement, ComparedQuantity, compute_agreement};
use millpond_theory::equilibrium::find_equilibrium;
use millpond_theory::stability::{Stability, analyze_stability};
use std::path::{Path, PathBuf};

/// Laws with a point of rest, whose routers or estimates give the same answer to packets as to a fluid. The others part from
/// their equations for reasons that are known and have a size: `papers/worlds` holds each to it.
const PROTOCOLS: [&str; 4] = ["acp", "cltcp", "rcp", "xcp"];

/// XCP where flows cross several bottlenecks: routers debit what a flow was refused elsewhere, and count what earlier ones have
/// taken away (lines 26 and 27 of the draft), which its equations leave out: in packets the long flow has .65 % less. And for whom two packets are much: traffic counted in whole
/// packets is up to one short of an interval's, which asks for alpha of a packet until beta takes it from a queue of alpha / beta.
const LEFT_OUT: [(&str, &str); 2] = [("parking-lot", "xcp"), ("delay-margin", "xcp")];

/// What may be left of the start before rest is compared.
const ARRIVED: f64 = 1e-3;

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

/// What theory says of one scenario under one protocol.
struct Theory {
    /// What is left of the start when measuring begins.
    left: f64,
    /// The least window, in packets.
    window: f64,
    /// Flows, and bursts of packets that may arrive in one instant.
    flows: f64,
}

fn theory(scenario: &Scenario, registry: &Registry) -> Option<Theory> {
    let plan = fluid::plan(scenario, registry).ok()?;
    let settled = find_equilibrium(&plan).ok()?;
    let growth = analyze_stability(&settled).ok()?.spectrum.rightmost();
    let started = plan.flows.iter().map(|flow| flow.start.secs()).fold(0.0, f64::max);
    let from = scenario.measure.from.secs();
    let window = |(l, planned): (usize, &millpond_plan::fluid::FluidLoopPlan)| {
        let value = |quantity| settled.value(millpond_fluid::Entity::Loop(l), quantity).unwrap_or(f64::NAN);
        value("sending rate") * value("round-trip time") / planned.facts.packet
    };
    Some(Theory {
        left: (growth * (from - started)).exp(),
        window: plan.loops.iter().enumerate().map(window).fold(f64::INFINITY, f64::min),
        flows: plan.flows.len() as f64,
    })
}

/// The scenario with this protocol for all of its flows; none if it cannot have them.
fn under(scenario: &Scenario, registry: &Registry, protocol: &str) -> Option<Vec<Case>> {
    let worlds = vec![World::Packets, World::Fluid];
    let choice = Choice { protocols: vec![protocol.to_owned()], worlds, seeds: 1 };
    cases(scenario, registry, &choice).ok()
}

/// All three of one scenario under one protocol; none if a world refuses it.
fn agreed(scenario: &Scenario, registry: &Registry, protocol: &str) -> Option<(Agreement, Theory)> {
    let cases = under(scenario, registry, protocol)?;
    let theory = theory(&cases[0].scenario, registry)?;
    if theory.left > ARRIVED {
        return None;
    }
    let runs = compare(&cases, registry, "", &|_, _| Ok(()), &Unwatched).unwrap();
    let study = Study::new(&cases[0].scenario, registry);
    Some((compute_agreement(study, &runs[0].run, &runs[1].run), theory))
}

/// How many lines were compared; complains about each that is out.
fn checked(name: &str, (agreement, theory): &(Agreement, Theory), complaints: &mut Vec<String>) -> usize {
    let mut lines = 0;
    for line in agreement.rows.iter().filter(|line| line.equilibrium.is_some()) {
        let rest = line.equilibrium.unwrap_or(f64::NAN);
        let (still, grain) = (1e-3 + theory.left, 0.5 / theory.window);
        let agrees = if line.quantity == ComparedQuantity::MeanQueue {
            let packets = 1.0 + theory.flows;
            (line.fluid - rest).abs() <= still * rest + 0.01
                && (line.packets - line.fluid).abs() <= packets + grain * rest
        } else {
            near(line.fluid, rest, still) && near(line.packets, line.fluid, grain + still)
        };
        println!("{name}: {}: {rest} {} {} {agrees}", line.title(), line.fluid, line.packets);
        lines += 1;
        if !agrees {
            complaints.push(format!(
                "{name}, {}: at rest {rest}, fluid {}, packets {}; windows of {:.0} packets, {:.1e} of the start left",
                line.title(), line.fluid, line.packets, theory.window, theory.left
            ));
        }
    }
    lines
}

fn read(path: &Path) -> (String, Scenario) {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let scenario = Scenario::parse(&text, &name, path.parent().unwrap(), &[], &Disk).unwrap();
    (name, scenario)
}

#[test]
fn on_every_scenario_equilibrium_fluid_and_packets_agree() {
    let registry = Registry::builtin();
    let (mut complaints, mut lines, mut seen) = (Vec::new(), 0, Vec::new());
    for path in scenarios() {
        let (name, scenario) = read(&path);
        if scenario.flows.iter().any(|group| group.pinned) {
            continue;
        }
        for protocol in PROTOCOLS {
            if LEFT_OUT.contains(&(name.as_str(), protocol)) {
                continue;
            }
            let Some(agreed) = agreed(&scenario, &registry, protocol) else { continue };
            seen.push(format!("{name} {protocol}"));
            lines += checked(&format!("{name} {protocol}"), &agreed, &mut complaints);
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(seen.len() >= 13 && lines >= 80, "{lines} lines of {seen:?}");
}

/// The rightmost root that moves is that of the discretized generator, where the system is small enough for it.
fn agrees_with_the_generator(found: &Stability) -> Option<bool> {
    const SMALL: usize = 16;
    const POINTS: usize = 16;
    let system = &found.linear.system;
    if system.blocks.iter().map(millpond_fluid::stability::Block::states).sum::<usize>() > SMALL {
        return None;
    }
    let root = found.spectrum.first_nonzero()?;
    // Fewer turns in the longest delay than the points resolve.
    if root.s.norm() * system.longest_delay() > 6.0 {
        return None;
    }
    let independent = generator_roots(system, POINTS).ok()?;
    let other = independent.iter().find(|root| !found.spectrum.is_zero(root))?;
    let apart = other.s - root.s;
    Some(apart.norm() <= 2e-4 * root.s.norm() || found.spectrum.is_zero(&Root { s: apart, multiplicity: 1 }))
}

/// Stable with a little less than this margin, unstable with a little more.
fn is_the_edge(margin: f64, system: impl Fn(f64) -> System) -> bool {
    const LITTLE: f64 = 1e-3;
    let growth = |part: f64| rightmost(&system(margin * (1.0 + part))).unwrap().rightmost_nonzero();
    growth(-LITTLE) < 0.0 && growth(LITTLE) > 0.0
}

/// What the eigenloci say is what the roots say: two ways that share no step.
#[test]
fn on_every_scenario_every_protocol_has_roots_and_margins_that_agree() {
    let registry = Registry::builtin();
    let (mut complaints, mut roots, mut edges) = (Vec::new(), 0, 0);
    for (name, scenario) in scenarios().iter().map(|path| read(path)) {
        for protocol in registry.protocols() {
            let Some(cases) = under(&scenario, &registry, protocol.card().name) else { continue };
            let Ok(plan) = fluid::plan(&cases[0].scenario, &registry) else { continue };
            let Ok(settled) = find_equilibrium(&plan) else { continue };
            let Ok(found) = analyze_stability(&settled) else { continue };
            let label = format!("{name}, {}", protocol.card().name);
            match agrees_with_the_generator(&found) {
                Some(true) => roots += 1,
                Some(false) => complaints.push(format!("{label}: another root")),
                None => {}
            }
            if !found.nonzero_roots_decay() {
                continue;
            }
            let system = &found.linear.system;
            if let Some(gain) = found.margins.gain {
                edges += 1;
                if !is_the_edge(gain.margin, |factor| system.clone().amplified(factor)) {
                    complaints.push(format!("{label}: gain margin {gain:?}"));
                }
            }
            // A loop that is next to idle, and would bear hours: its roots are next to zero.
            let delay = found.margins.delay.filter(|delay| delay.margin < 100.0 * found.spectrum.time_scale);
            if let Some(delay) = delay {
                edges += 1;
                if !is_the_edge(delay.margin, |extra| system.clone().delayed(extra)) {
                    complaints.push(format!("{label}: delay margin {delay:?}"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(roots >= 50 && edges >= 100, "{roots} roots, {edges} edges");
}
