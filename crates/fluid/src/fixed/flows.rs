//! Blocks of flows of one sender class, which advance several steps at once: inputs, rates and states.

use super::hops::{
    DelayedHop, DelayedHops, LINKS, MAX_STEPS_AHEAD, SignalHop, Steps, place_of, with_constant_steps,
};
use super::rings::Arrivals;
use super::{part_after, step_state};
use crate::assembly::{Assembly, LoopData, SenderClass};
use millpond_law::fluid::{Feedback, InputSet, SenderInputs, SenderOutputs};
use std::ops::Range;

/// Values of consecutive steps of one flow; those after the last step have no meaning.
type OfSteps = [f64; MAX_STEPS_AHEAD];

/// Whether a flow is active.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Presence {
    Inactive,
    /// It starts this many steps after the present one and has no previous derivative.
    Starts(f64),
    Active,
    /// It stops this many steps after the present one.
    Stops(f64),
}

/// A flow of a block that starts or stops at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PresenceChange {
    pub(super) step: usize,
    /// Position in the block.
    pub(super) flow: usize,
    pub(super) presence: Presence,
}

/// One hop of a flow, as the way of its data to a link.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ArrivalHop {
    /// Position of the flow in its block, and of the link in its own.
    flow: u16,
    link: u16,
    delay: Steps,
    /// Position of the sums of the loop's own protocol in the arrivals record; zero if there is no router.
    sums: u16,
}

/// Some flows of a sender class. It advances as many steps at once as its smallest feedback delay has, so that its data
/// are loaded into the cache once for all these steps. Arrays are in the order of the flows.
pub(super) struct FlowBlock<'a> {
    class: &'a SenderClass,
    /// The position of its first flow in the class.
    first_place: usize,
    /// The loops of its flows.
    pub(super) loops: &'a [usize],
    /// Greatest number of steps that it advances at once.
    ahead: usize,
    /// The steps that it has made last.
    made: Range<usize>,
    pub(super) x: Vec<f64>,
    last: Vec<f64>,
    /// Sending rate of each flow at its last step, in bit/s.
    pub(super) rates: Vec<f64>,
    /// Carried quantities of each flow at its last step.
    pub(super) carried: Vec<f64>,
    pub(super) base_rtt: Vec<f64>,
    pub(super) capacity: Vec<f64>,
    pub(super) ecn: Vec<bool>,
    count: Vec<f64>,
    presence: Vec<Presence>,
    /// Whether all flows are known to be active.
    all_active: bool,
    /// Bounds of all states, flow by flow; empty if no state has a bound.
    bounds: Vec<(f64, f64)>,
    pub(super) feedback: &'static [Feedback],
    pub(super) inputs_used: InputSet,
    pub(super) sent: SentRates,
    step: f64,
    /// In ascending order of the steps, and the number of those that have been applied.
    pub(super) changes: Vec<PresenceChange>,
    changed: usize,
    /// The hops of all flows, and the first of each flow.
    hops: Vec<SignalHop>,
    first_hop: Vec<u32>,
    /// The same hops in the order of the blocks of links, and the first of each block.
    arrivals: Vec<ArrivalHop>,
    first_arrival: Vec<u32>,
    /// The rates in the steps made last, times the number of equal flows.
    sent_rates: Vec<OfSteps>,
    /// The carried quantities in the same way; those of one flow are consecutive.
    sent_carried: Vec<OfSteps>,
}

/// Recent sending rates of each flow in bit/s; empty if they are not used.
pub(super) struct SentRates {
    values: Vec<f64>,
    /// Number of slots per flow, a power of two.
    slots: usize,
}

impl SentRates {
    /// Slots for the largest round-trip time if the law uses `acked`, and for at least `remembered` steps.
    fn new(class: &SenderClass, asm: &Assembly, flows: usize, start: &BlockStart) -> Self {
        let longest = class.loops.iter().map(|l| asm.loops[*l].base_rtt).fold(0.0, f64::max);
        let steps_of_rtt =
            if class.law.inputs_used().acked { (longest / start.step).ceil() as usize + 2 } else { 0 };
        let slots = match steps_of_rtt.max(start.remembered) {
            0 => 0,
            steps => (steps + MAX_STEPS_AHEAD).next_power_of_two(),
        };
        Self { values: vec![0.0; slots * flows], slots }
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

    /// Stores the rates of all flows at a step, as far as they are used.
    fn add_step(&mut self, n: usize, rates: &[f64]) {
        if self.slots > 0 {
            let slot = n & (self.slots - 1);
            for (values, rate) in self.values.chunks_exact_mut(self.slots).zip(rates) {
                values[slot] = rate.max(0.0);
            }
        }
    }
}

/// Hops and steps at the start of a run with fixed steps.
pub(super) struct BlockStart<'a> {
    pub(super) hops: &'a DelayedHops,
    /// The number of the step at time zero.
    pub(super) zero: usize,
    /// The length of a step in seconds.
    pub(super) step: f64,
    /// The number of steps whose sending rates are stored at least.
    pub(super) remembered: usize,
}

impl<'a> FlowBlock<'a> {
    /// The flows of a class at these positions at the start; `first` is the index of the first flow in the hop table.
    pub(super) fn new(
        asm: &'a Assembly,
        class: &'a SenderClass,
        places: Range<usize>,
        first: usize,
        start: &BlockStart<'_>,
    ) -> Self {
        let (flows, width, carries) = (places.len(), class.width, class.law.carried().len());
        let states = &asm.states[class.first_state + places.start * width..][..flows * width];
        let loops = &class.loops[places.clone()];
        let of = |f: fn(&LoopData) -> f64| loops.iter().map(|l| f(&asm.loops[*l])).collect();
        let has_bounds = states.iter().any(|s| s.lower.is_finite() || s.upper.is_finite());
        let presence =
            |l: &usize| if asm.loops[*l].start.is_none() { Presence::Active } else { Presence::Inactive };
        let paths = (first..first + flows).map(|flow| start.hops.of(flow));
        let feedback_steps = paths.clone().flatten().map(DelayedHop::feedback_steps).min().unwrap_or(1);
        let (arrivals, first_arrival) = arrival_hops(paths.clone(), asm.links.len());
        let mut first_hop = vec![0];
        for path in paths.clone() {
            first_hop.push(first_hop.last().unwrap_or(&0) + path.len() as u32);
        }
        Self {
            class,
            ahead: feedback_steps.clamp(1, MAX_STEPS_AHEAD),
            made: start.zero..start.zero,
            x: states.iter().map(|state| state.initial).collect(),
            last: vec![0.0; states.len()],
            rates: vec![0.0; flows],
            carried: vec![0.0; flows * carries],
            base_rtt: of(|l| l.base_rtt),
            capacity: vec![0.0; flows],
            ecn: loops.iter().map(|l| asm.loops[*l].ecn).collect(),
            count: of(|l| l.count),
            presence: loops.iter().map(presence).collect(),
            all_active: false,
            bounds: states.iter().filter(|_| has_bounds).map(|s| (s.lower, s.upper)).collect(),
            feedback: class.law.feedback(),
            inputs_used: class.law.inputs_used(),
            sent: SentRates::new(class, asm, flows, start),
            step: start.step,
            changes: Vec::new(),
            changed: 0,
            hops: paths.flatten().map(signal_hop).collect(),
            first_hop,
            arrivals,
            first_arrival,
            sent_rates: vec![[0.0; MAX_STEPS_AHEAD]; flows],
            sent_carried: vec![[0.0; MAX_STEPS_AHEAD]; flows * carries],
            first_place: places.start,
            loops,
        }
    }

    /// Number of flows.
    #[inline]
    pub(super) fn flows(&self) -> usize {
        self.loops.len()
    }

    /// The hops of a flow.
    #[inline]
    pub(super) fn path(&self, flow: usize) -> &[SignalHop] {
        &self.hops[self.first_hop[flow] as usize..self.first_hop[flow + 1] as usize]
    }

    /// The sending rate of a flow one base round-trip time before a step.
    pub(super) fn acked(&self, flow: usize, n: usize) -> f64 {
        self.sent.before(flow, n, Steps::new(self.base_rtt[flow], self.step))
    }

    /// The positions of its carried quantities among the channels.
    pub(super) fn carried_channels(&self) -> Range<usize> {
        let first = self.class.first_carried + self.first_place * self.class.law.carried().len();
        first..first + self.carried.len()
    }

    /// Whether it has not made step `n`.
    pub(super) fn is_due(&self, n: usize) -> bool {
        self.made.end <= n
    }

    /// Begins to make step `n` and as many of the following ones as possible, but not step `until`. Returns these steps.
    pub(super) fn begin_steps(&mut self, n: usize, until: usize) -> Range<usize> {
        self.made = n..(n + self.ahead).min(until);
        self.made.clone()
    }

    /// Makes step `n`, number `i` of those that have begun, with these inputs; `dx` receives the derivatives.
    pub(super) fn make_step(&mut self, i: usize, n: usize, inputs: &SenderInputs, dx: &mut Vec<f64>) {
        self.start_and_stop(n);
        self.advance_states(inputs, dx);
        self.record(i, n);
    }

    /// Sends constant rates in a step before time zero.
    pub(super) fn send_constant(&mut self, n: usize, rates: &[f64], carried: &[f64]) {
        self.carried.copy_from_slice(carried);
        self.rates.copy_from_slice(rates);
        self.made = n..n + 1;
        self.record(0, n);
    }

    /// Computes the derivatives before the first step `zero`, which are the previous derivatives of loops without a
    /// start time.
    pub(super) fn initialize_derivatives(&mut self, zero: usize, inputs: &SenderInputs) {
        self.class.law.derivatives(self.first_place, &self.x, inputs, &mut self.last);
        self.made = zero..zero;
    }

    /// Applies the changes of step `n`.
    fn start_and_stop(&mut self, n: usize) {
        while let Some(change) = self.changes.get(self.changed).filter(|change| change.step <= n) {
            self.presence[change.flow] = change.presence;
            self.all_active = false;
            self.changed += 1;
        }
    }

    fn advance_states(&mut self, inputs: &SenderInputs, dx: &mut Vec<f64>) {
        dx.resize(self.x.len(), 0.0);
        let (rates, carried) = (&mut self.rates[..], &mut self.carried[..]);
        let outputs = SenderOutputs { dx, rates, carried };
        self.class.law.derivatives_and_rates(self.first_place, &self.x, inputs, outputs);
        if !self.all_active {
            self.apply_presences(dx);
        }
        let step = self.step;
        let moving = self.x.iter_mut().zip(&mut self.last).zip(&*dx);
        if self.bounds.is_empty() {
            for ((x, last), f) in moving {
                *x += step * (1.5 * f - 0.5 * *last);
                *last = *f;
            }
        } else {
            for (((x, last), f), (lower, upper)) in moving.zip(&self.bounds) {
                step_state(x, *f, last, step, *lower, *upper);
            }
        }
    }

    /// Processes the flows that are inactive, start or stop.
    fn apply_presences(&mut self, dx: &mut [f64]) {
        for flow in 0..self.flows() {
            if self.presence[flow] != Presence::Active {
                self.apply_presence(flow, dx);
            }
        }
        self.all_active = self.presence.iter().all(|presence| *presence == Presence::Active);
    }

    /// Processes a flow that is inactive, starts or stops. A jump between two steps applies in part at the nearest one.
    fn apply_presence(&mut self, flow: usize, dx: &mut [f64]) {
        let (width, carries) = (self.class.width, self.class.law.carried().len());
        let (part, next) = match self.presence[flow] {
            Presence::Starts(later) => (part_after(later), Presence::Active),
            Presence::Stops(later) => (1.0 - part_after(later), Presence::Inactive),
            presence => (0.0, presence),
        };
        self.rates[flow] *= part;
        self.carried[flow * carries..][..carries].iter_mut().for_each(|carried| *carried *= part);
        let last = &mut self.last[flow * width..][..width];
        for (last, f) in last.iter_mut().zip(&mut dx[flow * width..][..width]) {
            // The next state is at a distance of (3 f - last) / 2 steps.
            (*last, *f) = match self.presence[flow] {
                Presence::Starts(later) => (*f * (1.0 + 2.0 * later), *f),
                Presence::Stops(later) => (0.0, *f * later / 1.5),
                _ => (0.0, 0.0),
            };
        }
        self.presence[flow] = next;
    }

    /// Records what is sent in step `n`, number `i` of those made last.
    fn record(&mut self, i: usize, n: usize) {
        for ((rate, count), sent) in self.rates.iter().zip(&self.count).zip(&mut self.sent_rates) {
            sent[i] = rate.max(0.0) * count;
        }
        self.sent.add_step(n, &self.rates);
        let carries = self.class.law.carried().len();
        for (k, (sent, carried)) in self.sent_carried.iter_mut().zip(&self.carried).enumerate() {
            sent[i] = carried * self.count[k / carries];
        }
    }

    /// Whether step `n` is the first of those made last.
    pub(super) fn sends_at(&self, n: usize) -> bool {
        self.made.start == n && !self.made.is_empty()
    }

    /// Adds to the arrivals at a block of links what has been sent in the steps made last.
    pub(super) fn send(&self, link_block: usize, arriving: &mut Arrivals) {
        with_constant_steps!(
            self.made.len(),
            [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15],
            self.send_steps(link_block, arriving)
        );
    }

    fn send_steps<const L: usize>(&self, link_block: usize, arriving: &mut Arrivals) {
        let hops = self.first_arrival[link_block] as usize..self.first_arrival[link_block + 1] as usize;
        let (n, carries) = (self.made.start, self.class.law.carried().len());
        let steps = |values: &OfSteps| -> [f64; L] { std::array::from_fn(|i| values[i]) };
        for hop in &self.arrivals[hops] {
            let (flow, link) = (usize::from(hop.flow), usize::from(hop.link));
            let rates = steps(&self.sent_rates[flow]);
            arriving.add(link, 0, n, hop.delay, &rates);
            if hop.sums > 0 {
                let sums = usize::from(hop.sums);
                arriving.add(link, sums, n, hop.delay, &rates);
                for (k, carried) in self.sent_carried[flow * carries..][..carries].iter().enumerate() {
                    arriving.add(link, sums + 1 + k, n, hop.delay, &steps(carried));
                }
            }
        }
    }
}

fn signal_hop(hop: &DelayedHop) -> SignalHop {
    let (block, place) = place_of(hop.link as usize);
    SignalHop { block: block as u16, place: place as u16, delay: hop.backward, signals: hop.signals }
}

/// The hops of these paths in the order of the blocks of links, and the first of each block.
fn arrival_hops<'h>(
    paths: impl Iterator<Item = &'h [DelayedHop]>,
    links: usize,
) -> (Vec<ArrivalHop>, Vec<u32>) {
    let mut hops: Vec<(usize, ArrivalHop)> = Vec::new();
    for (flow, path) in paths.enumerate() {
        hops.extend(path.iter().map(|hop| {
            let (block, place) = place_of(hop.link as usize);
            let (flow, link) = (flow as u16, place as u16);
            (block, ArrivalHop { flow, link, delay: hop.forward, sums: hop.sums })
        }));
    }
    hops.sort_by_key(|(block, _)| *block);
    let first = |block: usize| hops.partition_point(|(other, _)| *other < block) as u32;
    let first = (0..=links.div_ceil(LINKS)).map(first).collect();
    (hops.into_iter().map(|(_, hop)| hop).collect(), first)
}
