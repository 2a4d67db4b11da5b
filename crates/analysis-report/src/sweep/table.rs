//! The table of a sweep: a row for each combination of settings and protocol.

use super::METRICS;
use maud::html;
use millpond_report::document::Section;
use millpond_sweep::{Mean, MeanRow};
use millpond_units::format::number;

/// A page has no more rows.
const MOST_ROWS: usize = 200;

/// The results that the figures show as numbers; none without rows.
pub(super) fn section(rows: &[MeanRow]) -> Option<Section> {
    let keys: Vec<&str> = rows.first()?.settings.keys().collect();
    let has_protocols = rows.iter().any(|row| row.protocol.is_some());
    let metrics: Vec<_> = METRICS
        .iter()
        .filter(|metric| rows.iter().any(|row| row.means.contains_key(metric.column)))
        .collect();
    let intro = if rows.len() > MOST_ROWS {
        format!("The first {MOST_ROWS} of {} rows; runs.parquet has all runs.", rows.len())
    } else {
        "Means over the seeds with half the width of their 95 % confidence interval.".to_owned()
    };
    let body = html! {
        div.scrolls tabindex="0" role="region" aria-label="Results as numbers" {
            table.headline {
                thead {
                    tr {
                        @for key in &keys { th scope="col" { (key) } }
                        @if has_protocols { th scope="col" { "Protocol" } }
                        @for metric in &metrics { th scope="col" { (metric.title) span.unit { (metric.unit) } } }
                    }
                }
                tbody {
                    @for row in rows.iter().take(MOST_ROWS) {
                        tr {
                            @for (column, value) in row.settings.values().enumerate() {
                                @if column == 0 { th scope="row" { (value) } } @else { td { (value) } }
                            }
                            @if has_protocols { td { (super::protocol_of(row)) } }
                            @for metric in &metrics {
                                td {
                                    @match row.means.get(metric.column) {
                                        Some(Mean { mean, half_width }) => {
                                            (number(metric.factor * mean))
                                            @if let Some(half) = half_width {
                                                span.interval { " ± " (number(metric.factor * half)) }
                                            }
                                        }
                                        None => "-"
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    Some(Section { id: "numbers".into(), title: "Results as numbers".into(), intro, body })
}
