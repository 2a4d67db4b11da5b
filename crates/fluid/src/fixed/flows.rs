//! The flows of one class: what they hear, send and do in a step.

use super::hops::{DelayedHop, DelayedHops, MAX_STEPS_AHEAD, RingBuffers, Steps};
use super::{part_after, step_state};
use crate::assembly::{Assembly, SenderClass};
use crate::path::{join, neutral};
use millpond_law::fluid::{Feedback, InputSet, PathAggregation, SenderInputs, SenderOutputs};
use std::ops::Range;

/// So many flows at a time: all that is computed of them stays in the cache.
const CHUNK: usize = 256;

/// Whether a flow is there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Presence {
    No,
    /// So many steps after this one: it has no last derivative.
    Starts(f64),
    Yes,
    /// So many steps after this one.
    Stops(f64),
}

/// Some flows, and how many steps they can do in one go: as many as what they hear is old. All that is kept of them
/// then comes into the cache once for all these steps.
struct Chunk {
    flows: Range<usize>,
    ahead: usize,
    /// The first step that is not done.
    next: usize,
}

/// See the module. Arrays are flow by flow in the order of the class.
pub(super) struct ClassState<'a> {
    class: &'a SenderClass,
    pub(super) x: Vec<f64>,
    last: Vec<f64>,
    /// What each flow sends now, in bit/s.
    pub(super) rates: Vec<f64>,
    base_rtt: Vec<f64>,
    capacity: Vec<f64>,
    count: Vec<f64>,
    ecn: Vec<bool>,
    there: Vec<Presence>,
    /// Of one flow after the other; empty if none has any.
    bounds: Vec<(f64, f64)>,
    feedback: &'static [Feedback],
    /// How many quantities each flow carries.
    carries: usize,
    inputs_used: InputSet,
    /// The first flow of the class among the wires.
    pub(super) first: usize,
    inputs: SenderInputs,
    dx: Vec<f64>,
    /// What each flow carries now.
    pub(super) carried: Vec<f64>,
    pub(super) sent: SentRates,
    step: f64,
    chunks: Vec<Chunk>,
}

/// What each flow sent lately, in bit/s; empty if nobody asks.
pub(super) struct SentRates {
    values: Vec<f64>,
    /// Of each flow, a power of two.
    slots: usize,
}

impl SentRates {
    /// For flows that hear themselves a round trip later, and for those who ask about so many steps.
    fn new(class: &SenderClass, asm: &Assembly, (step, remembered): (f64, usize)) -> Self {
        let longest = class.loops.iter().map(|l| asm.loops[*l].base_rtt).fold(0.0, f64::max);
        let heard = if class.law.inputs_used().acked { (longest / step).ceil() as usize + 2 } else { 0 };
        let slots = match heard.max(remembered) {
            0 => 0,
            steps => (steps + MAX_STEPS_AHEAD).next_power_of_two(),
        };
        Self { values: vec![0.0; slots * class.loops.len()], slots }
    }

    /// At a step.
    #[inline]
    pub(super) fn at(&self, flow: usize, n: usize) -> f64 {
        self.values[flow * self.slots + (n & (self.slots - 1))]
    }

    /// So long before a step, linear between steps.
    #[inline]
    pub(super) fn before(&self, flow: usize, n: usize, delay: Steps) -> f64 {
        let newer = n.wrapping_sub(delay.whole());
        let fraction = delay.fraction();
        (1.0 - fraction) * self.at(flow, newer) + fraction * self.at(flow, newer.wrapping_sub(1))
    }

    fn note(&mut self, flow: usize, n: usize, rate: f64) {
        if self.slots > 0 {
            self.values[flow * self.slots + (n & (self.slots - 1))] = rate;
        }
    }
}

impl<'a> ClassState<'a> {
    /// `first` is the first flow of the class among the wires, `zero` the step at time zero.
    pub(super) fn new(
        asm: &'a Assembly,
        class: &'a SenderClass,
        hops: &DelayedHops,
        (first, zero): (usize, usize),
        (step, remembered): (f64, usize),
    ) -> Self {
        let flows = class.loops.len();
        let states = &asm.states[class.first_state..][..flows * class.width];
        let of = |f: fn(&crate::assembly::LoopData) -> f64| {
            class.loops.iter().map(|l| f(&asm.loops[*l])).collect()
        };
        let has_bounds = states.iter().any(|s| s.lower.is_finite() || s.upper.is_finite());
        let bounds = states.iter().filter(|_| has_bounds).map(|s| (s.lower, s.upper)).collect();
        let there = |l: &usize| if asm.loops[*l].start.is_none() { Presence::Yes } else { Presence::No };
        Self {
            class,
            x: states.iter().map(|state| state.initial).collect(),
            last: vec![0.0; states.len()],
            rates: vec![0.0; flows],
            base_rtt: of(|l| l.base_rtt),
            capacity: vec![0.0; flows],
            count: of(|l| l.count),
            ecn: class.loops.iter().map(|l| asm.loops[*l].ecn).collect(),
            there: class.loops.iter().map(there).collect(),
            bounds,
            feedback: class.law.feedback(),
            carries: class.law.carried().len(),
            inputs_used: class.law.inputs_used(),
            first,
            inputs: SenderInputs::zeros(0, 0),
            dx: Vec::new(),
            carried: vec![0.0; flows * class.law.carried().len()],
            sent: SentRates::new(class, asm, (step, remembered)),
            step,
            chunks: chunks(hops, first, flows, zero),
        }
    }

    /// A flow starts so many steps after this one.
    pub(super) fn start(&mut self, place: usize, later: f64) {
        self.there[place] = Presence::Starts(later);
    }

    pub(super) fn stop(&mut self, place: usize, later: f64) {
        self.there[place] = Presence::Stops(later);
    }

    pub(super) fn set_capacity(&mut self, place: usize, capacity: f64) {
        self.capacity[place] = capacity;
    }

    /// All flows up to this step and it, some of them further, but not up to `until`.
    pub(super) fn step(&mut self, n: usize, until: usize, hops: &mut DelayedHops) {
        for c in 0..self.chunks.len() {
            let Chunk { ref flows, ahead, next } = self.chunks[c];
            if next > n {
                continue;
            }
            let (flows, end) = (flows.clone(), (n + ahead).min(until));
            for n in n..end {
                self.hear(flows.clone(), n, hops);
                self.act(flows.clone());
                self.send(flows.clone(), n, hops);
            }
            self.chunks[c].next = end;
        }
    }

    /// Steps before time zero, of flows that have always been there: they send, and nothing else happens.
    pub(super) fn emit_constant(&mut self, n: usize, rates: &[f64], carried: &[f64], hops: &mut DelayedHops) {
        self.carried.copy_from_slice(carried);
        self.rates.copy_from_slice(rates);
        self.send(0..rates.len(), n, hops);
    }

    fn hear(&mut self, chunk: Range<usize>, n: usize, hops: &DelayedHops) {
        let flows = chunk.len();
        let width = self.feedback.len();
        if self.inputs.count() != flows {
            self.inputs = SenderInputs::zeros(flows, width);
            let SenderInputs { queueing, queueing_slope, lost, .. } = &mut self.inputs;
            for unheard in [
                (queueing, self.inputs_used.queueing),
                (queueing_slope, self.inputs_used.queueing),
                (lost, self.inputs_used.lost),
            ] {
                unheard.0.fill(if unheard.1 { 0.0 } else { f64::NAN });
            }
        }
        self.inputs.base_rtt.copy_from_slice(&self.base_rtt[chunk.clone()]);
        self.inputs.capacity.copy_from_slice(&self.capacity[chunk.clone()]);
        for (i, flow) in chunk.enumerate() {
            let path = hops.of(self.first + flow);
            self.inputs.acked[i] = if self.inputs_used.acked {
                self.sent.before(flow, n, Steps::new(self.base_rtt[flow], self.step))
            } else {
                f64::NAN
            };
            self.hear_path(i, flow, path, hops, n);
            if width > 0 {
                let feedback = &mut self.inputs.feedback[i * width..][..width];
                hear_routers(path, &hops.said, n, self.feedback, feedback);
            }
        }
    }

    /// What every link of a path says of queues, marks and losses.
    #[inline]
    fn hear_path(&mut self, i: usize, flow: usize, path: &[DelayedHop], hops: &DelayedHops, n: usize) {
        let read = |hop: &DelayedHop, k: usize| hops.said.read(hop, n, k);
        let kept = |k: usize| path.iter().fold(1.0, |kept, hop| kept * (1.0 - read(hop, k)));
        if let Some(k) = hops.record.queueing.filter(|_| self.inputs_used.queueing) {
            self.inputs.queueing[i] = path.iter().map(|hop| read(hop, k)).sum();
            self.inputs.queueing_slope[i] = path.iter().map(|hop| read(hop, k + 1)).sum();
        }
        let unmarked = hops.record.marks.map_or(1.0, kept);
        self.inputs.marked[i] = if self.ecn[flow] { 1.0 - unmarked } else { 0.0 };
        if self.inputs_used.lost {
            let kept = hops.record.losses.map_or(1.0, kept);
            self.inputs.lost[i] = 1.0 - if self.ecn[flow] { kept } else { kept * unmarked };
        }
    }

    fn act(&mut self, chunk: Range<usize>) {
        let (flows, width, step) = (chunk.len(), self.class.width, self.step);
        let states = chunk.start * width..chunk.end * width;
        self.dx.resize(flows * width, 0.0);
        let law = &self.class.law;
        let x = &self.x[states.clone()];
        let carried = &mut self.carried[chunk.start * self.carries..chunk.end * self.carries];
        let (dx, rates) = (&mut self.dx[..], &mut self.rates[chunk.clone()]);
        law.derivatives_and_rates(chunk.start, x, &self.inputs, SenderOutputs { dx, rates, carried });
        for (i, flow) in chunk.enumerate() {
            if self.there[flow] != Presence::Yes {
                self.start_or_stop(i, flow);
            }
        }
        let moving = self.x[states.clone()].iter_mut().zip(&mut self.last[states.clone()]).zip(&self.dx);
        if self.bounds.is_empty() {
            for ((x, last), f) in moving {
                *x += step * (1.5 * f - 0.5 * *last);
                *last = *f;
            }
        } else {
            for (((x, last), f), (lower, upper)) in moving.zip(&self.bounds[states]) {
                step_state(x, *f, last, step, *lower, *upper);
            }
        }
    }

    /// A flow that is not there, or not all of this step; `i` is its place in the chunk. A jump between two steps counts
    /// at the nearest one in part.
    fn start_or_stop(&mut self, i: usize, flow: usize) {
        let width = self.class.width;
        let (part, next) = match self.there[flow] {
            Presence::Starts(later) => (part_after(later), Presence::Yes),
            Presence::Stops(later) => (1.0 - part_after(later), Presence::No),
            there => (0.0, there),
        };
        self.rates[flow] *= part;
        self.carried[flow * self.carries..][..self.carries].iter_mut().for_each(|carried| *carried *= part);
        let last = &mut self.last[flow * width..][..width];
        for (last, f) in last.iter_mut().zip(&mut self.dx[i * width..][..width]) {
            // The next state is (3 f - last) / 2 steps away.
            (*last, *f) = match self.there[flow] {
                Presence::Starts(later) => (*f * (1.0 + 2.0 * later), *f),
                Presence::Stops(later) => (0.0, *f * later / 1.5),
                _ => (0.0, 0.0),
            };
        }
        self.there[flow] = next;
    }

    /// The step before the first: there is a last derivative from then on, of flows that have always been there.
    pub(super) fn initialize_derivatives(&mut self, n: usize, hops: &DelayedHops) {
        for c in 0..self.chunks.len() {
            let chunk = self.chunks[c].flows.clone();
            let states = chunk.start * self.class.width..chunk.end * self.class.width;
            self.hear(chunk.clone(), n, hops);
            self.class.law.derivatives(
                chunk.start,
                &self.x[states.clone()],
                &self.inputs,
                &mut self.last[states],
            );
        }
    }

    fn send(&mut self, chunk: Range<usize>, n: usize, hops: &mut DelayedHops) {
        for flow in chunk {
            let rate = self.rates[flow].max(0.0);
            self.sent.note(flow, n, rate);
            let rate = rate * self.count[flow];
            let path = hops.range(self.first + flow);
            for hop in &hops.hops[path] {
                hops.arriving.send(hop, 0, n, rate);
                if hop.own > 0 {
                    let own = usize::from(hop.own);
                    hops.arriving.send(hop, own, n, rate);
                    for k in 0..self.carries {
                        let carried = self.carried[flow * self.carries + k] * self.count[flow];
                        hops.arriving.send(hop, own + 1 + k, n, carried);
                    }
                }
            }
        }
    }
}

fn chunks(hops: &DelayedHops, first: usize, flows: usize, zero: usize) -> Vec<Chunk> {
    let heard_after =
        |flow: usize| hops.of(first + flow).iter().map(DelayedHop::heard_after).min().unwrap_or(1);
    let chunk = |start: usize| {
        let flows = start..(start + CHUNK).min(flows);
        let ahead = flows.clone().map(heard_after).min().unwrap_or(1).clamp(1, MAX_STEPS_AHEAD);
        Chunk { flows, ahead, next: zero }
    };
    (0..flows).step_by(CHUNK).map(chunk).collect()
}

/// What a flow's own routers say, aggregated.
#[inline]
fn hear_routers(path: &[DelayedHop], said: &RingBuffers, n: usize, kinds: &[Feedback], feedback: &mut [f64]) {
    for (sum, kind) in feedback.iter_mut().zip(kinds) {
        *sum = neutral(kind.over_path);
    }
    for hop in path {
        for (k, (sum, kind)) in feedback.iter_mut().zip(kinds).enumerate() {
            let k = usize::from(hop.signals) + k;
            *sum = join(kind.over_path, *sum, said.read(hop, n, k));
        }
    }
    for (sum, _) in
        feedback.iter_mut().zip(kinds).filter(|(_, kind)| kind.over_path == PathAggregation::Marked)
    {
        *sum = 1.0 - *sum;
    }
}
