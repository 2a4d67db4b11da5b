//! One step of a block of links: arrivals, laws, queues, signals.

use super::flows::FlowBlock;
use super::hops::{LINKS, RecordLayout, RouterSlots};
use super::rings::{Arrivals, Signals};
use super::step_state;
use crate::assembly::{Assembly, HopData, LinkLaw, LinkSet};
use millpond_law::fluid::{LawState, LinkInputs, Verdicts};
use std::ops::Range;

/// The states, inputs and signals of those links of a link set that belong to one block.
pub(super) struct LinkSetState<'a> {
    pub(super) set: &'a LinkSet,
    /// Their positions in the set.
    pub(super) places: Range<usize>,
    pub(super) x: Vec<f64>,
    last: Vec<f64>,
    dx: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    inputs: LinkInputs,
    pub(super) signals: Vec<f64>,
    guards: Guards,
    /// For each link: the positions of the router, zero for a queue law.
    slots: Vec<RouterSlots>,
}

impl<'a> LinkSetState<'a> {
    /// The links of set `s` with these numbers. Sets contain their links in ascending order.
    fn new(asm: &'a Assembly, s: usize, links: &Range<usize>, emitted: usize) -> Self {
        let set = &asm.link_sets[s];
        let before = |link: usize| set.links.partition_point(|other| *other < link);
        let places = before(links.start)..before(links.end);
        let states = &asm.states[set.first_state + places.start * set.width..][..places.len() * set.width];
        let slots = |place: usize| {
            if set.protocol().is_some() {
                asm.slots(set.links[place], LinkLaw { set: s, place }, emitted)
            } else {
                RouterSlots::default()
            }
        };
        Self {
            set,
            x: states.iter().map(|state| state.initial).collect(),
            last: vec![0.0; states.len()],
            dx: vec![0.0; states.len()],
            bounds: states.iter().map(|state| (state.lower, state.upper)).collect(),
            inputs: LinkInputs::zeros(places.len(), set.carried),
            signals: vec![0.0; places.len() * set.law.signal_names().len()],
            guards: Guards::new(set, places.len()),
            slots: places.clone().map(slots).collect(),
            places,
        }
    }
}

/// The switching functions of the laws of a link set, the values of the first link before those of the second.
struct Guards {
    now: Vec<f64>,
    /// Their values one step ago; NaN before the first step.
    before: Vec<f64>,
}

impl Guards {
    fn new(set: &LinkSet, links: usize) -> Self {
        let nan = vec![f64::NAN; links * set.law.guard_names().len()];
        Self { now: nan.clone(), before: nan }
    }

    /// Lets the laws of the links from place `first` of the set act on guards that have changed their sign since the last step.
    fn cross(&mut self, set: &LinkSet, first: usize, x: &mut [f64], inputs: &LinkInputs) {
        let guards = set.law.guard_names().len();
        if guards == 0 {
            return;
        }
        let values = self.now.chunks_exact_mut(guards).zip(self.before.chunks_exact_mut(guards));
        for (i, (now, before)) in values.enumerate() {
            let (x, input) = (&mut x[i * set.width..][..set.width], inputs.link(i));
            let place = first + i;
            set.law.guards(place, x, &input, now);
            for (guard, (now, before)) in now.iter().zip(before.iter()).enumerate() {
                if (*before <= 0.0 && *now > 0.0) || (*before > 0.0 && *now <= 0.0) {
                    let state = &mut LawState { x: &mut *x, discrete: &mut [] };
                    set.law.crossed(place, guard, *now > 0.0, state, &input);
                }
            }
            // Of the states after a jump: a capacity that falls in two parts crosses twice.
            set.law.guards(place, x, &input, before);
        }
    }
}

/// Consecutive links. Arrays are in the order of the links.
pub(super) struct LinkBlock<'a> {
    asm: &'a Assembly,
    index: usize,
    /// The number of its first link.
    pub(super) first: usize,
    /// Length of each queue, in bits.
    pub(super) queues: Vec<f64>,
    /// Derivative of each queue one step ago, in bit/s.
    queue_moves: Vec<f64>,
    /// Capacity of each link, in bit/s.
    pub(super) capacity: Vec<f64>,
    /// The capacity of each link with which laws compute, in bit/s.
    pub(super) configured: Vec<f64>,
    /// Arriving rate minus the drops of the queue law, in bit/s.
    pub(super) admitted: Vec<f64>,
    /// Present marking and loss probability of each link.
    pub(super) marked: Vec<f64>,
    pub(super) lost: Vec<f64>,
    /// One for each link set, also if none of its links is here.
    pub(super) sets: Vec<LinkSetState<'a>>,
    /// Rates and carried quantities on their way to the links.
    arrivals: Arrivals,
    /// What arrives at the present step, in the order of the links; `width` quantities each, first the arriving rate in
    /// bit/s.
    arrived: Vec<f64>,
    width: usize,
    /// The signals that the links have emitted, and the layout of a record.
    pub(super) emitted: Signals,
    record: RecordLayout,
}

impl<'a> LinkBlock<'a> {
    /// All blocks of a network at the start.
    pub(super) fn all(asm: &'a Assembly, step: f64, record: RecordLayout) -> Vec<Self> {
        let largest =
            |of: fn(&Assembly, usize) -> usize| (0..asm.links.len()).map(|l| of(asm, l)).max().unwrap_or(0);
        let longest =
            |of: fn(&HopData) -> f64| (asm.hops.iter().map(of).fold(0.0, f64::max) / step) as usize + 1;
        let (forward, backward) = (longest(|hop| hop.forward), longest(|hop| hop.backward));
        let (sums, signals) = (1 + largest(Assembly::sums_at), largest(Assembly::signals_at));
        let block = |index: usize| {
            let links = index * LINKS..asm.links.len().min((index + 1) * LINKS);
            let (count, data) = (links.len(), &asm.links[links.clone()]);
            let sets = 0..asm.link_sets.len();
            Self {
                asm,
                index,
                first: links.start,
                queues: vec![0.0; count],
                queue_moves: vec![0.0; count],
                capacity: data.iter().map(|link| link.capacity).collect(),
                configured: data.iter().map(|link| link.configured.initial(link.capacity)).collect(),
                admitted: vec![0.0; count],
                marked: vec![0.0; count],
                lost: vec![0.0; count],
                sets: sets.map(|s| LinkSetState::new(asm, s, &links, record.count)).collect(),
                arrivals: Arrivals::new(count, sums, forward),
                arrived: vec![0.0; count * sums],
                width: sums,
                emitted: Signals::new(count, record.count + signals, backward),
                record,
            }
        };
        (0..asm.links.len().div_ceil(LINKS)).map(block).collect()
    }

    /// The arriving rate at a link at the last step, in bit/s; `place` is its position in the block.
    pub(super) fn arriving(&self, place: usize) -> f64 {
        self.arrived[place * self.width]
    }

    /// Makes step `n` of all links, of this length in seconds, after all flows have made it. `sending` are the blocks of flows
    /// that send at this step, in their order.
    pub(super) fn step(&mut self, n: usize, step: f64, sending: &[&FlowBlock<'_>]) {
        for block in sending {
            block.send(self.index, &mut self.arrivals);
        }
        for (place, arrived) in self.arrived.chunks_exact_mut(self.width).enumerate() {
            for (k, arrived) in arrived.iter_mut().enumerate() {
                *arrived = self.arrivals.take(place, n, k);
            }
        }
        for set in 0..self.sets.len() {
            self.evaluate_set(set);
        }
        for place in 0..self.queues.len() {
            self.step_queue(place, n, step);
        }
        for set in &mut self.sets {
            let states = set.x.iter_mut().zip(&mut set.last).zip(&set.dx).zip(&set.bounds);
            for (((x, last), f), (lower, upper)) in states {
                step_state(x, *f, last, step, *lower, *upper);
            }
        }
    }

    /// Computes derivatives and signals of a link set.
    fn evaluate_set(&mut self, s: usize) {
        let LinkSetState { set, places, x, dx, inputs, signals, guards, slots, .. } = &mut self.sets[s];
        let carried = set.carried;
        for (i, place) in places.clone().enumerate() {
            let link = set.links[place] - self.first;
            let record = &self.arrived[link * self.width..][..self.width];
            let sums = slots[i].sums;
            inputs.capacity[i] = self.configured[link];
            inputs.arriving[i] = record[0];
            inputs.own_arriving[i] = record[sums];
            inputs.queue[i] = self.queues[link];
            if carried > 0 {
                inputs.carried[i * carried..][..carried].copy_from_slice(&record[sums + 1..][..carried]);
            }
        }
        guards.cross(set, places.start, x, inputs);
        set.law.derivatives(places.start, x, inputs, dx);
        set.law.signals(places.start, x, inputs, signals);
    }

    /// Advances the queue of a link and writes the link's record.
    fn step_queue(&mut self, place: usize, n: usize, step: f64) {
        let data = &self.asm.links[self.first + place];
        let (capacity, buffer) = (self.capacity[place], data.buffer);
        let (marked, dropped) = data.queue.map_or((0.0, 0.0), |law| {
            let state = &self.sets[law.set];
            let p = state.signals[law.place - state.places.start].clamp(0.0, 1.0);
            if state.set.verdicts() == Some(Verdicts::Marks) { (p, 0.0) } else { (0.0, p) }
        });
        let admitted = self.arrived[place * self.width] * (1.0 - dropped);
        let excess = admitted - capacity;
        let queue = &mut self.queues[place];
        let is_constant = (*queue <= 0.0 && excess < 0.0) || (*queue >= buffer && excess > 0.0);
        let overflow = if is_constant && excess > 0.0 { excess / admitted } else { 0.0 };
        let lost = 1.0 - (1.0 - dropped) * (1.0 - overflow);
        (self.marked[place], self.lost[place], self.admitted[place]) = (marked, lost, admitted);
        let (record, emitted) = (self.record, &mut self.emitted);
        if let Some(k) = record.queueing {
            emitted.set(place, n, k, *queue / capacity);
            emitted.set(place, n, k + 1, if is_constant { 0.0 } else { excess / capacity });
        }
        record.marks.into_iter().for_each(|k| emitted.set(place, n, k, marked));
        record.losses.into_iter().for_each(|k| emitted.set(place, n, k, lost));
        for law in data.routers.iter().map(|router| router.law) {
            let state = &self.sets[law.set];
            let (i, width) = (law.place - state.places.start, state.set.law.signal_names().len());
            for (k, signal) in state.signals[i * width..][..width].iter().enumerate() {
                emitted.set(place, n, state.slots[i].signals + k, *signal);
            }
        }
        step_state(queue, excess, &mut self.queue_moves[place], step, 0.0, buffer);
    }
}
