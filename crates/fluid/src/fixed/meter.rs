//! Rates sent, served and delivered: channels at each step, and their integrals by the trapezoidal rule.
//!
//! The departures of a step are the arrivals minus the increase of the queue, unless the queue was busy throughout.
//! Discontinuities at the instant a queue empties therefore do not reduce the order, and every arriving bit is served,
//! queued or lost. The departing share of a step's arrivals applies to the middle of the step. What a link has served of
//! a flow is the flow's sending rate times this share; what the flow has received over several links follows from
//! `delivery`. The served parts of all flows of a link thus add up to its departures. Flows are processed for several
//! steps at once, which saves memory traffic.

use super::FixedStep;
use super::flows::FlowBlock;
use super::hops::{DelayedHop, DelayedHops};
use super::links::LinkBlock;
use super::rings::Signals;
use crate::assembly::{Channels, SenderClass};
use crate::delivery::delivered_after;
use crate::queue::{MIN_LOAD, departing_share, offered_share};
use std::ops::Range;

/// Largest number of steps between two updates of the flows.
pub(super) const MAX_PENDING_STEPS: usize = 16;

/// Positions in a link's record: departing share of a step's arrivals, queueing delay at the end of the step in
/// seconds, integral of that delay, share of the arrivals that is not lost, capacity over the rest.
const DEPARTING_SHARE: usize = 0;
const DELAY: usize = 1;
const DELAY_INTEGRAL: usize = 2;
const KEPT: usize = 3;
const OFFERED: usize = 4;
const RECORD: usize = 5;

/// One value for each step of a block.
type OfSteps = [f64; MAX_PENDING_STEPS];

/// Channels and their integrals, in the order of [`channel_columns`](crate::Assembly::channel_columns).
pub(super) struct Meter {
    step: f64,
    /// The step at time zero.
    zero: usize,
    at: Channels,
    /// Channels at the last step: those of links at every step, those of loops at the last update.
    pub(super) now: Vec<f64>,
    /// Channels one step earlier.
    before: Vec<f64>,
    pub(super) integrals: Vec<f64>,
    /// The ranges of carried quantities, which have no integrals.
    carried: Vec<Range<usize>>,
    links: Vec<LinkSample>,
    hops: DelayedHops,
    rings: Signals,
    /// Rate of each loop at the end of its path at the last update, in bit/s.
    delivered: Vec<f64>,
    /// For each hop of the paths with several: bits that the link has served and that were not delivered.
    undelivered: Vec<f64>,
    /// The last step for which loops have been updated.
    updated: usize,
}

/// A link at the last step.
#[derive(Clone, Copy)]
struct LinkSample {
    queue: f64,
    admitted: f64,
    capacity: f64,
}

/// The mean rates of a flow at the end of its path in the steps of a block, in bit/s.
struct DeliveredRates {
    /// What it has received.
    rates: OfSteps,
    /// The arriving rates times the departing shares of all links.
    through: OfSteps,
}

/// The balance of a link over one step, in bits.
struct LinkBalance {
    arrived: f64,
    /// Arrivals that the link's law did not drop.
    admitted: f64,
    /// Capacity of the step.
    served: f64,
    /// Queue before and after the step.
    queues: (f64, f64),
    buffer: f64,
}

impl LinkBalance {
    fn departed(&self) -> f64 {
        let is_busy = self.queues.0 > 0.0 && self.queues.1 > 0.0;
        if is_busy { self.served } else { (self.admitted + self.queues.0 - self.queues.1).max(0.0) }
    }

    fn overflows(&self) -> bool {
        self.queues.0.max(self.queues.1) >= self.buffer
    }

    /// Arrivals that were neither dropped nor lost to overflow.
    fn stayed(&self) -> f64 {
        if self.overflows() { self.departed() + self.queues.1 - self.queues.0 } else { self.admitted }
    }

    fn lost(&self) -> f64 {
        let least = if self.overflows() { MIN_LOAD * self.served } else { f64::MIN_POSITIVE };
        (self.arrived - self.stayed()) / self.arrived.max(least)
    }

    fn passing(&self) -> f64 {
        let is_empty = self.queues == (0.0, 0.0);
        if is_empty { 1.0 } else { self.departed() / self.stayed().max(MIN_LOAD * self.served) }
    }

    fn offered(&self) -> f64 {
        offered_share(self.stayed(), self.served)
    }

    /// Departing share of the arrivals.
    fn departing_share(&self) -> f64 {
        self.passing() * (1.0 - self.lost())
    }
}

impl Meter {
    /// A meter at time zero; `before` are the constant channels before.
    pub(super) fn new(fixed: &FixedStep<'_>, before: Vec<f64>) -> Self {
        let (asm, step, zero) = (fixed.asm, fixed.step, fixed.zero);
        let at = asm.channels;
        // A signal of one delay before the first of the steps that have not been read.
        let longest = (asm.longest_delay() / step).ceil() as usize + MAX_PENDING_STEPS;
        let mut rings = Signals::new(asm.links.len(), RECORD, longest);
        let mut links = Vec::with_capacity(asm.links.len());
        for (l, link) in asm.links.iter().enumerate() {
            let (kept, delay) = (1.0 - before[at.lost + l], before[at.delay + l]);
            let departing = before[at.passing + l] * kept;
            let offered = offered_share(before[at.arriving + l] * kept, link.capacity);
            for n in 0..=zero {
                let since = n as f64 - zero as f64;
                let record = [departing, delay, delay * step * since, kept, offered];
                record.into_iter().enumerate().for_each(|(k, value)| rings.set(l, n, k, value));
            }
            let admitted = before[at.arriving + l];
            links.push(LinkSample { queue: 0.0, admitted, capacity: link.capacity });
        }
        // A flow that starts at time zero has its jump between step zero and the step before, which therefore counts.
        let is_idle = asm.loops.iter().all(|l| l.start.is_some());
        let mut integrals = vec![0.0; at.count];
        let carried: Vec<Range<usize>> = asm.sender_classes.iter().map(carried_channels).collect();
        carried.iter().for_each(|range| integrals[range.clone()].fill(f64::NAN));
        Self {
            step,
            zero,
            at,
            delivered: before[at.delivered..][..asm.loops.len()].to_vec(),
            undelivered: vec![0.0; asm.hops.len()],
            now: before.clone(),
            before,
            integrals,
            carried,
            links,
            hops: DelayedHops::new(asm, step, fixed.record.count),
            rings,
            updated: if is_idle { zero - 1 } else { zero },
        }
    }

    /// Updates channels and integrals after a step. `queues` are the queues before that step.
    pub(super) fn add_step(&mut self, fixed: &FixedStep<'_>, queues: &[f64]) {
        let n = fixed.n - 1;
        std::mem::swap(&mut self.now, &mut self.before);
        self.set_link_channels(fixed, queues);
        for block in &fixed.link_blocks {
            for place in 0..block.queues.len() {
                self.balance_link(fixed, n, (block, place), queues[block.first + place]);
            }
        }
        if n > self.zero {
            let at = &self.at;
            let emitted = fixed.asm.link_sets.first().map_or(at.count, |set| set.first_signal);
            for range in [at.delay..at.slope, at.marked..at.lost, emitted..at.count] {
                self.add(range);
            }
        }
        if n >= self.updated + MAX_PENDING_STEPS {
            self.update_loops(fixed);
        }
    }

    /// The first channel whose present value or integral is infinite or not a number.
    pub(super) fn first_not_finite(&self) -> Option<usize> {
        let has_integral = |channel: &usize| !self.carried.iter().any(|range| range.contains(channel));
        let is_finite =
            |i: usize| self.now[i].is_finite() && (self.integrals[i].is_finite() || !has_integral(&i));
        (0..self.now.len()).find(|i| !is_finite(*i))
    }

    /// Adds one step of the trapezoidal rule for these channels.
    fn add(&mut self, range: Range<usize>) {
        let ends = self.before[range.clone()].iter().zip(&self.now[range.clone()]);
        for (sum, (before, now)) in self.integrals[range].iter_mut().zip(ends) {
            *sum += 0.5 * self.step * (before + now);
        }
    }

    /// The channels of links at this step.
    fn set_link_channels(&mut self, fixed: &FixedStep<'_>, queues: &[f64]) {
        for block in &fixed.link_blocks {
            for place in 0..block.queues.len() {
                let link = &fixed.asm.links[block.first + place];
                self.set_channels_of(block, place, queues[block.first + place], link.buffer);
            }
            for state in &block.sets {
                let first = state.set.first_signal + state.places.start * state.set.law.signal_names().len();
                self.now[first..][..state.signals.len()].copy_from_slice(&state.signals);
            }
        }
    }

    /// The channels of one link of a block at this step.
    fn set_channels_of(&mut self, block: &LinkBlock<'_>, place: usize, queue: f64, buffer: f64) {
        let (at, l) = (&self.at, block.first + place);
        let (capacity, arriving) = (block.capacity[place], block.arriving(place));
        let excess = block.admitted[place] - capacity;
        let is_constant = (queue <= 0.0 && excess < 0.0) || (queue >= buffer && excess > 0.0);
        let (stays, is_empty) = (arriving * (1.0 - block.lost[place]), queue <= 0.0 && excess <= 0.0);
        let values = [
            (at.delay, queue / capacity),
            (at.slope, if is_constant { 0.0 } else { excess / capacity }),
            (at.marked, block.marked[place]),
            (at.lost, block.lost[place]),
            (at.passing, departing_share(stays, capacity, is_empty)),
            (at.capacity, capacity),
            (at.arriving, arriving),
            (at.departing, if is_empty { stays } else { capacity }),
        ];
        values.iter().for_each(|(channel, value)| self.now[channel + l] = *value);
    }

    /// The balance of a link between the previous step and step `n`.
    fn balance_link(
        &mut self,
        fixed: &FixedStep<'_>,
        n: usize,
        (block, place): (&LinkBlock<'_>, usize),
        queue: f64,
    ) {
        let link = block.first + place;
        let now = LinkSample { queue, admitted: block.admitted[place], capacity: block.capacity[place] };
        let last = std::mem::replace(&mut self.links[link], now);
        let at = self.at;
        let mean = |a: f64, b: f64| 0.5 * self.step * (a + b);
        let of = |channel: usize| mean(self.before[channel + link], self.now[channel + link]);
        let count = LinkBalance {
            arrived: of(at.arriving),
            admitted: mean(last.admitted, now.admitted),
            served: mean(last.capacity, now.capacity),
            queues: (last.queue, now.queue),
            buffer: fixed.asm.links[link].buffer,
        };
        let delays = self.rings.at(link, n - 1, DELAY_INTEGRAL) + of(at.delay);
        let (departing, kept) = (count.departing_share(), 1.0 - count.lost());
        let record = [departing, self.now[at.delay + link], delays, kept, count.offered()];
        record.into_iter().enumerate().for_each(|(k, value)| self.rings.set(link, n, k, value));
        if n > self.updated.min(self.zero) {
            self.integrals[at.arriving + link] += count.arrived;
            self.integrals[at.departing + link] += count.departed();
        }
        if n > self.zero {
            self.integrals[at.slope + link] += self.step * (now.queue - last.queue) / count.served;
            self.integrals[at.lost + link] += self.step * count.lost();
            self.integrals[at.passing + link] += self.step * count.passing();
            self.integrals[at.capacity + link] += count.served;
        }
    }

    /// Updates the channels of loops up to the last step.
    pub(super) fn update_loops(&mut self, fixed: &FixedStep<'_>) {
        let steps = self.updated + 1..fixed.n;
        let mut first = 0;
        for block in &fixed.flow_blocks {
            for (flow, &l) in block.loops.iter().enumerate() {
                self.update_loop(fixed, (block, flow, first + flow), l, steps.clone());
            }
            self.now[block.carried_channels()].copy_from_slice(&block.carried);
            first += block.loops.len();
        }
        self.updated = fixed.n - 1;
    }

    fn update_loop(
        &mut self,
        fixed: &FixedStep<'_>,
        (flows, flow, index): (&FlowBlock<'_>, usize, usize),
        loop_index: usize,
        steps: Range<usize>,
    ) {
        let (first, path) = (fixed.asm.loops[loop_index].hops.start, self.hops.range(index));
        let Some(last) = path.clone().last().map(|last| self.hops.hops[last]) else { return };
        let mut arrived = [0.0; MAX_PENDING_STEPS];
        let at_end = |n: usize| flows.sent.before(flow, n, last.forward);
        for (arrived, n) in arrived.iter_mut().zip(steps.clone()) {
            *arrived = 0.5 * (at_end(n - 1) + at_end(n));
        }
        let DeliveredRates { rates, through } = self.deliver(path.clone(), first, arrived, &steps);
        let (mut sent, mut delivered, mut mean) = (0.0, 0.0, [self.delivered[loop_index]; 2]);
        for ((rate, through), n) in rates.into_iter().zip(through).zip(steps.clone()) {
            sent += flows.sent.at(flow, n - 1) + flows.sent.at(flow, n);
            mean = [mean[1], through];
            delivered += rate;
        }
        self.delivered[loop_index] = mean[1];
        let (at, n) = (self.at, steps.end - 1);
        self.integrals[at.rate + loop_index] += 0.5 * self.step * sent;
        self.integrals[at.delivered + loop_index] += self.step * delivered;
        self.now[at.rate + loop_index] = flows.sent.at(flow, n);
        self.now[at.delivered + loop_index] = (1.5 * mean[1] - 0.5 * mean[0]).max(0.0);
        let (base, since) = (fixed.asm.loops[loop_index].base_rtt, self.updated.max(self.zero));
        let path = &self.hops.hops[path];
        self.now[at.rtt + loop_index] = base + self.queueing(path, n, DELAY);
        let delays = self.queueing(path, n, DELAY_INTEGRAL) - self.queueing(path, since, DELAY_INTEGRAL);
        self.integrals[at.rtt + loop_index] += base * (n - since) as f64 * self.step + delays;
    }

    /// Mean rates delivered in these steps, for the mean rates at which the sender's data would arrive without queues, in
    /// bit/s; `first` is the index of the path's first hop.
    fn deliver(
        &mut self,
        path: Range<usize>,
        first: usize,
        arrived: OfSteps,
        steps: &Range<usize>,
    ) -> DeliveredRates {
        let path = &self.hops.hops[path];
        if let [hop] = path {
            let departing: OfSteps = self.rings.of_steps(hop, hop, DEPARTING_SHARE, steps);
            let rates = std::array::from_fn(|i| departing[i] * arrived[i]);
            return DeliveredRates { rates, through: rates };
        }
        let Some(last) = path.last() else { return DeliveredRates { rates: arrived, through: arrived } };
        let at_hop = |hop: &DelayedHop, k: usize| -> OfSteps { self.rings.of_steps(hop, last, k, steps) };
        let mut through = arrived;
        let mut kept = arrived.map(|rate| rate * self.step);
        for hop in path {
            kept.iter_mut().zip(at_hop(hop, KEPT)).for_each(|(bits, kept)| *bits *= kept);
        }
        let (mut served, mut offered) =
            ([f64::INFINITY; MAX_PENDING_STEPS], [f64::INFINITY; MAX_PENDING_STEPS]);
        for (hop, undelivered) in path.iter().zip(&mut self.undelivered[first..]) {
            let [departing, kept_here, capacity] = [DEPARTING_SHARE, KEPT, OFFERED].map(|k| at_hop(hop, k));
            for i in 0..steps.len() {
                through[i] *= departing[i];
                let passing = if kept_here[i] > 0.0 { departing[i] / kept_here[i] } else { 0.0 };
                *undelivered += kept[i] * passing;
                served[i] = served[i].min(*undelivered);
                offered[i] = offered[i].min(kept[i] * capacity[i]);
            }
        }
        let (mut rates, mut delivered) = ([0.0; MAX_PENDING_STEPS], 0.0);
        for i in 0..steps.len() {
            let after = delivered_after(delivered, served[i], offered[i]);
            rates[i] = (after - delivered) / self.step;
            delivered = after;
        }
        self.undelivered[first..][..path.len()].iter_mut().for_each(|bits| *bits -= delivered);
        DeliveredRates { rates, through }
    }

    /// Queueing delay of a path (or its integral) as its sender receives it; `k` is the position in the records.
    fn queueing(&self, path: &[DelayedHop], n: usize, k: usize) -> f64 {
        path.iter().map(|hop| self.rings.before::<1>(hop.link as usize, n, hop.backward, k)[0]).sum()
    }
}

/// The range of a class's carried quantities among the channels.
fn carried_channels(class: &SenderClass) -> Range<usize> {
    let first = class.first_carried;
    first..first + class.law.carried().len() * class.loops.len()
}
