//! The keys at the top of a scenario.

use super::endpoint::ENDPOINT;
use super::flows::{self, FLOW};
use super::fluid::{self, FLUID};
use super::links::{self, LINK};
use super::measure::{self, MEASURE};
use super::processing::{HOSTS, ROUTERS};
use super::protocols::{self, Entries, PROTOCOL};
use super::shorthand;
use super::shorthand::chain::{self, CHAIN};
use super::shorthand::dumbbell::{self, DUMBBELL};
use super::shorthand::fat_tree::{self, FAT_TREE};
use super::shorthand::leaf_spine::{self, LEAF_SPINE};
use super::shorthand::parking_lot::{self, PARKING_LOT};
use super::shorthand::topology::{self, TOPOLOGY};
use super::shorthand::tree::{self, TREE};
use crate::collector::FaultCollector;
use crate::model::{ProtocolEntry, Scenario};
use crate::network::Network;
use crate::place::At;
use crate::table::{Fields, Form, KeyTable, ReadContext, Rule, ScenarioKey, Written, put, set, stored_key};
use crate::tree::Raw;
use crate::variant;
use millpond_units::{Span, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// A scenario while it is read.
#[derive(Default)]
pub(crate) struct Draft {
    scenario: Scenario,
    /// `None` while it is unknown or wrong.
    duration: Option<Span>,
    network: Network,
    /// The shorthand that the network was built from.
    shorthand: Option<&'static str>,
    /// Entries of `[protocols]` with a fault, which are not in the scenario.
    faulty_entries: BTreeSet<String>,
}

/// The keys at the top.
pub(crate) static SCENARIO: KeyTable<Draft> = KeyTable {
    name: "scenario",
    blank: Draft::default,
    plain: None,
    keys: &[
        stored_key! {
            name: "title",
            form: Form::Text,
            rule: Rule::Default("\"\""),
            meaning: "what the scenario is about, in a few words",
            field: scenario.title,
        },
        ScenarioKey {
            name: "duration",
            form: Form::POSITIVE_SPAN,
            rule: Rule::Required("\"100s\""),
            meaning: "how much time is simulated, at most 213 days",
            read: |draft, written| written.store(&mut draft.duration),
            write: |draft| draft.duration.as_ref().and_then(put),
        },
        stored_key! {
            name: "seed",
            form: Form::Whole { least: 0, most: u64::MAX },
            rule: Rule::Default("1"),
            meaning: "seed of all random numbers",
            field: scenario.seed,
        },
        ScenarioKey {
            name: "measure",
            form: Form::Table(&MEASURE),
            rule: Rule::Default("{}"),
            meaning: "what to record",
            read: |draft, written| {
                let measure = measure::read(&written.with_context(&draft.context(written)));
                set(&mut draft.scenario.measure, measure)
            },
            write: |_| None,
        },
        ScenarioKey {
            name: "hosts",
            form: Form::Table(&HOSTS),
            rule: Rule::Default("{}"),
            meaning: "processing times of sending hosts, in the packet world",
            read: |draft, written| set(&mut draft.scenario.hosts, HOSTS.read(written)),
            write: |_| None,
        },
        ScenarioKey {
            name: "routers",
            form: Form::Table(&ROUTERS),
            rule: Rule::Default("{}"),
            meaning: "processing times of routers, in the packet world",
            read: |draft, written| set(&mut draft.scenario.routers, ROUTERS.read(written)),
            write: |_| None,
        },
        ScenarioKey {
            name: "endpoint",
            form: Form::Table(&ENDPOINT),
            rule: Rule::Default("{}"),
            meaning: "loss detection and timers of all senders, in the packet world and in the live world",
            read: |draft, written| set(&mut draft.scenario.endpoint, ENDPOINT.read(written)),
            write: |_| None,
        },
        ScenarioKey {
            name: "fluid",
            form: Form::Table(&FLUID),
            rule: Rule::Default("{}"),
            meaning: "how the equations of the fluid world are integrated, and what its base RTTs consist of",
            read: |draft, written| {
                let context = draft.context(written);
                let options = fluid::read(&written.with_context(&context), &draft.scenario.measure);
                set(&mut draft.scenario.fluid, options)
            },
            write: |_| None,
        },
        ScenarioKey {
            name: "dumbbell",
            form: Form::Table(&DUMBBELL),
            rule: Rule::Absent("none"),
            meaning: "shorthand: senders, a bottleneck, receivers",
            read: |draft, written| draft.build("dumbbell", written, dumbbell::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "parking-lot",
            form: Form::Table(&PARKING_LOT),
            rule: Rule::Absent("none"),
            meaning: "shorthand: a row of links with cross traffic",
            read: |draft, written| draft.build("parking-lot", written, parking_lot::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "chain",
            form: Form::Table(&CHAIN),
            rule: Rule::Absent("none"),
            meaning: "shorthand: a row of links",
            read: |draft, written| draft.build("chain", written, chain::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "tree",
            form: Form::Table(&TREE),
            rule: Rule::Absent("none"),
            meaning: "shorthand: a tree of links",
            read: |draft, written| draft.build("tree", written, tree::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "leaf-spine",
            form: Form::Table(&LEAF_SPINE),
            rule: Rule::Absent("none"),
            meaning: "shorthand: hosts at leaf switches, which all spine switches join",
            read: |draft, written| draft.build("leaf-spine", written, leaf_spine::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "fat-tree",
            form: Form::Table(&FAT_TREE),
            rule: Rule::Absent("none"),
            meaning: "shorthand: hosts at a fat tree of switches",
            read: |draft, written| draft.build("fat-tree", written, fat_tree::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "topology",
            form: Form::Table(&TOPOLOGY),
            rule: Rule::Absent("none"),
            meaning: "a network from a GraphML file",
            read: |draft, written| draft.build("topology", written, topology::build),
            write: |_| None,
        },
        ScenarioKey {
            name: "links",
            form: Form::Tables(&LINK),
            rule: Rule::Absent("`[]`"),
            meaning: "the links",
            read: links,
            write: |_| None,
        },
        ScenarioKey {
            name: "flows",
            form: Form::Tables(&FLOW),
            rule: Rule::Required("[[flows]] tables, at least one"),
            meaning: "the flow groups, at least one",
            read: |draft, written| {
                let flows = flows::read(&written.with_context(&draft.context(written)));
                set(&mut draft.scenario.flows, flows)
            },
            write: |_| None,
        },
        ScenarioKey {
            name: "protocols",
            form: Form::NamedTables(&PROTOCOL),
            rule: Rule::Default("{}"),
            meaning: "settings of protocols by name",
            read: |draft, written| {
                let Some(entries) = protocols::read(&written.with_context(&draft.context(written))) else {
                    draft.scenario.flows.clear();
                    return None;
                };
                draft.faulty_entries = entries.faulty;
                draft.scenario.protocols = entries.right;
                Some(())
            },
            write: |_| None,
        },
    ],
};

impl Draft {
    /// The context of a table that is read after what is known already.
    fn context<'a>(&'a self, written: &Written<'a>) -> ReadContext<'a> {
        let flows = self.scenario.flows.as_slice();
        let (duration, seed, network) = (self.duration, self.scenario.seed, &self.network);
        ReadContext { duration, seed, network, flows, ..*written.context }
    }

    /// Builds the network of the shorthand called `name`, of which a scenario has one at most.
    fn build(&mut self, name: &'static str, written: &Written<'_>, build: shorthand::Build) -> Option<()> {
        if let Some(other) = self.shorthand {
            let message = format!("[{name}] beside [{other}]");
            let help = "use one shorthand and add what else there is as [[links]]";
            return written.report(message, "a second shorthand", help);
        }
        self.shorthand = Some(name);
        let built = build(written, &mut self.network);
        self.network.is_incomplete |= built.is_none();
        built
    }
}

fn links(draft: &mut Draft, written: &Written<'_>) -> Option<()> {
    let Raw::List(items) = &written.node.value else {
        draft.network.is_incomplete = true;
        return written.expected_tables("links");
    };
    for item in items {
        let link = links::read(&written.part(item, written.form), &mut draft.network);
        draft.network.is_incomplete |= link.is_none();
    }
    Some(())
}

/// The keys at the top.
pub(crate) fn top_keys() -> Vec<&'static str> {
    SCENARIO.keys.iter().map(|key| key.name).collect()
}

/// The keys at the top that describe a network.
const NETWORK: &[&str] =
    &["dumbbell", "parking-lot", "chain", "tree", "leaf-spine", "fat-tree", "topology", "links"];

/// Whether a key at the top is a misspelling of one of these.
fn misspells(written: &Written<'_>, names: &[&str]) -> bool {
    let Raw::Table(table) = &written.node.value else { return false };
    let known = written.context.top_keys;
    let unknown = table.entries.iter().filter(|(key, _)| !known.contains(&key.value.as_str()));
    unknown.into_iter().take(100).any(|(key, _)| nearest(key, names.iter().copied()).is_some())
}

/// Reads a whole document. If faults are reported, the scenario has the links, flows and protocols that are right as far as
/// they do not depend on what is wrong. `None` if the document is no table.
pub(crate) fn read(written: &Written<'_>) -> Option<Scenario> {
    let mut fields = Fields::new(written, SCENARIO.name)?;
    let mut draft = Draft::default();
    draft.network.is_incomplete = misspells(written, NETWORK);
    fields.read_into(&SCENARIO, &mut draft);
    let Draft { mut scenario, duration, network, faulty_entries, .. } = draft;
    fields.finish();
    if misspells(written, &["protocols"]) {
        scenario.flows.clear();
    }
    scenario.flows.retain(|group| !Entries::depends_on_faulty(&faulty_entries, &group.protocol));
    let faults = written.context.faults;
    add_variants_of_loops(&mut scenario.protocols, faults);
    scenario.flows.retain(|group| {
        let added = variant::add(&mut scenario.protocols, &group.protocol, &faults.sources);
        let place = group.protocol.place;
        added.map_err(|fault| faults.forward::<()>(place, fault, "the protocol of these flows")).is_ok()
    });
    let Network { nodes, links, .. } = network;
    Some(Scenario { duration: duration.unwrap_or_default(), nodes, links, ..scenario })
}

/// Adds an entry for each variant that is the protocol of a loop. One that cannot be read is reported and left out.
fn add_variants_of_loops(protocols: &mut BTreeMap<String, ProtocolEntry>, faults: &FaultCollector) {
    let named: Vec<At<String>> = protocols.values().flat_map(|entry| entry.loops.values()).cloned().collect();
    for name in named {
        if let Err(fault) = variant::add(protocols, &name, &faults.sources) {
            let _: Option<()> = faults.forward(name.place, fault, "the protocol of this loop");
            protocols.values_mut().for_each(|entry| entry.loops.retain(|_, other| *other != name));
        }
    }
}

impl Scenario {
    /// The scenario as a TOML file that can be run again: every key, every link and every path. Shorthands are
    /// written out, overrides applied, trace files named by their absolute paths.
    pub fn to_toml(&self) -> String {
        let Self { title, duration, seed, .. } = self;
        let top = Self { title: title.clone(), seed: *seed, ..Self::default() };
        let top = Draft { scenario: top, duration: Some(*duration), ..Draft::default() };
        let mut out = SCENARIO.lines(&top);
        out += &format!("\n[measure]\n{}", MEASURE.lines(&self.measure));
        for (name, table, processing) in
            [("hosts", &HOSTS, &self.hosts), ("routers", &ROUTERS, &self.routers)]
        {
            if processing.jitter.is_some() {
                out += &format!("\n[{name}]\n{}", table.lines(processing));
            }
        }
        out += &format!("\n[endpoint]\n{}", ENDPOINT.lines(&self.endpoint));
        out += &format!("\n[fluid]\n{}", FLUID.lines(&self.fluid));
        out.extend(self.links.iter().map(|link| links::write(link, self)));
        out.extend(self.flows.iter().map(|flow| flows::write(flow, self)));
        out.extend(self.protocols.iter().map(|(name, entry)| protocols::write(name, entry)));
        out
    }

    /// The name of a node.
    pub(crate) fn node_name(&self, node: usize) -> &str {
        self.nodes.get(node).map_or("", String::as_str)
    }
}
