//! The table of how far live runs agree with packets and with the fluid model.

use millpond_diagnosis::agreement::live::{InWorlds, LiveAgreement, SHARE, UTILIZATION};
use millpond_results::LiveFacts;
use millpond_tables::{Cell, Document, table};
use millpond_units::format::{number, percent};

/// A row for each live run that has a packet run beside it; nothing without one. Lateness is the 99th percentile.
pub fn live_agreement(agreements: &[LiveAgreement]) -> Document {
    if agreements.is_empty() {
        return Document::default();
    }
    let mut rows = table(HEADINGS);
    for agreement in agreements {
        let [packets, fluid, live] = cells(&agreement.utilization, percent);
        let mut row = vec![agreement.label.as_str().into(), packets, fluid, live];
        row.extend(cells(&agreement.queueing_ms, number));
        let [packets, fluid, live] = cells(&agreement.share.1, percent);
        row.extend([agreement.share.0.as_str().into(), packets, fluid, live]);
        let late = agreement.late_ms.map_or_else(Cell::absent, Cell::number);
        row.extend([late, agreement.verdict().into()]);
        rows.add_row(row);
    }
    let limits = format!(
        "agrees: utilization within {}, queueing within {} ms or {}, shares within {} of packets\n",
        percent(UTILIZATION),
        LiveFacts::QUEUEING_MS,
        percent(LiveFacts::QUEUEING_SHARE),
        percent(SHARE)
    );
    Document::default().table(rows).text(limits)
}

const HEADINGS: &[&str] = &[
    "run",
    "utilization\npackets",
    "\nfluid",
    "\nlive",
    "queueing\ndelay, ms\npackets",
    "\n\nfluid",
    "\n\nlive",
    "flow",
    "its share\npackets",
    "\nfluid",
    "\nlive",
    "late\nms",
    "live and\npackets",
];

/// Packets, fluid, live.
fn cells(quantity: &InWorlds, format: fn(f64) -> String) -> [Cell; 3] {
    let shown = |value: f64| Cell::shown(value, format(value));
    [shown(quantity.packets), quantity.fluid.map_or_else(Cell::absent, shown), shown(quantity.live)]
}
