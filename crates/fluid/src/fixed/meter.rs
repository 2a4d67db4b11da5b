//! What was sent, served and delivered: channels at each step, and their integrals by the trapezoidal rule.
//!
//! What departs in a step is what arrived less what the queue has gained, unless the queue was busy throughout: the jump
//! of the departing rate where a queue empties costs no order, and all that arrives is served, waits or is lost. What
//! share of a step's arrivals departs belongs to the step's middle; a flow's delivery is what it sent times the shares
//! of its links, each as old as the way from there to the end, so that the flows of a link are delivered what departs.
//! Flows are settled for many steps at once: each then comes into the cache once.

use super::FixedStep;
use super::flows::ClassState;
use super::hops::{DelayedHop, RingBuffers};
use crate::assembly::Channels;
use crate::queue::{LEAST_LOAD, passing};
use std::ops::Range;

/// Flows are settled at least as often.
pub(super) const MAX_UNSETTLED: usize = 16;

/// What links are remembered by: the share of a step's arrivals that departs, the queueing delay at its end in seconds
/// and the integral of that.
const KEPT: usize = 0;
const DELAY: usize = 1;
const DELAYS: usize = 2;

/// See the module. Channels are in the order of [`channel_columns`](crate::Assembly::channel_columns).
pub(super) struct Meter {
    step: f64,
    /// The step at time zero.
    zero: usize,
    at: Channels,
    /// At the last step: of links as steps go on, of loops as of when they were settled.
    pub(super) now: Vec<f64>,
    /// A step before.
    before: Vec<f64>,
    pub(super) integrals: Vec<f64>,
    links: Vec<LinkSample>,
    rings: RingBuffers,
    /// What each loop delivered in the last step that is settled, in bit/s.
    delivered: Vec<f64>,
    /// The last step up to which loops are settled.
    settled: usize,
}

/// A link at the last step.
#[derive(Clone, Copy)]
struct LinkSample {
    queue: f64,
    admitted: f64,
    capacity: f64,
}

/// What happened at a link in a step, in bits.
struct LinkBalance {
    arrived: f64,
    /// What its law did not drop.
    admitted: f64,
    /// What it could serve.
    served: f64,
    /// Before and after.
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

    /// What was neither dropped nor overflowed.
    fn stayed(&self) -> f64 {
        if self.overflows() { self.departed() + self.queues.1 - self.queues.0 } else { self.admitted }
    }

    fn lost(&self) -> f64 {
        let least = if self.overflows() { LEAST_LOAD * self.served } else { f64::MIN_POSITIVE };
        (self.arrived - self.stayed()) / self.arrived.max(least)
    }

    fn passed(&self) -> f64 {
        let is_empty = self.queues == (0.0, 0.0);
        if is_empty { 1.0 } else { self.departed() / self.stayed().max(LEAST_LOAD * self.served) }
    }

    /// The share of what arrives that departs.
    fn kept(&self) -> f64 {
        self.passed() * (1.0 - self.lost())
    }
}

impl Meter {
    /// For an integration at time zero before which channels always said `before`.
    pub(super) fn new(fixed: &FixedStep<'_>, before: Vec<f64>) -> Self {
        let (asm, step, zero) = (fixed.asm, fixed.step, fixed.zero);
        let at = asm.channels;
        let longest = (asm.longest_delay() / step).ceil() as usize + MAX_UNSETTLED + 2;
        let mut rings = RingBuffers::new(asm.links.len(), 3, longest);
        let mut links = Vec::with_capacity(asm.links.len());
        for (l, link) in asm.links.iter().enumerate() {
            let (kept, delay) = (before[at.passing + l] * (1.0 - before[at.lost + l]), before[at.delay + l]);
            for n in 0..=zero {
                let since = n as f64 - zero as f64;
                rings.at(l, n).copy_from_slice(&[kept, delay, delay * step * since]);
            }
            let admitted = before[at.arriving + l];
            links.push(LinkSample { queue: 0.0, admitted, capacity: link.capacity });
        }
        // What starts at time zero counts from the step before, where it was nothing: it jumps between the two.
        let is_idle = asm.loops.iter().all(|l| l.start.is_some());
        let mut integrals = vec![0.0; at.count];
        for class in &asm.classes {
            integrals[carried(class.first_carried, class.law.carried().len(), class.loops.len())]
                .fill(f64::NAN);
        }
        Self {
            step,
            zero,
            at,
            delivered: before[at.delivered..][..asm.loops.len()].to_vec(),
            now: before.clone(),
            before,
            integrals,
            links,
            rings,
            settled: if is_idle { zero - 1 } else { zero },
        }
    }

    /// What happened up to the step that has just been made.
    pub(super) fn note(&mut self, fixed: &FixedStep<'_>, queues: &[f64]) {
        let n = fixed.n - 1;
        std::mem::swap(&mut self.now, &mut self.before);
        self.look_at_links(fixed, queues);
        for (l, queue) in queues.iter().enumerate() {
            self.count_link(fixed, n, l, *queue);
        }
        if n > self.zero {
            let at = &self.at;
            let said = fixed.asm.sets.first().map_or(at.count, |set| set.first_signal);
            for range in [at.delay..at.slope, at.marked..at.lost, said..at.count] {
                self.add(range);
            }
        }
        if n >= self.settled + MAX_UNSETTLED {
            self.settle(fixed);
        }
    }

    /// The trapezoidal rule for these channels.
    fn add(&mut self, range: Range<usize>) {
        let ends = self.before[range.clone()].iter().zip(&self.now[range.clone()]);
        for (sum, (before, now)) in self.integrals[range].iter_mut().zip(ends) {
            *sum += 0.5 * self.step * (before + now);
        }
    }

    /// What links and their laws say at this step.
    fn look_at_links(&mut self, fixed: &FixedStep<'_>, queues: &[f64]) {
        let at = &self.at;
        for (l, link) in fixed.asm.links.iter().enumerate() {
            let (queue, capacity, arriving) = (queues[l], fixed.capacity[l], fixed.arriving[l]);
            let excess = fixed.admitted[l] - capacity;
            let is_constant = (queue <= 0.0 && excess < 0.0) || (queue >= link.buffer && excess > 0.0);
            let (stays, is_empty) = (arriving * (1.0 - fixed.lost[l]), queue <= 0.0 && excess <= 0.0);
            let says = [
                (at.delay, queue / capacity),
                (at.slope, if is_constant { 0.0 } else { excess / capacity }),
                (at.marked, fixed.marked[l]),
                (at.lost, fixed.lost[l]),
                (at.passing, passing(stays, capacity, is_empty)),
                (at.arriving, arriving),
                (at.departing, if is_empty { stays } else { capacity }),
            ];
            says.iter().for_each(|(channel, value)| self.now[channel + l] = *value);
        }
        for router in &fixed.routers {
            let signals = &mut self.now[router.set.first_signal..][..router.signals.len()];
            signals.copy_from_slice(&router.signals);
        }
    }

    /// What happened at a link between the last step and this one, `n`.
    fn count_link(&mut self, fixed: &FixedStep<'_>, n: usize, l: usize, queue: f64) {
        let now = LinkSample { queue, admitted: fixed.admitted[l], capacity: fixed.capacity[l] };
        let last = std::mem::replace(&mut self.links[l], now);
        let at = self.at;
        let mean = |a: f64, b: f64| 0.5 * self.step * (a + b);
        let of = |channel: usize| mean(self.before[channel + l], self.now[channel + l]);
        let count = LinkBalance {
            arrived: of(at.arriving),
            admitted: mean(last.admitted, now.admitted),
            served: mean(last.capacity, now.capacity),
            queues: (last.queue, now.queue),
            buffer: fixed.asm.links[l].buffer,
        };
        let delays = self.rings.at(l, n - 1)[DELAYS] + of(at.delay);
        self.rings.at(l, n).copy_from_slice(&[count.kept(), self.now[at.delay + l], delays]);
        if n > self.settled.min(self.zero) {
            self.integrals[at.arriving + l] += count.arrived;
            self.integrals[at.departing + l] += count.departed();
        }
        if n > self.zero {
            self.integrals[at.slope + l] += self.step * (now.queue - last.queue) / count.served;
            self.integrals[at.lost + l] += self.step * count.lost();
            self.integrals[at.passing + l] += self.step * count.passed();
        }
    }

    /// Loops are as links are: at the last step.
    pub(super) fn settle(&mut self, fixed: &FixedStep<'_>) {
        let steps = self.settled + 1..fixed.n;
        for (flows, class) in fixed.flow_classes.iter().zip(&fixed.asm.classes) {
            for (flow, &l) in class.loops.iter().enumerate() {
                self.settle_loop(fixed, (flows, flow), l, steps.clone());
            }
            let own = carried(class.first_carried, class.law.carried().len(), class.loops.len());
            self.now[own].copy_from_slice(&flows.carried);
        }
        self.settled = fixed.n - 1;
    }

    fn settle_loop(
        &mut self,
        fixed: &FixedStep<'_>,
        (flows, flow): (&ClassState<'_>, usize),
        l: usize,
        steps: Range<usize>,
    ) {
        let path = fixed.hops.of(flows.first + flow);
        let mut shares = [1.0; MAX_UNSETTLED];
        let (Some(last), shares) = (path.last(), &mut shares[..steps.len()]) else { return };
        for hop in path {
            let onward = hop.onward(last);
            for (share, n) in shares.iter_mut().zip(steps.clone()) {
                *share *= self.rings.before(hop.link as usize, (n, onward), KEPT);
            }
        }
        let arrived = |n: usize| flows.sent.before(flow, n, last.forward);
        let (mut sent, mut delivered, mut mean) = (0.0, 0.0, [self.delivered[l]; 2]);
        for (share, n) in shares.iter().zip(steps.clone()) {
            sent += flows.sent.at(flow, n - 1) + flows.sent.at(flow, n);
            mean = [mean[1], 0.5 * (arrived(n - 1) + arrived(n)) * *share];
            delivered += mean[1];
        }
        self.delivered[l] = mean[1];
        let (at, n) = (self.at, steps.end - 1);
        self.integrals[at.rate + l] += 0.5 * self.step * sent;
        self.integrals[at.delivered + l] += self.step * delivered;
        self.now[at.rate + l] = flows.sent.at(flow, n);
        self.now[at.delivered + l] = (1.5 * mean[1] - 0.5 * mean[0]).max(0.0);
        let (base, since) = (fixed.asm.loops[l].base_rtt, self.settled.max(self.zero));
        self.now[at.rtt + l] = base + self.queueing(path, n, DELAY);
        let delays = self.queueing(path, n, DELAYS) - self.queueing(path, since, DELAYS);
        self.integrals[at.rtt + l] += base * (n - since) as f64 * self.step + delays;
    }

    /// What a flow's sender sees of the queueing delays of its path, or of their integrals.
    fn queueing(&self, path: &[DelayedHop], n: usize, k: usize) -> f64 {
        path.iter().map(|hop| self.rings.before(hop.link as usize, (n, hop.backward), k)).sum()
    }
}

/// Where what the flows of a class carry is among the channels.
fn carried(first: usize, each: usize, flows: usize) -> Range<usize> {
    first..first + each * flows
}
