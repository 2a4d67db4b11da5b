//! Runs of one scenario under several protocols, at several queues, in several worlds and with several seeds. Random values of
//! flows depend on the seed only.

use crate::Error;
use crate::deployment::Deployment;
use crate::world::run;
use millpond_diagnosis::agreement::live::LiveAgreement;
use millpond_diagnosis::agreement::{Agreement, compute_agreement};
use millpond_plan::{fluid, other_queues, packets};
use millpond_protocols::Registry;
use millpond_results::files::{OutputError, seed_suffix};
use millpond_results::{About, Finished, Run, RunOrigin, Summary, Watch, World, labelled};
use millpond_scenario::{At, Fault, Faults, Place, QueueSpec, Scenario};
use millpond_theory::Study;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One run of a comparison.
#[derive(Clone, Debug)]
pub struct ComparisonCase {
    /// Its label: the protocol, the share of deployment, the queue and the world, as far as they are chosen.
    pub label: String,
    /// The name of its run: the label, with the seed if there are several. Its directory has this name, without colons.
    pub directory: String,
    /// The scenario.
    pub scenario: Scenario,
    /// The world.
    pub world: World,
}

/// The protocols, shares of deployment, queues, worlds and seeds of a comparison.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The protocols: registered ones, entries of the scenario's `[protocols]`, or variants of either such as `lgcc:cellular`.
    /// If empty, those of the scenario.
    pub protocols: Vec<String>,
    /// The queues, each at every link that carries data. If empty, those of the scenario.
    pub queues: Vec<String>,
    /// Partial deployment, if it is compared.
    pub deployment: Option<Deployment>,
    /// The worlds.
    pub worlds: Vec<World>,
    /// The number of seeds, from the scenario's seed upwards.
    pub seeds: u64,
}

impl Choice {
    /// The scenario as it is, in one world under one seed.
    pub fn of(world: World) -> Self {
        let (protocols, queues) = (Vec::new(), Vec::new());
        Self { protocols, queues, deployment: None, worlds: vec![world], seeds: 1 }
    }
}

/// The runs of a comparison: every protocol at every queue in every world under every seed. Flows that are `pinned` keep
/// their protocol.
///
/// # Errors
/// A protocol, a queue or a share that is unknown or named twice, with its place in the list as typed; more seeds than there are;
/// or an error of a plan.
pub fn cases(
    scenario: &Scenario,
    registry: &Registry,
    choice: &Choice,
) -> Result<Vec<ComparisonCase>, Error> {
    let mut scenario = scenario.clone();
    let protocols = protocols(&mut scenario, &choice.protocols)?;
    let queues = labels(&mut scenario, "--queues", &choice.queues)?;
    let seeds = seeds_of(&mut scenario, choice.seeds)?;
    let mut cases = Vec::new();
    for protocol in &protocols {
        for (percentage, deployed) in deployed(&scenario, protocol.as_ref(), choice, registry)? {
            for queue in &queues {
                let changed = match queue {
                    Some(queue) => at_queue(deployed.clone(), queue),
                    None => deployed.clone(),
                };
                let [protocol, queue] =
                    [protocol, queue].map(|label| label.as_ref().map(|name| name.value.as_str()));
                let chosen = [protocol, percentage.as_deref(), queue];
                cases.extend(cases_of(&changed, &chosen, &choice.worlds, &seeds));
            }
        }
    }
    // Errors of any case are reported before the first one runs.
    cases.iter().try_for_each(|case| check(case, registry))?;
    Ok(cases)
}

/// This many seeds, from that of the scenario upwards.
///
/// # Errors
/// None, or more than there are.
pub fn seeds_of(scenario: &mut Scenario, number: u64) -> Result<RangeInclusive<u64>, Fault> {
    let first = scenario.seed;
    if let Some(last) = number.checked_sub(1).and_then(|others| first.checked_add(others)) {
        return Ok(first..=last);
    }
    let typed = number.to_string();
    let text = scenario.sources.add("--seeds", &typed);
    let place = Place { text, start: 0, end: typed.len() };
    let message = format!("there are no {number} seeds from {first} upwards");
    Err(scenario
        .fault(place, message, "the number of seeds")
        .help(format!("the greatest seed is {}", u64::MAX)))
}

/// The runs of a scenario in every world under every seed.
fn cases_of<'a>(
    scenario: &'a Scenario,
    chosen: &'a [Option<&'a str>],
    worlds: &'a [World],
    seeds: &'a RangeInclusive<u64>,
) -> impl Iterator<Item = ComparisonCase> + use<'a> {
    let is_single = seeds.start() == seeds.end();
    worlds.iter().flat_map(move |&world| {
        let label = name(chosen, world, worlds.len());
        seeds.clone().map(move |seed| {
            let suffix = if is_single { String::new() } else { seed_suffix(seed) };
            ComparisonCase {
                directory: label.clone() + &suffix,
                label: label.clone(),
                scenario: scenario.clone().with_seed(seed),
                world,
            }
        })
    })
}

/// The scenario with this protocol under each share of deployment, with the label of the share; one without label if the
/// comparison has no deployment.
fn deployed(
    scenario: &Scenario,
    protocol: Option<&At<String>>,
    choice: &Choice,
    registry: &Registry,
) -> Result<Vec<(Option<String>, Scenario)>, Fault> {
    let assigned = protocol.map_or_else(|| scenario.clone(), |protocol| assigned(scenario, protocol));
    let Some(deployment) = &choice.deployment else { return Ok(vec![(None, assigned)]) };
    let mut assigned = deployment.at_routers(assigned)?;
    let shares: Vec<String> = deployment.percentages.iter().copied().map(Deployment::label).collect();
    labels(&mut assigned, "--deploy", &shares)?;
    let baseline = deployment.baseline(&mut assigned)?;
    let at = |percentage: &f64| {
        let scenario = Deployment::at_percentage(&assigned, *percentage, &baseline, registry)?;
        Ok((Some(Deployment::label(*percentage)), scenario))
    };
    deployment.percentages.iter().map(at).collect()
}

/// Checks that the world of a case can run its scenario.
fn check(case: &ComparisonCase, registry: &Registry) -> Result<(), Error> {
    match case.world {
        World::Packets => packets::check(&case.scenario, registry).map(|_| ())?,
        World::Fluid => fluid::plan(&case.scenario, registry).map(|_| ())?,
        World::Live => crate::live::check(&case.scenario, registry)?,
    }
    Ok(())
}

/// The label of a run: the properties in which it differs from the others. A plus sign, which no name contains, is between
/// protocol, share and queue, so that two of them never have the same label.
fn name(chosen: &[Option<&str>], world: World, worlds: usize) -> String {
    let chosen: Vec<&str> = chosen.iter().copied().flatten().collect();
    match chosen.join("+") {
        name if name.is_empty() => world.name().to_owned(),
        name if worlds == 1 => name,
        name => format!("{name}-{}", world.name()),
    }
}

/// The protocols typed, each with its place for errors; one `None` if none are. The scenario has an entry for each variant.
pub(crate) fn protocols(scenario: &mut Scenario, names: &[String]) -> Result<Vec<Option<At<String>>>, Fault> {
    let labels = labels(scenario, "--protocols", names)?;
    labels.iter().flatten().try_for_each(|name| scenario.add_variant(name))?;
    Ok(labels)
}

/// The names typed for an option, each with its place in the list for errors; one `None` if none are.
fn labels(
    scenario: &mut Scenario,
    option: &'static str,
    names: &[String],
) -> Result<Vec<Option<At<String>>>, Fault> {
    if names.is_empty() {
        return Ok(vec![None]);
    }
    let text = scenario.sources.add(option, &names.join(","));
    let mut labels: Vec<Option<At<String>>> = Vec::new();
    let mut start = 0;
    for name in names {
        let place = Place { text, start, end: start + name.len() };
        start = place.end + 1;
        if labels.iter().flatten().any(|label| label.value == *name) {
            return Err(scenario.fault(place, format!("\"{name}\" is named twice"), "again"));
        }
        labels.push(Some(At::new(name.clone(), place)));
    }
    Ok(labels)
}

/// The scenario with every flow that is not pinned running `protocol`.
pub(crate) fn assigned(scenario: &Scenario, protocol: &At<String>) -> Scenario {
    let mut scenario = scenario.clone();
    for group in scenario.flows.iter_mut().filter(|group| !group.pinned) {
        group.protocol = protocol.clone();
    }
    scenario
}

/// The scenario with this queue at every link that carries data, in the direction of the data. A link that has the queue
/// already keeps its settings.
fn at_queue(mut scenario: Scenario, queue: &At<String>) -> Scenario {
    let paths = scenario.flows.iter().flat_map(|group| group.paths.iter().take(group.count as usize));
    let hops: BTreeSet<(usize, bool)> = paths.flatten().map(|hop| (hop.link, hop.forward)).collect();
    for (link, forward) in hops {
        let direction = scenario.links[link].direction_mut(forward);
        if direction.queue.as_ref().is_none_or(|spec| spec.name.value != queue.value) {
            direction.queue = Some(QueueSpec { name: queue.clone(), settings: Vec::new() });
        }
    }
    scenario
}

/// The labels of which all seeds gave the same results, if there are several seeds: no random stream influences them, so
/// that the width of their confidence intervals is no estimate of an uncertainty.
pub fn labels_without_randomness(runs: &[Run]) -> BTreeSet<&str> {
    let without_seed = |run: &Run| Summary { seed: 0, ..run.summary.clone() };
    let equal = |label: &&str| {
        let of_label = runs.iter().filter(|run| run.label == *label);
        let summaries: Vec<Summary> = of_label.map(without_seed).collect();
        summaries.len() > 1 && summaries.windows(2).all(|pair| pair[0] == pair[1])
    };
    runs.iter().map(|run| run.label.as_str()).filter(equal).collect()
}

/// Runs all cases in parallel, except for live ones, which run one after the other, and returns them in order. `keep` is called with each as soon as it has ended, so that a run
/// that has ended is not lost if the comparison is stopped.
///
/// # Errors
/// An error of [`run`] or `keep`, or that the comparison was stopped.
pub fn compare(
    cases: &[ComparisonCase],
    registry: &Registry,
    origin: &RunOrigin,
    keep: &(dyn Fn(&ComparisonCase, &Finished) -> Result<(), OutputError> + Sync),
    watch: &dyn Watch,
) -> Result<Vec<Finished>, Error> {
    let ended = AtomicUsize::new(0);
    let one = |(index, case): (usize, &ComparisonCase)| -> Result<Finished, Error> {
        let about = About { label: case.label.clone(), origin: origin.clone(), index, world: case.world };
        let finished = run(&case.scenario, registry, about, watch)?;
        keep(case, &finished)?;
        ended.fetch_add(1, Ordering::Relaxed);
        Ok(finished)
    };
    // A live run needs the machine for itself: it begins when all others have ended.
    let (live, computed): (Vec<_>, Vec<_>) =
        cases.iter().enumerate().partition(|(_, case)| case.world == World::Live);
    let mut results: Vec<_> = computed.into_par_iter().map(|case| (case.0, one(case))).collect();
    results.extend(live.into_iter().map(|case| (case.0, one(case))));
    results.sort_by_key(|(index, _)| *index);
    let results: Vec<_> = results.into_iter().map(|(_, result)| result).collect();
    let stopped = |error| match error {
        Error::Stopped { .. } => Error::Stopped { finished: ended.load(Ordering::Relaxed), of: cases.len() },
        other => other,
    };
    results.into_iter().collect::<Result<_, _>>().map_err(stopped)
}

/// The agreement of each packet run with its fluid run and its equilibrium, with the label of the packet run. `runs` are those
/// of the cases, in order.
pub fn world_agreements(
    cases: &[ComparisonCase],
    runs: &[Run],
    registry: &Registry,
) -> Vec<(String, Agreement)> {
    let of = |world: World| cases.iter().zip(runs).filter(move |(case, _)| case.world == world);
    let same =
        |packets: &ComparisonCase| of(World::Fluid).find(|(fluid, _)| fluid.scenario == packets.scenario);
    let pair = |(case, packets): (&ComparisonCase, &Run)| {
        let (_, fluid) = same(case)?;
        let study = Study::new(&case.scenario, registry);
        Some((case.directory.clone(), compute_agreement(study, packets, fluid)))
    };
    of(World::Packets).filter_map(pair).collect()
}

/// The agreement of each live run with its packet run, and with its fluid run if there is one. `runs` are those of the cases, in
/// order.
pub fn live_agreements(cases: &[ComparisonCase], runs: &[Run]) -> Vec<LiveAgreement> {
    let of = |world: World| cases.iter().zip(runs).filter(move |(case, _)| case.world == world);
    let same = |live: &ComparisonCase, world: World| {
        of(world).find(|(other, _)| other.scenario == live.scenario).map(|(_, run)| run)
    };
    let one = |(case, live): (&ComparisonCase, &Run)| {
        let packets = same(case, World::Packets)?;
        Some(LiveAgreement::of(&case.directory, packets, same(case, World::Fluid), live))
    };
    of(World::Live).filter_map(one).collect()
}

/// A sentence for each protocol of a run that is not at its own queue, because the scenario sets the queue of a link.
///
/// # Errors
/// A queue that does not fit.
pub fn notes_on_queues(cases: &[ComparisonCase], registry: &Registry) -> Result<Vec<String>, Faults> {
    let mut notes = Vec::new();
    for of_label in cases.chunk_by(|one, next| one.label == next.label) {
        let Some(case) = of_label.first() else { continue };
        let of_case = other_queues(&case.scenario, registry)?;
        notes.extend(of_case.iter().map(|note| labelled(&case.label, note)));
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str, seed: u64, packet_hops: u64) -> Run {
        let summary = Summary { seed, packet_hops, ..Summary::default() };
        Run { label: label.to_owned(), summary, ..Run::default() }
    }

    #[test]
    fn a_single_seed_says_nothing_about_randomness() {
        assert!(labels_without_randomness(&[run("x", 1, 7), run("y", 1, 7)]).is_empty());
        let several = [run("x", 1, 7), run("x", 2, 7), run("y", 1, 7), run("y", 2, 8), run("z", 1, 7)];
        assert_eq!(labels_without_randomness(&several), BTreeSet::from(["x"]));
    }
}
