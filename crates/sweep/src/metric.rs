//! The numbers that each run and each group of a sweep has.

use millpond_results::{ComparisonRow, DelayEstimates};

/// A number that each row has.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its column.
    pub name: &'static str,
    /// What it is, with its unit.
    pub meaning: &'static str,
    pub(crate) value: fn(&ComparisonRow) -> Option<f64>,
}

/// The only metric of a link.
pub(crate) const UTILIZATION: &str = "utilization";

/// A statistic of times, if there are any.
macro_rules! times {
    ($times:ident, $statistic:ident) => {
        |row| row.$times.map(|times: DelayEstimates| times.$statistic.mean)
    };
}

impl Metric {
    /// All metrics, in the order of their columns.
    #[rustfmt::skip]
    pub const ALL: [Self; 21] = [
        Self::new("starving", "Number of flows whose goodput is below a tenth of their fair share.", |row| Some(row.starving.mean)),
        Self::new(UTILIZATION, "Utilization of the bottleneck, from 0 to 1; absent for a group.", |row| row.utilization.map(|share| share.mean)),
        Self::new("total_goodput_bps", "Sum of the goodputs of the flows, averaged over the measured time, in bit/s.", |row| Some(row.total_goodput_bps.mean)),
        Self::new("flow_goodput_bps", "Mean of the goodputs of the flows, each over the time in which it ran, in bit/s.", |row| Some(row.flow_goodput_bps.mean)),
        Self::new("least_goodput_bps", "Least of these goodputs, in bit/s.", |row| Some(row.least_goodput_bps.mean)),
        Self::new("jain", "Jain's fairness index of the goodputs over the weights of the flows, from 1/n to 1; absent if fewer than two flows ran in the measured time, or if none delivered anything.", |row| row.jain.map(|jain| jain.mean)),
        Self::new("loss", "Packets declared lost divided by packets sent, from 0 to 1; absent if none was delivered.", |row| row.measured_loss().map(|loss| loss.mean)),
        Self::new("queueing_mean_ms", "Mean of the end-to-end queueing delay, relays included, in milliseconds.", times!(queueing_ms, mean)),
        Self::new("queueing_p50_ms", "Its median, in milliseconds.", times!(queueing_ms, p50)),
        Self::new("queueing_p95_ms", "Its 95th percentile, in milliseconds.", times!(queueing_ms, p95)),
        Self::new("queueing_p99_ms", "Its 99th percentile, in milliseconds.", times!(queueing_ms, p99)),
        Self::new("queueing_p999_ms", "Its 99.9th percentile, in milliseconds.", times!(queueing_ms, p999)),
        Self::new("completion_mean_ms", "Mean of the completion times of transfers, in milliseconds.", times!(completion_ms, mean)),
        Self::new("completion_p50_ms", "Their median, in milliseconds.", times!(completion_ms, p50)),
        Self::new("completion_p95_ms", "Their 95th percentile, in milliseconds.", times!(completion_ms, p95)),
        Self::new("completion_p99_ms", "Their 99th percentile, in milliseconds.", times!(completion_ms, p99)),
        Self::new("completion_p999_ms", "Their 99.9th percentile, in milliseconds.", times!(completion_ms, p999)),
        Self::new("slowdown_mean", "Mean of the slowdown of transfers: completion time divided by the shortest one.", |row| row.slowdown.map(|slowdown| slowdown.mean.mean)),
        Self::new("slowdown_p50", "Its median.", |row| row.slowdown.map(|slowdown| slowdown.p50.mean)),
        Self::new("slowdown_p95", "Its 95th percentile.", |row| row.slowdown.map(|slowdown| slowdown.p95.mean)),
        Self::new("slowdown_p99", "Its 99th percentile.", |row| row.slowdown.map(|slowdown| slowdown.p99.mean)),
    ];

    const fn new(
        name: &'static str,
        meaning: &'static str,
        value: fn(&ComparisonRow) -> Option<f64>,
    ) -> Self {
        Self { name, meaning, value }
    }
}
