//! Initialization: rejects networks that this scheme does not support, and fills the ring buffers with the history.

use super::flows::{BlockStart, FlowBlock, Presence, PresenceChange};
use super::hops::{self, DelayedHops, RecordLayout, place_of};
use super::inputs::{InputBuffers, SignalSource};
use super::links::LinkBlock;
use super::{ChangeKind, FixedStep, SharedBuffers, TimedChange};
use crate::assembly::{Assembly, FLOWS_IN_BLOCK};
use crate::discrete_state::DiscreteState;
use crate::error::Error;
use crate::right_hand_side::{RightHandSide, initial_history};

fn refuse(name: &str, what: &str) -> Result<(), Error> {
    let reason = format!("fixed steps do not support {what}; use the adaptive method");
    Err(Error::InvalidNetwork { name: name.to_owned(), reason })
}

/// The scheme supports neither laws that jump, nor relays, nor feedback that depends on the flow.
fn check(asm: &Assembly) -> Result<(), Error> {
    if let Some(relay) = asm.relays.first() {
        return refuse(&asm.loops[relay.upstream.0].name, "relays");
    }
    for class in &asm.sender_classes {
        let name = class.loops.first().map_or("", |l| asm.loops[*l].name.as_str());
        if class.law.maps_signals() {
            return refuse(name, "feedback that depends on the flow at each hop");
        }
        if class.law.inputs_used().present_queueing {
            return refuse(name, "laws that use the present queueing delay");
        }
        if class.law.inputs_used().earlier_queueing {
            return refuse(name, "signals at a lag of the law's own");
        }
        if (0..class.loops.len()).any(|flow| class.law.ticks(flow)) {
            return refuse(name, "laws that act at times of their own");
        }
    }
    for set in &asm.link_sets {
        let name = set.links.first().map_or("", |l| asm.links[*l].name.as_str());
        if (0..set.links.len()).any(|link| set.law.ticks(link)) {
            return refuse(name, "laws that act at times of their own");
        }
    }
    let owners = asm.discrete_columns().into_iter().map(|column| column.entity);
    owners.take(1).try_for_each(|owner| refuse(asm.name(owner), "laws with discrete states"))
}

impl Assembly {
    /// Checks that this network can be integrated with fixed steps of this length, in seconds.
    ///
    /// # Errors
    /// A return delay is shorter than a step, the longest delay has too many steps, or a law uses an unsupported
    /// feature; the error names it.
    pub fn allows_steps_of(&self, step: f64) -> Result<(), Error> {
        check(self)?;
        hops::check(self, step)
    }
}

impl<'a> FixedStep<'a> {
    /// An integration at time zero with steps of this length, in seconds.
    ///
    /// # Errors
    /// See [`Assembly::allows_steps_of`].
    pub fn new(asm: &'a Assembly, step: f64) -> Result<Self, Error> {
        Self::with_memory(asm, step, 0)
    }

    /// The same as [`Self::new`]; flows also remember their sending rates of the last `remembered` steps.
    pub(super) fn with_memory(asm: &'a Assembly, step: f64, remembered: usize) -> Result<Self, Error> {
        asm.allows_steps_of(step)?;
        let record = RecordLayout::new(asm);
        let hops = DelayedHops::new(asm, step, record.count);
        let zero = (asm.longest_delay() / step).ceil() as usize + 2;
        let mut fixed = Self {
            asm,
            step,
            n: 0,
            zero,
            flow_blocks: flow_blocks(asm, &BlockStart { hops: &hops, zero, step, remembered }),
            link_blocks: LinkBlock::all(asm, step, record),
            record,
            buffers: SharedBuffers::default(),
            changes: changes(asm, step, zero),
            changed: 0,
        };
        fixed.set_capacities();
        fixed.fill_history();
        Ok(fixed)
    }

    /// Fills the ring buffers with the constant history before time zero.
    fn fill_history(&mut self) {
        let asm = self.asm;
        let before =
            initial_history(&mut RightHandSide::new(asm), &DiscreteState::initial(asm), &asm.initial());
        (0..asm.links.len()).for_each(|link| self.fill_signals(link, &before));
        // Rates on their way to the links, and the derivatives of the links' states.
        let at = &asm.channels;
        let is_idle = asm.loops.iter().all(|l| l.start.is_some());
        for n in if is_idle { self.zero - 1..self.zero } else { 0..self.zero } {
            for block in &mut self.flow_blocks {
                let rates: Vec<f64> = block.loops.iter().map(|l| before[at.rate + l]).collect();
                block.send_constant(n, &rates, &before[block.carried_channels()]);
            }
            let sending: Vec<&FlowBlock<'_>> = self.flow_blocks.iter().collect();
            self.link_blocks.iter_mut().for_each(|block| block.step(n, 0.0, &sending));
        }
        let source = SignalSource { record: self.record, links: &self.link_blocks };
        let mut buffers = InputBuffers::default();
        for flows in &mut self.flow_blocks {
            let inputs = buffers.at(flows, self.zero - 1, source);
            flows.initialize_derivatives(self.zero, inputs);
        }
        self.n = self.zero;
    }

    /// Fills the signals of a link with those of the constant history.
    fn fill_signals(&mut self, link: usize, before: &[f64]) {
        let (asm, at, places) = (self.asm, &self.asm.channels, self.record);
        let (block, place) = place_of(link);
        let emitted = &mut self.link_blocks[block].emitted;
        if let Some(k) = places.queueing {
            emitted.fill(place, k, before[at.delay + link]);
            emitted.fill(place, k + 1, before[at.slope + link]);
        }
        places.marks.into_iter().for_each(|k| emitted.fill(place, k, before[at.marked + link]));
        places.losses.into_iter().for_each(|k| emitted.fill(place, k, before[at.lost + link]));
        for router in &asm.links[link].routers {
            let set = &asm.link_sets[router.law.set];
            let signals = set.law.signal_names().len();
            let first = asm.slots(link, router.law, places.count).signals;
            let of = &before[set.first_signal + router.law.place * signals..][..signals];
            of.iter().enumerate().for_each(|(k, signal)| emitted.fill(place, first + k, *signal));
        }
    }
}

/// The flows of all classes in blocks, with their starts and stops.
fn flow_blocks<'a>(asm: &'a Assembly, start: &BlockStart<'_>) -> Vec<FlowBlock<'a>> {
    let (mut blocks, mut first) = (Vec::new(), 0);
    for class in &asm.sender_classes {
        for place in (0..class.loops.len()).step_by(FLOWS_IN_BLOCK) {
            let places = place..(place + FLOWS_IN_BLOCK).min(class.loops.len());
            let mut block = FlowBlock::new(asm, class, places, first + place, start);
            block.changes = presence_changes(asm, block.loops, start);
            blocks.push(block);
        }
        first += class.loops.len();
    }
    blocks
}

/// The step nearest to a time, and the time from this step to the time in steps.
fn nearest_step(time: f64, step: f64, zero: usize) -> (usize, f64) {
    let nearest = (time / step).round().max(0.0);
    (zero + nearest as usize, (time / step - nearest).clamp(-0.5, 0.5))
}

/// The starts and stops of these loops.
fn presence_changes(asm: &Assembly, loops: &[usize], at: &BlockStart<'_>) -> Vec<PresenceChange> {
    let mut changes = Vec::new();
    for (flow, l) in loops.iter().enumerate() {
        let mut add = |time: Option<f64>, presence: fn(f64) -> Presence| {
            changes.extend(time.map(|time| {
                let (step, later) = nearest_step(time, at.step, at.zero);
                PresenceChange { step, flow, presence: presence(later) }
            }));
        };
        add(asm.loops[*l].start, Presence::Starts);
        add(asm.loops[*l].stop, Presence::Stops);
    }
    changes.sort_by_key(|change| change.step);
    changes
}

/// The changes of capacities.
fn changes(asm: &Assembly, step: f64, zero: usize) -> Vec<TimedChange> {
    let mut changes = Vec::new();
    for change in &asm.steps {
        let (nearest, later) = nearest_step(change.time, step, zero);
        let part = TimedChange { step: nearest, later, what: ChangeKind::PartOfCapacity(*change) };
        let whole = TimedChange { step: nearest + 1, later: 0.0, what: ChangeKind::Capacity(*change) };
        changes.extend([part, whole]);
    }
    changes.sort_by_key(|change| change.step);
    changes
}
