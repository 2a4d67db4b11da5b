//! Read access to a flow.

use crate::FlowId;
use crate::endpoints::{ReceiverState, SenderState};
use crate::flow_state::FlowState;
use crate::packet_network::PacketNetwork;
use crate::stages::StreamRef;
use crate::stats::{ArrivalMeter, IntervalDelay, LoopCounters};
use millpond_endpoint::{ReceiverEnd, RelayWait, SenderEnd, SenderObserver};
use millpond_stats::Histogram;
use millpond_units::{Bytes, Span, Time};

/// State and statistics of a flow. Cheap to create; reading does not change the simulation.
#[derive(Clone, Copy)]
pub struct FlowView<'a> {
    pub(crate) network: &'a PacketNetwork,
    pub(crate) index: usize,
}

/// State and statistics of one loop of a flow.
#[derive(Clone, Copy)]
pub struct LoopView<'a> {
    sender: &'a SenderState,
    receiver: &'a ReceiverState,
    /// The stream of the flow in this loop.
    stream_id: u16,
}

impl PacketNetwork {
    /// State of a flow.
    pub fn flow(&self, id: FlowId) -> FlowView<'_> {
        FlowView { network: self, index: id.0 as usize }
    }

    /// Reports the events at the sender of a loop of a flow to an observer; `number`: the loop, counted from zero at the
    /// source. Flows that share the loop have one observer.
    pub fn observe(&mut self, id: FlowId, number: usize, observer: Box<dyn SenderObserver>) {
        let stream = self.flows.get(id.0 as usize).and_then(|flow| flow.streams().get(number));
        if let Some(sender) =
            stream.and_then(|stream| self.endpoints.senders.get_mut(stream.loop_id as usize))
        {
            sender.end.observe(observer);
        }
    }

    /// State of all specified flows, in the order in which they were added; transfers are not included.
    pub fn flows(&self) -> impl ExactSizeIterator<Item = FlowView<'_>> {
        (0..self.declared_flows).map(|index| FlowView { network: self, index })
    }
}

impl<'a> FlowView<'a> {
    #[inline]
    fn state(&self) -> &'a FlowState {
        &self.network.flows[self.index]
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.state().name()
    }

    /// When it starts.
    #[inline]
    pub fn start(&self) -> Time {
        self.state().start()
    }

    /// When it stops, if it does.
    pub fn stop(&self) -> Option<Time> {
        self.state().stop()
    }

    /// When its last byte arrived, if all have.
    #[inline]
    pub fn completed(&self) -> Option<Time> {
        self.state().completed()
    }

    /// When the measurement began.
    pub fn measured_from(&self) -> Time {
        self.state().measured_from()
    }

    /// Its loops, from source to destination.
    pub fn loops(&self) -> impl ExactSizeIterator<Item = LoopView<'a>> + use<'a> {
        let network = self.network;
        self.state().streams().iter().map(|stream| LoopView::of(network, *stream))
    }

    /// Its first loop, whose sender is the source of the flow.
    #[inline]
    pub fn first(&self) -> LoopView<'a> {
        self.at(0)
    }

    /// Its last loop, whose receiver is the destination of the flow.
    #[inline]
    pub fn last(&self) -> LoopView<'a> {
        self.at(self.state().streams().len() - 1)
    }

    #[inline]
    fn at(&self, number: usize) -> LoopView<'a> {
        LoopView::of(self.network, self.state().streams()[number])
    }

    /// Counters since the run began: sent by the first loop, delivered by the last, all others summed over all loops.
    pub fn totals(&self) -> LoopCounters {
        let (first, last) = (self.first().totals(), self.last().totals());
        let all = self.loops().map(|one| one.totals()).fold(LoopCounters::default(), LoopCounters::plus);
        LoopCounters {
            sent: first.sent,
            sent_bytes: first.sent_bytes,
            arrived: last.arrived,
            delivered_bytes: self.delivered().get(),
            ..all
        }
    }

    /// Statistics at its destination.
    #[inline]
    pub(crate) fn arrivals(&self) -> &'a ArrivalMeter {
        let last = self.last();
        &last.receiver.stream(last.stream_id).arrivals
    }

    /// Bytes that have arrived at the destination since the run began, each counted once.
    #[inline]
    pub fn delivered(&self) -> Bytes {
        self.last().arrived()
    }

    /// Bytes that have arrived at the destination since the measurement began.
    pub fn delivered_measured(&self) -> Bytes {
        self.delivered().saturating_sub(Bytes::new(self.arrivals().before))
    }

    /// Queueing delay of every delivered packet in links and relays from source to destination, in picoseconds.
    pub fn queueing_delays(&self) -> &'a Histogram {
        &self.arrivals().queueing
    }

    /// Time from the first transmission of its data by the source to the arrival of every delivered packet, in
    /// picoseconds.
    pub fn one_way_delays(&self) -> &'a Histogram {
        &self.arrivals().one_way
    }

    /// Queueing delay of the packets delivered in this interval ([`PacketNetwork::start_interval`]).
    #[inline]
    pub fn interval_delay(&self) -> IntervalDelay {
        self.arrivals().interval()
    }
}

impl<'a> LoopView<'a> {
    #[inline]
    fn of(network: &'a PacketNetwork, stream: StreamRef) -> Self {
        let (endpoints, index) = (&network.endpoints, stream.loop_id as usize);
        Self {
            sender: &endpoints.senders[index],
            receiver: &endpoints.receivers[index],
            stream_id: stream.stream_id,
        }
    }

    /// The sender, for inspection.
    #[inline]
    pub fn sender(&self) -> &'a SenderEnd {
        &self.sender.end
    }

    /// The receiver, for inspection.
    pub fn receiver(&self) -> &'a ReceiverEnd {
        &self.receiver.end
    }

    /// Counters since the run began, over all flows that share the loop.
    pub fn totals(&self) -> LoopCounters {
        LoopCounters::of(&self.sender.end, &self.receiver.end)
    }

    /// Counts since the measurement began.
    pub fn counters(&self) -> LoopCounters {
        self.totals().since(self.receiver.before)
    }

    /// The part of one of these counts that belongs to the flow: in proportion to the bytes that each flow has sent in the
    /// loop. The parts of all flows that share the loop add up to the count.
    pub fn part(&self, count: u64) -> u64 {
        let sent = |stream_id| u128::from(self.sender.end.stream_bytes_sent_of(stream_id).get());
        let streams = self.sender.upstream_streams.len().try_into().unwrap_or(u16::MAX).max(1);
        let before: u128 = (0..self.stream_id).map(sent).sum();
        let with_own = before + sent(self.stream_id);
        let all = with_own + (self.stream_id + 1..streams).map(sent).sum::<u128>();
        // The part of all flows up to one of them, rounded down, so that nothing of the count is lost.
        let up_to = |bytes: u128| (u128::from(count) * bytes).checked_div(all).map_or(0, |part| part as u64);
        if all == 0 && self.stream_id == 0 { count } else { up_to(with_own) - up_to(before) }
    }

    /// Round-trip times in picoseconds, one for each acknowledgement with a sample.
    pub fn round_trip_times(&self) -> &'a Histogram {
        &self.sender.meter.rtt
    }

    /// Bytes of the flow that the sender of the loop has never sent: in a relay the length of the send queue, at the source
    /// the data that the application has supplied.
    pub fn backlog(&self) -> Bytes {
        self.sender.end.backlog_of(self.stream_id)
    }

    /// How long data of the flow waited at the relay before this loop, since the run began.
    pub fn relay_wait(&self) -> RelayWait {
        self.sender.end.relay_wait_of(self.stream_id)
    }

    /// Bytes of the flow that its sender has sent at least once.
    pub fn stream_bytes_sent(&self) -> Bytes {
        self.sender.end.stream_bytes_sent_of(self.stream_id)
    }

    /// Bytes of the flow that have arrived at its receiver, each counted once.
    #[inline]
    pub fn arrived(&self) -> Bytes {
        Bytes::new(self.receiver.end.delivered_of(self.stream_id))
    }

    /// The smoothed round-trip time, after the first sample.
    #[inline]
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.sender.end.smoothed_rtt()
    }
}
