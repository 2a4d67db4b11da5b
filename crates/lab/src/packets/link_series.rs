//! The series that every link has.

use super::sample_interval::{SampleInterval, mean_delay_ms, to_float};
use crate::recorded_series::RecordedSeries;
use millpond_results::{EntityKind, quantity};
use millpond_sim::LinkView;

/// The series of a link but for those of its laws. All of them get a value at each sample, from the first one of the run on.
#[derive(Clone)]
pub(super) struct LinkSeries {
    /// The position of the first of them among the series of all entities.
    position: usize,
    capacity: RecordedSeries,
    /// Empty if it is the actual capacity.
    configured_capacity: RecordedSeries,
    throughput: RecordedSeries,
    queue: RecordedSeries,
    queueing: RecordedSeries,
    /// Bytes served until the last sample.
    served_bytes: u64,
    /// The integral of the queue length until the last sample: packets times picoseconds.
    queue_time: u128,
}

/// The number of series of a link.
const SERIES: usize = 5;

impl LinkSeries {
    pub(super) fn new(name: &str) -> Self {
        let series = |quantity: &str, unit: &str| {
            RecordedSeries::new(EntityKind::Link, name.to_owned(), quantity.to_owned(), unit.to_owned())
        };
        Self {
            position: 0,
            capacity: series(quantity::CAPACITY, "bit/s"),
            configured_capacity: series(quantity::CONFIGURED_CAPACITY, "bit/s"),
            throughput: series(quantity::THROUGHPUT, "bit/s"),
            queue: series(quantity::QUEUE, "packets"),
            queueing: series(quantity::QUEUEING, "ms"),
            served_bytes: 0,
            queue_time: 0,
        }
    }

    /// Adds a sample. `series_count`: the number of series of all entities so far.
    pub(super) fn sample(
        &mut self,
        link: &LinkView<'_>,
        interval: &SampleInterval,
        series_count: &mut usize,
    ) {
        if self.capacity.is_empty() {
            self.begin(interval, series_count);
        }
        let SampleInterval { since, now, seconds, picos, sample, .. } = *interval;
        let rate = |bits: u64| to_float(bits) / seconds;
        self.capacity.push(sample, rate(link.capacity_bits(since, now)));
        if let Some(bits) = link.configured_capacity_bits(since, now) {
            self.configured_capacity.push(sample, rate(bits));
        }
        let served_bytes = link.totals().served_bytes;
        self.throughput.push(sample, to_float(served_bytes - self.served_bytes) * 8.0 / seconds);
        let queue_time = link.queue_time();
        self.queue.push(sample, to_float(queue_time.saturating_sub(self.queue_time)) / picos);
        self.queueing.push(sample, mean_delay_ms(link.interval_delay()));
        (self.served_bytes, self.queue_time) = (served_bytes, queue_time);
    }

    /// Takes the next positions, and memory for all samples of the run.
    #[cold]
    fn begin(&mut self, interval: &SampleInterval, series_count: &mut usize) {
        self.position = *series_count;
        *series_count += SERIES;
        for series in [&mut self.capacity, &mut self.throughput, &mut self.queue, &mut self.queueing] {
            series.reserve(interval.left);
        }
    }

    /// The measured time begins: the simulator has set the integral of the queue length to zero.
    pub(super) fn start_measuring(&mut self) {
        self.queue_time = 0;
    }

    /// The series with their positions among those of all entities.
    pub(super) fn into_series(self) -> impl Iterator<Item = (usize, RecordedSeries)> {
        let Self { position, capacity, configured_capacity, throughput, queue, queueing, .. } = self;
        let series: [_; SERIES] = [capacity, configured_capacity, throughput, queue, queueing];
        (position..).zip(series).filter(|(_, series)| !series.is_empty())
    }
}
