//! A flow in its run: when it starts, what its application supplies, when it stops, what arrives.

use crate::endpoints::Sending;
use crate::flow_spec::Workload;
use crate::link::{Rates, Service};
use crate::schedule::Schedule;
use crate::stages::Seat;
use millpond_units::{Bytes, Rate, Time};

/// The state of one flow.
pub(crate) struct FlowState {
    name: String,
    /// Its seat in each of its loops, first to last.
    seats: Vec<Seat>,
    workload: Workload,
    payload: Bytes,
    start: Time,
    stop: Time,
    started: bool,
    /// The application of a [`Workload::Produced`] flow: a server whose packets are what it produces.
    application: Option<Box<(Service, Rates)>>,
    next_supply: Time,
    completed: Option<Time>,
    measured_from: Time,
}

impl FlowState {
    pub(crate) fn new(
        name: String,
        seats: Vec<Seat>,
        workload: Workload,
        payload: Bytes,
        start: Time,
        stop: Option<Time>,
    ) -> Self {
        let application = match &workload {
            Workload::Produced(rate) => Some(Box::new((Service::new(), Rates::new(rate.clone())))),
            Workload::Bulk | Workload::Sized(_) => None,
        };
        Self {
            name,
            seats,
            workload,
            payload,
            start,
            stop: stop.unwrap_or(Time::NEVER),
            started: false,
            application,
            next_supply: Time::NEVER,
            completed: None,
            measured_from: Time::ZERO,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn seats(&self) -> &[Seat] {
        &self.seats
    }

    pub(crate) fn start(&self) -> Time {
        self.start
    }

    pub(crate) fn stop(&self) -> Option<Time> {
        (self.stop != Time::NEVER).then_some(self.stop)
    }

    pub(crate) fn completed(&self) -> Option<Time> {
        self.completed
    }

    pub(crate) fn measured_from(&self) -> Time {
        self.measured_from
    }

    /// Does what is due at `now`; returns when there is more to do. A loop that is shared begins with its first flow.
    pub(crate) fn proceed(&mut self, now: Time, senders: &mut [Sending]) -> Time {
        let source = self.seats.first().map_or(0, |seat| seat.loop_id as usize);
        if !self.started {
            self.started = true;
            for seat in &self.seats {
                let side = &mut senders[seat.loop_id as usize];
                side.end.start(now, Some(side.told.at_start));
            }
            self.begin(now, &mut senders[source]);
        }
        if now >= self.next_supply {
            senders[source].end.supply(self.payload);
            self.plan_supply(now);
        }
        if now >= self.stop {
            senders[source].end.discard_unsent();
            return Time::NEVER;
        }
        self.next_supply.min(self.stop)
    }

    fn begin(&mut self, now: Time, first: &mut Sending) {
        match &self.workload {
            Workload::Bulk => first.end.supply_endless(),
            Workload::Sized(bytes) => {
                first.end.supply(*bytes);
                first.end.finish();
            }
            Workload::Produced(rate) => self.next_supply = beginning(rate, now),
        }
    }

    fn plan_supply(&mut self, now: Time) {
        self.next_supply = match &mut self.application {
            Some(application) => {
                let (server, rates) = &mut **application;
                server.accept(now, self.payload, rates).leaves
            }
            None => Time::NEVER,
        };
    }

    /// The last byte has arrived at the last receiver.
    pub(crate) fn complete(&mut self, now: Time) {
        self.completed.get_or_insert(now);
    }

    pub(crate) fn start_measuring(&mut self, now: Time) {
        self.measured_from = now;
    }
}

/// When the rate is above zero for the first time, from `now` on.
fn beginning(rate: &Schedule, now: Time) -> Time {
    if rate.rate_at(now) > Rate::ZERO {
        return now;
    }
    rate.next_change(now).map_or(Time::NEVER, |(time, _)| time)
}
