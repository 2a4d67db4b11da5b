//! The two ends of each loop, and the paths between them.

use crate::delivery::Branch;
use crate::flow_spec::LoopSpec;
use crate::schedule::Schedule;
use crate::stages::{Place, Seat, branches, members};
use crate::stats::{ArrivalMeter, LoopCounters, SendingMeter};
use millpond_endpoint::{ReceiverEnd, SenderConfig, SenderEnd};
use millpond_law::{Ecn, Knowledge, Random, Sender};
use millpond_units::{Rate, Time};
use std::sync::Arc;

/// Which end of a loop.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Receiver = 0,
    Sender = 1,
}

/// From here on, a stop on a route is not a link but an end of a loop.
pub(crate) const FIRST_END: u32 = 1 << 30;

impl Side {
    /// The stop that means this side of a loop.
    fn stop(self, loop_id: u32) -> u32 {
        FIRST_END + loop_id * 2 + self as u32
    }
}

/// The sending end of a loop and what it needs.
pub(crate) struct Sending {
    pub(crate) end: SenderEnd,
    /// The earliest time at which its deadline will be looked at.
    pub(crate) armed: Time,
    pub(crate) route: u32,
    /// Its flow, or what stands for all that share it.
    pub(crate) flow: u32,
    /// For each of its flows, its seat in the loop that brings it here; none at a source.
    pub(crate) feeders: Vec<Seat>,
    /// The link that it feeds itself.
    pub(crate) first_link: u32,
    /// What it is told of its loop's capacity.
    pub(crate) told: Told,
    pub(crate) knowledge: Knowledge,
    pub(crate) meter: SendingMeter,
}

/// The receiving end of a loop and what it needs.
pub(crate) struct Receiving {
    pub(crate) end: ReceiverEnd,
    pub(crate) armed: Time,
    pub(crate) route: u32,
    pub(crate) flow: u32,
    /// Acknowledgements of ECN-capable flows are ECN-capable, so that a queue on the way back need not drop them.
    pub(crate) ack_ecn: Ecn,
    /// What becomes of the bytes of its flow, or of its first.
    pub(crate) first: Branch,
    /// And of those of the others, where several share it.
    pub(crate) others: Vec<Branch>,
    /// The counters of the loop when the measurement began.
    pub(crate) before: LoopCounters,
}

impl Receiving {
    /// What becomes of the bytes of one flow.
    #[inline]
    pub(crate) fn branch(&self, member: u16) -> &Branch {
        let other = || self.others.get(usize::from(member).wrapping_sub(1)).unwrap_or(&self.first);
        if self.others.is_empty() { &self.first } else { other() }
    }

    #[inline]
    pub(crate) fn branch_mut(&mut self, member: u16) -> &mut Branch {
        if self.others.is_empty() {
            return &mut self.first;
        }
        self.others.get_mut(usize::from(member).wrapping_sub(1)).unwrap_or(&mut self.first)
    }

    /// The measurement begins when the loop has these counts.
    pub(crate) fn start_measuring(&mut self, before: LoopCounters) {
        self.before = before;
        let Self { end, first, others, .. } = self;
        for (member, branch) in (0..).zip(std::iter::once(first).chain(others)) {
            branch.arrivals = ArrivalMeter::since(end.delivered_of(member));
        }
    }

    /// A new interval of its flows' delays begins.
    pub(crate) fn start_interval(&mut self) {
        let branches = std::iter::once(&mut self.first).chain(&mut self.others);
        branches.for_each(|branch| branch.arrivals.start_interval());
    }
}

/// The ends of all loops.
#[derive(Default)]
pub(crate) struct Ends {
    pub(crate) senders: Vec<Sending>,
    pub(crate) receivers: Vec<Receiving>,
}

/// What a sender is told of its loop's capacity.
#[derive(Clone, Copy)]
pub(crate) struct Told {
    pub(crate) at_start: Rate,
    /// The least nominal capacity of the links that it does not feed itself.
    pub(crate) beyond: Rate,
}

impl Told {
    /// A link's nominal capacity is the highest that it is told to have. Of the link that it feeds itself a sender
    /// with live knowledge knows the present one.
    pub(crate) fn of(spec: &LoopSpec, told: &[Arc<Schedule>], start: Time) -> Self {
        let schedule = |link: &crate::LinkId| &told[link.0 as usize];
        let beyond = spec.forward.iter().skip(1).map(|link| schedule(link).peak()).min().unwrap_or(Rate::MAX);
        let fed = spec.forward.first().map(schedule);
        let fed = match spec.sending.needs.capacity {
            Knowledge::Live => fed.map(|schedule| schedule.rate_at(start)),
            Knowledge::AtStart | Knowledge::Nothing => fed.map(|schedule| schedule.peak()),
        };
        Self { at_start: fed.unwrap_or(Rate::MAX).min(beyond), beyond }
    }

    /// The same for a loop that starts when the link that it feeds has this capacity.
    pub(crate) fn when_fed(self, capacity: Rate) -> Self {
        Self { at_start: capacity.min(self.beyond), ..self }
    }
}

/// Whose loop it is.
pub(crate) struct Owner<'a> {
    pub(crate) seed: u64,
    /// After this its random streams are named.
    pub(crate) name: &'a str,
    /// Its flow, or what stands for all that share it.
    pub(crate) flow: u32,
    /// Those who take it.
    pub(crate) places: &'a [Place],
    pub(crate) shared: bool,
}

impl Owner<'_> {
    fn stream(&self, end: &str) -> Random {
        Random::stream(self.seed, &format!("{} {end}", self.name))
    }

    fn sender(&self, config: SenderConfig, law: Box<dyn Sender>) -> SenderEnd {
        let (members, random) = (members(self.places, config.packet), self.stream("sender"));
        if self.shared {
            return SenderEnd::with_streams(config, members, law, random);
        }
        let credit = members.first().map_or(config.credit, |only| only.credit);
        SenderEnd::new(SenderConfig { credit, ..config }, law, random)
    }
}

impl Ends {
    /// Puts the ends of a loop where `loop_id` says: behind all others, over routes laid now, or in the place of a
    /// loop of the same path whose flow is over. An event that waits for the old ends will find the new ones.
    pub(crate) fn put(
        &mut self,
        owner: &Owner<'_>,
        loop_id: u32,
        spec: LoopSpec,
        told: Told,
        lay: impl FnOnce(&LoopSpec) -> (u32, u32),
    ) {
        let (old, routes) = match (self.senders.get(loop_id as usize), self.receivers.get(loop_id as usize)) {
            (Some(sender), Some(receiver)) => {
                (Some((sender.armed, receiver.armed)), (sender.route, receiver.route))
            }
            _ => (None, lay(&spec)),
        };
        let armed = old.unwrap_or((Time::NEVER, Time::NEVER));
        let mut branches = branches(owner.places, spec.sending.packet);
        let sending = Sending {
            end: owner.sender(spec.sending, spec.sender),
            armed: armed.0,
            route: routes.0,
            flow: owner.flow,
            feeders: owner.places.iter().filter_map(|place| place.before).collect(),
            first_link: spec.forward[0].0,
            told,
            knowledge: spec.sending.needs.capacity,
            meter: SendingMeter::default(),
        };
        let receiving = Receiving {
            end: ReceiverEnd::with_streams(
                spec.receiving,
                owner.places.len() as u16,
                spec.receiver,
                owner.stream("receiver"),
            ),
            armed: armed.1,
            route: routes.1,
            flow: owner.flow,
            ack_ecn: if spec.sending.needs.ecn.is_some() { Ecn::Ect0 } else { Ecn::NotCapable },
            first: branches.next().unwrap_or_default(),
            others: branches.collect(),
            before: LoopCounters::default(),
        };
        match old {
            Some(_) => {
                self.senders[loop_id as usize] = sending;
                self.receivers[loop_id as usize] = receiving;
            }
            None => {
                self.senders.push(sending);
                self.receivers.push(receiving);
            }
        }
    }

    /// The links whose capacity is told live, each with the loops that are told.
    pub(crate) fn audience(&self) -> Vec<(u32, u32)> {
        let live = self.senders.iter().enumerate().filter(|(_, side)| side.knowledge == Knowledge::Live);
        let mut audience: Vec<_> = live.map(|(index, side)| (side.first_link, index as u32)).collect();
        audience.sort_unstable();
        audience
    }
}

/// Adds the two paths of a loop to the stops of all paths; returns where each begins. Data first crosses `delay`, if
/// there is such an element.
pub(crate) fn lay_routes(
    routes: &mut Vec<u32>,
    loop_id: u32,
    delay: Option<u32>,
    spec: &LoopSpec,
) -> (u32, u32) {
    let there = delay.into_iter().chain(spec.forward.iter().map(|link| link.0));
    let there = lay(routes, there, Side::Receiver.stop(loop_id));
    let back = lay(routes, spec.backward.iter().map(|link| link.0), Side::Sender.stop(loop_id));
    (there, back)
}

/// Adds a path and its end.
fn lay(routes: &mut Vec<u32>, links: impl Iterator<Item = u32>, end: u32) -> u32 {
    let begin = routes.len() as u32;
    routes.extend(links);
    routes.push(end);
    begin
}
