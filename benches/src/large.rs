//! The fluid world on large networks: flows of mixed round-trip times over a random graph, Paganini's primal-dual law
//! (24)-(25) over links with exponential marking, second order at steps of 5 ms.

use crate::{Outcome, measure};
use millpond_fluid::{Assembly, Executor, FixedStep, FluidNetwork, LinkId, Loop, ProtocolId};
use millpond_law::fluid::{FluidModel, FluidQueue, LoopFacts};
use millpond_law::{LinkFacts, Settings, Value};
use millpond_protocols::Registry;
use millpond_units::{Bytes, Rate};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// In bits.
const PACKET: f64 = 12_000.0;

/// Seconds per step.
const STEP: f64 = 0.005;

/// Paths have one to seven links: four in the mean.
const LONGEST_PATH: usize = 7;

/// The size and duration of a network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) flows: usize,
    pub(crate) links: usize,
    /// Simulated.
    pub(crate) seconds: f64,
}

impl Size {
    /// The networks of `make bench`; the last two show how the time depends on the size.
    pub(crate) const SHORT: [Self; 3] = [
        Self { flows: 1_000, links: 100, seconds: 60.0 },
        Self { flows: 10_000, links: 1_000, seconds: 12.0 },
        Self { flows: 100_000, links: 10_000, seconds: 1.2 },
    ];
}

/// A directed graph: the neighbours of each node, with the links to them.
struct Graph {
    /// Of each node: link and next node.
    out: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    /// Every node has at least one link, and five in the mean.
    fn random(links: usize, random: &mut Pcg64Mcg) -> Self {
        let nodes = (links / 5).max(2);
        let mut out = vec![Vec::new(); nodes];
        for link in 0..links {
            let from = if link < nodes { link } else { random.random_range(0..nodes) };
            out[from].push((link, random.random_range(0..nodes)));
        }
        Self { out }
    }

    /// A random walk that uses no link twice.
    fn walk(&self, random: &mut Pcg64Mcg) -> Vec<usize> {
        let length = random.random_range(1..=LONGEST_PATH);
        let mut node = random.random_range(0..self.out.len());
        let mut path = Vec::new();
        while path.len() < length {
            let (link, next) = self.out[node][random.random_range(0..self.out[node].len())];
            if path.contains(&link) {
                break;
            }
            path.push(link);
            node = next;
        }
        path
    }
}

/// The facts from which the laws are built.
struct Laws {
    model: Box<dyn FluidModel>,
    queue: &'static dyn millpond_law::Queue,
    queue_settings: Settings,
}

impl Laws {
    fn new() -> Outcome<Self> {
        let registry = Registry::builtin();
        let known = |_| "paganini-ecn and rem are registered";
        let (protocol, queue) =
            (registry.protocol("paganini-ecn").map_err(known)?, registry.queue("rem").map_err(known)?);
        let written = [("bottlenecks", Value::Number(LONGEST_PATH as f64))];
        let wrong = |error: millpond_law::SettingError| format!("{error:?}");
        let settings = Settings::check(protocol.card().parameters, written).map_err(wrong)?;
        let model = protocol.fluid(&settings).map_err(wrong)?.ok_or("paganini-ecn has a fluid model")?;
        let queue_settings = Settings::check(queue.card().parameters, []).map_err(wrong)?;
        Ok(Self { model, queue, queue_settings })
    }
}

/// The same seed, the same network.
fn network(size: Size) -> Outcome<(FluidNetwork, usize)> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let graph = Graph::random(size.links, &mut random);
    let laws = Laws::new()?;
    let mut network = FluidNetwork::new();
    let mut delays = Vec::with_capacity(size.links);
    for link in 0..size.links {
        let capacity = Rate::from_mbps([20.0, 50.0, 100.0][random.random_range(0..3)]);
        let id = network.link(&format!("L{link}"), capacity.as_f64(), f64::INFINITY);
        let facts = LinkFacts::fifo(capacity, None, Bytes::new(1500));
        if let Ok(FluidQueue::Law { law, verdicts }) = laws.queue.fluid(&laws.queue_settings, &facts) {
            network.set_queue(id, law, verdicts);
        }
        delays.push(random.random_range(0.001..0.010));
    }
    let mut hops = 0;
    for flow in 0..size.flows {
        let path = graph.walk(&mut random);
        hops += path.len();
        let access = random.random_range(0.005..0.050);
        let way: f64 = access + path.iter().map(|link| delays[*link]).sum::<f64>();
        let base_rtt = 2.0 * way;
        let facts = LoopFacts {
            packet: PACKET,
            base_rtt,
            capacity: 20e6,
            hops: path.len(),
            weight: 1.0,
            chained: false,
        };
        let mut new = Loop::new(&format!("f{flow}"), ProtocolId(0), laws.model.sender(&facts), base_rtt);
        let mut forward = access;
        for link in path {
            new = new.over(LinkId(link), forward);
            forward += delays[link];
        }
        network.add(new.from(random.random_range(0.0..0.5)));
    }
    Ok((network, hops))
}

/// The threads of the pool in which it is called.
struct Pool;

impl Executor for Pool {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.par_iter_mut().for_each(work);
    }
}

/// Advances by this number of steps on a pool of threads, at most one per core. Returns the CPU seconds of the busiest
/// thread, which is the time that it takes on an idle machine.
fn advance_in_pool(fixed: &mut FixedStep<'_>, steps: usize, threads: NonZeroUsize) -> Outcome<f64> {
    let threads = threads.min(available_parallelism()?).get();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| fixed.advance_with(&Pool, steps));
    Ok(measure::busiest_thread().ok_or("no /proc/self/task")?)
}

/// Builds and integrates one network, and prints its cost on one line. Without a number of threads it is integrated on
/// the calling thread.
pub(crate) fn run(size: Size, threads: Option<NonZeroUsize>) -> Outcome<()> {
    let clock = || measure::cpu_seconds().ok_or("no /proc/self/schedstat");
    let start = clock()?;
    let (network, hops) = network(size)?;
    let asm = Assembly::new(network)?;
    let mut fixed = FixedStep::new(&asm, STEP)?;
    let built = clock()?;
    let steps = (size.seconds / STEP).round();
    let cpu = match threads {
        Some(threads) => advance_in_pool(&mut fixed, steps as usize, threads)?,
        None => {
            fixed.advance(steps as usize);
            clock()? - built
        }
    };
    fixed.snapshot()?;
    println!(
        "{:7} {:7} {:8.2} {:9.1} s {:8.2} s {:9.1} {:10.0} {:8.0} MB",
        size.flows,
        size.links,
        hops as f64 / size.flows as f64,
        size.seconds,
        cpu,
        cpu / steps / size.flows as f64 * 1e9,
        size.seconds / cpu,
        measure::peak_megabytes().ok_or("no /proc/self/status")?,
    );
    eprintln!("built in {:.2} s", built - start);
    Ok(())
}

/// The heading of what [`run`] prints.
pub(crate) const HEADING: &str = "\
fluid:                     simulated    processor   ns per  times real
  flows   links  path           time         time  flow step      time     memory";
