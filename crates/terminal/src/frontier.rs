//! The tables of a frontier.

use millpond_frontier::{Frontier, LimitKind};
use millpond_tables::{Cell, Document, Table, table};
use millpond_units::Span;
use millpond_units::format::number;

/// A sentence about the trace, the limit at each of `targets`, and a row for each protocol.
pub fn frontier(frontier: &Frontier, targets: &[Span]) -> Document {
    let kind = match frontier.kind {
        LimitKind::Bound => "bound: no controller without losses exceeds it in the mean over such traces",
        LimitKind::Guide => "guide, computed from this trace: the random process of a recording is not known",
    };
    let about = format!(
        "{}: {} Mbit/s, base RTT {} ms, {} s to {} s, buffer {}; {kind}.\n",
        frontier.trace,
        number(frontier.capacity_bps / 1e6),
        number(1000.0 * frontier.rtt_s),
        number(frontier.measured_from_s),
        number(frontier.measured_to_s),
        frontier.buffer,
    );
    Document::default().text(about).table(limits(frontier, targets)).table(protocols(frontier))
}

fn kind(frontier: &Frontier) -> &'static str {
    match frontier.kind {
        LimitKind::Bound => "bound",
        LimitKind::Guide => "guide",
    }
}

fn limits(frontier: &Frontier, targets: &[Span]) -> Table {
    let mut table = table(&[
        "queueing\ndelay, p95\nms",
        &format!("{}\nutilization", kind(frontier)),
        "one factor\nutilization",
    ]);
    for target in targets {
        let delay = target.millis();
        let limit = frontier.limit.iter().find(|point| point.delay_ms >= delay);
        table.add_row([
            Cell::number(delay),
            limit.map_or_else(Cell::absent, |point| Cell::percent(point.utilization)),
            frontier.one_factor_at(delay).map_or_else(Cell::absent, Cell::percent),
        ]);
    }
    table
}

fn protocols(frontier: &Frontier) -> Table {
    let limit = format!("{}\nat this\ndelay", kind(frontier));
    let mut table = table(&[
        "protocol",
        "utilization",
        "queueing\ndelay, p95\nms",
        "packets\ndropped",
        &limit,
        &format!("below\nthe {}", kind(frontier)),
    ]);
    for point in &frontier.protocols {
        let share = |value: Option<f64>| value.map_or_else(Cell::absent, Cell::percent);
        table.add_row([
            Cell::from(point.label.clone()),
            Cell::percent(point.utilization),
            Cell::percentile(point.queueing_p95_ms),
            Cell::percent(point.loss),
            share(point.limit),
            share(point.limit.map(|limit| limit - point.utilization)),
        ]);
    }
    table
}
