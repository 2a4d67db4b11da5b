//! One step of all links: arrivals, laws, queues, signals.

use super::hops::RouterSlots;
use super::{FixedStep, step_state};
use crate::assembly::{Assembly, LinkLaw, LinkSet};
use millpond_law::fluid::{LawState, LinkInputs, Verdicts};

/// The states, inputs and signals of one link set.
pub(super) struct LinkSetState<'a> {
    pub(super) set: &'a LinkSet,
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
    pub(super) fn new(asm: &Assembly, s: usize, set: &'a LinkSet, emitted: usize) -> Self {
        let states = &asm.states[set.first_state..][..set.width * set.links.len()];
        let slots = |(place, link): (usize, &usize)| {
            if set.protocol().is_some() {
                asm.slots(*link, LinkLaw { set: s, place }, emitted)
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
            inputs: LinkInputs::zeros(set.links.len(), set.carried),
            signals: vec![0.0; set.links.len() * set.law.signal_names().len()],
            guards: Guards::new(set),
            slots: set.links.iter().enumerate().map(slots).collect(),
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
    fn new(set: &LinkSet) -> Self {
        let nan = vec![f64::NAN; set.links.len() * set.law.guard_names().len()];
        Self { now: nan.clone(), before: nan }
    }

    /// Lets the laws act on guards that have changed their sign since the last step.
    fn cross(&mut self, set: &LinkSet, x: &mut [f64], inputs: &LinkInputs) {
        let guards = set.law.guard_names().len();
        if guards == 0 {
            return;
        }
        let values = self.now.chunks_exact_mut(guards).zip(self.before.chunks_exact_mut(guards));
        for (place, (now, before)) in values.enumerate() {
            let (x, input) = (&mut x[place * set.width..][..set.width], inputs.link(place));
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

impl FixedStep<'_> {
    /// Makes one step of all links.
    pub(super) fn step_links(&mut self) {
        let n = self.n;
        for (link, arriving) in self.arriving.iter_mut().enumerate() {
            *arriving = self.hops.arriving.at(link, n)[0];
        }
        for router in 0..self.routers.len() {
            self.evaluate_set(router);
        }
        for link in 0..self.arriving.len() {
            self.hops.arriving.at(link, n).fill(0.0);
            self.step_queue(link);
        }
        for router in &mut self.routers {
            let states = router.x.iter_mut().zip(&mut router.last).zip(&router.dx).zip(&router.bounds);
            for (((x, last), f), (lower, upper)) in states {
                step_state(x, *f, last, self.step, *lower, *upper);
            }
        }
    }

    /// Computes derivatives and signals of a link set.
    fn evaluate_set(&mut self, r: usize) {
        let router = &mut self.routers[r];
        let carried = router.set.carried;
        for (i, &link) in router.set.links.iter().enumerate() {
            let record = self.hops.arriving.at(link, self.n);
            let sums = router.slots[i].sums;
            router.inputs.capacity[i] = self.configured[link];
            router.inputs.arriving[i] = record[0];
            router.inputs.own_arriving[i] = record[sums];
            router.inputs.queue[i] = self.queues[link];
            if carried > 0 {
                router.inputs.carried[i * carried..][..carried]
                    .copy_from_slice(&record[sums + 1..][..carried]);
            }
        }
        router.guards.cross(router.set, &mut router.x, &router.inputs);
        router.set.law.derivatives(0, &router.x, &router.inputs, &mut router.dx);
        router.set.law.signals(0, &router.x, &router.inputs, &mut router.signals);
    }

    /// Advances the queue of a link and writes the link's record.
    fn step_queue(&mut self, link: usize) {
        let data = &self.asm.links[link];
        let (capacity, buffer) = (self.capacity[link], data.buffer);
        let (marked, dropped) = data.queue.map_or((0.0, 0.0), |LinkLaw { set, place }| {
            let p = self.routers[set].signals[place].clamp(0.0, 1.0);
            if self.asm.link_sets[set].verdicts() == Some(Verdicts::Marks) { (p, 0.0) } else { (0.0, p) }
        });
        let admitted = self.arriving[link] * (1.0 - dropped);
        let excess = admitted - capacity;
        let queue = &mut self.queues[link];
        let is_constant = (*queue <= 0.0 && excess < 0.0) || (*queue >= buffer && excess > 0.0);
        let overflow = if is_constant && excess > 0.0 { excess / admitted } else { 0.0 };
        let lost = 1.0 - (1.0 - dropped) * (1.0 - overflow);
        (self.marked[link], self.lost[link], self.admitted[link]) = (marked, lost, admitted);
        let record = self.hops.record;
        let emitted = self.hops.emitted.at(link, self.n);
        if let Some(k) = record.queueing {
            (emitted[k], emitted[k + 1]) =
                (*queue / capacity, if is_constant { 0.0 } else { excess / capacity });
        }
        record.marks.into_iter().for_each(|k| emitted[k] = marked);
        record.losses.into_iter().for_each(|k| emitted[k] = lost);
        for LinkLaw { set, place } in data.routers.iter().map(|router| router.law) {
            let router = &self.routers[set];
            let first = router.slots[place].signals;
            let width = router.set.law.signal_names().len();
            emitted[first..first + width].copy_from_slice(&router.signals[place * width..][..width]);
        }
        step_state(queue, excess, &mut self.queue_moves[link], self.step, 0.0, buffer);
    }
}
