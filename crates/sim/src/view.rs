//! What an onlooker may see of a flow.

use crate::endpoints::{Receiving, Sending};
use crate::flow_state::FlowState;
use crate::simulation::Network;
use crate::stages::Seat;
use crate::stats::{ArrivalMeter, Histogram, IntervalDelay, LoopCounters};
use millpond_endpoint::{ReceiverEnd, SenderEnd};
use millpond_units::{Bytes, Span, Time};

/// A flow as it stands, with its measurement. Cheap to take; nothing changes by looking.
#[derive(Clone, Copy)]
pub struct FlowView<'a> {
    pub(crate) network: &'a Network,
    pub(crate) index: usize,
}

/// One loop of a flow.
#[derive(Clone, Copy)]
pub struct LoopView<'a> {
    sending: &'a Sending,
    receiving: &'a Receiving,
    /// The flow's number among those that share it.
    member: u16,
}

impl<'a> FlowView<'a> {
    fn state(&self) -> &'a FlowState {
        &self.network.flows[self.index]
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.state().name()
    }

    /// When it starts.
    pub fn start(&self) -> Time {
        self.state().start()
    }

    /// When it stops, if it was told to.
    pub fn stop(&self) -> Option<Time> {
        self.state().stop()
    }

    /// When its last byte arrived, if all have.
    pub fn completed(&self) -> Option<Time> {
        self.state().completed()
    }

    /// When the measurement began.
    pub fn measured_from(&self) -> Time {
        self.state().measured_from()
    }

    /// Its loops, first to last.
    pub fn loops(&self) -> impl ExactSizeIterator<Item = LoopView<'a>> + use<'a> {
        let network = self.network;
        self.state().seats().iter().map(|seat| LoopView::of(network, *seat))
    }

    /// Its first loop, whose sender is the flow's source.
    pub fn first(&self) -> LoopView<'a> {
        self.at(0)
    }

    /// Its last loop, whose receiver is the flow's destination.
    pub fn last(&self) -> LoopView<'a> {
        self.at(self.state().seats().len() - 1)
    }

    fn at(&self, number: usize) -> LoopView<'a> {
        LoopView::of(self.network, self.state().seats()[number])
    }

    /// Counts since the run began: what its first loop sent, what its last delivered, the rest of all loops.
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

    /// What is measured where it arrives.
    pub(crate) fn arrivals(&self) -> &'a ArrivalMeter {
        let last = self.last();
        &last.receiving.branch(last.member).arrivals
    }

    /// Bytes that have arrived at the destination since the run began, each counted once.
    pub fn delivered(&self) -> Bytes {
        self.last().arrived()
    }

    /// The same since the measurement began.
    pub fn delivered_measured(&self) -> Bytes {
        self.delivered().saturating_sub(Bytes::new(self.arrivals().before))
    }

    /// How long, in picoseconds, every delivered packet has waited in links and relays, from source to destination.
    pub fn queueing_delays(&self) -> &'a Histogram {
        &self.arrivals().queueing
    }

    /// Queueing delay of the packets delivered in this interval ([`Network::start_interval`]).
    pub fn interval_delay(&self) -> IntervalDelay {
        self.arrivals().interval()
    }
}

impl<'a> LoopView<'a> {
    fn of(network: &'a Network, seat: Seat) -> Self {
        let (ends, index) = (&network.ends, seat.loop_id as usize);
        Self { sending: &ends.senders[index], receiving: &ends.receivers[index], member: seat.member }
    }

    /// The sending end, to look at.
    pub fn sender(&self) -> &'a SenderEnd {
        &self.sending.end
    }

    /// The receiving end, to look at.
    pub fn receiver(&self) -> &'a ReceiverEnd {
        &self.receiving.end
    }

    /// Counts since the run began, of all flows that share the loop.
    pub fn totals(&self) -> LoopCounters {
        LoopCounters::of(&self.sending.end, &self.receiving.end)
    }

    /// Counts since the measurement began.
    pub fn counters(&self) -> LoopCounters {
        self.totals().since(self.receiving.before)
    }

    /// Round-trip times in picoseconds, one for each acknowledgement that gave one.
    pub fn round_trip_times(&self) -> &'a Histogram {
        &self.sending.meter.rtt
    }

    /// What waits of the flow in the send queue of a relay at the loop's beginning; at the source, what the application has
    /// supplied and was not yet sent.
    pub fn backlog(&self) -> Bytes {
        self.sending.end.backlog_of(self.member)
    }

    /// Bytes of the flow that have left its beginning at least once.
    pub fn stream_bytes_sent(&self) -> Bytes {
        self.sending.end.stream_bytes_sent_of(self.member)
    }

    /// Bytes of the flow that have arrived at its end, each counted once.
    pub fn arrived(&self) -> Bytes {
        Bytes::new(self.receiving.end.delivered_of(self.member))
    }

    /// The smoothed round-trip time, once it is known.
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.sending.end.smoothed_rtt()
    }
}
