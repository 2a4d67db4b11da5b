//! One step of the flows of a sender class: inputs, rates and states.

use super::hops::{DelayedHop, DelayedHops, MAX_STEPS_AHEAD, RingBuffers, Steps};
use super::{part_after, step_state};
use crate::assembly::{Assembly, SenderClass};
use crate::path::{join, neutral};
use millpond_law::fluid::{Feedback, InputSet, PathAggregation, SenderInputs, SenderOutputs};
use std::ops::Range;

/// Number of flows in a block, such that a block's data fit into the cache.
const BLOCK: usize = 256;

/// Whether a flow is active.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Presence {
    Inactive,
    /// It starts this many steps after the present one and has no previous derivative.
    Starts(f64),
    Active,
    /// It stops this many steps after the present one.
    Stops(f64),
}

/// A block of flows and the number of steps it can advance at once, bounded by its smallest feedback delay. The block's
/// data are then loaded into the cache once for all these steps.
struct FlowBlock {
    flows: Range<usize>,
    ahead: usize,
    /// The first step that has not been made.
    next: usize,
}

/// The states, inputs and outputs of one sender class. Arrays are in the order of the class's flows.
pub(super) struct ClassState<'a> {
    class: &'a SenderClass,
    pub(super) x: Vec<f64>,
    last: Vec<f64>,
    /// Present sending rate of each flow, in bit/s.
    pub(super) rates: Vec<f64>,
    base_rtt: Vec<f64>,
    capacity: Vec<f64>,
    count: Vec<f64>,
    ecn: Vec<bool>,
    presence: Vec<Presence>,
    /// Bounds of all states, flow by flow; empty if no state has a bound.
    bounds: Vec<(f64, f64)>,
    feedback: &'static [Feedback],
    /// Number of carried quantities per flow.
    carries: usize,
    inputs_used: InputSet,
    /// Index of the first flow of the class in the hop table.
    pub(super) first: usize,
    inputs: SenderInputs,
    dx: Vec<f64>,
    /// Present carried quantities of each flow.
    pub(super) carried: Vec<f64>,
    pub(super) sent: SentRates,
    step: f64,
    blocks: Vec<FlowBlock>,
}

/// Recent sending rates of each flow in bit/s; empty if they are not used.
pub(super) struct SentRates {
    values: Vec<f64>,
    /// Number of slots per flow, a power of two.
    slots: usize,
}

impl SentRates {
    /// Slots for the largest round-trip time if the law uses `acked`, and for at least `remembered` steps.
    fn new(class: &SenderClass, asm: &Assembly, step: f64, remembered: usize) -> Self {
        let longest = class.loops.iter().map(|l| asm.loops[*l].base_rtt).fold(0.0, f64::max);
        let steps_of_rtt =
            if class.law.inputs_used().acked { (longest / step).ceil() as usize + 2 } else { 0 };
        let slots = match steps_of_rtt.max(remembered) {
            0 => 0,
            steps => (steps + MAX_STEPS_AHEAD).next_power_of_two(),
        };
        Self { values: vec![0.0; slots * class.loops.len()], slots }
    }

    /// The sending rate of a flow at a step.
    #[inline]
    pub(super) fn at(&self, flow: usize, n: usize) -> f64 {
        self.values[flow * self.slots + (n & (self.slots - 1))]
    }

    /// The sending rate of a flow one delay before a step, interpolated linearly.
    #[inline]
    pub(super) fn before(&self, flow: usize, n: usize, delay: Steps) -> f64 {
        let newer = n.wrapping_sub(delay.whole());
        let fraction = delay.fraction();
        (1.0 - fraction) * self.at(flow, newer) + fraction * self.at(flow, newer.wrapping_sub(1))
    }

    fn add_step(&mut self, flow: usize, n: usize, rate: f64) {
        if self.slots > 0 {
            self.values[flow * self.slots + (n & (self.slots - 1))] = rate;
        }
    }
}

/// Positions and steps at the start of a run with fixed steps.
#[derive(Clone, Copy)]
pub(super) struct ClassStart {
    /// Index of the first flow of the class in the hop table.
    pub(super) first: usize,
    /// The number of the step at time zero.
    pub(super) zero: usize,
    /// The length of a step in seconds.
    pub(super) step: f64,
    /// The number of steps whose sending rates are stored at least.
    pub(super) remembered: usize,
}

impl<'a> ClassState<'a> {
    /// The states of a class at the start.
    pub(super) fn new(
        asm: &'a Assembly,
        class: &'a SenderClass,
        hops: &DelayedHops,
        start: ClassStart,
    ) -> Self {
        let ClassStart { first, zero, step, remembered } = start;
        let flows = class.loops.len();
        let states = &asm.states[class.first_state..][..flows * class.width];
        let of = |f: fn(&crate::assembly::LoopData) -> f64| {
            class.loops.iter().map(|l| f(&asm.loops[*l])).collect()
        };
        let has_bounds = states.iter().any(|s| s.lower.is_finite() || s.upper.is_finite());
        let bounds = states.iter().filter(|_| has_bounds).map(|s| (s.lower, s.upper)).collect();
        let presence =
            |l: &usize| if asm.loops[*l].start.is_none() { Presence::Active } else { Presence::Inactive };
        Self {
            class,
            x: states.iter().map(|state| state.initial).collect(),
            last: vec![0.0; states.len()],
            rates: vec![0.0; flows],
            base_rtt: of(|l| l.base_rtt),
            capacity: vec![0.0; flows],
            count: of(|l| l.count),
            ecn: class.loops.iter().map(|l| asm.loops[*l].ecn).collect(),
            presence: class.loops.iter().map(presence).collect(),
            bounds,
            feedback: class.law.feedback(),
            carries: class.law.carried().len(),
            inputs_used: class.law.inputs_used(),
            first,
            inputs: SenderInputs::zeros(0, 0),
            dx: Vec::new(),
            carried: vec![0.0; flows * class.law.carried().len()],
            sent: SentRates::new(class, asm, step, remembered),
            step,
            blocks: blocks(hops, first, flows, zero),
        }
    }

    /// Starts a flow this many steps after the present one.
    pub(super) fn start(&mut self, place: usize, later: f64) {
        self.presence[place] = Presence::Starts(later);
    }

    pub(super) fn stop(&mut self, place: usize, later: f64) {
        self.presence[place] = Presence::Stops(later);
    }

    pub(super) fn set_capacity(&mut self, place: usize, capacity: f64) {
        self.capacity[place] = capacity;
    }

    /// Advances all flows up to and including step `n`, some of them further, but not to step `until`.
    pub(super) fn step(&mut self, n: usize, until: usize, hops: &mut DelayedHops) {
        for c in 0..self.blocks.len() {
            let FlowBlock { ref flows, ahead, next } = self.blocks[c];
            if next > n {
                continue;
            }
            let (flows, end) = (flows.clone(), (n + ahead).min(until));
            for n in n..end {
                self.set_inputs(flows.clone(), n, hops);
                self.advance_states(flows.clone());
                self.emit(flows.clone(), n, hops);
            }
            self.blocks[c].next = end;
        }
    }

    /// Emits constant rates in a step before time zero.
    pub(super) fn emit_constant(&mut self, n: usize, rates: &[f64], carried: &[f64], hops: &mut DelayedHops) {
        self.carried.copy_from_slice(carried);
        self.rates.copy_from_slice(rates);
        self.emit(0..rates.len(), n, hops);
    }

    fn set_inputs(&mut self, block: Range<usize>, n: usize, hops: &DelayedHops) {
        let flows = block.len();
        let width = self.feedback.len();
        if self.inputs.count() != flows {
            self.inputs = SenderInputs::zeros(flows, width);
            let SenderInputs { queueing, queueing_slope, lost, .. } = &mut self.inputs;
            for unused in [
                (queueing, self.inputs_used.queueing),
                (queueing_slope, self.inputs_used.queueing),
                (lost, self.inputs_used.lost),
            ] {
                unused.0.fill(if unused.1 { 0.0 } else { f64::NAN });
            }
        }
        self.inputs.base_rtt.copy_from_slice(&self.base_rtt[block.clone()]);
        self.inputs.capacity.copy_from_slice(&self.capacity[block.clone()]);
        for (i, flow) in block.enumerate() {
            let path = hops.of(self.first + flow);
            self.inputs.acked[i] = if self.inputs_used.acked {
                self.sent.before(flow, n, Steps::new(self.base_rtt[flow], self.step))
            } else {
                f64::NAN
            };
            self.set_path_inputs(i, flow, path, hops, n);
            if width > 0 {
                let feedback = &mut self.inputs.feedback[i * width..][..width];
                router_feedback(path, &hops.emitted, n, self.feedback, feedback);
            }
        }
    }

    /// Queueing delay, marks and losses of a path.
    #[inline]
    fn set_path_inputs(&mut self, i: usize, flow: usize, path: &[DelayedHop], hops: &DelayedHops, n: usize) {
        let read = |hop: &DelayedHop, k: usize| hops.emitted.read(hop, n, k);
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

    fn advance_states(&mut self, block: Range<usize>) {
        let (flows, width, step) = (block.len(), self.class.width, self.step);
        let states = block.start * width..block.end * width;
        self.dx.resize(flows * width, 0.0);
        let law = &self.class.law;
        let x = &self.x[states.clone()];
        let carried = &mut self.carried[block.start * self.carries..block.end * self.carries];
        let (dx, rates) = (&mut self.dx[..], &mut self.rates[block.clone()]);
        law.derivatives_and_rates(block.start, x, &self.inputs, SenderOutputs { dx, rates, carried });
        for (i, flow) in block.enumerate() {
            if self.presence[flow] != Presence::Active {
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

    /// Processes a flow that is inactive, starts or stops; `i` is its index in the block. A jump between two steps
    /// applies in part at the nearest one.
    fn start_or_stop(&mut self, i: usize, flow: usize) {
        let width = self.class.width;
        let (part, next) = match self.presence[flow] {
            Presence::Starts(later) => (part_after(later), Presence::Active),
            Presence::Stops(later) => (1.0 - part_after(later), Presence::Inactive),
            presence => (0.0, presence),
        };
        self.rates[flow] *= part;
        self.carried[flow * self.carries..][..self.carries].iter_mut().for_each(|carried| *carried *= part);
        let last = &mut self.last[flow * width..][..width];
        for (last, f) in last.iter_mut().zip(&mut self.dx[i * width..][..width]) {
            // The next state is at a distance of (3 f - last) / 2 steps.
            (*last, *f) = match self.presence[flow] {
                Presence::Starts(later) => (*f * (1.0 + 2.0 * later), *f),
                Presence::Stops(later) => (0.0, *f * later / 1.5),
                _ => (0.0, 0.0),
            };
        }
        self.presence[flow] = next;
    }

    /// Computes the derivatives before the first step, which are the previous derivatives of loops without a start
    /// time.
    pub(super) fn initialize_derivatives(&mut self, n: usize, hops: &DelayedHops) {
        for c in 0..self.blocks.len() {
            let block = self.blocks[c].flows.clone();
            let states = block.start * self.class.width..block.end * self.class.width;
            self.set_inputs(block.clone(), n, hops);
            self.class.law.derivatives(
                block.start,
                &self.x[states.clone()],
                &self.inputs,
                &mut self.last[states],
            );
        }
    }

    fn emit(&mut self, block: Range<usize>, n: usize, hops: &mut DelayedHops) {
        for flow in block {
            let rate = self.rates[flow].max(0.0);
            self.sent.add_step(flow, n, rate);
            let rate = rate * self.count[flow];
            let path = hops.range(self.first + flow);
            for hop in &hops.hops[path] {
                hops.arriving.send(hop, 0, n, rate);
                if hop.sums > 0 {
                    let sums = usize::from(hop.sums);
                    hops.arriving.send(hop, sums, n, rate);
                    for k in 0..self.carries {
                        let carried = self.carried[flow * self.carries + k] * self.count[flow];
                        hops.arriving.send(hop, sums + 1 + k, n, carried);
                    }
                }
            }
        }
    }
}

fn blocks(hops: &DelayedHops, first: usize, flows: usize, zero: usize) -> Vec<FlowBlock> {
    let feedback_steps =
        |flow: usize| hops.of(first + flow).iter().map(DelayedHop::feedback_steps).min().unwrap_or(1);
    let block = |start: usize| {
        let flows = start..(start + BLOCK).min(flows);
        let ahead = flows.clone().map(feedback_steps).min().unwrap_or(1).clamp(1, MAX_STEPS_AHEAD);
        FlowBlock { flows, ahead, next: zero }
    };
    (0..flows).step_by(BLOCK).map(block).collect()
}

/// Aggregated feedback of a flow's own routers.
#[inline]
fn router_feedback(
    path: &[DelayedHop],
    emitted: &RingBuffers,
    n: usize,
    kinds: &[Feedback],
    feedback: &mut [f64],
) {
    for (sum, kind) in feedback.iter_mut().zip(kinds) {
        *sum = neutral(kind.over_path);
    }
    for hop in path {
        for (k, (sum, kind)) in feedback.iter_mut().zip(kinds).enumerate() {
            let k = usize::from(hop.signals) + k;
            *sum = join(kind.over_path, *sum, emitted.read(hop, n, k));
        }
    }
    for (sum, _) in
        feedback.iter_mut().zip(kinds).filter(|(_, kind)| kind.over_path == PathAggregation::Marked)
    {
        *sum = 1.0 - *sum;
    }
}
