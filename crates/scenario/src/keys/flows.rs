//! `[[flows]]`: who sends what to whom, and when.

use super::conduct::{RECEIVER, SENDER};
use super::paths::{self, DRAWN, DrawnTable};
use super::times::{DELAYED_ACKS, LASTING, RTT, START};
use super::unique;
use super::workloads::WORKLOAD;
use crate::distribution::Lasting;
use crate::model::{FlowGroup, FlowStart, ReceiverConduct, Rtt, Scenario, SenderConduct, Stop, Workload};
use crate::place::At;
use crate::table::{
    Field, Fields, Form, KeyTable, Rule, ScenarioKey, Written, array, put, set, stored_key, text,
};
use crate::tree::Raw;
use millpond_units::{Bytes, Readable, Time};
use std::collections::BTreeSet;

/// The most flows of a scenario.
const MOST_FLOWS: u64 = 1_000_000;

const LARGEST_PACKET: Bytes = Bytes::new(65_535);
const PACKET: Form = Form::Bytes { least: Bytes::new(1), most: LARGEST_PACKET };

/// A flow group with the names of the nodes on its paths.
pub(crate) struct FlowTable {
    pub(crate) group: FlowGroup,
    /// The nodes of each path, for writing.
    nodes: Vec<Vec<String>>,
    /// What they are drawn from, for writing.
    drawn: Option<DrawnTable>,
}

/// The keys of `[[flows]]`.
pub(crate) static FLOW: KeyTable<FlowTable> = KeyTable {
    name: "flow group",
    blank: || FlowTable { group: blank(), nodes: Vec::new(), drawn: None },
    plain: None,
    keys: &[
        stored_key! {
            name: "name",
            form: Form::Name,
            rule: Rule::Required("\"short\""),
            meaning: "the unique name of the group; its flows are called `name` if alone, else `name.0`, `name.1`, ...",
            field: group.name,
        },
        stored_key! {
            name: "count",
            form: Form::Whole { least: 1, most: MOST_FLOWS },
            rule: Rule::Absent("1, or one per path"),
            meaning: "the number of flows; all groups together have at most a million",
            field: group.count,
        },
        stored_key! {
            name: "protocol",
            form: Form::ProtocolName,
            rule: Rule::Required("\"cubic\""),
            meaning: "a registered protocol, an entry of `[protocols]`, or one of them with settings",
            field: group.protocol,
        },
        stored_key! {
            name: "pinned",
            form: Form::Flag,
            rule: Rule::Default("false"),
            meaning: "`compare` does not change the protocol of this group",
            field: group.pinned,
        },
        ScenarioKey {
            name: "path",
            form: Form::AnyOf(&[paths::NODES, Form::Name, Form::Table(&DRAWN)]),
            rule: Rule::Absent("the shorthand's first"),
            meaning: "the nodes from sender to receiver, as in `[\"R1\", \"R2\"]`, or the name of a path that a shorthand defines",
            read: |flow, written| paths::path(&mut flow.group, written),
            write: |flow| match (&flow.drawn, flow.nodes.as_slice()) {
                (Some(drawn), _) => Some(DRAWN.write(drawn)),
                (None, [path]) => Some(array(path.iter().map(text))),
                _ => None,
            },
        },
        ScenarioKey {
            name: "paths",
            form: Form::List { item: &paths::NODES, least: 1 },
            rule: Rule::Absent("see `path`"),
            meaning: "instead of `path`: several lists of nodes, which the group's flows take in turn",
            read: |flow, written| set(&mut flow.group.paths, paths::paths(written)),
            write: |flow| match flow.nodes.as_slice() {
                [_] => None,
                _ if flow.drawn.is_some() => None,
                paths => Some(array(paths.iter().map(|path| array(path.iter().map(text))))),
            },
        },
        ScenarioKey {
            name: "from",
            form: Form::Name,
            rule: Rule::Absent("see `path`"),
            meaning: "instead of `path`: the sender's node. The path is the shortest (fewest hops, then least delay, \
                      then names)",
            read: |flow, written| set(&mut flow.group.paths, paths::from_and_to(written)),
            write: |_| None,
        },
        ScenarioKey {
            name: "to",
            form: Form::Name,
            rule: Rule::Absent("required with `from`"),
            meaning: "the receiver's node",
            // Read together with `from`.
            read: |_, _| Some(()),
            write: |_| None,
        },
        ScenarioKey {
            name: "rtt",
            form: Form::Table(&RTT),
            rule: Rule::Absent("the path's"),
            meaning: "the base round-trip time, if it is longer than the path's own",
            read: |flow, written| {
                let rtt = rtt(&flow.group, written);
                set(&mut flow.group.rtt, rtt.map(Some))
            },
            write: |flow| flow.group.rtt.as_ref().and_then(put),
        },
        stored_key! {
            name: "start",
            form: Form::Table(&START),
            rule: Rule::Default("\"0s\""),
            meaning: "when its flows start",
            field: group.start,
        },
        ScenarioKey {
            name: "stop",
            form: Form::Table(&START),
            rule: Rule::Absent("the end of the run"),
            meaning: "when its flows end, in the same forms",
            read: |flow, written| {
                set(&mut flow.group.stop, FlowStart::read(written).map(|stop| Some(Stop::At(stop))))
            },
            write: |flow| match &flow.group.stop {
                Some(Stop::At(stop)) => put(stop),
                _ => None,
            },
        },
        ScenarioKey {
            name: "lasts",
            form: Form::Table(&LASTING),
            rule: Rule::Absent("see `stop`"),
            meaning: "instead of `stop`: how long each flow lasts, from its start",
            read: lasts,
            write: |flow| match &flow.group.stop {
                Some(Stop::After(time)) => put(time),
                _ => None,
            },
        },
        stored_key! {
            name: "packet",
            form: PACKET,
            rule: Rule::Default("\"1500B\""),
            meaning: "size of a data packet on the wire",
            field: group.packet,
        },
        ScenarioKey {
            name: "overhead",
            form: Form::Bytes { least: Bytes::ZERO, most: LARGEST_PACKET },
            rule: Rule::Default("\"0B\""),
            meaning: "how much of a packet is not payload, less than `packet`",
            read: |flow, written| set(&mut flow.group.overhead, overhead(flow.group.packet, written)),
            write: |flow| put(&flow.group.overhead),
        },
        stored_key! {
            name: "ack",
            form: PACKET,
            rule: Rule::Default("\"40B\""),
            meaning: "size of an acknowledgement on the wire",
            field: group.ack,
        },
        ScenarioKey {
            name: "delayed_acks",
            form: Form::Table(&DELAYED_ACKS),
            rule: Rule::Default("false"),
            meaning: "one acknowledgement for several packets",
            read: |flow, written| set(&mut flow.group.delayed_acks, DELAYED_ACKS.read(written)),
            write: |flow| Some(DELAYED_ACKS.write(&flow.group.delayed_acks)),
        },
        stored_key! {
            name: "sender",
            form: Form::Table(&SENDER),
            rule: Rule::Default("\"honest\""),
            meaning: "whether the sender does what its law permits ([misbehaviour](misbehaviour.md))",
            field: group.sender,
        },
        stored_key! {
            name: "receiver",
            form: Form::Table(&RECEIVER),
            rule: Rule::Default("\"honest\""),
            meaning: "whether the receiver acknowledges what has arrived",
            field: group.receiver,
        },
        stored_key! {
            name: "workload",
            form: Form::Table(&WORKLOAD),
            rule: Rule::Default("\"bulk\""),
            meaning: "what the application sends",
            field: group.workload,
        },
        stored_key! {
            name: "weight",
            form: Form::Number { least: 1e-3, most: 1e3 },
            rule: Rule::Default("1"),
            meaning: "share relative to other flows, under a scheduler of flows and for senders that read it (LGC, LGCC, MCP, Paganini, VCP); its priority under `\"priority\"`",
            field: group.weight,
        },
    ],
};

/// A group before any key is read.
fn blank() -> FlowGroup {
    FlowGroup {
        name: At::default(),
        count: 0,
        protocol: At::default(),
        pinned: false,
        paths: Vec::new(),
        drawn: None,
        rtt: None,
        start: FlowStart::At(Time::ZERO),
        stop: None,
        packet: Bytes::ZERO,
        overhead: Bytes::ZERO,
        ack: Bytes::ZERO,
        delayed_acks: None,
        sender: SenderConduct::Honest,
        receiver: ReceiverConduct::Honest,
        workload: Workload::Bulk,
        weight: 1.0,
    }
}

/// Reads every `[[flows]]` table.
pub(crate) fn read(written: &Written<'_>) -> Option<Vec<FlowGroup>> {
    let Raw::List(items) = &written.node.value else { return written.expected_tables("flows") };
    if items.is_empty() {
        return written.expected("at least one [[flows]] table");
    }
    let (mut groups, mut names) = (Vec::new(), BTreeSet::new());
    for item in items {
        if let Some(group) = group(&written.part(item, written.form)) {
            let is_taken = !names.insert(group.name.value.clone());
            unique(written.context.faults, &group.name, "flow group", is_taken);
            groups.push(group);
        }
    }
    let flows: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
    if flows > MOST_FLOWS {
        let place = groups.last().map_or(written.place(), |group| group.name.place);
        let message = format!("all groups together have {flows} flows");
        let help = format!("a scenario has at most {MOST_FLOWS} flows");
        let _: Option<()> = written.context.faults.report(place, message, "the last of the groups", help);
    }
    Some(groups)
}

fn group(written: &Written<'_>) -> Option<FlowGroup> {
    let mut fields = Fields::new(written, FLOW.name)?;
    let mut group = fields.read_partly(&FLOW).group;
    match ["path", "paths", "from", "to"].map(|key| fields.has(key)) {
        [true, false, false, false] | [false, true, false, false] | [false, false, true, true] => {}
        [false, false, false, false] if written.context.network.default_path_set.is_some() => {
            // A fault is reported; the other keys of the group are checked all the same.
            let _: Option<()> = paths::by_default(&mut group, written);
        }
        [false, false, false, false] if written.context.network.is_incomplete => {}
        keys => report_paths(written, keys),
    }
    if group.count == 0 {
        group.count = u32::try_from(group.paths.len()).unwrap_or(u32::MAX).max(1);
    }
    check_order(&fields, &group);
    check_name(written, &group);
    fields.finish();
    Some(group)
}

/// Reports a group with the name that results give to all flows together.
fn check_name(written: &Written<'_>, group: &FlowGroup) {
    if group.name.value == "all" {
        let (message, help) = ("\"all\" is the name of all flows together", "name the group otherwise");
        written.context.faults.report(group.name.place, message, "in results", help).unwrap_or_default()
    }
}

/// Reports that a flow has not exactly one form of a path; `keys`: whether it has `path`, `paths`, `from` and `to`.
fn report_paths(written: &Written<'_>, keys: [bool; 4]) {
    let (key, message, label) = match keys {
        [false, false, true, false] => ("from", "`from` without `to`", "only this end"),
        [false, false, false, true] => ("to", "`to` without `from`", "only this end"),
        _ => ("", "expected one path or set of paths", "in here"),
    };
    let place = written.key(key).map_or(written.place(), |node| node.place);
    let help = "write path = [\"R1\", \"R2\"], or from = \"R1\" and to = \"R2\" for the shortest path";
    written.context.faults.report(place, message, label, help).unwrap_or_default()
}

/// Reports a flow that certainly stops before it starts.
fn check_order(fields: &Fields<'_>, group: &FlowGroup) {
    let (Some(Stop::At(stop)), Some(node)) = (&group.stop, fields.written.key("stop")) else { return };
    // Both bounds rise by a constant time from flow to flow, so that the first or the last flow is the worst one.
    let flows = [0, u64::from(group.count.saturating_sub(1))];
    let bounds = flows.map(|flow| (group.start.earliest(flow), stop.latest(flow)));
    for (start, end) in bounds {
        let Some(end) = end.filter(|end| *end <= start) else { continue };
        let message = format!("a flow stops at {}, but starts at {}", end.readable(), start.readable());
        let help =
            "stop is a time of the run, after start; write lasts = \"5s\" for a time from each flow's start";
        let faults = fields.written.context.faults;
        return faults.report(node.place, message, "not after the start", help).unwrap_or_default();
    }
}

impl FlowStart {
    /// The earliest time that flow number `flow` may have.
    fn earliest(&self, flow: u64) -> Time {
        match *self {
            Self::At(time) | Self::Uniform(time, _) | Self::Poisson { first: time, .. } => time,
            Self::Every { first, interval } => first + interval * flow,
        }
    }

    /// The latest time that flow number `flow` may have; none if it has no bound.
    fn latest(&self, flow: u64) -> Option<Time> {
        match *self {
            Self::At(time) | Self::Uniform(_, time) => Some(time),
            Self::Every { first, interval } => Some(first + interval * flow),
            Self::Poisson { .. } => None,
        }
    }
}

/// The group as TOML.
pub(crate) fn write(group: &FlowGroup, scenario: &Scenario) -> String {
    let nodes = group.paths.iter().map(|path| paths::names(scenario, path)).collect();
    let drawn = group.drawn.as_ref().map(|drawn| DrawnTable::of(drawn, scenario));
    format!("\n[[flows]]\n{}", FLOW.lines(&FlowTable { group: group.clone(), nodes, drawn }))
}

fn overhead(packet: Bytes, written: &Written<'_>) -> Option<Bytes> {
    let overhead = Bytes::read(written)?;
    if overhead < packet {
        return Some(overhead);
    }
    written.expected(&format!("an overhead smaller than the packet of {packet}"))
}

fn lasts(flow: &mut FlowTable, written: &Written<'_>) -> Option<()> {
    if written.sibling("stop").is_none() {
        return set(&mut flow.group.stop, Lasting::read(written).map(|time| Some(Stop::After(time))));
    }
    let help = "keep one: stop is a time of the run, lasts counts from each flow's start";
    written.report("both \"stop\" and \"lasts\"", "a second end for the same flows", help)
}

/// A base round-trip time or a range of them, no less than the paths' propagation takes.
fn rtt(group: &FlowGroup, written: &Written<'_>) -> Option<Rtt> {
    let rtt = Rtt::read(written)?;
    let (Rtt::Constant(shortest) | Rtt::Uniform(shortest, _)) = rtt;
    let least = written.context.network.least_rtt(&group.paths);
    if shortest >= least {
        return Some(rtt);
    }
    written.report(
        format!(
            "a base round-trip time of {} on a path that takes {}",
            shortest.readable(),
            least.readable()
        ),
        "shorter than the links' delays",
        "rtt can only lengthen a path: shorten the links' delays",
    )
}
