//! What the page says of a run: its name and its bottleneck.

use millpond_papers::ChartedRun;
use millpond_results::bottleneck;

/// The name of a run on the page: its case and its reading.
pub(super) fn case_name(charted: &ChartedRun) -> String {
    format!("{}, {}", charted.case, charted.reading)
}

/// The link with the greatest utilization of a run, and this utilization.
pub(super) fn bottleneck_of(charted: &ChartedRun) -> Option<(String, f64)> {
    let summary = &charted.run.summary;
    let link = bottleneck(summary, std::slice::from_ref(&charted.run))?;
    Some((summary.link_entity(link), summary.links[link].utilization))
}
