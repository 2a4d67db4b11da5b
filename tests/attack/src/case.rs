//! A random scenario before it is written as TOML: as much structure as the relations between scenarios need.

use millpond_protocols::Registry;
use millpond_results::World;
use millpond_scenario::{Faults, Files, Scenario};
use std::fmt::Write as _;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// A scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The world for which it was generated.
    pub world: World,
    /// How long it runs, in microseconds.
    pub duration_us: u64,
    /// The seed of the run.
    pub seed: u64,
    /// Lines at the top of the file.
    pub top: Vec<String>,
    /// The table of a shorthand.
    pub shorthand: Option<ShorthandCase>,
    /// The links.
    pub links: Vec<LinkCase>,
    /// The groups of flows.
    pub flows: Vec<FlowCase>,
    /// The tables `[protocols.NAME]`.
    pub entries: Vec<EntryCase>,
    /// Names and contents of trace files.
    pub traces: Vec<(String, String)>,
}

/// A table such as `[leaf-spine]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ShorthandCase {
    /// The name of the table.
    pub name: String,
    /// Its keys without those of links.
    pub keys: Vec<String>,
    /// The links that it describes, with their keys as names.
    pub links: Vec<LinkCase>,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkCase {
    /// Its name.
    pub name: String,
    /// The nodes at its ends.
    pub ends: [String; 2],
    /// Its capacity.
    pub rate: RateCase,
    /// Its propagation delay, in nanoseconds.
    pub delay_ns: u64,
    /// All other keys.
    pub keys: Vec<String>,
}

/// The capacity of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum RateCase {
    /// In bit/s.
    Constant(u64),
    /// Times in microseconds, with rates in bit/s.
    Steps(Vec<(u64, u64)>),
    /// The value of the key `trace`.
    Trace(String),
}

/// A group of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowCase {
    /// Its name.
    pub name: String,
    /// The name of its protocol or of an entry.
    pub protocol: String,
    /// Its path.
    pub path: PathCase,
    /// What it sends.
    pub workload: WorkloadCase,
    /// Size of its packets, in bytes.
    pub packet: u64,
    /// When its first flow starts, in microseconds.
    pub start_us: u64,
    /// The time from the start of one of its flows to the next, in microseconds; zero: all start together.
    pub gap_us: u64,
    /// The number of its flows; none: what the scenario takes without the key.
    pub count: Option<u64>,
    /// All other keys.
    pub keys: Vec<String>,
}

/// The path of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum PathCase {
    /// Its nodes.
    Nodes(Vec<String>),
    /// The value of the key `path` for paths between random hosts.
    Random(String),
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadCase {
    /// As much as it can.
    Bulk,
    /// One transfer of this many bytes.
    Sized(u64),
    /// At a constant rate, in bit/s.
    Rate(u64),
    /// The value of the key `workload`.
    Other(String),
}

/// A table `[protocols.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryCase {
    /// Its name.
    pub name: String,
    /// Its keys.
    pub keys: Vec<String>,
}

/// In which units quantities are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// `bps`, `us`, `ns`, `B`.
    Small,
    /// `Mbps`, `s`, `ms`, `KB`.
    Large,
}

impl Units {
    fn rate(self, bps: u64) -> String {
        match self {
            Self::Small => format!("\"{bps}bps\""),
            Self::Large => format!("\"{}.{:06}Mbps\"", bps / 1_000_000, bps % 1_000_000),
        }
    }

    fn time(self, us: u64) -> String {
        match self {
            Self::Small => format!("\"{us}us\""),
            Self::Large => format!("\"{}.{:06}s\"", us / 1_000_000, us % 1_000_000),
        }
    }

    fn delay(self, ns: u64) -> String {
        match self {
            Self::Small => format!("\"{ns}ns\""),
            Self::Large => format!("\"{}.{:06}ms\"", ns / 1_000_000, ns % 1_000_000),
        }
    }

    fn size(self, bytes: u64) -> String {
        match self {
            Self::Small => format!("\"{bytes}B\""),
            Self::Large => format!("\"{}.{:03}KB\"", bytes / 1000, bytes % 1000),
        }
    }
}

impl Case {
    /// The text of its file.
    #[must_use]
    pub fn to_toml(&self, units: Units) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(text, "duration = {}\nseed = {}", units.time(self.duration_us), self.seed);
        self.top.iter().for_each(|line| _ = writeln!(text, "{line}"));
        if let Some(ShorthandCase { name, keys, links }) = &self.shorthand {
            let _ = writeln!(text, "\n[{name}]");
            keys.iter().for_each(|line| _ = writeln!(text, "{line}"));
            links.iter().for_each(|link| _ = writeln!(text, "{} = {}", link.name, link.table(units)));
        }
        for link in &self.links {
            let [from, to] = &link.ends;
            let _ = writeln!(text, "\n[[links]]\nname = \"{}\"\nbetween = [\"{from}\", \"{to}\"]", link.name);
            let _ =
                writeln!(text, "rate = {}\ndelay = {}", link.rate.text(units), units.delay(link.delay_ns));
            link.keys.iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        for flow in &self.flows {
            let _ = writeln!(text, "\n[[flows]]\nname = \"{}\"\nprotocol = \"{}\"", flow.name, flow.protocol);
            let _ = writeln!(text, "path = {}\npacket = {}", flow.path.text(), units.size(flow.packet));
            let _ = writeln!(text, "workload = {}", flow.workload.text(units));
            flow.count.iter().for_each(|count| _ = writeln!(text, "count = {count}"));
            let _ = writeln!(text, "start = {}", flow.start(units));
            flow.keys.iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        for entry in &self.entries {
            let _ = writeln!(text, "\n[protocols.{}]", entry.name);
            entry.keys.iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        text
    }

    /// Its links and those that its shorthand describes.
    pub(crate) fn all_links(&self) -> impl Iterator<Item = &LinkCase> {
        self.links.iter().chain(self.shorthand.iter().flat_map(|shorthand| &shorthand.links))
    }

    /// The scenario.
    ///
    /// # Errors
    /// The faults of its text.
    pub fn scenario(&self) -> Result<Scenario, Faults> {
        self.scenario_in(Units::Small)
    }

    /// The scenario, written in these units.
    ///
    /// # Errors
    /// The faults of its text.
    pub fn scenario_in(&self, units: Units) -> Result<Scenario, Faults> {
        self.parse(&self.to_toml(units))
    }

    /// The scenario of another text, with the traces of this case.
    ///
    /// # Errors
    /// The faults of the text.
    pub(crate) fn parse(&self, text: &str) -> Result<Scenario, Faults> {
        Scenario::parse(text, "attack.toml", Path::new(""), &[], &Traces(&self.traces))
    }

    /// Whether both worlds accept it, as the generator intends: why not, if one does not.
    ///
    /// # Errors
    /// The faults that its world finds.
    pub fn check(&self, registry: &Registry) -> Result<Scenario, Faults> {
        let scenario = self.scenario()?;
        match self.world {
            World::Packets | World::Live => millpond_plan::packets::check(&scenario, registry).map(drop)?,
            World::Fluid => millpond_plan::fluid::plan(&scenario, registry).map(drop)?,
        }
        Ok(scenario)
    }
}

impl LinkCase {
    /// Its keys without its name and its ends, as an inline table.
    fn table(&self, units: Units) -> String {
        let first = format!("rate = {}, delay = {}", self.rate.text(units), units.delay(self.delay_ns));
        let keys = self.keys.iter().flat_map(|key| key.lines()).map(|line| format!(", {line}"));
        format!("{{ {first}{} }}", keys.collect::<String>())
    }
}

impl FlowCase {
    /// Inserts a node into the path wherever these two follow each other, in either order.
    pub(crate) fn insert(&mut self, node: &str, ends: [&str; 2]) {
        let PathCase::Nodes(path) = &mut self.path else { return };
        let joins = |pair: &[String]| ends == [&pair[0], &pair[1]] || ends == [&pair[1], &pair[0]];
        while let Some(index) = path.windows(2).position(joins) {
            path.insert(index + 1, node.to_owned());
        }
    }

    fn start(&self, units: Units) -> String {
        let first = units.time(self.start_us);
        match self.gap_us {
            0 => first,
            gap => format!("{{ first = {first}, every = {} }}", units.time(gap)),
        }
    }
}

impl PathCase {
    /// The nodes; none of paths between random hosts.
    pub(crate) fn nodes(&self) -> &[String] {
        if let Self::Nodes(nodes) = self { nodes } else { &[] }
    }

    fn text(&self) -> String {
        match self {
            Self::Nodes(nodes) => format!("{nodes:?}"),
            Self::Random(value) => value.clone(),
        }
    }
}

impl RateCase {
    /// The rate in bit/s, if it is constant.
    pub(crate) fn constant(&self) -> Option<u64> {
        if let Self::Constant(bps) = self { Some(*bps) } else { None }
    }

    /// The rate, multiplied; a trace becomes a constant rate that is higher than any of the generator's.
    pub(crate) fn times(&self, factor: u64) -> Self {
        match self {
            Self::Constant(bps) => Self::Constant(bps * factor),
            Self::Steps(steps) => Self::Steps(steps.iter().map(|(us, bps)| (*us, bps * factor)).collect()),
            Self::Trace(_) => Self::Constant(100_000_000_000),
        }
    }

    fn text(&self, units: Units) -> String {
        match self {
            Self::Constant(bps) => units.rate(*bps),
            Self::Steps(steps) => {
                let steps =
                    steps.iter().map(|(us, bps)| format!("[{}, {}]", units.time(*us), units.rate(*bps)));
                format!("{{ steps = [{}] }}", steps.collect::<Vec<_>>().join(", "))
            }
            Self::Trace(value) => format!("{{ trace = {value} }}"),
        }
    }
}

impl WorkloadCase {
    fn text(&self, units: Units) -> String {
        match self {
            Self::Bulk => "\"bulk\"".to_owned(),
            Self::Sized(bytes) => format!("{{ size = {} }}", units.size(*bytes)),
            Self::Rate(bps) => format!("{{ rate = {} }}", units.rate(*bps)),
            Self::Other(value) => value.clone(),
        }
    }
}

/// The trace files of a case, in memory.
struct Traces<'a>(&'a [(String, String)]);

impl Files for Traces<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| path.ends_with(name));
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| Error::from(ErrorKind::NotFound))
    }
}
