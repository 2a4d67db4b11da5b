//! A queue law that owns several internal queues: it classifies packets and schedules the queues.

use crate::{Context, Gauge, Hooks, Link, PacketView, QueueView, Queues, Scheduler, Verdict};
use alloc::boxed::Box;
use millpond_stats::stable_hash;
use millpond_units::{Bytes, Rate, Time};

/// The packets that make room in a full buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victims {
    /// The internal queue that loses them.
    pub queue: u32,
    /// How many, at least one.
    pub packets: u64,
    /// The oldest packets; false: the newest ones.
    pub from_head: bool,
}

/// A flow as a queue law sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuedFlow {
    /// Its weight for schedulers.
    pub weight: f64,
    /// A hash of its name. It stands for addresses and ports: another flow does not change it.
    pub address: u32,
}

impl QueuedFlow {
    /// The flow with this name (`"user.3"`) and weight.
    #[must_use]
    pub fn new(name: &str, weight: f64) -> Self {
        let hash = stable_hash(name);
        Self { weight, address: (hash ^ (hash >> 32)) as u32 }
    }
}

/// A queue law with several internal queues, such as FQ-CoDel or DualPI2. The element owns the packets; internal queues are
/// first in, first out.
///
/// ```text
///                 classify           arrive                 scheduler        depart
///   arriving ---> number of ---> keep|mark|drop ---> queue 0 ---\
///   packet        a queue                            queue 1 ----+--> next ---> keep|mark|drop ---> server
///                                                    queue n ---/
/// ```
pub trait MultiQueue: Send {
    /// The functions that the element calls; [`Hooks::sojourn`] has no meaning here.
    fn hooks(&self) -> Hooks;

    /// Whether each flow, or each hash value of flows, has a queue of its own.
    fn has_flow_queues(&self) -> bool {
        false
    }

    /// A flow has been added; flows are numbered in this order.
    fn add_flow(&mut self, _flow: QueuedFlow) {}

    /// The internal queue that an arriving packet of this flow joins.
    fn classify(&mut self, cx: &mut Context<'_>, packet: &PacketView<'_>, flow: u32) -> u32;

    /// A packet arrives at an internal queue, whose state is `view`.
    fn arrive(
        &mut self,
        _cx: &mut Context<'_>,
        _queue: u32,
        _packet: &mut PacketView<'_>,
        _view: &QueueView,
    ) -> Verdict {
        Verdict::Keep
    }

    /// The packet at the head of an internal queue, whose state is `view`, is about to be served. After `Drop` the
    /// scheduler selects again.
    fn depart(
        &mut self,
        _cx: &mut Context<'_>,
        _queue: u32,
        _packet: &mut PacketView<'_>,
        _view: &QueueView,
    ) -> Verdict {
        Verdict::Keep
    }

    /// A control interval ended (first called at time zero); returns when the next one ends.
    fn tick(&mut self, _cx: &mut Context<'_>, _capacity: Rate, _queues: &dyn Queues) -> Option<Time> {
        None
    }

    /// Selects the queue to serve next.
    fn scheduler(&mut self) -> &mut dyn Scheduler;

    /// The packets that are dropped so that a packet of `bytes` can join `queue`, although the buffer is full. None: the
    /// arriving packet is dropped.
    fn make_room(&mut self, queue: u32, bytes: Bytes, queues: &dyn Queues) -> Option<Victims>;

    /// Reports internal quantities with name and unit, for plots.
    fn observe(&self, _gauge: &mut dyn Gauge) {}
}

/// The law of a queue at one link.
pub enum QueueLaw {
    /// None: the element drops what its buffer has no room for.
    DropTail,
    /// A law for one queue of all packets.
    Single(Box<dyn Link>),
    /// A law with several internal queues.
    Multi(Box<dyn MultiQueue>),
}

impl QueueLaw {
    /// A law for one queue.
    pub fn single(law: impl Link + 'static) -> Self {
        Self::Single(Box::new(law))
    }

    /// A law with several internal queues.
    pub fn multi(law: impl MultiQueue + 'static) -> Self {
        Self::Multi(Box::new(law))
    }
}
