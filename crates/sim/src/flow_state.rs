//! State of a flow: start, stop, the data its application supplies, completion.

use crate::endpoints::SenderState;
use crate::flow_spec::Workload;
use crate::link::{Rates, Service};
use crate::schedule::Schedule;
use crate::stages::StreamRef;
use millpond_units::{Bytes, Rate, Time};

/// The state of one flow.
pub(crate) struct FlowState {
    name: String,
    /// Its stream in each of its loops, from source to destination.
    streams: Vec<StreamRef>,
    workload: Workload,
    payload: Bytes,
    start: Time,
    stop: Time,
    started: bool,
    /// The application of a [`Workload::Produced`] flow, modelled as a server.
    application: Option<Box<(Service, Rates)>>,
    next_supply: Time,
    completed: Option<Time>,
    measured_from: Time,
}

impl FlowState {
    pub(crate) fn new(
        name: String,
        streams: Vec<StreamRef>,
        workload: Workload,
        payload: Bytes,
        start: Time,
        stop: Option<Time>,
    ) -> Self {
        let application = match &workload {
            Workload::Produced(rate) => Some(Box::new((Service::new(), Rates::new(rate.clone())))),
            Workload::Bulk | Workload::Sized(_) | Workload::Periodic(_) | Workload::Requested => None,
        };
        Self {
            name,
            streams,
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

    pub(crate) fn streams(&self) -> &[StreamRef] {
        &self.streams
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

    /// Handles what is due at `now`; returns the time of its next event. A shared loop starts with its first flow.
    pub(crate) fn on_event(&mut self, now: Time, senders: &mut [SenderState]) -> Time {
        let source = self.streams.first().map_or(0, |stream| stream.loop_id as usize);
        if !self.started {
            self.started = true;
            for stream in &self.streams {
                let sender = &mut senders[stream.loop_id as usize];
                sender.end.start(now, Some(sender.configured.at_start));
            }
            self.begin(now, &mut senders[source]);
        }
        if now >= self.next_supply {
            senders[source].end.supply(self.payload);
            self.schedule_supply(now);
        }
        if now >= self.stop {
            senders[source].end.discard_unsent();
            return Time::NEVER;
        }
        self.next_supply.min(self.stop)
    }

    fn begin(&mut self, now: Time, first: &mut SenderState) {
        match &self.workload {
            Workload::Bulk => first.end.supply_endless(),
            Workload::Sized(bytes) => {
                first.end.supply(*bytes);
                first.end.finish();
            }
            Workload::Produced(rate) => self.next_supply = first_positive_rate(rate, now),
            Workload::Periodic(_) => self.next_supply = now,
            Workload::Requested => {}
        }
    }

    fn schedule_supply(&mut self, now: Time) {
        self.next_supply = match &mut self.application {
            Some(application) => {
                let (server, rates) = &mut **application;
                let size = u32::try_from(self.payload.get()).unwrap_or(u32::MAX);
                server.accept(now, size, rates).leaves
            }
            None => match self.workload {
                Workload::Periodic(every) => now + every,
                _ => Time::NEVER,
            },
        };
    }

    /// Records that the last byte has arrived at the destination.
    pub(crate) fn complete(&mut self, now: Time) {
        self.completed.get_or_insert(now);
    }

    pub(crate) fn start_measuring(&mut self, now: Time) {
        self.measured_from = now;
    }
}

/// The first time from `now` on at which the rate is positive.
fn first_positive_rate(rate: &Schedule, now: Time) -> Time {
    if rate.rate_at(now) > Rate::ZERO {
        return now;
    }
    rate.next_change(now).map_or(Time::NEVER, |(time, _)| time)
}
