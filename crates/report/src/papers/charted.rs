//! What the page says of a run: its name and its bottleneck.

use millpond_papers::ChartedRun;
use millpond_results::bottleneck;

/// The name of a run on the page: its case and its reading.
pub(super) fn case_name(charted: &ChartedRun) -> String {
    format!("{}, {}", charted.case, charted.reading)
}

/// The direction of a link with the greatest utilization of a run.
pub(super) struct BusiestLink {
    /// Its name.
    pub(super) link: String,
    /// From 0 to 1.
    pub(super) utilization: f64,
}

/// The bottleneck of a run; none without links.
pub(super) fn bottleneck_of(charted: &ChartedRun) -> Option<BusiestLink> {
    let summary = &charted.run.summary;
    let link = bottleneck(summary, std::slice::from_ref(&charted.run))?;
    Some(BusiestLink { link: summary.link_entity(link), utilization: summary.links[link].utilization })
}
