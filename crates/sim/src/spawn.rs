//! Execution of transfers: each starts as a new flow, and its flow slot is reused when it is over.
//!
//! ```text
//!   arrival --> a free flow slot, or a new one --> the flow runs --> over --> (sweep) --> the slot is free
//! ```
//!
//! The processing of packets does not depend on transfers. A transfer is over when its last byte has arrived, its senders
//! know it, and none of its packets is in the network. This is examined when slots run short ([`PacketNetwork::sweep`]),
//! so that there are at most about twice as many slots as running transfers.

use crate::endpoints::{LoopOwner, add_routes};
use crate::event_kind::{EventKind, INDEX_LIMIT, target};
use crate::flow_spec::{LoopSpec, Workload};
use crate::flow_state::FlowState;
use crate::packet_network::PacketNetwork;
use crate::stages::{FlowStreams, StreamRef};
use crate::transfers::{FlowSlot, MIN_SLOTS, NewTransfer, Pattern, TransferSource};
use crate::transfers_view::TransfersView;
use crate::view::{FlowView, LoopView};
use millpond_law::{Knowledge, QueuedFlow};
use millpond_units::{Bytes, Time};

impl PacketNetwork {
    /// Starts the transfer that arrives now.
    pub(crate) fn on_transfer_arrival(&mut self, now: Time, index: u32) {
        let Some(new) = self.spawning.sources[index as usize].arrive() else { return };
        let NewTransfer { number, size, next_arrival } = new;
        self.events.push(next_arrival, target(EventKind::TransferArrival, index));
        let flow = match self.free_slot(index) {
            Some(flow) => flow,
            None => self.flows.len() as u32,
        };
        if self.has_room_for(index, flow) {
            self.start_transfer(now, index, FlowSlot { flow, number }, size);
            self.on_flow(now, flow);
        }
    }

    fn free_slot(&mut self, index: u32) -> Option<u32> {
        let short = self.spawning.sources[index as usize].free.is_empty();
        if short && self.spawning.busy >= self.spawning.sweep_at {
            self.sweep();
        }
        self.spawning.sources[index as usize].free.pop()
    }

    /// True if the event targets can distinguish one more transfer; otherwise it is never started.
    fn has_room_for(&self, index: u32, flow: u32) -> bool {
        let more = self.spawning.sources[index as usize].pattern.len();
        let most = INDEX_LIMIT as usize;
        (flow as usize) < self.flows.len()
            || self.flows.len() < most && self.endpoints.senders.len() + more < most
    }

    /// Starts a flow in a free slot or in a new one.
    fn start_transfer(&mut self, now: Time, index: u32, slot: FlowSlot, size: Bytes) {
        let Self { spawning, flows, endpoints, links, routes, capacity_receivers, .. } = self;
        let source = &mut spawning.sources[index as usize];
        let name = format!("{}/{}", source.spec.name, slot.number);
        let specs: Vec<LoopSpec> = (source.spec.loops)();
        let sender_config = specs[0].sender_config;
        let first = endpoints.senders.len() as u32;
        let stream = |loop_id: u32| StreamRef { loop_id, stream_id: 0 };
        let streams = match flows.get(slot.flow as usize) {
            Some(old) => old.streams().to_vec(),
            None => (first..first + specs.len() as u32).map(stream).collect(),
        };
        let (weight, relays) = (source.spec.weight, &source.spec.relays[..]);
        let flow_streams = FlowStreams { flow: slot.flow, weight, start: now, relays, streams: &streams };
        for (number, spec) in specs.into_iter().enumerate() {
            let Pattern { configured, delay, first_link, knowledge } = source.pattern[number];
            let configured = match knowledge {
                Knowledge::Live => {
                    configured.with_first_capacity(links[first_link as usize].configured_capacity(now))
                }
                Knowledge::AtStart | Knowledge::Nothing => configured,
            };
            let (stages, loop_id) = ([flow_streams.stage(number)], streams[number].loop_id);
            let stream_name = format!("flow {name} loop {number}");
            let owner = LoopOwner {
                seed: spawning.seed,
                name: &stream_name,
                flow: slot.flow,
                stages: &stages,
                shared: false,
            };
            endpoints.put(&owner, loop_id, spec, configured, |spec, host| {
                add_routes(routes, loop_id, delay, spec, host)
            });
        }
        let payload = sender_config.packet.saturating_sub(sender_config.overhead);
        let queued = QueuedFlow::new(&name, source.spec.weight);
        let state = FlowState::new(name, streams, Workload::Sized(size), payload, now, None);
        match flows.get_mut(slot.flow as usize) {
            Some(flow) => *flow = state,
            None => {
                flows.push(state);
                links.iter_mut().for_each(|link| link.add_flow(queued));
                if source.pattern.iter().any(|one| one.knowledge == Knowledge::Live) {
                    *capacity_receivers = endpoints.capacity_receivers();
                }
            }
        }
        source.busy.push(slot);
        spawning.busy += 1;
        if self.outside.is_some() {
            self.redirect_routes();
        }
    }

    /// Frees the slots of all transfers that are over.
    fn sweep(&mut self) {
        let mut in_network = vec![false; self.flows.len()];
        self.packets.in_network().for_each(|packet| in_network[packet.flow as usize] = true);
        if let Some(outside) = &self.outside {
            let carried = in_network.iter_mut().zip(0..);
            carried.for_each(|(in_network, flow)| *in_network |= outside.carries(flow));
        }
        let mut sources = std::mem::take(&mut self.spawning.sources);
        for source in &mut sources {
            let is_over = |slot: &mut FlowSlot| !in_network[slot.flow as usize] && self.is_over(slot.flow);
            for slot in source.busy.extract_if(.., is_over).collect::<Vec<_>>() {
                source.record(slot, FlowView { network: self, index: slot.flow as usize });
            }
        }
        self.spawning.busy = sources.iter().map(|source| source.busy.len()).sum();
        self.spawning.sweep_at = MIN_SLOTS.max(2 * self.spawning.busy);
        self.spawning.sources = sources;
    }

    /// True if all data has arrived and is acknowledged, and neither end will send again. While a packet counts as in
    /// flight, the sender could probe for it, and the acknowledgement would be attributed to the next transfer.
    fn is_over(&self, flow: u32) -> bool {
        let flow = FlowView { network: self, index: flow as usize };
        let is_idle = |one: LoopView<'_>| {
            let (sender, receiver) = (one.sender(), one.receiver());
            sender.is_complete() && sender.in_flight() == Bytes::ZERO && receiver.deadline() == Time::NEVER
        };
        flow.completed().is_some() && flow.loops().all(is_idle)
    }

    pub(crate) fn start_measuring_transfers(&mut self) {
        let ids = 0..self.spawning.sources.len();
        let totals: Vec<_> = ids.map(|index| TransfersView { network: self, index }.totals()).collect();
        for (source, before) in self.spawning.sources.iter_mut().zip(totals) {
            source.before = before;
            (source.removed.sender, source.removed.arrivals) = Default::default();
        }
    }
}

impl TransferSource {
    /// Adds the results of a transfer that is over, and frees its slot.
    fn record(&mut self, slot: FlowSlot, flow: FlowView<'_>) {
        let transfer = &mut self.transfers[slot.number as usize];
        (transfer.delivered, transfer.completed) = (flow.delivered(), flow.completed());
        self.removed.counters = self.removed.counters.plus(flow.totals());
        self.removed.sender.rtt.merge(flow.first().round_trip_times());
        self.removed.arrivals.merge(flow.arrivals());
        self.free.push(slot.flow);
    }
}
