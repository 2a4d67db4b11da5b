//! `[protocols.NAME]`: what belongs to a protocol rather than to the network.

use super::queues::{BUFFER, QUEUE, SETTINGS};
use super::rate_code::RATE_CODE;
use crate::model::{Buffer, FlowGroup, ProtocolEntry, Relays};
use crate::place::At;
use crate::table::{
    Field, Form, KeyTable, Rule, ScenarioKey, Written, array, inline_table, is_protocol_name, key_name, put,
    set, stored_key, text,
};
use crate::tree::{Raw, TomlNode};
use crate::variant::{complete, name_without_settings};
use std::collections::{BTreeMap, BTreeSet};

const NODES: Form = Form::AnyOf(&[Form::Word("all"), Form::List { item: &Form::Name, least: 0 }]);

/// A protocol for each of some relays.
const LOOPS: Form = Form::Map(&Form::ProtocolName);

/// The keys of `[protocols.NAME]`.
pub(crate) static PROTOCOL: KeyTable<ProtocolEntry> = KeyTable {
    name: "protocol",
    blank: || ProtocolEntry {
        protocol: At::default(),
        relays: Relays::Nodes(Vec::new()),
        relay_buffer: Buffer::Unlimited,
        aggregate: Relays::Nodes(Vec::new()),
        loops: BTreeMap::new(),
        queue: None,
        rate_code: None,
        params: Vec::new(),
    },
    plain: None,
    keys: &[
        stored_key! {
            name: "protocol",
            form: Form::Name,
            rule: Rule::Absent("`NAME`"),
            meaning: "the registered protocol, if `NAME` is a variant of it",
            field: protocol,
        },
        ScenarioKey {
            name: "relays",
            form: NODES,
            rule: Rule::Default("[]"),
            meaning: "the nodes that cut paths into loops, each inside the path of a flow",
            read: |entry, written| set(&mut entry.relays, relays(written)),
            write: |entry| Some(nodes(&entry.relays)),
        },
        stored_key! {
            name: "relay_buffer",
            form: BUFFER,
            // The previous loop is not short of credit, and a stall of the next one leaves no more than that behind.
            rule: Rule::Default("\"2bdp\""),
            meaning: "bound of a relay's send queue together with what is under way to it. A time is what the next \
                      loop may send in it, at least 5 packets. A BDP is that of the loop before the relay: the mean \
                      rate of its slowest link, its base RTT. The bound is then also at most what the next loop may \
                      send in as many base RTTs of that loop and 8 of its own, at least 5 packets",
            field: relay_buffer,
        },
        ScenarioKey {
            name: "aggregate",
            form: NODES,
            rule: Rule::Default("[]"),
            meaning: "those of `relays` from which flows that continue together share one loop (below)",
            read: |entry, written| set(&mut entry.aggregate, aggregate(written, &entry.relays)),
            write: |entry| Some(nodes(&entry.aggregate)),
        },
        ScenarioKey {
            name: "loops",
            form: LOOPS,
            rule: Rule::Default("{}"),
            meaning: "other protocols of single loops, as in `{ R2 = \"pledge\" }`: the loop that begins at this relay, and \
                      those after it up to the next relay named here, run this one \
                      ([below](#protocols-of-single-loops))",
            read: |entry, written| set(&mut entry.loops, loops(written, &entry.relays)),
            write: |entry| (!entry.loops.is_empty()).then(|| loops_to_toml(&entry.loops)),
        },
        ScenarioKey {
            name: "queue",
            form: QUEUE,
            rule: Rule::Default("\"default\""),
            meaning: "the queue law at links that name none; `\"default\"`: the protocol's choice",
            read: |entry, written| set(&mut entry.queue, Field::read(written)),
            write: |entry| put(&entry.queue),
        },
        ScenarioKey {
            name: "rate_code",
            form: Form::Table(&RATE_CODE),
            rule: Rule::Default("\"exact\""),
            meaning: "how acknowledgements return the rate of the feedback, in the packet world",
            read: |entry, written| set(&mut entry.rate_code, RATE_CODE.read(written)),
            write: |entry| Some(RATE_CODE.write(&entry.rate_code)),
        },
        stored_key! {
            name: ProtocolEntry::PARAMS,
            form: SETTINGS,
            rule: Rule::Default("{}"),
            meaning: "the protocol's parameters: `millpond protocols NAME` lists them",
            field: params,
        },
    ],
};

/// Reads every entry.
pub(crate) fn read(written: &Written<'_>) -> Option<Entries> {
    let Raw::Table(table) = &written.node.value else {
        return written.expected("[protocols.NAME] tables");
    };
    let faults = written.context.faults;
    let mut entries = Entries::default();
    for (name, node) in &table.entries {
        let earlier = faults.len();
        if !is_protocol_name(name) {
            let message = format!("\"{}\" is not a name", name.value);
            let help = "write a name of letters, digits, hyphens and underscores: it is part of file names";
            let _: Option<()> = faults.report(name.place, message, "in [protocols]", help);
        }
        let entry = PROTOCOL.read(&written.part(node, written.form)).and_then(|mut entry| {
            match complete(&mut entry, name, &faults.sources) {
                Ok(()) => Some(entry),
                Err(fault) => faults.forward(name.place, fault, "in [protocols]"),
            }
        });
        let Some(mut entry) = entry.filter(|_| faults.len() == earlier) else {
            entries.faulty.insert(name.value.clone());
            continue;
        };
        if entry.protocol.is_empty() {
            entry.protocol = name.clone();
        }
        entries.right.insert(name.value.clone(), entry);
    }
    entries.without_dependent_ones();
    Some(entries)
}

/// The entries of `[protocols]`.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) right: BTreeMap<String, ProtocolEntry>,
    /// The names of those with a fault.
    pub(crate) faulty: BTreeSet<String>,
}

impl Entries {
    /// Whether this protocol has the settings of an entry with a fault.
    pub(crate) fn depends_on_faulty(faulty: &BTreeSet<String>, protocol: &str) -> bool {
        faulty.contains(protocol) || faulty.contains(name_without_settings(protocol))
    }

    /// Moves the entries with a loop of a faulty protocol to the faulty ones.
    fn without_dependent_ones(&mut self) {
        let depends = |entry: &ProtocolEntry| {
            entry.loops.values().any(|protocol| Self::depends_on_faulty(&self.faulty, protocol))
        };
        let named = self.right.iter().filter(|(_, entry)| depends(entry));
        let names: Vec<String> = named.map(|(name, _)| name.clone()).collect();
        self.right.retain(|name, _| !names.contains(name));
        self.faulty.extend(names);
    }
}

/// The entry as TOML.
pub(crate) fn write(name: &str, entry: &ProtocolEntry) -> String {
    format!("\n[protocols.{}]\n{}", key_name(name), PROTOCOL.lines(entry))
}

/// `"all"` or a list of nodes, each inside the path of a flow.
fn relays(written: &Written<'_>) -> Option<Relays> {
    let items = match &written.node.value {
        Raw::Text(text) if text == "all" => return Some(Relays::All),
        Raw::List(items) => items,
        _ => return written.expected("a list of nodes such as [\"R1\", \"R5\"], or \"all\""),
    };
    let relay = |item: &TomlNode| {
        let name = written.part(item, &Form::Text).placed_text()?;
        check_inside_a_path(written, &name)?;
        Some(name)
    };
    items.iter().map(relay).collect::<Option<_>>().map(Relays::Nodes)
}

/// Reports a node that is unknown or not inside the path of a flow.
fn check_inside_a_path(written: &Written<'_>, name: &At<String>) -> Option<()> {
    let (faults, network, flows) = (written.context.faults, written.context.network, written.context.flows);
    let node = network.known(faults, name)?;
    // A flow without a path was reported: it is unknown what it should pass through.
    let is_incomplete = flows.is_empty() || flows.iter().any(|flow: &FlowGroup| flow.paths.is_empty());
    if is_incomplete || flows.iter().flat_map(|flow| &flow.paths).any(|path| network.is_inside(path, node)) {
        return Some(());
    }
    let message = format!("no flow passes through \"{}\"", name.value);
    let help = "a relay stands between a sender and a receiver";
    faults.report(name.place, message, "not inside any path", help)
}

/// A protocol for each relay named, which is one of the entry's relays.
fn loops(written: &Written<'_>, relays: &Relays) -> Option<BTreeMap<String, At<String>>> {
    let Raw::Table(table) = &written.node.value else {
        return written.expected("a protocol for each relay, such as { R2 = \"pledge\" }");
    };
    if are_faulty(relays, written) {
        return None;
    }
    let protocol = |(relay, node): &(At<String>, TomlNode)| {
        check_inside_a_path(written, relay)?;
        if !relays.contains(relay) {
            let message = format!("\"{}\" is no relay", relay.value);
            let help = format!("a loop begins at a relay: add \"{}\" to relays", relay.value);
            return written.context.faults.report(relay.place, message, "not among the relays", help);
        }
        let protocol = written.part(node, &Form::ProtocolName).protocol_name()?;
        Some((relay.value.clone(), protocol))
    };
    table.entries.iter().map(protocol).collect()
}

/// `"all"` or a list of nodes, each one of the entry's relays.
fn aggregate(written: &Written<'_>, relays: &Relays) -> Option<Relays> {
    let items = match &written.node.value {
        Raw::Text(text) if text == "all" => return Some(Relays::All),
        Raw::List(items) => items,
        _ => return written.expected("a list of relays such as [\"R1\", \"R5\"], or \"all\""),
    };
    if are_faulty(relays, written) {
        return None;
    }
    let relay = |item: &TomlNode| {
        let name = written.part(item, &Form::Text).placed_text()?;
        if relays.contains(&name) {
            return Some(name);
        }
        let message = format!("\"{}\" is no relay", *name);
        let help = "flows can share a loop that begins at a relay";
        written.context.faults.report(name.place, message, "not among the relays", help)
    };
    items.iter().map(relay).collect::<Option<_>>().map(Relays::Nodes)
}

/// Whether relays are written beside this value, but not right. That was reported.
fn are_faulty(relays: &Relays, written: &Written<'_>) -> bool {
    let is_none = |node: &TomlNode| matches!(&node.value, Raw::List(items) if items.is_empty());
    relays.is_empty() && written.sibling("relays").is_some_and(|node| !is_none(node))
}

fn loops_to_toml(loops: &BTreeMap<String, At<String>>) -> String {
    inline_table(loops.iter().map(|(relay, protocol)| (relay.as_str(), protocol.to_toml())))
}

fn nodes(relays: &Relays) -> String {
    match relays {
        Relays::All => text("all"),
        Relays::Nodes(names) => array(names.iter().map(Field::to_toml)),
    }
}
