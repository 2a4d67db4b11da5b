//! What an onlooker may see of a link.

use super::Link;
use crate::stats::{Histogram, IntervalDelay, LinkCounters};
use millpond_law::Gauge;
use millpond_units::{Bytes, Rate, Time};

/// A link as it stands, with its measurement. Cheap to take; nothing changes by looking.
#[derive(Clone, Copy)]
pub struct LinkView<'a> {
    pub(crate) link: &'a Link,
}

impl<'a> LinkView<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.link.rest.name
    }

    /// Packets waiting or in service.
    pub fn queue_packets(&self) -> u64 {
        self.link.queued as u64
    }

    /// Their bytes.
    pub fn queue_bytes(&self) -> Bytes {
        Bytes::new(self.link.queued_bytes)
    }

    /// The true rate now.
    pub fn rate(&self) -> Rate {
        self.link.rest.rates.schedule().rate_at(self.link.tally.until())
    }

    /// Bits that the link can serve between two moments: the integral of its rate.
    pub fn capacity_bits(&self, from: Time, to: Time) -> u64 {
        self.link.rest.rates.schedule().bits_between(from, to)
    }

    /// Counts since the run began.
    pub fn totals(&self) -> LinkCounters {
        self.link.counters()
    }

    /// Counts since the measurement began.
    pub fn counters(&self) -> LinkCounters {
        self.totals() - self.link.rest.meter.before()
    }

    /// When the measurement began.
    pub fn measured_from(&self) -> Time {
        self.link.rest.meter.from()
    }

    /// Share of the capacity since the measurement began that was used; zero if there was none.
    pub fn utilization(&self) -> f64 {
        let capacity = self.capacity_bits(self.measured_from(), self.link.tally.until());
        if capacity == 0 { 0.0 } else { self.counters().served_bytes as f64 * 8.0 / capacity as f64 }
    }

    /// Queue length in packets, each weighted by how long it lasted in picoseconds, since the measurement began.
    pub fn queue_lengths(&self) -> Histogram {
        self.link.rest.meter.lengths(&self.link.tally)
    }

    /// Queueing delay in picoseconds of every packet served since the measurement began: its stay less its own
    /// service at the rate at which it left, so that an outage in mid-service counts as waiting.
    pub fn queueing_delays(&self) -> Histogram {
        self.link.rest.meter.waits(&self.link.tally)
    }

    /// Queueing delay of the packets served in this interval ([`crate::Network::start_interval`]).
    pub fn interval_delay(&self) -> IntervalDelay {
        self.link.rest.meter.interval(&self.link.tally)
    }

    /// What the link's laws show of themselves.
    pub fn observe(&self, gauge: &mut dyn Gauge) {
        if let Some(laws) = self.link.laws() {
            laws.observe(gauge);
        }
    }
}
