//! Read access to the transfers of a source.

use crate::TransfersId;
use crate::packet_network::PacketNetwork;
use crate::stats::{IntervalDelay, LoopCounters};
use crate::transfers::{Transfer, TransferSource};
use crate::view::FlowView;
use millpond_stats::Histogram;

/// State and statistics of a source of transfers, over all its transfers so far.
#[derive(Clone, Copy)]
pub struct TransfersView<'a> {
    pub(crate) network: &'a PacketNetwork,
    pub(crate) index: usize,
}

impl PacketNetwork {
    /// State of a source of transfers.
    pub fn transfers(&self, id: TransfersId) -> TransfersView<'_> {
        TransfersView { network: self, index: id.0 as usize }
    }
}

impl<'a> TransfersView<'a> {
    fn source(&self) -> &'a TransferSource {
        &self.network.spawning.sources[self.index]
    }

    /// Name of the source.
    pub fn name(&self) -> &'a str {
        &self.source().spec.name
    }

    /// Transfers with a flow slot, with their numbers.
    fn with_slots(&self) -> impl Iterator<Item = (usize, FlowView<'a>)> + use<'a> {
        let network = self.network;
        let view = move |flow: u32| FlowView { network, index: flow as usize };
        self.source().busy.iter().map(move |slot| (slot.number as usize, view(slot.flow)))
    }

    /// Number of transfers that have arrived and are not complete.
    pub fn running(&self) -> usize {
        self.with_slots().filter(|(_, flow)| flow.completed().is_none()).count()
    }

    /// Every transfer, in the order of arrival.
    pub fn all(&self) -> Vec<Transfer> {
        let mut all = self.source().transfers.clone();
        for (number, flow) in self.with_slots() {
            (all[number].delivered, all[number].completed) = (flow.delivered(), flow.completed());
        }
        all
    }

    /// Counters since the run began: sent by the first loops, delivered by the last, all others summed over all loops.
    pub fn totals(&self) -> LoopCounters {
        self.with_slots().fold(self.source().removed.counters, |sum, (_, flow)| sum.plus(flow.totals()))
    }

    /// Counters since the measurement began.
    pub fn counters(&self) -> LoopCounters {
        self.totals().since(self.source().before)
    }

    /// Round-trip times of the first loops in picoseconds.
    pub fn round_trip_times(&self) -> Histogram {
        let mut all = self.source().removed.sender.rtt.clone();
        self.with_slots().for_each(|(_, flow)| all.merge(flow.first().round_trip_times()));
        all
    }

    /// Queueing delay of every delivered packet from source to destination, in picoseconds.
    pub fn queueing_delays(&self) -> Histogram {
        let mut all = self.source().removed.arrivals.queueing.clone();
        self.with_slots().for_each(|(_, flow)| all.merge(flow.queueing_delays()));
        all
    }

    /// Time from the first transmission of its data by the source to the arrival of every delivered packet, in
    /// picoseconds.
    pub fn one_way_delays(&self) -> Histogram {
        let mut all = self.source().removed.arrivals.one_way.clone();
        self.with_slots().for_each(|(_, flow)| all.merge(flow.one_way_delays()));
        all
    }

    /// Queueing delay of the packets delivered in this interval ([`PacketNetwork::start_interval`]).
    pub fn interval_delay(&self) -> IntervalDelay {
        let removed = self.source().removed.arrivals.interval();
        self.with_slots().fold(removed, |sum, (_, flow)| sum.plus(flow.interval_delay()))
    }

    /// Number of flow slots allocated so far: the memory use.
    pub fn slots(&self) -> usize {
        self.source().busy.len() + self.source().free.len()
    }
}
