//! State of transfers: the sources, their transfers so far, and the flow slots that they use.

use crate::endpoints::PathCapacity;
use crate::flow_spec::TransfersSpec;
use crate::stats::{ArrivalMeter, LoopCounters, SendingMeter};
use millpond_law::Knowledge;
use millpond_units::{Bytes, Time};

/// Smallest number of busy slots at which finished transfers are looked for.
pub(crate) const MIN_SLOTS: usize = 64;

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

/// Properties that a loop has in all transfers of a source.
pub(crate) struct Pattern {
    pub(crate) configured: PathCapacity,
    /// The delay element before its first link.
    pub(crate) delay: Option<u32>,
    pub(crate) first_link: u32,
    pub(crate) knowledge: Knowledge,
}

/// A transfer that arrives now.
pub(crate) struct NewTransfer {
    pub(crate) number: u32,
    pub(crate) size: Bytes,
    /// When the next transfer of the source arrives.
    pub(crate) next_arrival: Time,
}

/// The flow slot of a transfer that runs, or is over and was not yet removed.
#[derive(Clone, Copy)]
pub(crate) struct FlowSlot {
    pub(crate) flow: u32,
    pub(crate) number: u32,
}

/// State of a source of transfers.
pub(crate) struct TransferSource {
    pub(crate) spec: TransfersSpec,
    pub(crate) pattern: Vec<Pattern>,
    next: Option<(Time, Bytes)>,
    pub(crate) busy: Vec<FlowSlot>,
    /// Flow slots that are free.
    pub(crate) free: Vec<u32>,
    /// All transfers so far. The entries of those with a slot are not up to date.
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) removed: Removed,
    /// Counters of all transfers at the start of the measurement.
    pub(crate) before: LoopCounters,
}

/// Statistics of removed transfers.
#[derive(Default)]
pub(crate) struct Removed {
    pub(crate) counters: LoopCounters,
    pub(crate) sender: SendingMeter,
    pub(crate) arrivals: ArrivalMeter,
}

/// All sources of transfers.
pub(crate) struct Spawning {
    pub(crate) seed: u64,
    pub(crate) sources: Vec<TransferSource>,
    /// Number of busy slots, and the number at which finished transfers are looked for.
    pub(crate) busy: usize,
    pub(crate) sweep_at: usize,
}

impl Spawning {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, sources: Vec::new(), busy: 0, sweep_at: MIN_SLOTS }
    }

    pub(crate) fn add(&mut self, mut spec: TransfersSpec, pattern: Vec<Pattern>) {
        let next = spec.arrivals.next();
        let (busy, free, transfers) = (Vec::new(), Vec::new(), Vec::new());
        let (removed, before) = (Removed::default(), LoopCounters::default());
        self.sources.push(TransferSource { spec, pattern, next, busy, free, transfers, removed, before });
    }

    /// Arrival time of the first transfer of each source.
    pub(crate) fn first_arrivals(&self) -> impl Iterator<Item = Time> {
        self.sources.iter().map(|source| source.next.map_or(Time::NEVER, |(time, _)| time))
    }

    /// Links whose capacity the transfers receive live.
    pub(crate) fn configured_links(&self) -> impl Iterator<Item = u32> {
        let loops = self.sources.iter().flat_map(|source| &source.pattern);
        loops.filter(|one| one.knowledge == Knowledge::Live).map(|one| one.first_link)
    }

    pub(crate) fn start_interval(&mut self) {
        self.sources.iter_mut().for_each(|source| source.removed.arrivals.start_interval());
    }
}

impl TransferSource {
    /// Records the transfer that arrives now, and takes the next one from the specification.
    pub(crate) fn arrive(&mut self) -> Option<NewTransfer> {
        let (arrived, size) = self.next?;
        self.next = self.spec.arrivals.next();
        let number = self.transfers.len() as u32;
        self.transfers.push(Transfer { arrived, size, delivered: Bytes::ZERO, completed: None });
        Some(NewTransfer { number, size, next_arrival: self.next.map_or(Time::NEVER, |(time, _)| time) })
    }
}
