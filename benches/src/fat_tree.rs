//! A fat tree of switches (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008) in which DCTCP carries flows of a web search, beside the
//! same flows in htsim.

use crate::cases::{INITIAL_WINDOW, PACKET, Trunk, control_loop, queue};
use crate::{Outcome, measure};
use millpond_protocols::Registry;
use millpond_sim::{
    Buffer, Builder, FlowSpec, LinkId, LinkSpec, NodeId, PacketNetwork, Processing, Workload,
};
use millpond_units::{Bytes, Rate, Span, Time};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

/// Ports of a switch: 16 pods of 8 edge and 8 aggregation switches, 64 core switches, 1024 hosts.
const PORTS: usize = 16;

/// Switches of one kind in a pod, hosts at an edge switch, and core switches at each aggregation switch of a pod.
const HALF: usize = PORTS / 2;

const POD: usize = HALF * HALF;
const HOSTS: usize = PORTS * POD;

/// Flows, all of which are complete at [`END`].
const FLOWS: usize = 2000;
const END: Span = Span::from_millis(200);

/// Mean share of the capacity of a host that the flows ask for while they arrive.
const LOAD: f64 = 0.3;

/// Every port: 10 Gbit/s, marks above 65 packets as in the paper on DCTCP, room for all packets.
const PORT: Trunk = Trunk {
    rate: Rate::from_bps(10_000_000_000),
    delay: Span::from_picos(1_000_000),
    buffer: 20_000,
    mark_above: Some(65),
    queue: None,
};

/// Sizes of flows of a web search in bytes, and the share of smaller flows: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM
/// 2010, figure 4, with the points of the traffic generator of HPCC (Li et al., SIGCOMM 2019). Linear between them.
const WEB_SEARCH: [(f64, f64); 12] = [
    (0.0, 0.0),
    (10e3, 0.15),
    (20e3, 0.2),
    (30e3, 0.3),
    (50e3, 0.4),
    (80e3, 0.53),
    (200e3, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (10e6, 0.97),
    (30e6, 1.0),
];

/// A flow between two hosts, over the aggregation switches and the core switch with these numbers.
struct Transfer {
    start: Time,
    size: Bytes,
    hosts: [usize; 2],
    over: [usize; 2],
}

/// A Poisson process of flows between random hosts. The same ones each time.
fn transfers() -> Vec<Transfer> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mean: f64 =
        WEB_SEARCH.windows(2).map(|ends| (ends[1].1 - ends[0].1) * (ends[0].0 + ends[1].0) / 2.0).sum();
    let gap = mean * 8.0 / (LOAD * HOSTS as f64 * PORT.rate.as_f64());
    let mut start = 0.0;
    let transfer = |_| {
        start -= gap * (1.0 - random.random::<f64>()).ln();
        let source = random.random_range(0..HOSTS);
        let destination = (source + random.random_range(1..HOSTS)) % HOSTS;
        Transfer {
            start: Time::from_secs(start),
            size: Bytes::from_f64(size(random.random())).max(PACKET),
            hosts: [source, destination],
            over: [random.random_range(0..HALF), random.random_range(0..HALF)],
        }
    };
    (0..FLOWS).map(transfer).collect()
}

/// The size of which this share of the flows is smaller, in bytes.
fn size(share: f64) -> f64 {
    let ends = WEB_SEARCH.windows(2).find(|ends| share <= ends[1].1);
    ends.map_or(0.0, |ends| {
        let ((from, below), (to, upto)) = (ends[0], ends[1]);
        from + (to - from) * (share - below) / (upto - below)
    })
}

/// The numbers of a link up and of the same one down.
type Both = [usize; 2];

/// The links of the tree.
struct Tree {
    /// By their numbers.
    links: Vec<LinkId>,
    /// Of each host.
    hosts: Vec<Both>,
    /// Of each edge switch, to each aggregation switch of its pod.
    edges: Vec<Vec<Both>>,
    /// Of each aggregation switch, to each of its core switches.
    aggregations: Vec<Vec<Both>>,
}

const UP: usize = 0;
const DOWN: usize = 1;

impl Tree {
    /// Builds all nodes and links.
    fn new(builder: &mut Builder) -> Outcome<Self> {
        let mut nodes = |count| (0..count).map(|_| builder.node()).collect::<Vec<NodeId>>();
        let (hosts, edges) = (nodes(HOSTS), nodes(PORTS * HALF));
        let (aggregations, cores) = (nodes(PORTS * HALF), nodes(POD));
        let mut links = Vec::new();
        let mut both = |low: NodeId, high: NodeId| -> Outcome<Both> {
            links.push(builder.link(link(low, high)?));
            links.push(builder.link(link(high, low)?));
            Ok([links.len() - 2, links.len() - 1])
        };
        let hosts =
            hosts.iter().zip(0..).map(|(host, n)| both(*host, edges[n / HALF])).collect::<Outcome<_>>()?;
        let mut above = |low: &[NodeId], high: &dyn Fn(usize, usize) -> NodeId| -> Outcome<Vec<Vec<Both>>> {
            let of_one = |(n, low): (usize, &NodeId)| (0..HALF).map(|m| both(*low, high(n, m))).collect();
            low.iter().enumerate().map(of_one).collect()
        };
        let edges = above(&edges, &|edge, m| aggregations[edge / HALF * HALF + m])?;
        let aggregations = above(&aggregations, &|aggregation, m| cores[aggregation % HALF * HALF + m])?;
        Ok(Self { links, hosts, edges, aggregations })
    }

    /// The numbers of the links from one host to another, over the aggregation switches and the core switch with these numbers.
    fn path(&self, [from, to]: [usize; 2], [aggregation, core]: [usize; 2]) -> Vec<usize> {
        let half = |host: usize, way: usize| {
            let (edge, above) = (host / HALF, host / POD * HALF + aggregation);
            [self.hosts[host][way], self.edges[edge][aggregation][way], self.aggregations[above][core][way]]
        };
        let ([up, mut down], common) = ([half(from, UP), half(to, DOWN)], levels(from, to));
        down.reverse();
        [&up[..common], &down[down.len() - common..]].concat()
    }
}

/// Levels of links that a path between two hosts climbs.
fn levels(from: usize, to: usize) -> usize {
    match () {
        () if from / HALF == to / HALF => 1,
        () if from / POD == to / POD => 2,
        () => 3,
    }
}

fn link(from: NodeId, to: NodeId) -> Outcome<LinkSpec> {
    Ok(LinkSpec {
        buffer: Buffer::Packets(PORT.buffer),
        queue: queue(&PORT)?,
        processing: Processing::ServiceTime(PORT.rate),
        ..LinkSpec::plain("port", from, to, PORT.rate, PORT.delay)
    })
}

/// The tree with all flows, at time zero.
fn network() -> Outcome<PacketNetwork> {
    let protocol = Registry::builtin().protocol("dctcp").map_err(|unknown| unknown.name)?;
    let mut builder = Builder::new(1);
    let tree = Tree::new(&mut builder)?;
    for (number, transfer) in transfers().into_iter().enumerate() {
        let [source, destination] = transfer.hosts;
        let path = |hosts| tree.path(hosts, transfer.over).into_iter().map(|link| tree.links[link]).collect();
        let paths = [transfer.hosts, [destination, source]].map(path);
        builder.flow(FlowSpec {
            name: format!("{number}"),
            weight: 1.0,
            loops: vec![control_loop(protocol, paths, PORT.rate.time_for(PACKET))?.into()],
            relays: Vec::new(),
            workload: Workload::Sized(transfer.size),
            start: transfer.start,
            stop: None,
        });
    }
    Ok(builder.build()?)
}

/// Prints the tree for another simulator: a line of `key=value` words as of [`Case::describe`](crate::cases::Case::describe), and
/// a line for each flow: start in ps, size in bytes, the numbers of the links there, and those of the links back.
pub(crate) fn describe() -> Outcome<()> {
    let tree = Tree::new(&mut Builder::new(1))?;
    println!(
        "packet={} initial_window={INITIAL_WINDOW} links={} rate={} delay={} buffer={} mark_above={} end={}",
        PACKET.get(),
        tree.links.len(),
        PORT.rate.bps(),
        PORT.delay.picos(),
        PORT.buffer,
        PORT.mark_above.unwrap_or_default(),
        END.picos(),
    );
    let numbers = |path: Vec<usize>| path.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    for Transfer { start, size, hosts: [from, to], over } in transfers() {
        let [there, back] = [[from, to], [to, from]].map(|hosts| numbers(tree.path(hosts, over)));
        println!("{} {} {there} {back}", start.picos(), size.get());
    }
    Ok(())
}

/// Runs it and prints packet-hops, CPU seconds, peak megabytes, and what happened.
pub(crate) fn run() -> Outcome<()> {
    let mut network = network()?;
    let before = measure::cpu_seconds().ok_or("no /proc/self/schedstat")?;
    network.run_to(Time::ZERO + END);
    let cpu = measure::cpu_seconds().ok_or("no /proc/self/schedstat")? - before;
    let mut times: Vec<Span> =
        network.flows().filter_map(|flow| Some(flow.completed()?.since(flow.start()))).collect();
    times.sort_unstable();
    let milliseconds = |share: f64| times[((times.len() - 1) as f64 * share) as usize].secs() * 1e3;
    let (drops, marks) = network.links().fold((0, 0), |(drops, marks), link| {
        let counters = link.counters();
        (drops + counters.drops(), marks + counters.marks)
    });
    println!(
        "{} {cpu} {} complete {} of {FLOWS}, completion time median {:.3} p99 {:.1} ms, drops {drops}, marks {marks}",
        network.packet_hops(),
        measure::peak_megabytes().ok_or("no /proc/self/status")?,
        times.len(),
        milliseconds(0.5),
        milliseconds(0.99),
    );
    Ok(())
}
