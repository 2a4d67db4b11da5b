//! The generator: a valid scenario from a sequence of decisions.

use crate::case::{Case, EntryCase, FlowCase, LinkCase, RateCase, WorkloadCase};
use crate::choices::Choices;
use crate::topology::{Edge, Topology};
use millpond_law::{Protocol, Settings};
use millpond_protocols::Registry;
use millpond_results::World;

/// The most bits that a bottleneck serves in a packet scenario: about 4000 packets.
const PACKET_BITS: u64 = 48_000_000;

/// Scenario `number`: of four, three are for the packet world.
#[must_use]
pub fn scenario(number: u64) -> Case {
    let world = if number.is_multiple_of(4) { World::Fluid } else { World::Packets };
    generate(&mut Choices::seeded(number), world)
}

/// The scenario that follows from these decisions.
#[must_use]
pub fn generate(choices: &mut Choices<'_>, world: World) -> Case {
    let topology = Topology::any(choices);
    let bottleneck_bps = choices.spread(200_000, 50_000_000);
    let bits = if world == World::Packets { PACKET_BITS } else { PACKET_BITS / 4 };
    let most_us = (bits * 1_000_000 / bottleneck_bps).clamp(200_000, 4_000_000);
    let duration_us = choices.between(most_us / 4, most_us) / 20_000 * 20_000;
    let mut case = Case {
        world,
        duration_us,
        seed: choices.below(1000),
        top: Vec::new(),
        links: Vec::new(),
        flows: Vec::new(),
        entries: Vec::new(),
        traces: Vec::new(),
    };
    let mut generator = Generator { choices, topology, bottleneck_bps, case: &mut case };
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
            let last_start = start_us + gap_us * count;
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
            self.choices.spread(100_000, 40_000_000)
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
            let index =
                if group == 0 { 0 } else { self.choices.below(self.topology.paths.len() as u64) as usize };
            let path = self.topology.paths[index].clone();
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
                count: self.choices.between(1, 3),
                keys: self.flow_keys(),
            };
            self.case.flows.push(flow);
        }
    }

    fn flow_keys(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        if self.choices.chance(15) {
            keys.push(format!("rtt = \"{}us\"", self.choices.between(500_000, 600_000)));
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
