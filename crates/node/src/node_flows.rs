//! The flows of a node: how they begin, pass data and end.

use crate::connections::Connections;
use crate::flow::{
    Abort, CONNECTED, End, Flow, FlowId, Half, LinkId, Parsed, Reading, flow_header, parse_flow, parse_weight,
};
use crate::node::{Node, NodeEvent};
use crate::weight::Weight;
use bytes::Bytes;
use millpond_units::Time;
use noq_proto::{Dir, ReadError, StreamId, VarInt};

/// What is held for a local socket at most.
const LOCAL_LIMIT: usize = 128 * 1024;

/// What was read from a stream.
struct ReadOut {
    chunks: Vec<Bytes>,
    end: ReadEnd,
}

/// Why reading ended.
enum ReadEnd {
    /// There was no more room.
    Room,
    /// No more data has come.
    Nothing,
    /// The stream has finished.
    Finished,
    /// The stream was reset.
    Reset(u64),
}

impl Node {
    /// Begins a flow of a local socket to a target: the enter calls it for each accepted connection. The flow has this weight
    /// in all loops that it shares.
    pub fn open(&mut self, now: Time, target: &str, weight: Weight) -> Result<FlowId, Abort> {
        let header = flow_header(weight, target).ok_or(Abort::Malformed)?;
        let (next, stream) = self.open_stream(now, None)?;
        let flow = Flow {
            ends: [End::Local, End::Stream(next, stream)],
            halves: [Half::new(Reading::Data), Half::new(Reading::Confirmation)],
            weight,
        };
        let id = self.add_flow(flow);
        self.give(now, id, 0, header);
        Ok(id)
    }

    /// A new stream to the next neighbour for a flow from `source`, if the node may have one more flow.
    fn open_stream(&mut self, now: Time, source: Option<LinkId>) -> Result<(LinkId, StreamId), Abort> {
        if self.is_closing || self.flows.len() >= self.config.most_flows {
            return Err(Abort::Refused);
        }
        let next = self.next.ok_or(Abort::Refused)?;
        let link = self.links.get_mut(next).filter(|link| link.is_up).ok_or(Abort::Refused)?;
        match self.config.connections {
            Connections::Shared => Ok((next, link.connection.streams().open(Dir::Bi).ok_or(Abort::Refused)?)),
            Connections::PerFlow => self.open_connection(now, source),
        }
    }

    fn add_flow(&mut self, flow: Flow) -> FlowId {
        self.flows_made += 1;
        let id = self.flows_made;
        for (place, end) in flow.ends.iter().enumerate() {
            let End::Stream(link, stream) = *end else { continue };
            self.streams.insert((link, stream.into()), id);
            let source =
                if let Some(End::Stream(link, _)) = flow.ends.get(1 - place) { Some(*link) } else { None };
            if let Some(link) = self.links.get_mut(link) {
                link.backlog.add(stream.into(), source, flow.weight);
            }
        }
        self.flows.insert(id, flow);
        id
    }

    /// Accepts the streams that a neighbour has opened.
    pub(crate) fn accept_streams(&mut self, now: Time, id: LinkId) {
        while let Some(stream) =
            self.links.get_mut(id).and_then(|link| link.connection.streams().accept(Dir::Bi))
        {
            match self.accepted_flow(now, id, stream) {
                Ok(flow) => {
                    self.add_flow(flow);
                    self.on_readable(now, id, stream);
                }
                Err(reason) => self.refuse_stream(id, stream, reason),
            }
        }
    }

    /// The flow of a stream that a neighbour has opened.
    fn accepted_flow(&mut self, now: Time, id: LinkId, stream: StreamId) -> Result<Flow, Abort> {
        let weight = Weight::default();
        if self.config.next.is_some() {
            let (next, outgoing) = self.open_stream(now, Some(id))?;
            let ends = [End::Stream(id, stream), End::Stream(next, outgoing)];
            return Ok(Flow {
                ends,
                halves: [Half::new(Reading::Weight(Vec::new())), Half::new(Reading::Data)],
                weight,
            });
        }
        if self.flows.len() >= self.config.most_flows || self.is_closing {
            return Err(Abort::Refused);
        }
        let ends = [End::Stream(id, stream), End::Local];
        Ok(Flow { ends, halves: [Half::new(Reading::Target(Vec::new())), Half::new(Reading::Data)], weight })
    }

    fn refuse_stream(&mut self, id: LinkId, stream: StreamId, reason: Abort) {
        self.aborted += 1;
        self.reset_end(End::Stream(id, stream), reason);
        if let Some(link) = self.links.get_mut(id) {
            link.ended += 1;
        }
    }

    /// A stream has data, its end or its reset.
    pub(crate) fn on_readable(&mut self, now: Time, id: LinkId, stream: StreamId) {
        let Some(flow) = self.streams.get(&(id, stream.into())).copied() else { return };
        let end = End::Stream(id, stream);
        let place = self.flows.get(&flow).and_then(|flow| flow.ends.iter().position(|other| *other == end));
        if let Some(place) = place {
            self.read(now, flow, place);
        }
    }

    /// All data of a stream is acknowledged by the neighbour.
    pub(crate) fn on_finished(&mut self, id: LinkId, stream: StreamId) {
        let Some(flow) = self.streams.get(&(id, stream.into())).copied() else { return };
        let end = End::Stream(id, stream);
        if let Some(data) = self.flows.get_mut(&flow)
            && let Some(place) = data.ends.iter().position(|other| *other == end)
        {
            // Data towards end `place` is that of the other half.
            data.halves[1 - place].is_done = true;
        }
        self.remove_if_done(flow);
    }

    fn remove_if_done(&mut self, id: FlowId) {
        if !self.flows.get(&id).is_some_and(Flow::is_done) {
            return;
        }
        let Some(flow) = self.remove_flow(id) else { return };
        if flow.local_end().is_some() {
            self.events.push_back(NodeEvent::Closed(id));
        }
    }

    fn remove_flow(&mut self, id: FlowId) -> Option<Flow> {
        let flow = self.flows.remove(&id)?;
        for end in flow.ends {
            let End::Stream(link, stream) = end else { continue };
            self.streams.remove(&(link, stream.into()));
            if let Some(link) = self.links.get_mut(link) {
                link.backlog.remove(stream.into());
                link.ended += u64::from(link.is_begun_by_peer(stream));
            }
        }
        for place in 0..2 {
            self.waiting.remove(&(id, place));
        }
        Some(flow)
    }

    /// How much may be taken from end `place` of a flow now.
    fn room_from(&self, id: FlowId, place: usize) -> usize {
        let Some(flow) = self.flows.get(&id) else { return 0 };
        match flow.ends[1 - place] {
            End::Local => LOCAL_LIMIT.saturating_sub(flow.halves[place].local_bytes),
            End::Stream(link, stream) => self.links.get(link).map_or(0, |link| link.room(stream)),
        }
    }

    /// Reads from the stream at end `place` of a flow what there is room for.
    pub(crate) fn read(&mut self, now: Time, id: FlowId, place: usize) -> bool {
        let Some(End::Stream(link, stream)) = self.flows.get(&id).map(|flow| flow.ends[place]) else {
            return false;
        };
        let room = self.room_from(id, place);
        let Some(out) = self.read_stream(link, stream, room) else { return false };
        let has_read = !out.chunks.is_empty() || matches!(out.end, ReadEnd::Finished | ReadEnd::Reset(_));
        for chunk in out.chunks {
            self.on_data(now, id, place, chunk);
        }
        match out.end {
            ReadEnd::Room => {
                self.waiting.insert((id, place));
            }
            ReadEnd::Nothing => {
                self.waiting.remove(&(id, place));
            }
            ReadEnd::Finished => {
                self.waiting.remove(&(id, place));
                self.on_end(id, place);
            }
            ReadEnd::Reset(code) => self.abort_flow(id, Abort::of_code(code)),
        }
        has_read
    }

    fn read_stream(&mut self, link: LinkId, stream: StreamId, mut room: usize) -> Option<ReadOut> {
        if room == 0 {
            return Some(ReadOut { chunks: Vec::new(), end: ReadEnd::Room });
        }
        let connection = &mut self.links.get_mut(link)?.connection;
        let mut receiver = connection.recv_stream(stream);
        let mut reader = receiver.read(true).ok()?;
        let mut chunks = Vec::new();
        let end = loop {
            if room == 0 {
                break ReadEnd::Room;
            }
            match reader.next(room) {
                Ok(Some(chunk)) => {
                    room -= chunk.bytes.len().min(room);
                    chunks.push(chunk.bytes);
                }
                Ok(None) => break ReadEnd::Finished,
                Err(ReadError::Blocked) => break ReadEnd::Nothing,
                Err(ReadError::Reset(code)) => break ReadEnd::Reset(code.into_inner()),
            }
        };
        let _ = reader.finalize();
        Some(ReadOut { chunks, end })
    }

    /// Reads again where there was no room; true if data or an end was read.
    pub(crate) fn read_waiting(&mut self, now: Time) -> bool {
        let waiting: Vec<(FlowId, usize)> = self.waiting.iter().copied().collect();
        waiting.into_iter().fold(false, |has_read, (flow, place)| self.read(now, flow, place) || has_read)
    }

    /// Data of the stream at end `place`.
    fn on_data(&mut self, now: Time, id: FlowId, place: usize, mut data: Bytes) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        match &mut flow.halves[place].reading {
            Reading::Weight(bytes) => {
                bytes.extend_from_slice(&data);
                match parse_weight(bytes) {
                    None => return,
                    Some(Err(reason)) => return self.abort_flow(id, reason),
                    Some(Ok(weight)) => {
                        data = std::mem::take(bytes).into();
                        flow.halves[place].reading = Reading::Data;
                        self.set_weight(id, weight);
                    }
                }
            }
            Reading::Target(bytes) => {
                bytes.extend_from_slice(&data);
                match parse_flow(bytes) {
                    Parsed::Partly => return,
                    Parsed::Malformed => return self.abort_flow(id, Abort::Malformed),
                    Parsed::Target(weight, target, rest) => {
                        flow.halves[place].reading = Reading::Data;
                        self.set_weight(id, weight);
                        self.events.push_back(NodeEvent::Open { flow: id, target });
                        data = rest;
                    }
                }
            }
            Reading::Confirmation => {
                if data.first() != Some(&CONNECTED) {
                    return self.abort_flow(id, Abort::Malformed);
                }
                let _ = data.split_to(1);
                flow.halves[place].reading = Reading::Data;
                self.events.push_back(NodeEvent::Connected(id));
            }
            Reading::Data | Reading::Finished => {}
        }
        self.give(now, id, place, data);
    }

    /// Sets the weight of a flow in the loops of both its directions.
    fn set_weight(&mut self, id: FlowId, weight: Weight) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.weight = weight;
        for end in flow.ends {
            let End::Stream(link, stream) = end else { continue };
            if let Some(link) = self.links.get_mut(link) {
                link.backlog.set_weight(stream.into(), weight);
            }
        }
    }

    /// Gives data of half `place` to its other end.
    fn give(&mut self, now: Time, id: FlowId, place: usize, data: Bytes) {
        let Some(flow) = self.flows.get_mut(&id).filter(|_| !data.is_empty()) else { return };
        match flow.ends[1 - place] {
            End::Local => {
                let half = &mut flow.halves[place];
                half.local_bytes += data.len();
                half.local.push_back(data);
                self.events.push_back(NodeEvent::Readable(id));
            }
            End::Stream(link, stream) => {
                if let Some(link) = self.links.get_mut(link) {
                    link.backlog.push(now, stream.into(), data);
                    link.update_weight(now);
                }
            }
        }
    }

    /// End `place` has finished. An end before the target or the confirmation is no orderly end.
    fn on_end(&mut self, id: FlowId, place: usize) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let half = &mut flow.halves[place];
        if matches!(half.reading, Reading::Weight(_) | Reading::Target(_) | Reading::Confirmation) {
            return self.abort_flow(id, Abort::Malformed);
        }
        half.reading = Reading::Finished;
        match flow.ends[1 - place] {
            End::Local => self.events.push_back(NodeEvent::Readable(id)),
            End::Stream(link, stream) => {
                if let Some(link) = self.links.get_mut(link) {
                    link.backlog.finish(stream.into());
                }
            }
        }
    }

    /// Ends a flow at once, in both directions and at both ends.
    pub(crate) fn abort_flow(&mut self, id: FlowId, reason: Abort) {
        let Some(flow) = self.remove_flow(id) else { return };
        self.aborted += 1;
        for end in flow.ends {
            self.reset_end(end, reason);
        }
        if flow.local_end().is_some() {
            self.events.push_back(NodeEvent::Aborted(id, reason));
        }
    }

    fn reset_end(&mut self, end: End, reason: Abort) {
        let End::Stream(link, stream) = end else { return };
        if let Some(link) = self.links.get_mut(link).filter(|link| link.is_up) {
            let code = VarInt::from_u32(reason.code());
            // An end that has finished already cannot be reset.
            let _ = link.connection.send_stream(stream).reset(code);
            let _ = link.connection.recv_stream(stream).stop(code);
        }
    }

    /// The exit has connected a flow to its target.
    pub fn connected(&mut self, now: Time, id: FlowId) {
        self.give(now, id, 1, Bytes::from_static(&[CONNECTED]));
    }

    /// How much data of the local socket a flow accepts now.
    pub fn room(&self, id: FlowId) -> usize {
        let open =
            |flow: &Flow| flow.local_end().filter(|place| flow.halves[*place].reading == Reading::Data);
        self.flows.get(&id).and_then(open).map_or(0, |place| self.room_from(id, place))
    }

    /// Takes data of the local socket; at most [`Self::room`].
    pub fn offer(&mut self, now: Time, id: FlowId, data: Bytes) {
        if let Some(place) = self.flows.get(&id).and_then(Flow::local_end) {
            self.give(now, id, place, data);
        }
    }

    /// The local socket has ended its direction.
    pub fn finish(&mut self, id: FlowId) {
        if let Some(place) = self.flows.get(&id).and_then(Flow::local_end) {
            self.on_end(id, place);
        }
    }

    /// The local socket was reset, or the driver refuses the flow.
    pub fn abort(&mut self, id: FlowId, reason: Abort) {
        self.abort_flow(id, reason);
    }

    /// The oldest data for the local socket, of which [`Self::took`] says how much it took.
    pub fn front(&self, id: FlowId) -> Option<Bytes> {
        let flow = self.flows.get(&id)?;
        let place = 1 - flow.local_end()?;
        flow.halves[place].local.front().cloned()
    }

    /// The local socket has taken bytes of [`Self::front`].
    pub fn took(&mut self, id: FlowId, bytes: usize) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let Some(place) = flow.local_end().map(|end| 1 - end) else { return };
        let half = &mut flow.halves[place];
        if let Some(chunk) = half.local.front_mut() {
            let bytes = bytes.min(chunk.len());
            let _ = chunk.split_to(bytes);
            half.local_bytes -= bytes;
            if chunk.is_empty() {
                half.local.pop_front();
            }
        }
    }

    /// True if the local socket has all data that will come, so that its sending side must be shut down.
    pub fn is_ended(&self, id: FlowId) -> bool {
        let ended = |flow: &Flow| {
            let half = &flow.halves[1 - flow.local_end()?];
            Some(half.reading == Reading::Finished && half.local.is_empty())
        };
        self.flows.get(&id).and_then(ended).unwrap_or(false)
    }

    /// The sending side of the local socket was shut down in order.
    pub fn on_shut_down(&mut self, id: FlowId) {
        if let Some(flow) = self.flows.get_mut(&id)
            && let Some(place) = flow.local_end()
        {
            flow.halves[1 - place].is_done = true;
        }
        self.remove_if_done(id);
    }
}
