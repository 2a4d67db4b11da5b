//! The table of how far live runs agree with packets.

use super::document::{Section, paragraphs};
use maud::{Markup, html};
use millpond_diagnosis::agreement::live::{InWorlds, LiveAgreement};
use millpond_units::format::{number, percent};

/// A row for each live run; no section without one.
pub(super) fn section(agreements: &[LiveAgreement]) -> Option<Section> {
    let reasons = agreements.iter().flat_map(|one| {
        one.distrust.iter().map(move |reason| format!("{} is untrustworthy: {reason}.", one.label))
    });
    let reasons: Vec<String> = reasons.collect();
    (!agreements.is_empty()).then(|| Section {
        id: "live".into(),
        title: "Live runs and packets".into(),
        intro: "Real datagrams at the times of a clock beside the packet simulator and the fluid model: utilization of the \
                bottleneck, mean queueing delay, and the share of the flow that differs most. Lateness is the 99th percentile."
            .into(),
        body: html! { (table(agreements)) (paragraphs(reasons.iter().map(String::as_str))) },
    })
}

fn table(agreements: &[LiveAgreement]) -> Markup {
    html! {
        div.scrolls tabindex="0" role="region" aria-label="live runs and packets" {
            table.headline {
                thead {
                    tr {
                        th {}
                        @for heading in ["utilization", "queueing delay, ms", "share", "late, ms", "verdict"] {
                            th scope="col" { (heading) }
                        }
                    }
                }
                tbody {
                    @for one in agreements {
                        tr {
                            th scope="row" { (one.label) }
                            td { (worlds(&one.utilization, percent)) }
                            td { (worlds(&one.queueing_ms, number)) }
                            td { (one.share.0) ": " (worlds(&one.share.1, percent)) }
                            td { (one.late_ms.map_or_else(|| "-".to_owned(), number)) }
                            td { (one.verdict()) }
                        }
                    }
                }
            }
        }
    }
}

/// The values of the worlds in a cell.
fn worlds(quantity: &InWorlds, format: fn(f64) -> String) -> String {
    let fluid = quantity.fluid.map_or_else(String::new, |fluid| format!(", fluid {}", format(fluid)));
    format!("packets {}{fluid}, live {}", format(quantity.packets), format(quantity.live))
}
