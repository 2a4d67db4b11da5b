//! Events of applications.

use crate::ApplicationId;
use crate::applications::{ApplicationState, Connections, Playback};
use crate::delivery::Delivery;
use crate::endpoints::SenderState;
use crate::event_kind::{EventKind, target};
use crate::packet_network::PacketNetwork;
use crate::packet_pool::PacketId;
use crate::stages::StreamRef;
use crate::transfers::Transfer;
use millpond_endpoint::Frame;
use millpond_units::{Bytes, Rate, Time};

/// The flows of an application at a time.
struct Flows<'a> {
    now: Time,
    until: Time,
    sources: &'a [StreamRef],
    senders: &'a mut [SenderState],
    supplied: &'a mut Vec<u32>,
}

impl Connections for Flows<'_> {
    fn supply(&mut self, connection: usize, bytes: Bytes) {
        let source = self.sources.get(connection).filter(|_| self.now < self.until);
        if let Some(source) = source {
            self.senders[source.loop_id as usize].end.supply(bytes);
            self.supplied.push(source.loop_id);
        }
    }

    fn allowed_rate(&self, connection: usize) -> Option<Rate> {
        let sender = &self.senders[self.sources.get(connection)?.loop_id as usize].end;
        sender.smoothed_rtt().map(|_| sender.allowed_rate(self.now))
    }
}

/// What an application is called for.
enum Call {
    Time,
    Arrival { connection: usize, prefix: Bytes },
}

impl PacketNetwork {
    /// The start or a time of an application.
    pub(crate) fn on_application(&mut self, now: Time, index: u32) {
        let state = &mut self.applications[index as usize];
        // Events of times that were replaced by an earlier one are left in the queue.
        if state.scheduled != now {
            return;
        }
        state.scheduled = Time::NEVER;
        let now = self.host_time(now);
        self.call(now, index, &Call::Time);
    }

    /// Delivers a data packet to a relay, or to an application that waits for it.
    #[inline(never)]
    pub(crate) fn on_other_data(&mut self, now: Time, loop_id: u32, id: PacketId) {
        let Frame::Data(segment) = &self.packets.get(id).frame else { return };
        let stream_id = segment.stream_id;
        let stream = self.endpoints.receivers[loop_id as usize].stream(stream_id);
        let Delivery::Watched { application, connection } = stream.delivery else {
            return self.on_relay_data(now, loop_id, id);
        };
        let prefix = |network: &Self| network.endpoints.receivers[loop_id as usize].end.prefix_of(stream_id);
        let before = prefix(self);
        self.deliver_data(now, loop_id, id);
        let prefix = prefix(self);
        if prefix > before {
            let call = Call::Arrival { connection: connection as usize, prefix: Bytes::new(prefix) };
            self.call(now, application, &call);
        }
    }

    fn call(&mut self, now: Time, index: u32, call: &Call) {
        let Self { applications, endpoints, .. } = self;
        let ApplicationState { sources, until, application, supplied, .. } =
            &mut applications[index as usize];
        let mut flows = Flows { now, until: *until, sources, senders: &mut endpoints.senders, supplied };
        match call {
            Call::Time => application.on_time(now, &mut flows),
            Call::Arrival { connection, prefix } => {
                application.on_arrival(now, *connection, *prefix, &mut flows);
            }
        }
        self.schedule_application(now, index);
        let mut supplied = std::mem::take(&mut self.applications[index as usize].supplied);
        supplied.drain(..).for_each(|loop_id| self.send_pending(now, loop_id));
        self.applications[index as usize].supplied = supplied;
    }

    /// Schedules the next event of an application, unless an earlier one is pending.
    fn schedule_application(&mut self, now: Time, index: u32) {
        let state = &mut self.applications[index as usize];
        let next = state.application.next().max(now);
        if next < state.scheduled && next < state.until {
            state.scheduled = next;
            self.events.push(next, target(EventKind::Application, index));
        }
    }

    /// The pages, segments or frames of an application so far, in the order of their beginning.
    pub fn application_transfers(&self, id: ApplicationId) -> &[Transfer] {
        self.applications.get(id.0 as usize).map_or(&[], |state| state.application.transfers())
    }

    /// What the viewer of an application has seen since the measurement began, if it is a video.
    pub fn playback(&self, id: ApplicationId) -> Option<Playback> {
        let state = self.applications.get(id.0 as usize)?;
        state.application.playback(self.now().min(state.until))
    }
}
