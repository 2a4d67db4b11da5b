//! The series that every link has.

use super::sample_interval::{SampleInterval, mean_delay_ms, to_float};
use crate::recorded_series::{RecordedRows, RecordedSeries};
use millpond_results::{EntityKind, quantity};
use millpond_sim::LinkView;
use millpond_units::Span;

/// The series of a link but for those of its laws. All of them get a value at each sample, from the first one of the run on.
#[derive(Clone)]
pub(super) struct LinkSeries {
    name: String,
    /// The position of the first of them among the series of all entities.
    position: usize,
    /// Capacity, throughput, queue length and queueing delay.
    rows: RecordedRows<4>,
    /// None if it is the actual capacity.
    configured_capacity: Option<RecordedSeries>,
    /// The mean capacity in an interval of this length, if the rate of the link is constant.
    constant_capacity: Option<(Span, f64)>,
    /// Bytes served until the last sample.
    served_bytes: u64,
    /// The integral of the queue length until the last sample: packets times picoseconds.
    queue_time: u128,
}

/// The number of series of a link.
const SERIES: usize = 5;

impl LinkSeries {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            position: 0,
            rows: RecordedRows::new(),
            configured_capacity: None,
            constant_capacity: None,
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
        if self.rows.is_empty() {
            self.begin(link, interval, series_count);
        }
        let SampleInterval { span, seconds, picos, sample, .. } = *interval;
        let capacity = match self.constant_capacity {
            Some((length, capacity)) if length == span => capacity,
            _ => mean_capacity(link, interval),
        };
        if let Some(configured) = &mut self.configured_capacity {
            configured.push(sample, mean_configured_capacity(link, interval));
        }
        let (served_bytes, queue_time) = (link.served_bytes(), link.queue_time());
        if served_bytes == self.served_bytes && queue_time == self.queue_time {
            // Nothing was on the link.
            return self.rows.push(sample, [capacity, 0.0, 0.0, f64::NAN]);
        }
        let throughput = to_float(served_bytes - self.served_bytes) * 8.0 / seconds;
        let queue = to_float(queue_time.saturating_sub(self.queue_time)) / picos;
        self.rows.push(sample, [capacity, throughput, queue, mean_delay_ms(link.interval_delay())]);
        (self.served_bytes, self.queue_time) = (served_bytes, queue_time);
    }

    /// Takes the next positions, and memory for all samples of the run.
    #[cold]
    fn begin(&mut self, link: &LinkView<'_>, interval: &SampleInterval, series_count: &mut usize) {
        self.position = *series_count;
        *series_count += SERIES;
        self.rows.reserve(interval.left);
        if link.configured_capacity_bits(interval.since, interval.now).is_some() {
            let [entity, quantity, unit] =
                [&self.name, quantity::CONFIGURED_CAPACITY, "bit/s"].map(str::to_owned);
            self.configured_capacity = Some(RecordedSeries::new(EntityKind::Link, entity, quantity, unit));
        }
        let is_constant = link.constant_rate().is_some();
        self.constant_capacity = is_constant.then(|| (interval.span, mean_capacity(link, interval)));
    }

    /// The measured time begins: the simulator has set the integral of the queue length to zero.
    pub(super) fn start_measuring(&mut self) {
        self.queue_time = 0;
    }

    /// The series with their positions among those of all entities.
    pub(super) fn into_series(self) -> impl Iterator<Item = (usize, RecordedSeries)> {
        let Self { name, position, rows, configured_capacity, .. } = self;
        let quantities = [
            (quantity::CAPACITY, "bit/s"),
            (quantity::THROUGHPUT, "bit/s"),
            (quantity::QUEUE, "packets"),
            (quantity::QUEUEING, "ms"),
        ];
        let positions = [position, position + 2, position + 3, position + 4];
        let series = positions.into_iter().zip(rows.into_series(EntityKind::Link, name, quantities));
        let configured = configured_capacity.into_iter().map(move |series| (position + 1, series));
        series.chain(configured).filter(|(_, series)| !series.is_empty())
    }
}

/// The mean capacity in an interval, in bit/s. Not inlined, because most links have a constant one.
#[inline(never)]
fn mean_capacity(link: &LinkView<'_>, interval: &SampleInterval) -> f64 {
    to_float(link.capacity_bits(interval.since, interval.now)) / interval.seconds
}

/// The mean configured capacity in an interval, in bit/s.
#[inline(never)]
fn mean_configured_capacity(link: &LinkView<'_>, interval: &SampleInterval) -> f64 {
    let bits = link.configured_capacity_bits(interval.since, interval.now);
    to_float(bits.unwrap_or_default()) / interval.seconds
}
