//! The generator: a valid scenario from a sequence of decisions.

use crate::case::{Case, EntryCase, FlowCase, LinkCase, PathCase, RateCase, ShorthandCase, WorkloadCase};
use crate::choices::Choices;
use crate::kind::Kind;
use crate::topology::{Edge, Shorthand, Topology};
use millpond_law::{Protocol, Settings};
use millpond_protocols::Registry;
use millpond_results::World;

/// The most bits that a bottleneck serves in a packet scenario: about 4000 packets.
const PACKET_BITS: u64 = 48_000_000;

/// The ranges of capacities, delays and times of a kind of scenarios.
struct Scale {
    /// The capacity of a bottleneck, in bit/s.
    bottleneck_bps: [u64; 2],
    /// The propagation delay of a link, in nanoseconds.
    delay_ns: [u64; 2],
    /// The duration of a run, in microseconds: a multiple of the first of these, between the others.
    duration_us: [u64; 3],
    /// Base round-trip times that exceed those of all paths, in microseconds.
    long_rtt_us: [u64; 2],
}

impl Scale {
    fn of(kind: Kind, world: World) -> Self {
        match (kind, world) {
            (Kind::General | Kind::Loops, _) => Self {
                bottleneck_bps: [200_000, 50_000_000],
                delay_ns: [100_000, 40_000_000],
                duration_us: [20_000, 200_000, 4_000_000],
                long_rtt_us: [500_000, 600_000],
            },
            (Kind::DataCentres, World::Packets | World::Live) => Self {
                bottleneck_bps: [20_000_000, 2_000_000_000],
                delay_ns: [500, 50_000],
                duration_us: [1_000, 20_000, 400_000],
                long_rtt_us: [2_000, 4_000],
            },
            // A duration of at most a few hundred round-trip times.
            (Kind::DataCentres, World::Fluid) => Self {
                bottleneck_bps: [5_000_000, 200_000_000],
                delay_ns: [50_000, 2_000_000],
                duration_us: [1_000, 50_000, 400_000],
                long_rtt_us: [50_000, 60_000],
            },
        }
    }

    /// The duration in which a bottleneck of this capacity serves at most `bits`.
    fn duration(&self, choices: &mut Choices<'_>, bits: u64, bottleneck_bps: u64) -> u64 {
        let [unit, least, most] = self.duration_us;
        let longest = (bits * 1_000_000 / bottleneck_bps).clamp(least, most);
        choices.between(longest / 4, longest) / unit * unit
    }
}

/// Scenario `number` of a kind: of four, three are for the packet world.
#[must_use]
pub fn scenario(kind: Kind, number: u64) -> Case {
    let world = if number.is_multiple_of(4) { World::Fluid } else { World::Packets };
    generate(&mut Choices::seeded(number), kind, world)
}

/// The scenario that follows from these decisions.
#[must_use]
pub fn generate(choices: &mut Choices<'_>, kind: Kind, world: World) -> Case {
    let (topology, scale) = (Topology::of(kind, choices), Scale::of(kind, world));
    let [least, most] = scale.bottleneck_bps;
    let bottleneck_bps = choices.spread(least, most);
    let bits = if world == World::Packets { PACKET_BITS } else { PACKET_BITS / 4 };
    let mut case = Case {
        world,
        duration_us: scale.duration(choices, bits, bottleneck_bps),
        seed: choices.below(1000),
        top: Vec::new(),
        shorthand: None,
        links: Vec::new(),
        flows: Vec::new(),
        entries: Vec::new(),
        traces: Vec::new(),
    };
    let mut generator = Generator { choices, topology, scale, bottleneck_bps, case: &mut case };
    generator.top();
    let protocols = generator.protocols();
    generator.links(&protocols);
    generator.flows(&protocols);
    if !generator.is_packets() {
        generator.relay_buffers();
        generator.stops();
    }
    case
}

/// Parts of the names of queue laws, and of protocols that use them, that cannot be the law of the queue of one flow: REM
/// has one price for a link, and the others have several queues themselves.
const NOT_PER_FLOW: [&str; 5] = ["rem", "paganini", "fq-", "dualpi2", "prague"];

/// The key for the protocols of single loops.
const LOOPS: &str = "loops =";

fn has_fluid_model(protocol: &dyn Protocol) -> bool {
    let settings = Settings::check(protocol.card().parameters, std::iter::empty());
    settings.is_ok_and(|settings| matches!(protocol.fluid(&settings), Ok(Some(_))))
}

struct Generator<'c, 'b> {
    choices: &'c mut Choices<'b>,
    topology: Topology,
    scale: Scale,
    bottleneck_bps: u64,
    case: &'c mut Case,
}

impl Generator<'_, '_> {
    fn is_packets(&self) -> bool {
        self.case.world == World::Packets
    }

    fn top(&mut self) {
        let parts = [10, 20, 50][self.choices.below(3) as usize];
        let duration = self.case.duration_us;
        let from = if self.choices.chance(40) { duration / 4 } else { 0 };
        self.case.top.push(format!(
            "measure = {{ from = \"{from}us\", every = \"{}us\", jain_window = \"{}us\" }}",
            duration / parts,
            duration / 5
        ));
        if self.is_packets() {
            match self.choices.below(4) {
                0 => self.case.top.push("hosts = { jitter = \"0s\" }".to_owned()),
                1 => self
                    .case
                    .top
                    .push("hosts = { jitter = \"100us\" }\nrouters = { jitter = \"10us\" }".to_owned()),
                _ => {}
            }
        } else if self.choices.chance(20) {
            self.case.top.push("fluid = { base_rtt = \"service\" }".to_owned());
        }
    }

    /// The protocols of the world.
    fn usable(&self) -> Vec<&'static str> {
        let registry = Registry::builtin();
        let usable = registry.protocols().filter(|protocol| self.is_packets() || has_fluid_model(*protocol));
        usable.map(|protocol| protocol.card().name).collect()
    }

    /// One or two protocols, with tables where paths have relays.
    fn protocols(&mut self) -> Vec<String> {
        if self.topology.mixes_loops {
            return self.mixed_entries();
        }
        let names = self.usable();
        let count = if self.choices.chance(30) { 2 } else { 1 };
        let mut chosen: Vec<&str> = Vec::new();
        for _ in 0..count {
            let name = *self.choices.pick(&names);
            if !chosen.contains(&name) {
                chosen.push(name);
            }
        }
        if !self.topology.has_relays {
            return chosen.into_iter().map(str::to_owned).collect();
        }
        chosen.into_iter().map(|name| self.entry(name)).collect()
    }

    /// A table `[protocols.NAME]` with relays.
    fn entry(&mut self, protocol: &str) -> String {
        let name = format!("{protocol}-in-loops");
        let inner = self.topology.paths[0][1..self.topology.paths[0].len() - 1].to_vec();
        let are_all = inner.is_empty() || self.choices.chance(40);
        let first = if are_all { 0 } else { self.choices.below(inner.len() as u64) as usize };
        let nodes = &inner[first..];
        let relays = if are_all { "\"all\"".to_owned() } else { format!("{nodes:?}") };
        let mut keys = vec![format!("protocol = \"{protocol}\""), format!("relays = {relays}")];
        if self.topology.shares_loops {
            keys.push(format!("aggregate = {relays}"));
        }
        if self.is_packets() {
            keys.push(self.relay_buffer());
        }
        if !nodes.is_empty() && self.choices.chance(40) {
            let usable = self.usable();
            let (relay, next) = (self.choices.pick(nodes), self.choices.pick(&usable));
            keys.push(format!("{LOOPS} {{ {relay} = \"{next}\" }}"));
        }
        self.case.entries.push(EntryCase { name: name.clone(), keys });
        name
    }

    /// One to three tables `[protocols.NAME]`, whose loops run registered protocols, variants, and an entry without relays.
    fn mixed_entries(&mut self) -> Vec<String> {
        let usable = self.usable();
        let has_lgcc = usable.contains(&"lgcc");
        let plain = (*self.choices.pick(&usable)).to_owned();
        self.case
            .entries
            .push(EntryCase { name: "plain".to_owned(), keys: vec![format!("protocol = \"{plain}\"")] });
        let mut in_loops: Vec<String> = usable.iter().map(|name| (*name).to_owned()).collect();
        in_loops.push("plain".to_owned());
        if has_lgcc {
            in_loops.extend(["lgcc:cellular", "lgcc:follow=share,drain=4"].map(str::to_owned));
        }
        let count = self.choices.between(1, 3);
        (1..=count).map(|number| self.mixed_entry(number, &usable, &in_loops)).collect()
    }

    fn mixed_entry(&mut self, number: u64, usable: &[&str], in_loops: &[String]) -> String {
        let protocol = *self.choices.pick(usable);
        let name = format!("{protocol}-{number}");
        let inner = self.topology.paths[0][1..self.topology.paths[0].len() - 1].to_vec();
        let mut relays = self.some_of(&inner);
        let mut keys = vec![format!("protocol = \"{protocol}\"")];
        if relays.is_empty() {
            keys.push("relays = \"all\"".to_owned());
            relays = inner;
        } else {
            keys.push(format!("relays = {relays:?}"));
        }
        if self.topology.shares_loops {
            let shared = self.some_of(&relays);
            keys.push(if shared.is_empty() {
                "aggregate = \"all\"".to_owned()
            } else {
                format!("aggregate = {shared:?}")
            });
        }
        if self.is_packets() {
            keys.push(self.relay_buffer());
        }
        let changed = self.some_of(&relays);
        let loops = changed.iter().map(|relay| format!("{relay} = \"{}\"", self.choices.pick(in_loops)));
        let loops: Vec<String> = loops.collect();
        if !loops.is_empty() {
            keys.push(format!("{LOOPS} {{ {} }}", loops.join(", ")));
        }
        self.case.entries.push(EntryCase { name: name.clone(), keys });
        name
    }

    /// Some of these, each with equal probability, in their order.
    fn some_of(&mut self, nodes: &[String]) -> Vec<String> {
        nodes.iter().filter(|_| self.choices.chance(50)).cloned().collect()
    }

    fn relay_buffer(&mut self) -> String {
        let buffers = ["2bdp", "0.5bdp", "20packets", "30KB", "40ms", "unlimited"];
        format!("relay_buffer = \"{}\"", self.choices.pick(&buffers))
    }

    /// The buffers of relays in the fluid world.
    fn relay_buffers(&mut self) {
        for entry in 0..self.case.entries.len() {
            let buffer = self.relay_buffer();
            self.case.entries[entry].keys.push(buffer);
        }
    }

    /// Ends some flows of the fluid world before the end of the run.
    fn stops(&mut self) {
        for group in 0..self.case.flows.len() {
            let FlowCase { start_us, gap_us, count, .. } = self.case.flows[group];
            let last_start = start_us + gap_us * count.unwrap_or(self.topology.hosts.len() as u64);
            if self.choices.chance(30) && last_start < self.case.duration_us {
                let stop = self.choices.between(last_start + 1, self.case.duration_us);
                self.case.flows[group].keys.push(format!("stop = \"{stop}us\""));
            }
        }
    }

    fn links(&mut self, protocols: &[String]) {
        // Protocols with different queues of their own need a common one.
        let queues: &[&str] = if self.is_packets() {
            &["droptail", "red", "codel", "rem", "pie", "cobalt", "fq-codel", "fq-pie", "dualpi2", "l4s-step"]
        } else {
            &["droptail", "red", "rem"]
        };
        let has_loops = |entry: &EntryCase| entry.keys.iter().any(|key| key.starts_with(LOOPS));
        let has_several = protocols.len() > 1 || self.case.entries.iter().any(has_loops);
        let queue = (has_several || self.choices.chance(25)).then(|| *self.choices.pick(queues));
        for edge in std::mem::take(&mut self.topology.links) {
            let law = queue.unwrap_or(&protocols[0]);
            let may_be_fair = !NOT_PER_FLOW.iter().any(|part| law.contains(part));
            let link = self.link(&edge, queue, may_be_fair);
            self.case.links.push(link);
        }
        if let Some(Shorthand { name, keys }) = self.topology.shorthand.clone() {
            self.case.shorthand =
                Some(ShorthandCase { name, keys, links: std::mem::take(&mut self.case.links) });
        } else if !self.topology.hosts.is_empty() && self.choices.chance(70) {
            // Equal delays make several shortest paths.
            let delay_ns = self.case.links[0].delay_ns;
            self.case.links.iter_mut().for_each(|link| link.delay_ns = delay_ns);
        }
    }

    fn link(&mut self, edge: &Edge, queue: Option<&str>, may_be_fair: bool) -> LinkCase {
        let bps = self.bottleneck_bps * edge.speed;
        let rate = self.rate(&edge.name, bps);
        let mut keys = Vec::new();
        if let Some(queue) = queue {
            keys.push(format!("queue = \"{queue}\""));
        }
        if self.choices.chance(60) {
            let buffers: &[&str] = if self.is_packets() {
                &["1packets", "2packets", "10packets", "15KB", "20ms", "0.1bdp", "1bdp", "4bdp", "unlimited"]
            } else {
                &["10packets", "15KB", "20ms", "0.1bdp", "1bdp", "4bdp", "unlimited"]
            };
            keys.push(format!("buffer = \"{}\"", self.choices.pick(buffers)));
        }
        if self.is_packets() {
            self.impairments(&mut keys, may_be_fair);
        }
        LinkCase { name: edge.name.clone(), ends: edge.ends.clone(), rate, delay_ns: self.delay(), keys }
    }

    fn delay(&mut self) -> u64 {
        if self.is_packets() && self.choices.chance(10) {
            0
        } else {
            let [least, most] = self.scale.delay_ns;
            self.choices.spread(least, most)
        }
    }

    /// What only packets have: loss, jitter, reordering, fair queueing, a misconfigured router.
    fn impairments(&mut self, keys: &mut Vec<String>, may_be_fair: bool) {
        match self.choices.below(12) {
            0 => keys.push("loss = 0.01".to_owned()),
            1 => {
                keys.push("loss = { gilbert-elliott = { good_to_bad = 0.01, bad_to_good = 0.3 } }".to_owned())
            }
            2 => keys.push("jitter = \"1ms\"".to_owned()),
            3 => keys.push("jitter = \"3ms\"\nreorder = true".to_owned()),
            4 if may_be_fair => keys.push("scheduler = \"fair\"".to_owned()),
            5 => keys.push(format!("configured_rate = \"{}bps\"", self.bottleneck_bps / 2)),
            6 => keys.push(
                "configured_rate = \"120%\"\nconfigured_delay = \"30ms\"\nconfigured_levels = 8\nconfigured_noise = 0.1"
                    .to_owned(),
            ),
            _ => {}
        }
    }

    fn rate(&mut self, link: &str, bps: u64) -> RateCase {
        let duration = self.case.duration_us;
        match self.choices.below(8) {
            0 => RateCase::Steps(vec![(0, bps), (duration / 3, bps / 3), (duration / 2, bps * 2)]),
            1 if self.is_packets() => {
                // An outage of a tenth of the run.
                RateCase::Steps(vec![(0, bps), (duration / 2, 0), (duration / 10 * 6, bps)])
            }
            2 => {
                let samples = (0..8).map(|i| {
                    let mbps = bps as f64 / 1e6 * [1.0, 0.5, 0.25, 2.0][self.choices.below(4) as usize];
                    format!("{},{mbps}", f64::from(i) * duration as f64 / 16e6)
                });
                let file = format!("{link}.csv");
                let text = format!("time_s,mbps\n{}\n", samples.collect::<Vec<_>>().join("\n"));
                self.case.traces.push((file.clone(), text));
                let end = *self.choices.pick(&["loop", "hold"]);
                RateCase::Trace(format!("{{ file = \"{file}\", end = \"{end}\" }}"))
            }
            3 if self.is_packets() => {
                // Delivery opportunities: one packet of 1500 bytes in each of these milliseconds.
                let gap_ms = (12_000 * 1000 / bps).max(1);
                let times = (1..=20).map(|i| (i * gap_ms + self.choices.below(gap_ms)).to_string());
                let file = format!("{link}.down");
                self.case.traces.push((file.clone(), times.collect::<Vec<_>>().join("\n") + "\n"));
                RateCase::Trace(format!("{{ file = \"{file}\", window = \"50ms\" }}"))
            }
            _ => RateCase::Constant(bps),
        }
    }

    fn flows(&mut self, protocols: &[String]) {
        let groups = self.choices.between(1, 3.max(self.topology.paths.len() as u64 / 2));
        let all_are_sized = self.is_packets() && self.choices.chance(25);
        for group in 0..groups {
            let path = self.path(group);
            let flow = FlowCase {
                name: format!("flow{group}"),
                protocol: self.choices.pick(protocols).clone(),
                path,
                packet: *self.choices.pick(&[1500, 1500, 1000, 576]),
                workload: self.workload(all_are_sized),
                start_us: if self.choices.chance(50) {
                    0
                } else {
                    self.choices.below(self.case.duration_us / 2)
                },
                gap_us: *self.choices.pick(&[0, 1, 10_000]),
                count: self.count(),
                keys: self.flow_keys(),
            };
            self.case.flows.push(flow);
        }
    }

    /// The path of a group; the first one has the first path.
    fn path(&mut self, group: u64) -> PathCase {
        if self.topology.hosts.is_empty() {
            let paths = self.topology.paths.len() as u64;
            let index = if group == 0 { 0 } else { self.choices.below(paths) as usize };
            return PathCase::Nodes(self.topology.paths[index].clone());
        }
        let pattern = *self.choices.pick(&["random", "permutation", "incast"]);
        if self.topology.shorthand.is_some() && self.choices.chance(60) {
            return PathCase::Random(format!("\"{pattern}\""));
        }
        let some = self.some_of(&self.topology.hosts.clone());
        let hosts = if some.len() > 1 { &some } else { &self.topology.hosts };
        PathCase::Random(format!("{{ {pattern} = {hosts:?} }}"))
    }

    /// The number of flows of a group; between random hosts perhaps one for each host.
    fn count(&mut self) -> Option<u64> {
        if self.topology.hosts.is_empty() {
            return Some(self.choices.between(1, 3));
        }
        let count = self.choices.between(1, 6);
        self.choices.chance(70).then_some(count)
    }

    fn flow_keys(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        if self.choices.chance(15) {
            let [least, most] = self.scale.long_rtt_us;
            keys.push(format!("rtt = \"{}us\"", self.choices.between(least, most)));
        }
        if self.topology.mixes_loops && self.choices.chance(30) {
            keys.push(format!("weight = {}", self.choices.pick(&[0.5, 2.0, 3.0])));
            return keys;
        }
        if !self.is_packets() {
            return keys;
        }
        match self.choices.below(8) {
            0 => keys.push("delayed_acks = true".to_owned()),
            1 => keys.push("delayed_acks = { packets = 4 }".to_owned()),
            2 => keys.push("overhead = \"40B\"".to_owned()),
            3 => keys.push("ack = \"64B\"\nweight = 2.5".to_owned()),
            _ => {}
        }
        keys
    }

    fn workload(&mut self, is_sized: bool) -> WorkloadCase {
        let rate = self.bottleneck_bps / 4;
        if !self.is_packets() {
            return WorkloadCase::Bulk;
        }
        if is_sized {
            return WorkloadCase::Sized(self.choices.spread(1, 200_000));
        }
        // Flows of a shared loop exist from the beginning.
        match self.choices.below(if self.topology.shares_loops { 7 } else { 9 }) {
            0 => WorkloadCase::Sized(self.choices.spread(1, 500_000)),
            1 => WorkloadCase::Rate(rate),
            2 => WorkloadCase::Other(format!(
                "{{ rate = \"{rate}bps\", on = \"100ms\", off = {{ exponential = \"100ms\" }} }}"
            )),
            7 => WorkloadCase::Other(
                "{ transfers = { pareto = \"10KB\", shape = 1.5 }, poisson = \"200ms\" }".to_owned(),
            ),
            8 => WorkloadCase::Other("{ transfers = \"5KB\", every = \"150ms\" }".to_owned()),
            _ => WorkloadCase::Bulk,
        }
    }
}
