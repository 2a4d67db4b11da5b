//! Read access to a link.

use super::Link;
use super::law_view::{LawView, QueueCount};
use super::waiting::Waiting;
use crate::stats::{IntervalDelay, LinkCounters};
use millpond_law::HeaderId;
use millpond_stats::Histogram;
use millpond_units::{Bytes, Rate, Time};

/// State and statistics of a link. Cheap to create; reading does not change the simulation.
#[derive(Clone, Copy)]
pub struct LinkView<'a> {
    pub(crate) link: &'a Link,
}

impl<'a> LinkView<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.link.cold.name
    }

    /// Packets waiting or in service.
    pub fn queue_packets(&self) -> u64 {
        self.link.queued.into()
    }

    /// Bytes waiting or in service.
    pub fn queue_bytes(&self) -> Bytes {
        Bytes::new(self.link.queued_bytes)
    }

    /// The rate of its server now.
    pub fn rate(&self) -> Rate {
        self.link.cold.rates.schedule().rate_at(self.link.hot.until())
    }

    /// Number of bits that the link can serve between two times: the integral of its rate.
    #[inline]
    pub fn capacity_bits(&self, from: Time, to: Time) -> u64 {
        self.link.cold.rates.schedule().bits_between(from, to)
    }

    /// Its rate, if that is constant.
    pub fn constant_rate(&self) -> Option<Rate> {
        let schedule = self.link.cold.rates.schedule();
        schedule.next_change(Time::ZERO).is_none().then(|| schedule.rate_at(Time::ZERO))
    }

    /// Number of bits between two times at the capacity with which its laws are configured; none if that is the actual one.
    #[inline]
    pub fn configured_capacity_bits(&self, from: Time, to: Time) -> Option<u64> {
        self.link.cold.configured_capacity.other_bits_between(from, to)
    }

    /// The times between `from` and `to` in which its rate is zero, ascending.
    pub fn outages(&self, from: Time, to: Time) -> Vec<(Time, Time)> {
        self.link.cold.rates.schedule().outages(from, to)
    }

    /// Counts since the run began.
    #[inline]
    pub fn totals(&self) -> LinkCounters {
        self.link.counters()
    }

    /// Bytes served since the run began.
    #[inline]
    pub fn served_bytes(&self) -> u64 {
        self.link.hot.served_bytes()
    }

    /// Counts since the measurement began.
    #[inline]
    pub fn counters(&self) -> LinkCounters {
        self.totals() - self.link.cold.meter.before()
    }

    /// When the measurement began.
    pub fn measured_from(&self) -> Time {
        self.link.cold.meter.from()
    }

    /// Used share of the capacity since the measurement began; zero if there was no capacity.
    pub fn utilization(&self) -> f64 {
        let capacity = self.capacity_bits(self.measured_from(), self.link.hot.until());
        if capacity == 0 { 0.0 } else { self.counters().served_bytes as f64 * 8.0 / capacity as f64 }
    }

    /// Queue length in packets, weighted by its duration in picoseconds, since the measurement began.
    pub fn queue_lengths(&self) -> Histogram {
        self.link.cold.meter.lengths(&self.link.hot)
    }

    /// The integral of the queue length over time since the measurement began, in packet-picoseconds.
    #[inline]
    pub fn queue_time(&self) -> u128 {
        self.link.cold.meter.queue_time(&self.link.hot)
    }

    /// Queueing delay in picoseconds of every packet served since the measurement began: the sojourn time less the service
    /// time at the rate at departure. So an outage during the service counts as queueing.
    pub fn queueing_delays(&self) -> Histogram {
        self.link.cold.meter.waits(&self.link.hot)
    }

    /// Queueing delay of the packets served in this interval ([`crate::PacketNetwork::start_interval`]).
    #[inline]
    pub fn interval_delay(&self) -> IntervalDelay {
        self.link.cold.meter.interval(&self.link.hot)
    }

    /// True if it has laws.
    #[inline]
    pub fn has_laws(&self) -> bool {
        self.link.special.is_some() && self.laws().next().is_some()
    }

    /// The laws of the link.
    #[inline]
    pub fn laws(&self) -> impl Iterator<Item = LawView<'a>> {
        let special = self.link.special.as_ref();
        let queues = special.and_then(|special| match &special.waiting {
            Waiting::Several(queues) => {
                Some(LawView { header: HeaderId::NONE, law: QueueCount::Multi(queues.law()) })
            }
            Waiting::Fifo(_) => None,
        });
        queues.into_iter().chain(special.into_iter().flat_map(|special| special.laws.views()))
    }
}
