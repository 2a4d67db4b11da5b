//! The flows of one class: what they hear, send and do in a step.

use super::wires::{MOST_AHEAD, Rings, Steps, Wire, Wires};
use super::{part_after, step_state};
use crate::assembly::{Assembly, Class};
use crate::path::{join, neutral};
use millpond_law::fluid::{Aggregate, Feedback, Hears, Moves, SenderInputs};
use std::ops::Range;

/// So many flows at a time: all that is computed of them stays in the cache.
const CHUNK: usize = 256;

/// Whether a flow is there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum There {
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
pub(super) struct Crowd<'a> {
    class: &'a Class,
    pub(super) x: Vec<f64>,
    last: Vec<f64>,
    /// What each flow sends now, in bit/s.
    pub(super) rates: Vec<f64>,
    base_rtt: Vec<f64>,
    capacity: Vec<f64>,
    count: Vec<f64>,
    ecn: Vec<bool>,
    there: Vec<There>,
    /// Of one flow after the other; empty if none has any.
    bounds: Vec<(f64, f64)>,
    feedback: &'static [Feedback],
    /// How many quantities each flow carries.
    carries: usize,
    hears: Hears,
    /// The first flow of the class among the wires.
    pub(super) first: usize,
    inputs: SenderInputs,
    dx: Vec<f64>,
    /// What each flow carries now.
    pub(super) carried: Vec<f64>,
    pub(super) sent: Sent,
    step: f64,
    chunks: Vec<Chunk>,
}

/// What each flow sent lately, in bit/s; empty if nobody asks.
pub(super) struct Sent {
    values: Vec<f64>,
    /// Of each flow, a power of two.
    slots: usize,
}

impl Sent {
    /// For flows that hear themselves a round trip later, and for those who ask about so many steps.
    fn new(class: &Class, asm: &Assembly, (step, remembered): (f64, usize)) -> Self {
        let longest = class.loops.iter().map(|l| asm.loops[*l].base_rtt).fold(0.0, f64::max);
        let heard = if class.law.hears().itself { (longest / step).ceil() as usize + 2 } else { 0 };
        let slots = match heard.max(remembered) {
            0 => 0,
            steps => (steps + MOST_AHEAD).next_power_of_two(),
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

impl<'a> Crowd<'a> {
    /// `first` is the first flow of the class among the wires, `zero` the step at time zero.
    pub(super) fn new(
        asm: &'a Assembly,
        class: &'a Class,
        wires: &Wires,
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
        let there = |l: &usize| if asm.loops[*l].start.is_none() { There::Yes } else { There::No };
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
            hears: class.law.hears(),
            first,
            inputs: SenderInputs::zeros(0, 0),
            dx: Vec::new(),
            carried: vec![0.0; flows * class.law.carried().len()],
            sent: Sent::new(class, asm, (step, remembered)),
            step,
            chunks: chunks(wires, first, flows, zero),
        }
    }

    /// A flow starts so many steps after this one.
    pub(super) fn start(&mut self, place: usize, later: f64) {
        self.there[place] = There::Starts(later);
    }

    pub(super) fn stop(&mut self, place: usize, later: f64) {
        self.there[place] = There::Stops(later);
    }

    pub(super) fn tell_capacity(&mut self, place: usize, capacity: f64) {
        self.capacity[place] = capacity;
    }

    /// All flows up to this step and it, some of them further, but not up to `until`.
    pub(super) fn step(&mut self, n: usize, until: usize, wires: &mut Wires) {
        for c in 0..self.chunks.len() {
            let Chunk { ref flows, ahead, next } = self.chunks[c];
            if next > n {
                continue;
            }
            let (flows, end) = (flows.clone(), (n + ahead).min(until));
            for n in n..end {
                self.hear(flows.clone(), n, wires);
                self.act(flows.clone());
                self.send(flows.clone(), n, wires);
            }
            self.chunks[c].next = end;
        }
    }

    /// Steps before time zero, of flows that have always been there: they send, and nothing else happens.
    pub(super) fn linger(&mut self, n: usize, rates: &[f64], carried: &[f64], wires: &mut Wires) {
        self.carried.copy_from_slice(carried);
        self.rates.copy_from_slice(rates);
        self.send(0..rates.len(), n, wires);
    }

    fn hear(&mut self, chunk: Range<usize>, n: usize, wires: &Wires) {
        let flows = chunk.len();
        let width = self.feedback.len();
        if self.inputs.count() != flows {
            self.inputs = SenderInputs::zeros(flows, width);
            let SenderInputs { queueing, queueing_slope, lost, .. } = &mut self.inputs;
            for unheard in [
                (queueing, self.hears.queueing),
                (queueing_slope, self.hears.queueing),
                (lost, self.hears.losses),
            ] {
                unheard.0.fill(if unheard.1 { 0.0 } else { f64::NAN });
            }
        }
        self.inputs.base_rtt.copy_from_slice(&self.base_rtt[chunk.clone()]);
        self.inputs.capacity.copy_from_slice(&self.capacity[chunk.clone()]);
        for (i, flow) in chunk.enumerate() {
            let path = wires.of(self.first + flow);
            self.inputs.acked[i] = if self.hears.itself {
                self.sent.before(flow, n, Steps::new(self.base_rtt[flow], self.step))
            } else {
                f64::NAN
            };
            self.hear_path(i, flow, path, wires, n);
            if width > 0 {
                let feedback = &mut self.inputs.feedback[i * width..][..width];
                hear_routers(path, &wires.said, n, self.feedback, feedback);
            }
        }
    }

    /// What every link of a path says of queues, marks and losses.
    #[inline]
    fn hear_path(&mut self, i: usize, flow: usize, path: &[Wire], wires: &Wires, n: usize) {
        let read = |wire: &Wire, k: usize| wires.said.read(wire, n, k);
        let kept = |k: usize| path.iter().fold(1.0, |kept, wire| kept * (1.0 - read(wire, k)));
        if let Some(k) = wires.record.queueing.filter(|_| self.hears.queueing) {
            self.inputs.queueing[i] = path.iter().map(|wire| read(wire, k)).sum();
            self.inputs.queueing_slope[i] = path.iter().map(|wire| read(wire, k + 1)).sum();
        }
        let unmarked = wires.record.marks.map_or(1.0, kept);
        self.inputs.marked[i] = if self.ecn[flow] { 1.0 - unmarked } else { 0.0 };
        if self.hears.losses {
            let kept = wires.record.losses.map_or(1.0, kept);
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
        law.move_and_send(chunk.start, x, &self.inputs, Moves { dx, rates, carried });
        for (i, flow) in chunk.enumerate() {
            if self.there[flow] != There::Yes {
                self.come_or_go(i, flow);
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
    fn come_or_go(&mut self, i: usize, flow: usize) {
        let width = self.class.width;
        let (part, next) = match self.there[flow] {
            There::Starts(later) => (part_after(later), There::Yes),
            There::Stops(later) => (1.0 - part_after(later), There::No),
            there => (0.0, there),
        };
        self.rates[flow] *= part;
        self.carried[flow * self.carries..][..self.carries].iter_mut().for_each(|carried| *carried *= part);
        let last = &mut self.last[flow * width..][..width];
        for (last, f) in last.iter_mut().zip(&mut self.dx[i * width..][..width]) {
            // The next state is (3 f - last) / 2 steps away.
            (*last, *f) = match self.there[flow] {
                There::Starts(later) => (*f * (1.0 + 2.0 * later), *f),
                There::Stops(later) => (0.0, *f * later / 1.5),
                _ => (0.0, 0.0),
            };
        }
        self.there[flow] = next;
    }

    /// The step before the first: there is a last derivative from then on, of flows that have always been there.
    pub(super) fn prime(&mut self, n: usize, wires: &Wires) {
        for c in 0..self.chunks.len() {
            let chunk = self.chunks[c].flows.clone();
            let states = chunk.start * self.class.width..chunk.end * self.class.width;
            self.hear(chunk.clone(), n, wires);
            self.class.law.derivatives(
                chunk.start,
                &self.x[states.clone()],
                &self.inputs,
                &mut self.last[states],
            );
        }
    }

    fn send(&mut self, chunk: Range<usize>, n: usize, wires: &mut Wires) {
        for flow in chunk {
            let rate = self.rates[flow].max(0.0);
            self.sent.note(flow, n, rate);
            let rate = rate * self.count[flow];
            let path = wires.range(self.first + flow);
            for wire in &wires.wires[path] {
                wires.arriving.send(wire, 0, n, rate);
                if wire.own > 0 {
                    let own = usize::from(wire.own);
                    wires.arriving.send(wire, own, n, rate);
                    for k in 0..self.carries {
                        let carried = self.carried[flow * self.carries + k] * self.count[flow];
                        wires.arriving.send(wire, own + 1 + k, n, carried);
                    }
                }
            }
        }
    }
}

fn chunks(wires: &Wires, first: usize, flows: usize, zero: usize) -> Vec<Chunk> {
    let heard_after = |flow: usize| wires.of(first + flow).iter().map(Wire::heard_after).min().unwrap_or(1);
    let chunk = |start: usize| {
        let flows = start..(start + CHUNK).min(flows);
        let ahead = flows.clone().map(heard_after).min().unwrap_or(1).clamp(1, MOST_AHEAD);
        Chunk { flows, ahead, next: zero }
    };
    (0..flows).step_by(CHUNK).map(chunk).collect()
}

/// What a flow's own routers say, aggregated.
#[inline]
fn hear_routers(path: &[Wire], said: &Rings, n: usize, kinds: &[Feedback], feedback: &mut [f64]) {
    for (sum, kind) in feedback.iter_mut().zip(kinds) {
        *sum = neutral(kind.over_path);
    }
    for wire in path {
        for (k, (sum, kind)) in feedback.iter_mut().zip(kinds).enumerate() {
            let k = usize::from(wire.signals) + k;
            *sum = join(kind.over_path, *sum, said.read(wire, n, k));
        }
    }
    for (sum, _) in feedback.iter_mut().zip(kinds).filter(|(_, kind)| kind.over_path == Aggregate::Marked) {
        *sum = 1.0 - *sum;
    }
}
