//! The results of one run: its groups of flows, links and relays.

use super::layout::table;
use millpond_results::{Flow, Group, Link, Summary, findings};
use millpond_units::format::{megabits, number, percent};
use std::collections::BTreeMap;

/// Sentences about starving and silent flows and warnings, then groups of flows, links with traffic and relays of a run.
pub fn summary(summary: &Summary) -> String {
    let mut text = format!(
        "{}: {} s simulated, measured from {} s, world {}, seed {}\n",
        summary.scenario, summary.simulated_s, summary.measured_from_s, summary.world, summary.seed
    );
    let warnings = summary.warnings.iter().map(|warning| format!("warning: {warning}"));
    for sentence in findings(summary).into_iter().chain(warnings) {
        text += &sentence;
        text.push('\n');
    }
    text += &groups(summary);
    if summary.groups.iter().any(|group| group.transfers > 0) {
        text += &transfers(summary);
    }
    text += &links(summary);
    if !summary.relays.is_empty() {
        text += &relays(summary);
    }
    text
}

const GROUPS: &[&str] = &[
    "group",
    "protocol",
    "flows",
    "goodput\nMbit/s\nmean",
    "goodput\nMbit/s\nmin",
    "goodput\nMbit/s\nmax",
    "Jain's\nindex",
    "queueing\ndelay, ms\nmean",
    "queueing\ndelay, ms\np95",
    "queueing\ndelay, ms\np99",
    "packets\nsent",
    "packets\nlost",
    "packets\nmarked",
];

/// No table has more rows.
const MOST_ROWS: usize = 40;

/// The line below a table that shows `shown` of `all` rows; empty if it shows all of them.
fn rows_left_out(shown: usize, all: usize, which: &str, what: &str) -> String {
    if shown == all {
        return String::new();
    }
    format!("{which} {shown} of {all} {what}; --json and summary.json have all of them\n")
}

fn groups(summary: &Summary) -> String {
    let mut members: BTreeMap<&str, Vec<&Flow>> = BTreeMap::new();
    summary.flows.iter().for_each(|flow| members.entry(&flow.group).or_default().push(flow));
    let mut rows = table(GROUPS);
    for group in summary.groups.iter().take(MOST_ROWS) {
        rows.add_row(group_row(group, members.get(group.name.as_str()).map_or(&[], Vec::as_slice)));
    }
    let all = summary.groups.len();
    format!("{rows}\n{}", rows_left_out(all.min(MOST_ROWS), all, "the first", "groups of flows"))
}

fn group_row(group: &Group, flows: &[&Flow]) -> Vec<String> {
    let total = |of: fn(&Flow) -> u64| flows.iter().map(|flow| of(flow)).sum::<u64>().to_string();
    vec![
        group.name.clone(),
        flows.first().map_or_else(String::new, |flow| flow.protocol.clone()),
        group.flows.to_string(),
        megabits(group.goodput_bps.mean),
        megabits(group.goodput_bps.min),
        megabits(group.goodput_bps.max),
        format!("{:.3}", group.jain),
        number(group.queueing_ms.mean),
        number(group.queueing_ms.p95),
        number(group.queueing_ms.p99),
        total(|flow| flow.sent),
        total(|flow| flow.lost),
        total(|flow| flow.marked),
    ]
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

/// Groups of flows of finite size.
fn transfers(summary: &Summary) -> String {
    let mut rows = table(TRANSFERS);
    for group in summary.groups.iter().filter(|group| group.transfers > 0) {
        let counts = [group.transfers, group.completed].map(|count| count.to_string());
        let times = group.completion_ms.map(|t| [t.mean, t.p50, t.p95, t.p99, t.max].map(number));
        let times = times.into_iter().flatten();
        rows.add_row([group.name.clone()].into_iter().chain(counts).chain(times));
    }
    format!("{rows}\n")
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

/// Link directions with traffic; the most utilized of many.
fn links(summary: &Summary) -> String {
    let mut rows = table(LINKS);
    let mut busy: Vec<&Link> = summary.links.iter().filter(|link| link.arrivals > 0).collect();
    let all = busy.len();
    if all > MOST_ROWS {
        busy.sort_by(|a, b| b.utilization.total_cmp(&a.utilization));
        busy.truncate(MOST_ROWS);
    }
    for link in &busy {
        rows.add_row(link_row(link));
    }
    format!("{rows}\n{}", rows_left_out(busy.len(), all, "the most utilized", "link directions"))
}

fn link_row(link: &Link) -> Vec<String> {
    vec![
        link.name.clone(),
        link.direction.clone(),
        megabits(link.capacity_bps),
        percent(link.utilization),
        number(link.queue_packets.mean),
        number(link.queue_packets.max),
        number(link.queueing_ms.mean),
        number(link.queueing_ms.p95),
        number(link.queueing_ms.p99),
        link.drops.to_string(),
        link.marks.to_string(),
    ]
}

const RELAYS: &[&str] = &[
    "relay",
    "backlog\npackets\nmean",
    "backlog\npackets\np95",
    "backlog\npackets\nmax",
    "packets\ndropped",
];

fn relays(summary: &Summary) -> String {
    let mut rows = table(RELAYS);
    for relay in &summary.relays {
        let queue = &relay.queue_packets;
        let numbers = [queue.mean, queue.p95, queue.max].map(number);
        rows.add_row([relay.name.clone()].into_iter().chain(numbers).chain([relay.dropped.to_string()]));
    }
    format!("{rows}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_thousands_the_first_groups_and_the_most_utilized_links_are_shown_and_counted() {
        let group = |i: u32| Group { name: format!("g{i}"), ..Group::default() };
        let link = |i: u32| {
            let (name, utilization) = (format!("L{i}-"), f64::from(i) / 3000.0);
            Link { name, utilization, arrivals: 1, ..Link::default() }
        };
        let (groups, links) = ((0..2000).map(group).collect(), (0..3000).map(link).collect());
        let text = summary(&Summary { groups, links, ..Summary::default() });
        assert!(text.lines().count() < 2 * MOST_ROWS + 20, "{text}");
        assert!(
            text.contains("the first 40 of 2000 groups of flows; --json and summary.json have all of them")
        );
        assert!(text.contains("the most utilized 40 of 3000 link directions"), "{text}");
        assert!(text.contains("g39 ") && !text.contains("g40 "), "{text}");
        assert!(text.contains("L2999-") && text.contains("L2960-") && !text.contains("L2959-"), "{text}");
    }
}
