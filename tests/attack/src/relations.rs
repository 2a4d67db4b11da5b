//! Relations between the runs of two scenarios.

use crate::case::{Case, FlowCase, LinkCase, PathCase, RateCase, Units, WorkloadCase};
use crate::ensure;
use millpond_lab::{Choice, Error, cases, compare, run};
use millpond_protocols::Registry;
use millpond_results::{About, Run, RunOrigin, Series, Unwatched, World, quantity};
use millpond_scenario::Scenario;

/// The relations between a run and a related one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A flow over a link that no other flow uses changes nothing.
    UnrelatedFlow,
    /// The order in which links are written changes nothing.
    PermutedLinks,
    /// A longer run begins with the shorter one.
    LongerRun,
    /// A link of the same delay in two parts, the second of them much faster.
    SplitLink,
    /// Runs by one thread and by two have the same results.
    Threads,
    /// The same scenario with its links and paths written out has the same results.
    WrittenOut,
}

impl Relation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::UnrelatedFlow,
        Self::PermutedLinks,
        Self::LongerRun,
        Self::SplitLink,
        Self::Threads,
        Self::WrittenOut,
    ];

    /// Checks the relation for a case and its run.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(self, case: &Case, registry: &Registry, original: &Run) -> Result<(), String> {
        match self {
            Self::UnrelatedFlow => unrelated_flow(case, registry, original),
            Self::PermutedLinks => permuted_links(case, registry, original),
            Self::LongerRun => longer_run(case, registry, original),
            Self::SplitLink => split_link(case, registry),
            Self::Threads => threads(case, registry),
            Self::WrittenOut => written_out(case, registry, original),
        }
    }
}

/// The run of a case.
///
/// # Errors
/// The faults of the scenario, or equations that cannot be integrated.
pub(crate) fn run_of(case: &Case, registry: &Registry) -> Result<Run, Error> {
    run_scenario(&case.scenario()?, case.world, registry)
}

pub(crate) fn run_scenario(scenario: &Scenario, world: World, registry: &Registry) -> Result<Run, Error> {
    Ok(run(scenario, registry, About { world, ..About::default() }, &Unwatched)?.run)
}

fn related(case: &Case, registry: &Registry) -> Result<Run, String> {
    run_of(case, registry).map_err(|error| format!("the related scenario: {error}"))
}

/// Other units of the same quantities give the same scenario.
///
/// # Errors
/// They do not.
pub(crate) fn units(case: &Case) -> Result<(), String> {
    let read = |units| case.scenario_in(units).map_err(|faults| faults.to_string());
    let (small, large) = (read(Units::Small)?, read(Units::Large)?);
    ensure!(small == large, "other units give another scenario:\n{}\n{}", small.to_toml(), large.to_toml());
    Ok(())
}

/// Compares the series of flows and links. In the packet world they are equal. In the fluid world every flow and link has a
/// part in the choice of the solver's steps, and a law that switches amplifies their errors: the means of rates are within
/// [`FLUID_TOLERANCE`].
fn compare_runs(world: World, original: &Run, other: &Run) -> Result<(), String> {
    for series in original.series.iter().filter(|series| series.entity != "all") {
        let found = other
            .series
            .iter()
            .find(|s| s.kind == series.kind && s.entity == series.entity && s.quantity == series.quantity);
        let Some(found) = found else { return Err(format!("{}: no {}", series.entity, series.quantity)) };
        match world {
            World::Packets | World::Live => samples_are_equal(series, found)?,
            World::Fluid if [quantity::GOODPUT, quantity::THROUGHPUT].contains(&series.quantity.as_str()) => {
                means_are_near(series, found)?;
            }
            World::Fluid => {}
        }
    }
    Ok(())
}

/// The greatest difference between the mean rates of two fluid runs that are equal but for the solver's steps, as a share of
/// the greatest rate.
const FLUID_TOLERANCE: f64 = 0.02;

fn samples_are_equal(series: &Series, other: &Series) -> Result<(), String> {
    let Series { entity, quantity, values, .. } = series;
    for (index, (value, changed)) in values.iter().zip(&other.values).enumerate() {
        let is_equal = value == changed || (value.is_nan() && changed.is_nan());
        ensure!(is_equal, "{entity}, {quantity}: sample {index} is {changed} instead of {value}");
    }
    Ok(())
}

fn means_are_near(series: &Series, other: &Series) -> Result<(), String> {
    let Series { entity, quantity, values, .. } = series;
    let pairs =
        || values.iter().zip(&other.values).filter(|(value, changed)| !(value.is_nan() || changed.is_nan()));
    let most = pairs().map(|(value, _)| value.abs()).fold(0.0, f64::max);
    let difference: f64 =
        pairs().map(|(value, changed)| changed - value).sum::<f64>() / pairs().count().max(1) as f64;
    ensure!(
        difference.abs() <= FLUID_TOLERANCE * most.max(1.0),
        "{entity}, {quantity}: the mean differs by {difference}; the greatest value is {most}"
    );
    Ok(())
}

fn has_random_paths(case: &Case) -> bool {
    case.flows.iter().any(|flow| matches!(flow.path, PathCase::Random(_)))
}

fn unrelated_flow(case: &Case, registry: &Registry, original: &Run) -> Result<(), String> {
    let mut changed = case.clone();
    let ends = ["unrelated-sender".to_owned(), "unrelated-receiver".to_owned()];
    changed.links.push(LinkCase {
        name: "unrelated".to_owned(),
        ends: ends.clone(),
        rate: RateCase::Constant(1_000_000),
        delay_ns: 7_000_000,
        keys: vec!["queue = \"droptail\"".to_owned()],
    });
    changed.flows.push(FlowCase {
        name: "unrelated".to_owned(),
        protocol: "newreno".to_owned(),
        path: PathCase::Nodes(ends.to_vec()),
        workload: WorkloadCase::Bulk,
        packet: 1500,
        start_us: 0,
        gap_us: 0,
        count: Some(1),
        keys: Vec::new(),
    });
    compare_runs(case.world, original, &related(&changed, registry)?)
}

/// Paths between random hosts are others if links are written in another order.
fn permuted_links(case: &Case, registry: &Registry, original: &Run) -> Result<(), String> {
    if has_random_paths(case) {
        return Ok(());
    }
    let mut changed = case.clone();
    changed.links.reverse();
    compare_runs(case.world, original, &related(&changed, registry)?)
}

/// Where buffers follow from the mean rate over the run, a longer run has other buffers. The capacity that senders receive at
/// the start is the highest configured rate of the run, which noise makes greater in a longer run.
fn longer_run(case: &Case, registry: &Registry, original: &Run) -> Result<(), String> {
    let has_noise = |link: &LinkCase| link.keys.iter().any(|key| key.contains("configured_noise"));
    if case.all_links().any(|link| matches!(link.rate, RateCase::Steps(_)) || has_noise(link)) {
        return Ok(());
    }
    let mut changed = case.clone();
    changed.duration_us += case.duration_us / 2;
    let longer = related(&changed, registry)?;
    // A transfer that would begin at the very end of a run is not part of it, and the last sample contains its end.
    let is_regular =
        |flow: &FlowCase| matches!(&flow.workload, WorkloadCase::Other(value) if value.contains("every"));
    if case.flows.iter().any(is_regular) {
        let mut before_the_end = original.clone();
        for series in &mut before_the_end.series {
            series.values.pop();
        }
        return compare_runs(case.world, &before_the_end, &longer);
    }
    compare_runs(case.world, original, &longer)
}

/// The rate of a flow in the relation of split links, as a share of the capacity that all flows together use.
const LOAD: u64 = 4;

/// In the fluid world a link and one of a thousand times its capacity, with the same total delay, are one link. A flow's data
/// are counted when they leave the last queue of the path, which is later by the delay of the first part. In the packet
/// world with flows of a constant rate below the capacity and no random times, each packet comes later by its service
/// time at the second link, at most 20 us: the flow delivers the same bytes but those of two packets.
fn split_link(case: &Case, registry: &Registry) -> Result<(), String> {
    // One more link makes a path longer than others between the same hosts.
    if has_random_paths(case) {
        return Ok(());
    }
    // These laws depend on the number of links of a path, and a relay at every node becomes one more relay.
    let uses_hops =
        |text: &String| ["paganini", "swift", "relays = \"all\""].iter().any(|name| text.contains(name));
    if case.flows.iter().any(|flow| uses_hops(&flow.protocol))
        || case.entries.iter().any(|entry| entry.keys.iter().any(uses_hops))
    {
        return Ok(());
    }
    let mut whole = case.clone();
    if case.world == World::Packets {
        let flows: u64 = whole.flows.iter().filter_map(|flow| flow.count).sum();
        let slowest = whole.links.iter().filter_map(|link| link.rate.constant()).min();
        let Some(slowest) = slowest.filter(|_| whole.links.iter().all(|link| link.rate.constant().is_some()))
        else {
            return Ok(());
        };
        whole.top.retain(|line| !line.starts_with("hosts"));
        whole.top.push("hosts = { jitter = \"0s\" }".to_owned());
        for link in &mut whole.links {
            link.keys.retain(|key| key.starts_with("queue"));
            link.keys.push("buffer = \"unlimited\"".to_owned());
        }
        for flow in &mut whole.flows {
            flow.workload = WorkloadCase::Rate(slowest / LOAD / flows);
        }
    }
    let Some(split) = with_split_link(&whole) else { return Ok(()) };
    let later = (whole.links[0].delay_ns - split.links[0].delay_ns) as f64 / 1e9;
    let (whole, split) = (related(&whole, registry)?, related(&split, registry)?);
    for (flow, other) in whole.summary.flows.iter().zip(&split.summary.flows) {
        // A goodput is a mean over the part of the measured time in which the flow ran.
        let seconds = flow.stop_s - flow.start_s.max(whole.summary.measured_from_s);
        if seconds <= 0.0 {
            continue;
        }
        let tolerance = match case.world {
            World::Packets | World::Live => 0.0,
            World::Fluid => {
                FLUID_TOLERANCE * flow.goodput_bps + greatest_goodput(&whole, &flow.name) * later / seconds
            }
        };
        let packets = 2.0 * 1500.0 * 8.0 / seconds;
        ensure!(
            (flow.goodput_bps - other.goodput_bps).abs() <= tolerance + packets,
            "{}: {} bit/s over one link, {} over the same in two parts",
            flow.name,
            flow.goodput_bps,
            other.goodput_bps
        );
    }
    Ok(())
}

/// The same scenario with its first link in two parts, of which flows cross the slow one first: data arrive there when they arrive at the
/// whole link. None in the fluid world if flows cross the link in both directions, because the data of one of them would arrive
/// later: the state of a router may depend on the time since the beginning of the run.
fn with_split_link(whole: &Case) -> Option<Case> {
    let mut split = whole.clone();
    let first = split.links[0].clone();
    let middle = "middle".to_owned();
    let [from, to] = &first.ends;
    let is_crossed = |pair: [&String; 2]| {
        whole
            .flows
            .iter()
            .any(|flow| flow.path.nodes().windows(2).any(|nodes| pair == [&nodes[0], &nodes[1]]))
    };
    let near_and_far = match (is_crossed([from, to]), is_crossed([to, from])) {
        (true, true) if whole.world == World::Fluid => return None,
        (false, true) => [to, from],
        _ => [from, to],
    };
    let [near, far] = near_and_far.map(String::clone);
    let half = first.delay_ns / 2;
    for flow in &mut split.flows {
        flow.insert(&middle, [&near, &far]);
    }
    split.links[0] = LinkCase { ends: [near, middle.clone()], delay_ns: half, ..first.clone() };
    split.links.push(LinkCase {
        name: "second".to_owned(),
        ends: [middle, far],
        rate: first.rate.times(1000),
        delay_ns: first.delay_ns - half,
        ..first
    });
    Some(split)
}

/// The greatest sample of a flow's goodput, in bit/s.
fn greatest_goodput(run: &Run, flow: &str) -> f64 {
    let of_flow = run.series.iter().filter(|s| s.entity == flow && s.quantity == quantity::GOODPUT);
    of_flow.flat_map(|series| series.values.iter().copied()).fold(0.0, f64::max)
}

fn written_out(case: &Case, registry: &Registry, original: &Run) -> Result<(), String> {
    let scenario = case.scenario().map_err(|faults| faults.to_string())?;
    let written = case.parse(&scenario.to_toml()).map_err(|faults| faults.to_string())?;
    let other = run_scenario(&written, case.world, registry).map_err(|error| error.to_string())?;
    let digests = [original, &other].map(crate::results::digest);
    ensure!(digests[0] == digests[1], "links and paths written out give different results");
    Ok(())
}

fn threads(case: &Case, registry: &Registry) -> Result<(), String> {
    let scenario = case.scenario().map_err(|faults| faults.to_string())?;
    let choice = Choice { seeds: 2, ..Choice::of(case.world) };
    let all = cases(&scenario, registry, &choice).map_err(|error| error.to_string())?;
    let digests = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|error| error.to_string())?;
        let run =
            || pool.install(|| compare(&all, registry, &RunOrigin::default(), &|_, _| Ok(()), &Unwatched));
        // A worker that waits for another pool begins further scenarios on its own stack, which has an end.
        let runs = std::thread::scope(|scope| scope.spawn(run).join());
        let runs = runs.map_err(|_| "the runs panicked")?.map_err(|error| error.to_string())?;
        Ok::<_, String>(runs.iter().map(|finished| crate::results::digest(&finished.run)).collect::<Vec<_>>())
    };
    ensure!(digests(1)? == digests(2)?, "one thread and two give different results");
    Ok(())
}
