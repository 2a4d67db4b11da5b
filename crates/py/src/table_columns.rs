//! The columns of tables that are made from the summary of a run, with their units.

use millpond_results::files::{Cells, Column, TextRun};
use millpond_results::{Flow, Link, Milliseconds, Packets};
use std::borrow::Cow;

/// A column with its unit.
pub(crate) struct UnitColumn<'a> {
    /// Its name.
    pub(crate) name: Cow<'static, str>,
    /// Its unit; none for texts.
    pub(crate) unit: Option<&'static str>,
    /// Its cells.
    pub(crate) cells: Cells<'a>,
}

/// The units of suffixes of names.
const SUFFIXES: [(&str, &str); 6] = [
    ("_ms", "ms"),
    ("_s", "s"),
    ("_bps", "bit/s"),
    ("_packets", "packets"),
    ("_bytes", "bytes"),
    ("share", "1"),
];

/// Columns whose names end with their units.
pub(crate) fn with_units(columns: Vec<Column<'_>>) -> Vec<UnitColumn<'_>> {
    let with_unit = |Column { name, cells }| {
        let unit = SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, unit)| *unit);
        UnitColumn { name, unit, cells }
    };
    columns.into_iter().map(with_unit).collect()
}

/// One row for each declared flow, with the values of `summary.json`.
pub(crate) fn flows(flows: &[Flow]) -> Vec<UnitColumn<'_>> {
    let rows = SummaryRows(flows);
    let mut columns = vec![
        rows.texts("name", |flow| &flow.name),
        rows.texts("group", |flow| &flow.group),
        rows.texts("protocol", |flow| &flow.protocol),
        rows.numbers("start_s", "s", |flow| Some(flow.start_s)),
        rows.numbers("stop_s", "s", |flow| Some(flow.stop_s)),
        rows.numbers("goodput_bps", "bit/s", |flow| Some(flow.goodput_bps)),
        rows.numbers("send_rate_bps", "bit/s", |flow| Some(flow.send_rate_bps)),
        rows.numbers("fair_share_bps", "bit/s", |flow| flow.fair_share_bps),
        rows.numbers("window_packets", "packets", |flow| flow.window_packets),
    ];
    columns.extend(rows.times("rtt_ms", |flow| flow.rtt_ms));
    columns.extend([rows.numbers("rpm", "1/min", |flow| flow.rpm)]);
    columns.extend(rows.times("queueing_ms", |flow| (flow.delivered > 0).then_some(flow.queueing_ms)));
    columns.extend(rows.times("one_way_ms", |flow| flow.one_way_ms.filter(|_| flow.delivered > 0)));
    columns.extend([
        rows.counts("sent", "packets", |flow| flow.sent),
        rows.counts("delivered", "packets", |flow| flow.delivered),
        rows.counts("retransmitted", "packets", |flow| flow.retransmitted),
        rows.counts("lost", "packets", |flow| flow.lost),
        rows.counts("marked", "packets", |flow| flow.marked),
        rows.counts("unread_headers", "headers", |flow| flow.unread_headers),
        rows.numbers("completed_s", "s", |flow| flow.completed_s),
        rows.numbers("closed_s", "s", |flow| flow.closed_s),
        rows.numbers("converged_s", "s", |flow| flow.converged_s),
    ]);
    columns
}

/// One row for each direction of each link, with the values of `summary.json`.
pub(crate) fn links(links: &[Link]) -> Vec<UnitColumn<'_>> {
    let rows = SummaryRows(links);
    let mut columns = vec![
        rows.texts("name", |link| &link.name),
        rows.texts("direction", |link| &link.direction),
        rows.numbers("capacity_bps", "bit/s", |link| Some(link.capacity_bps)),
        rows.numbers("utilization", "1", |link| Some(link.utilization)),
    ];
    columns.extend(rows.packets("queue_packets", |link| link.queue_packets));
    columns.extend(rows.times("queueing_ms", |link| (link.arrivals > 0).then_some(link.queueing_ms)));
    columns.extend([
        rows.counts("arrivals", "packets", |link| link.arrivals),
        rows.counts("drops", "packets", |link| link.drops),
        rows.counts("drops_total", "packets", |link| link.drops_total),
        rows.counts("marks", "packets", |link| link.marks),
        rows.counts("foreign_headers", "headers", |link| link.foreign_headers),
    ]);
    columns
}

/// A statistic of a distribution: its name in columns, and its value.
type NamedStatistic<T> = (&'static str, fn(T) -> f64);

/// The items of a list of the summary, as rows.
struct SummaryRows<'a, T>(&'a [T]);

impl<'a, T> SummaryRows<'a, T> {
    fn texts(&self, name: &'static str, text: fn(&T) -> &str) -> UnitColumn<'a> {
        let runs = (0..).zip(self.0).map(|(text, _)| TextRun { text, rows: 1 }).collect();
        let texts = self.0.iter().map(text).collect();
        UnitColumn { name: name.into(), unit: None, cells: Cells::Texts { texts, runs } }
    }

    fn numbers(
        &self,
        name: &'static str,
        unit: &'static str,
        number: fn(&T) -> Option<f64>,
    ) -> UnitColumn<'a> {
        let cells = Cells::Numbers(Box::new(self.0.iter().map(number)));
        UnitColumn { name: name.into(), unit: Some(unit), cells }
    }

    fn counts(&self, name: &'static str, unit: &'static str, count: fn(&T) -> u64) -> UnitColumn<'a> {
        let cells = self.0.iter().map(move |row| i64::try_from(count(row)).ok());
        UnitColumn { name: name.into(), unit: Some(unit), cells: Cells::Counts(Box::new(cells)) }
    }

    /// A column for each statistic of a distribution of times: `rtt_ms_p95`.
    fn times(&self, name: &str, times: fn(&T) -> Option<Milliseconds>) -> Vec<UnitColumn<'a>> {
        let statistics: [NamedStatistic<Milliseconds>; 7] = [
            ("min", |times| times.min),
            ("mean", |times| times.mean),
            ("p50", |times| times.p50),
            ("p95", |times| times.p95),
            ("p99", |times| times.p99),
            ("p999", |times| times.p999),
            ("max", |times| times.max),
        ];
        let column = |(statistic, value): NamedStatistic<Milliseconds>| UnitColumn {
            name: format!("{name}_{statistic}").into(),
            unit: Some("ms"),
            cells: Cells::Numbers(Box::new(self.0.iter().map(move |row| times(row).map(value)))),
        };
        statistics.into_iter().map(column).collect()
    }

    /// A column for each statistic of a queue length: `queue_packets_p95`.
    fn packets(&self, name: &str, packets: fn(&T) -> Packets) -> Vec<UnitColumn<'a>> {
        let statistics: [NamedStatistic<Packets>; 5] = [
            ("mean", |packets| packets.mean),
            ("p50", |packets| packets.p50),
            ("p95", |packets| packets.p95),
            ("p99", |packets| packets.p99),
            ("max", |packets| packets.max),
        ];
        let column = |(statistic, value): NamedStatistic<Packets>| UnitColumn {
            name: format!("{name}_{statistic}").into(),
            unit: Some("packets"),
            cells: Cells::Numbers(Box::new(self.0.iter().map(move |row| Some(value(packets(row)))))),
        };
        statistics.into_iter().map(column).collect()
    }
}
