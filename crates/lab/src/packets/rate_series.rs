//! The rates and the queueing delay of a flow, or of all transfers of a source.

use super::sample_interval::{SampleInterval, mean_delay_ms, to_float};
use crate::recorded_series::{RecordedRows, RecordedSeries};
use millpond_results::{EntityKind, quantity};
use millpond_sim::IntervalDelay;
use millpond_units::Time;

/// Counters of a flow, or of all transfers of a source, in bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct FlowCounters {
    pub(super) delivered: u64,
    pub(super) sent: u64,
}

/// The series of goodput, sending rate and queueing delay.
#[derive(Clone)]
pub(super) struct RateSeries {
    name: String,
    start: Time,
    /// Whether it has values until the end of the run.
    stays: bool,
    /// The position of the first of them among the series of all entities.
    position: usize,
    rows: RecordedRows<SERIES>,
    /// The counters at the last sample.
    before: FlowCounters,
}

const SERIES: usize = 3;

impl RateSeries {
    /// `start`: when the flow starts; `stays`: it has values until the end of the run.
    pub(super) fn new(name: &str, start: Time, stays: bool) -> Self {
        let (rows, before) = (RecordedRows::new(), FlowCounters::default());
        Self { name: name.to_owned(), start, stays, position: 0, rows, before }
    }

    /// The counters at the last sample.
    pub(super) fn before(&self) -> FlowCounters {
        self.before
    }

    /// Adds a sample. In the interval in which the flow starts, its rates are means over the part in which it ran.
    pub(super) fn sample(
        &mut self,
        after: FlowCounters,
        delay: IntervalDelay,
        interval: &SampleInterval,
        series_count: &mut usize,
    ) {
        if self.rows.is_empty() {
            self.begin(interval, series_count);
        }
        let before = std::mem::replace(&mut self.before, after);
        let SampleInterval { since, now, seconds, sample, .. } = *interval;
        let seconds = if self.start <= since { seconds } else { now.since(self.start).secs() };
        let rate = |bytes: u64| to_float(bytes) * 8.0 / seconds;
        let goodput = rate(after.delivered - before.delivered);
        let send_rate = rate(after.sent - before.sent);
        self.rows.push(sample, [goodput, send_rate, mean_delay_ms(delay)]);
    }

    /// Takes the next positions, and memory for all samples of the run if it has values until then.
    #[cold]
    fn begin(&mut self, interval: &SampleInterval, series_count: &mut usize) {
        self.position = *series_count;
        *series_count += SERIES;
        if self.stays {
            self.rows.reserve(interval.left);
        }
    }

    /// The series with their positions among those of all entities.
    pub(super) fn into_series(self) -> impl Iterator<Item = (usize, RecordedSeries)> {
        let quantities =
            [(quantity::GOODPUT, "bit/s"), (quantity::SEND_RATE, "bit/s"), (quantity::QUEUEING, "ms")];
        let series = self.rows.into_series(EntityKind::Flow, self.name, quantities);
        (self.position..).zip(series).filter(|(_, series)| !series.is_empty())
    }
}
