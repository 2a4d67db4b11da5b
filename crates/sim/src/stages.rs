//! The stages of flows: which loops and streams carry the data of each flow.

use crate::delivery::{DeliveredStream, Delivery};
use crate::flow_spec::{FlowLoop, FlowSpec};
use millpond_endpoint::{Relay, RelayBuffer, StreamConfig};
use millpond_units::{Bytes, Time};

/// A stream of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StreamRef {
    pub(crate) loop_id: u32,
    pub(crate) stream_id: u16,
}

/// Where a relay forwards the data of a flow.
#[derive(Clone, Copy, Debug)]
struct Downstream {
    /// Buffer of the relay.
    buffer: RelayBuffer,
    stream: StreamRef,
}

/// The part of a flow that lies in one loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowStage {
    flow: u32,
    pub(crate) weight: f64,
    pub(crate) start: Time,
    /// The stream that delivers its data here; none at the source.
    pub(crate) upstream: Option<StreamRef>,
    /// The relay and the stream that carry its data on; none at the destination.
    downstream: Option<Downstream>,
}

/// A flow with the streams that carry it.
pub(crate) struct FlowStreams<'a> {
    pub(crate) flow: u32,
    pub(crate) weight: f64,
    pub(crate) start: Time,
    pub(crate) relays: &'a [RelayBuffer],
    pub(crate) streams: &'a [StreamRef],
}

impl FlowStreams<'_> {
    /// Its stage in its loop with this number.
    pub(crate) fn stage(&self, number: usize) -> FlowStage {
        let stream = |number: usize| self.streams.get(number).copied();
        let buffer = self.relays.get(number).copied();
        FlowStage {
            flow: self.flow,
            weight: self.weight,
            start: self.start,
            upstream: number.checked_sub(1).and_then(stream),
            downstream: buffer.zip(stream(number + 1)).map(|(buffer, stream)| Downstream { buffer, stream }),
        }
    }
}

/// The streams of every flow, one for each of its loops. Loops of a single flow are numbered first, flow by flow, then
/// the shared ones. None if more flows share a loop than a stream number can distinguish.
pub(crate) fn assign_streams(flows: &[FlowSpec], aggregates: usize) -> Option<Vec<Vec<StreamRef>>> {
    let unshared =
        |flow: &FlowSpec| flow.loops.iter().filter(|flow_loop| matches!(flow_loop, FlowLoop::Own(_))).count();
    let first_shared: usize = flows.iter().map(unshared).sum();
    let (mut loops, mut stream_ids) = (0..first_shared as u32, vec![0..u16::MAX; aggregates]);
    let mut stream = |flow_loop: &FlowLoop| match flow_loop {
        FlowLoop::Own(_) => loops.next().map(|loop_id| StreamRef { loop_id, stream_id: 0 }),
        FlowLoop::Shared(id) => {
            let stream_id = stream_ids.get_mut(id.0 as usize).and_then(Iterator::next);
            stream_id.map(|stream_id| StreamRef { loop_id: first_shared as u32 + id.0, stream_id })
        }
    };
    flows.iter().map(|flow| flow.loops.iter().map(&mut stream).collect()).collect()
}

/// The stages in each shared loop, in the order of their streams.
pub(crate) fn shared_stages(
    flows: &[FlowSpec],
    streams: &[Vec<StreamRef>],
    aggregates: usize,
) -> Vec<Vec<FlowStage>> {
    let mut stages: Vec<Vec<FlowStage>> = vec![Vec::new(); aggregates];
    for ((flow, spec), streams) in (0..).zip(flows).zip(streams) {
        let (weight, start, relays) = (spec.weight, spec.start, &spec.relays[..]);
        let flow_streams = FlowStreams { flow, weight, start, relays, streams };
        for (number, flow_loop) in spec.loops.iter().enumerate() {
            if let FlowLoop::Shared(id) = flow_loop {
                stages[id.0 as usize].push(flow_streams.stage(number));
            }
        }
    }
    stages
}

/// Configuration of the streams of a loop's sender. The initial credit is that of the relay behind the loop.
pub(crate) fn stream_configs(stages: &[FlowStage], packet: Bytes) -> Vec<StreamConfig> {
    let incoming_loop = |stage: &FlowStage| stage.upstream.map(|stream| stream.loop_id);
    let mut incoming: Vec<u32> = stages.iter().filter_map(incoming_loop).collect();
    incoming.sort_unstable();
    incoming.dedup();
    let config = |stage: &FlowStage| StreamConfig {
        weight: stage.weight,
        incoming_loop: incoming.partition_point(|loop_id| Some(*loop_id) < incoming_loop(stage)) as u32,
        credit: stage
            .downstream
            .map_or(u64::MAX, |next| Relay::new(next.buffer, packet).initial_credit().get()),
    };
    stages.iter().map(config).collect()
}

/// Delivery of each stream at the receiver of a loop.
pub(crate) fn delivered_streams(
    stages: &[FlowStage],
    packet: Bytes,
) -> impl Iterator<Item = DeliveredStream> {
    (0..).zip(stages).map(move |(stream_id, stage)| {
        let relayed = |Downstream { buffer, stream }| {
            let relay = Relay::new(buffer, packet).with_stream_ids(stream_id, stream.stream_id);
            Delivery::Relay { relay, next_loop: stream.loop_id }
        };
        DeliveredStream {
            flow: stage.flow,
            delivery: stage.downstream.map_or(Delivery::Application, relayed),
            ..DeliveredStream::default()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AggregateId;
    use crate::flow_spec::Workload;

    /// A flow that is only the part in a shared loop: what counts here.
    fn member() -> FlowSpec {
        FlowSpec {
            name: String::new(),
            weight: 1.0,
            loops: vec![FlowLoop::Shared(AggregateId(0))],
            relays: Vec::new(),
            workload: Workload::Bulk,
            start: Time::ZERO,
            stop: None,
        }
    }

    #[test]
    fn a_shared_loop_has_65535_streams_and_no_more() {
        let mut flows: Vec<FlowSpec> = (0..65_535).map(|_| member()).collect();
        let streams = assign_streams(&flows, 1).unwrap();
        assert_eq!(streams[65_534], [StreamRef { loop_id: 0, stream_id: 65_534 }]);
        flows.push(member());
        assert_eq!(assign_streams(&flows, 1), None);
    }
}
