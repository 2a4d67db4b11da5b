//! Transfers that come one by one: each begins anew as a flow of its own, and its place serves another when it is over.
//!
//! ```text
//!   arrival --> a free place, or a new one --> the flow runs --> over --> (sweep) --> the place is free
//! ```
//!
//! Nothing on a packet's way knows of this. A transfer is over when its last byte has arrived, its senders know it, and
//! no packet of it is under way; who is over is looked at when places run short ([`Network::sweep`]), so that there are
//! at most about twice as many as transfers that run.

use crate::TransfersId;
use crate::endpoints::{Owner, Told, lay_routes};
use crate::flow_spec::{LoopSpec, TransfersSpec, Workload};
use crate::flow_state::FlowState;
use crate::simulation::{INDEX_LIMIT, Kind, Network, target};
use crate::stages::{Seat, Taker};
use crate::stats::{ArrivalMeter, Histogram, IntervalDelay, LoopCounters, SendingMeter};
use crate::view::{FlowView, LoopView};
use millpond_law::Knowledge;
use millpond_units::{Bytes, Time};

/// Below so many places there is nothing to win.
const FEWEST_PLACES: usize = 64;

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When it arrived.
    pub arrived: Time,
    /// How much it had to send.
    pub size: Bytes,
    /// How much of that was delivered, each byte counted once.
    pub delivered: Bytes,
    /// When its last byte was delivered, if it was.
    pub completed: Option<Time>,
}

/// What all transfers of a source have in common, loop by loop.
pub(crate) struct Pattern {
    pub(crate) told: Told,
    /// The element that lengthens its round trip.
    pub(crate) delay: Option<u32>,
    pub(crate) first_link: u32,
    pub(crate) knowledge: Knowledge,
}

/// A transfer that runs, or is over and was not yet swept: its flow and its number.
#[derive(Clone, Copy)]
struct Place {
    flow: u32,
    number: u32,
}

/// A source of transfers at work.
pub(crate) struct Source {
    spec: TransfersSpec,
    pattern: Vec<Pattern>,
    next: Option<(Time, Bytes)>,
    busy: Vec<Place>,
    /// Flows whose transfers are over.
    free: Vec<u32>,
    /// Every transfer so far; what is said of one that has a place is out of date.
    transfers: Vec<Transfer>,
    past: Past,
    /// The counts of all transfers when the measurement began.
    before: LoopCounters,
}

/// What swept transfers have left.
#[derive(Default)]
struct Past {
    counters: LoopCounters,
    sending: SendingMeter,
    receiving: ArrivalMeter,
}

/// All sources.
pub(crate) struct Spawning {
    seed: u64,
    sources: Vec<Source>,
    /// How many places are busy, and how many may be before they are swept.
    busy: usize,
    sweep_at: usize,
}

impl Spawning {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, sources: Vec::new(), busy: 0, sweep_at: FEWEST_PLACES }
    }

    pub(crate) fn add(&mut self, mut spec: TransfersSpec, pattern: Vec<Pattern>) {
        let next = spec.arrivals.next();
        let (busy, free, transfers) = (Vec::new(), Vec::new(), Vec::new());
        let (past, before) = (Past::default(), LoopCounters::default());
        self.sources.push(Source { spec, pattern, next, busy, free, transfers, past, before });
    }

    /// When the first transfer of each source arrives.
    pub(crate) fn first_arrivals(&self) -> impl Iterator<Item = Time> {
        self.sources.iter().map(|source| source.next.map_or(Time::NEVER, |(time, _)| time))
    }

    /// Links whose capacity transfers are told live.
    pub(crate) fn listened_links(&self) -> impl Iterator<Item = u32> {
        let loops = self.sources.iter().flat_map(|source| &source.pattern);
        loops.filter(|one| one.knowledge == Knowledge::Live).map(|one| one.first_link)
    }

    pub(crate) fn start_interval(&mut self) {
        self.sources.iter_mut().for_each(|source| source.past.receiving.start_interval());
    }
}

impl Source {
    /// Takes down the transfer that arrives now and draws the next one: the number and size of the one, the time of
    /// the other.
    fn arrive(&mut self) -> Option<(u32, Bytes, Time)> {
        let (arrived, size) = self.next?;
        self.next = self.spec.arrivals.next();
        let number = self.transfers.len() as u32;
        self.transfers.push(Transfer { arrived, size, delivered: Bytes::ZERO, completed: None });
        Some((number, size, self.next.map_or(Time::NEVER, |(time, _)| time)))
    }
}

impl Network {
    /// A transfer arrives.
    pub(crate) fn on_arrival(&mut self, now: Time, index: u32) {
        let Some((number, size, next)) = self.spawning.sources[index as usize].arrive() else { return };
        self.events.push(next, target(Kind::Arrival, index));
        let flow = match self.free_place(index) {
            Some(flow) => flow,
            None => self.flows.len() as u32,
        };
        if self.has_room_for(index, flow) {
            self.begin(now, index, Place { flow, number }, size);
            self.on_flow(now, flow);
        }
    }

    fn free_place(&mut self, index: u32) -> Option<u32> {
        let short = self.spawning.sources[index as usize].free.is_empty();
        if short && self.spawning.busy >= self.spawning.sweep_at {
            self.sweep();
        }
        self.spawning.sources[index as usize].free.pop()
    }

    /// Events can tell so many loops and flows apart and no more: a transfer that comes then is never served.
    fn has_room_for(&self, index: u32, flow: u32) -> bool {
        let more = self.spawning.sources[index as usize].pattern.len();
        let most = INDEX_LIMIT as usize;
        (flow as usize) < self.flows.len() || self.flows.len() < most && self.ends.senders.len() + more < most
    }

    /// Puts a new flow into a place, which may be behind all others.
    fn begin(&mut self, now: Time, index: u32, place: Place, size: Bytes) {
        let Self { spawning, flows, ends, links, routes, audience, .. } = self;
        let source = &mut spawning.sources[index as usize];
        let name = format!("{}/{}", source.spec.name, place.number);
        let specs: Vec<LoopSpec> = (source.spec.loops)();
        let sending = specs[0].sending;
        let first = ends.senders.len() as u32;
        let own = |loop_id: u32| Seat { loop_id, member: 0 };
        let seats = match flows.get(place.flow as usize) {
            Some(old) => old.seats().to_vec(),
            None => (first..first + specs.len() as u32).map(own).collect(),
        };
        let (weight, relays) = (source.spec.weight, &source.spec.relays[..]);
        let taker = Taker { flow: place.flow, weight, start: now, relays, seats: &seats };
        for (number, spec) in specs.into_iter().enumerate() {
            let Pattern { told, delay, first_link, knowledge } = source.pattern[number];
            let told = match knowledge {
                Knowledge::Live => told.when_fed(links[first_link as usize].told(now)),
                Knowledge::AtStart | Knowledge::Nothing => told,
            };
            let (places, loop_id) = ([taker.place(number)], seats[number].loop_id);
            let streams = format!("flow {name} loop {number}");
            let owner = Owner {
                seed: spawning.seed,
                name: &streams,
                flow: place.flow,
                places: &places,
                shared: false,
            };
            ends.put(&owner, loop_id, spec, told, |spec| lay_routes(routes, loop_id, delay, spec));
        }
        let payload = sending.packet.saturating_sub(sending.overhead);
        let state = FlowState::new(name, seats, Workload::Sized(size), payload, now, None);
        match flows.get_mut(place.flow as usize) {
            Some(flow) => *flow = state,
            None => {
                flows.push(state);
                links.iter_mut().for_each(|link| link.add_flow(source.spec.weight));
                if source.pattern.iter().any(|one| one.knowledge == Knowledge::Live) {
                    *audience = ends.audience();
                }
            }
        }
        source.busy.push(place);
        spawning.busy += 1;
    }

    /// Frees the places of all transfers that are over.
    fn sweep(&mut self) {
        let mut under_way = vec![false; self.flows.len()];
        self.packets.under_way().for_each(|packet| under_way[packet.flow as usize] = true);
        let mut sources = std::mem::take(&mut self.spawning.sources);
        for source in &mut sources {
            let is_over = |place: &mut Place| !under_way[place.flow as usize] && self.is_over(place.flow);
            for place in source.busy.extract_if(.., is_over).collect::<Vec<_>>() {
                source.take_down(place, FlowView { network: self, index: place.flow as usize });
            }
        }
        self.spawning.busy = sources.iter().map(|source| source.busy.len()).sum();
        self.spawning.sweep_at = FEWEST_PLACES.max(2 * self.spawning.busy);
        self.spawning.sources = sources;
    }

    /// Has everything arrived, does every sender know, and will neither end speak again? A copy that is still thought
    /// to be in flight would be asked after, and the answer taken for the next transfer's.
    fn is_over(&self, flow: u32) -> bool {
        let flow = FlowView { network: self, index: flow as usize };
        let is_quiet = |one: LoopView<'_>| {
            let (sender, receiver) = (one.sender(), one.receiver());
            sender.is_complete() && sender.in_flight() == Bytes::ZERO && receiver.deadline() == Time::NEVER
        };
        flow.completed().is_some() && flow.loops().all(is_quiet)
    }

    pub(crate) fn start_measuring_transfers(&mut self) {
        let ids = 0..self.spawning.sources.len();
        let totals: Vec<_> = ids.map(|index| TransfersView { network: self, index }.totals()).collect();
        for (source, before) in self.spawning.sources.iter_mut().zip(totals) {
            source.before = before;
            (source.past.sending, source.past.receiving) = Default::default();
        }
    }

    /// A source of transfers.
    pub fn transfers(&self, id: TransfersId) -> TransfersView<'_> {
        TransfersView { network: self, index: id.0 as usize }
    }
}

impl Source {
    /// Takes down what a transfer that is over has done.
    fn take_down(&mut self, place: Place, flow: FlowView<'_>) {
        let transfer = &mut self.transfers[place.number as usize];
        (transfer.delivered, transfer.completed) = (flow.delivered(), flow.completed());
        self.past.counters = self.past.counters.plus(flow.totals());
        self.past.sending.rtt.merge(flow.first().round_trip_times());
        self.past.receiving.merge(flow.arrivals());
        self.free.push(place.flow);
    }
}

/// What an onlooker may see of a source of transfers: of all that have come so far, together.
#[derive(Clone, Copy)]
pub struct TransfersView<'a> {
    network: &'a Network,
    index: usize,
}

impl<'a> TransfersView<'a> {
    fn source(&self) -> &'a Source {
        &self.network.spawning.sources[self.index]
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.source().spec.name
    }

    /// Transfers that have a place, with their numbers.
    fn placed(&self) -> impl Iterator<Item = (usize, FlowView<'a>)> + use<'a> {
        let network = self.network;
        let view = move |flow: u32| FlowView { network, index: flow as usize };
        self.source().busy.iter().map(move |place| (place.number as usize, view(place.flow)))
    }

    /// How many have arrived and are not complete.
    pub fn running(&self) -> usize {
        self.placed().filter(|(_, flow)| flow.completed().is_none()).count()
    }

    /// Every transfer, in the order of arrival.
    pub fn all(&self) -> Vec<Transfer> {
        let mut all = self.source().transfers.clone();
        for (number, flow) in self.placed() {
            (all[number].delivered, all[number].completed) = (flow.delivered(), flow.completed());
        }
        all
    }

    /// Counts since the run began: what was sent by the first loops and delivered by the last, the rest of all loops.
    pub fn totals(&self) -> LoopCounters {
        self.placed().fold(self.source().past.counters, |sum, (_, flow)| sum.plus(flow.totals()))
    }

    /// The same since the measurement began.
    pub fn counters(&self) -> LoopCounters {
        self.totals().since(self.source().before)
    }

    /// Round-trip times of the first loops in picoseconds.
    pub fn round_trip_times(&self) -> Histogram {
        let mut all = self.source().past.sending.rtt.clone();
        self.placed().for_each(|(_, flow)| all.merge(flow.first().round_trip_times()));
        all
    }

    /// How long, in picoseconds, every delivered packet has waited from source to destination.
    pub fn queueing_delays(&self) -> Histogram {
        let mut all = self.source().past.receiving.queueing.clone();
        self.placed().for_each(|(_, flow)| all.merge(flow.queueing_delays()));
        all
    }

    /// Queueing delay of the packets delivered in this interval ([`Network::start_interval`]).
    pub fn interval_delay(&self) -> IntervalDelay {
        let past = self.source().past.receiving.interval();
        self.placed().fold(past, |sum, (_, flow)| sum.plus(flow.interval_delay()))
    }

    /// Places for flows that it has made so far: what it costs in memory.
    pub fn places(&self) -> usize {
        self.source().busy.len() + self.source().free.len()
    }
}
