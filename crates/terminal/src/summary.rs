//! The results of one run: its groups of flows, links and relays.

use super::run_keys::{RUN_KEYS, of_run};
use millpond_results::{Flow, Group, Link, Milliseconds, Summary, findings};
use millpond_tables::{Cell, Document, Table, table};
use millpond_units::format::fixed;
use std::collections::BTreeMap;

/// Sentences about starving and silent flows and warnings, then groups of flows, links with traffic and relays of a run.
pub fn summary(summary: &Summary) -> Document {
    // A scenario needs no title.
    let title = if summary.scenario.is_empty() { String::new() } else { format!("{}: ", summary.scenario) };
    let mut text = format!(
        "{title}{} s {}, measured from {} s, world {}, seed {}\n",
        summary.simulated_s,
        if summary.live.is_some() { "of real time" } else { "simulated" },
        summary.measured_from_s,
        summary.world,
        summary.seed
    );
    let warnings = summary.warnings.iter().map(|warning| format!("warning: {warning}"));
    for sentence in findings(summary).into_iter().chain(warnings) {
        text += &sentence;
        text.push('\n');
    }
    let transfers_left_out =
        rows_left_out(groups_with_transfers(summary).count(), "the first", "groups with transfers");
    let (groups_left_out, links_left_out) = (groups_left_out(summary), links_left_out(summary));
    Document::default()
        .text(text)
        .table(groups(summary))
        .text(groups_left_out)
        .table(transfers(summary))
        .text(transfers_left_out)
        .table(links(summary))
        .text(links_left_out)
        .table(relays(summary))
        .text(relays_left_out(summary))
}

const GROUPS: &[&str] = &[
    "group",
    "protocol",
    "flows",
    "goodput\nper flow\nMbit/s",
    "least\ngoodput\nMbit/s",
    "greatest\ngoodput\nMbit/s",
    "Jain's\nindex",
    "queueing\ndelay, ms\nmean",
    "queueing\ndelay, ms\np95",
    "queueing\ndelay, ms\np99",
    "packets\nsent",
    "packets\nlost",
    "packets\nmarked",
];

/// No table has more rows, except in CSV.
const MOST_ROWS: usize = 40;

/// A table whose rows have the keys of the run in CSV.
struct KeyedTable {
    table: Table,
    keys: [Cell; 5],
}

impl KeyedTable {
    fn new(headings: &[&str], summary: &Summary) -> Self {
        let table = table(&[headings, &RUN_KEYS].concat()).only_in_csv(&RUN_KEYS).showing(MOST_ROWS);
        Self { table, keys: of_run(summary) }
    }

    fn add_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.table.add_row(cells.into_iter().chain(self.keys.iter().cloned()));
    }
}

/// The line below a table that shows `shown` of `all` rows; empty if it shows all of them.
fn rows_left_out(all: usize, which: &str, what: &str) -> String {
    if all <= MOST_ROWS {
        return String::new();
    }
    format!("{which} {MOST_ROWS} of {all} {what}; --json, --csv and summary.json have all of them\n")
}

fn groups_left_out(summary: &Summary) -> String {
    rows_left_out(summary.groups.len(), "the first", "groups of flows")
}

fn groups(summary: &Summary) -> Table {
    let mut members: BTreeMap<&str, Vec<&Flow>> = BTreeMap::new();
    summary.flows.iter().for_each(|flow| members.entry(&flow.group).or_default().push(flow));
    let mut rows = KeyedTable::new(GROUPS, summary);
    for group in &summary.groups {
        rows.add_row(group_row(group, members.get(group.name.as_str()).map_or(&[], Vec::as_slice)));
    }
    rows.table
}

fn group_row(group: &Group, flows: &[&Flow]) -> Vec<Cell> {
    let total = |of: fn(&Flow) -> u64| Cell::count(flows.iter().map(|flow| of(flow)).sum());
    let has_delay = flows.iter().any(|flow| flow.delivered > 0);
    let [mean, p95, p99] =
        if has_delay { delays(&group.queueing_ms) } else { [(); 3].map(|()| Cell::absent()) };
    vec![
        group.name.as_str().into(),
        flows.first().map_or("", |flow| &flow.protocol).into(),
        Cell::count(group.flows),
        Cell::megabits(group.goodput_bps.mean),
        Cell::megabits(group.goodput_bps.min),
        Cell::megabits(group.goodput_bps.max),
        jain(group),
        mean,
        p95,
        p99,
        total(|flow| flow.sent),
        total(|flow| flow.lost),
        total(|flow| flow.marked),
    ]
}

/// The index says nothing about one flow, which has 1 by definition.
fn jain(group: &Group) -> Cell {
    group.jain.map_or(Cell::absent(), |jain| Cell::shown(jain, fixed(jain, 3)))
}

/// Mean, 95th and 99th percentile.
fn delays(times: &Milliseconds) -> [Cell; 3] {
    [Cell::number(times.mean), Cell::percentile(times.p95), Cell::percentile(times.p99)]
}

const TRANSFERS: &[&str] = &[
    "group",
    "transfers",
    "completed",
    "completion\ntime, ms\nmean",
    "completion\ntime, ms\np50",
    "completion\ntime, ms\np95",
    "completion\ntime, ms\np99",
    "completion\ntime, ms\nmax",
];

/// The further columns of tables of transfers if the shortest completion time of one is known.
pub(crate) const SLOWDOWNS: &[&str] = &["slowdown\np50", "slowdown\np95", "slowdown\np99"];

/// Groups of flows of finite size.
fn groups_with_transfers(summary: &Summary) -> impl Iterator<Item = &Group> {
    summary.groups.iter().filter(|group| group.transfers > 0)
}

/// The completion times and the slowdown of groups of flows of finite size.
fn transfers(summary: &Summary) -> Table {
    let slowdowns = if summary.slowdown.is_some() { SLOWDOWNS } else { Default::default() };
    let mut rows = KeyedTable::new(&[TRANSFERS, slowdowns].concat(), summary);
    for group in groups_with_transfers(summary) {
        let counts = [group.transfers, group.completed].map(Cell::count);
        let times = group.completion_ms.map(|t| [t.mean, t.p50, t.p95, t.p99, t.max].map(Cell::number));
        let times = times.unwrap_or_else(|| [(); 5].map(|()| Cell::absent()));
        let slowdown = group.slowdown.map(|one| [one.p50, one.p95, one.p99].map(Cell::number));
        let slowdown = slowdown.unwrap_or_else(|| [(); 3].map(|()| Cell::absent()));
        let slowdown = slowdown.into_iter().take(slowdowns.len());
        rows.add_row([group.name.as_str().into()].into_iter().chain(counts).chain(times).chain(slowdown));
    }
    rows.table
}

const LINKS: &[&str] = &[
    "link",
    "direction",
    "capacity\nMbit/s",
    "utilization",
    "queue\npackets\nmean",
    "queue\npackets\nmax",
    "queueing\ndelay, ms\nmean",
    "queueing\ndelay, ms\np95",
    "queueing\ndelay, ms\np99",
    "packets\ndropped",
    "packets\nmarked",
];

fn links_left_out(summary: &Summary) -> String {
    rows_left_out(busy_links(summary).count(), "the most utilized", "link directions")
}

/// Link directions with traffic.
fn busy_links(summary: &Summary) -> impl Iterator<Item = &Link> {
    summary.links.iter().filter(|link| link.arrivals > 0)
}

/// Link directions with traffic; the most utilized of many.
fn links(summary: &Summary) -> Table {
    let mut rows = KeyedTable::new(LINKS, summary);
    let mut busy: Vec<&Link> = busy_links(summary).collect();
    if busy.len() > MOST_ROWS {
        busy.sort_by(|a, b| b.utilization.total_cmp(&a.utilization));
    }
    for link in busy {
        rows.add_row(link_row(link));
    }
    rows.table
}

fn link_row(link: &Link) -> Vec<Cell> {
    let [mean, p95, p99] = delays(&link.queueing_ms);
    vec![
        link.name.as_str().into(),
        link.direction.as_str().into(),
        Cell::megabits(link.capacity_bps),
        Cell::percent(link.utilization),
        Cell::number(link.queue_packets.mean),
        Cell::number(link.queue_packets.max),
        mean,
        p95,
        p99,
        Cell::count(link.drops),
        Cell::count(link.marks),
    ]
}

const RELAYS: &[&str] = &[
    "relay",
    "backlog\npackets\nmean",
    "backlog\npackets\np95",
    "backlog\npackets\nmax",
    "packets\ndropped",
];

fn relays(summary: &Summary) -> Table {
    let mut rows = KeyedTable::new(RELAYS, summary);
    for relay in &summary.relays {
        let queue = &relay.queue_packets;
        let numbers = [queue.mean, queue.p95, queue.max].map(Cell::number);
        let dropped = Cell::count(relay.dropped);
        rows.add_row([relay.name.as_str().into()].into_iter().chain(numbers).chain([dropped]));
    }
    rows.table
}

/// The number of relays whose rows are not shown is in the line below the table.
fn relays_left_out(summary: &Summary) -> String {
    rows_left_out(summary.relays.len(), "the first", "relays")
}
