//! Events at known times: changes of the network, ticks of laws, and propagated discontinuities.
//!
//! A discontinuity of one entity reaches every entity that reads its channels one delay later. Its order (the
//! derivative that jumps) grows by one at each link, because queues and prices integrate. A step across it reduces the
//! order of the method, so the solver ends a step at each discontinuity up to the order that the method resolves. If
//! many are pending (many flows with different delays), those of higher order are left to the step-size control.

use crate::assembly::{Assembly, Entity};
use std::collections::BTreeMap;

/// Highest order of a discontinuity that affects a method of order 5.
const HIGHEST_ORDER: u8 = 5;

/// With more pending discontinuities than this, only orders zero and one are propagated.
const MAX_PENDING: usize = 64;

/// An event at a known time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScheduledEvent {
    /// A loop starts.
    Start(usize),
    /// A loop stops; if it begins at a relay, the last data can have arrived there.
    Stop(usize),
    /// A capacity changes; index into [`Assembly::steps`].
    Capacity(usize),
    /// A tick of a sender: class and position.
    SenderTick(usize, usize),
    /// A tick of a law at a link: set and position.
    LinkTick(usize, usize),
    /// A derivative of an entity's quantities jumps.
    Discontinuity(Entity),
}

/// Events in order of time. Times are not negative, so their bits have the same order.
pub(super) struct ScheduledEvents {
    due: BTreeMap<(u64, ScheduledEvent), u8>,
    pending: usize,
    track: bool,
    /// For each link: the loops that cross it.
    crossing: Vec<Vec<(usize, f64, bool)>>,
    /// Loops whose laws read the queueing delay at a lag of their own, each with its present lag in seconds.
    lags: Vec<(usize, f64)>,
    /// Start and stop time of each loop.
    lifetimes: Vec<(f64, f64)>,
}

impl ScheduledEvents {
    /// A schedule without changes of the network.
    pub(super) fn without_changes(asm: &Assembly, track: bool) -> Self {
        let mut crossing = vec![Vec::new(); asm.links.len()];
        for l in (0..asm.loops.len()).filter(|l| !asm.is_shared_flow(*l)) {
            for hop in asm.hops_of(l) {
                let ahead = asm.sender_classes[asm.loops[l].class].law.inputs_used().present_queueing;
                crossing[hop.link].push((l, hop.backward, ahead));
            }
        }
        let lifetimes = vec![(f64::NEG_INFINITY, f64::INFINITY); asm.loops.len()];
        let uses_lag = |l: &usize| asm.sender_classes[asm.loops[*l].class].law.inputs_used().earlier_queueing;
        let lags = (0..asm.loops.len()).filter(uses_lag).map(|l| (l, 0.0)).collect();
        Self { due: BTreeMap::new(), pending: 0, track, crossing, lags, lifetimes }
    }

    /// A schedule with all changes of the network.
    pub(super) fn new(asm: &Assembly, track: bool) -> Self {
        let mut scheduled = Self::without_changes(asm, track);
        for (l, data) in asm.loops.iter().enumerate() {
            // A loop that begins at a relay stops after the loop before it, once the relay is empty.
            let stop = data.stop.filter(|_| data.start_relay.is_none());
            scheduled.lifetimes[l] = (data.start.unwrap_or(f64::NEG_INFINITY), stop.unwrap_or(f64::INFINITY));
            for (time, what) in [(data.start, ScheduledEvent::Start(l)), (stop, ScheduledEvent::Stop(l))] {
                time.into_iter().for_each(|time| scheduled.add(time, what));
            }
        }
        for (i, step) in asm.steps.iter().enumerate() {
            scheduled.add(step.time, ScheduledEvent::Capacity(i));
        }
        scheduled
    }

    /// The loop has ended at this time, in seconds.
    pub(super) fn end_loop(&mut self, loop_index: usize, time: f64) {
        self.lifetimes[loop_index].1 = time;
    }

    /// Sets the lags of laws at these states. A discontinuity is propagated with the lag at that time: exactly if the lag is
    /// constant, otherwise the step-size control resolves it.
    pub(super) fn set_lags(&mut self, asm: &Assembly, x: &[f64]) {
        for (l, lag) in &mut self.lags {
            *lag = asm.lag(*l, x);
        }
    }

    pub(super) fn add(&mut self, time: f64, what: ScheduledEvent) {
        self.due.insert((time.max(0.0).to_bits(), what), 0);
    }

    /// The time of the next event, in seconds; infinite if there is none.
    pub(super) fn next(&self) -> f64 {
        self.due.keys().next().map_or(f64::INFINITY, |(bits, _)| f64::from_bits(*bits))
    }

    /// Removes and returns all events up to the time `latest`; discontinuities among them are propagated.
    pub(super) fn take_due(&mut self, asm: &Assembly, now: f64, latest: f64) -> Vec<ScheduledEvent> {
        let mut events = Vec::new();
        while let Some((&(bits, what), &order)) = self.due.first_key_value() {
            let time = f64::from_bits(bits);
            if time > latest {
                break;
            }
            self.due.pop_first();
            if let ScheduledEvent::Discontinuity(entity) = what {
                self.pending -= 1;
                self.propagate(asm, time.max(now), entity, order);
            }
            events.push(what);
        }
        events
    }

    /// Propagates a jump in the derivative of this order: schedules discontinuities of all entities that read the
    /// entity's channels.
    pub(super) fn propagate(&mut self, asm: &Assembly, now: f64, entity: Entity, order: u8) {
        match entity {
            Entity::Loop(l) => {
                let controlling_loop = asm.controlling_loop(l);
                self.propagate_rate(asm, now, controlling_loop, order);
                for relay in asm.start_relays(controlling_loop).map(|relay| &asm.relays[relay]) {
                    self.schedule_discontinuity(
                        now + asm.return_delay(relay),
                        Entity::Loop(asm.controlling_loop(relay.upstream.0)),
                        order,
                    );
                }
                if controlling_loop != l {
                    // A flow of the shared loop starts or stops. If the flows continue on different loops, the shared
                    // loop's downstream feedback changes one round trip later.
                    self.schedule_discontinuity(
                        now + asm.loops[l].base_rtt,
                        Entity::Loop(controlling_loop),
                        order,
                    );
                }
            }
            Entity::Link(link) => {
                for i in 0..self.crossing[link].len() {
                    let (l, backward, ahead) = self.crossing[link][i];
                    self.schedule_discontinuity(now + backward, Entity::Loop(l), order + 1);
                    if ahead {
                        self.propagate_rate(asm, now, l, order + 1);
                    }
                    if let Ok(place) = self.lags.binary_search_by_key(&l, |(l, _)| *l) {
                        let lag = self.lags[place].1;
                        self.schedule_discontinuity(now + backward + lag, Entity::Loop(l), order + 1);
                    }
                }
            }
            // With an empty backlog the relay passes the inflow on. The permitted rate does not change, so the upstream
            // loop observes the backlog alone. Without this distinction, discontinuities would circulate between both
            // loops for ever.
            Entity::Relay(r) => {
                let relay = &asm.relays[r];
                self.propagate_rate(asm, now, asm.controlling_loop(relay.downstream.0), order);
                let before = asm.controlling_loop(relay.upstream.0);
                self.schedule_discontinuity(now + asm.return_delay(relay), Entity::Loop(before), order + 1);
            }
        }
    }

    /// Propagates a discontinuity in the rate of a loop and of the flows that share it.
    fn propagate_rate(&mut self, asm: &Assembly, now: f64, loop_index: usize, order: u8) {
        for hop in asm.hops_of(loop_index) {
            self.schedule_discontinuity(now + hop.forward, Entity::Link(hop.link), order);
        }
        self.schedule_discontinuity(
            now + asm.loops[loop_index].base_rtt,
            Entity::Loop(loop_index),
            order + 1,
        );
        for relay in asm.end_relays(loop_index) {
            self.schedule_discontinuity(now + asm.relays[relay].forward, Entity::Relay(relay), order);
        }
    }

    /// Whether the entity is a loop that is inactive at this time.
    fn is_absent(&self, entity: Entity, time: f64) -> bool {
        let Entity::Loop(l) = entity else { return false };
        let (start, stop) = self.lifetimes[l];
        time < start || time > stop
    }

    fn schedule_discontinuity(&mut self, time: f64, entity: Entity, order: u8) {
        if !self.track
            || order > HIGHEST_ORDER
            || (self.pending > MAX_PENDING && order > 1)
            || self.is_absent(entity, time)
        {
            return;
        }
        let known = self.due.entry((time.to_bits(), ScheduledEvent::Discontinuity(entity)));
        let before = self.pending;
        known.and_modify(|known| *known = (*known).min(order)).or_insert_with(|| {
            self.pending = before + 1;
            order
        });
    }
}
