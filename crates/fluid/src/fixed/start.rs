//! Initialization: rejects networks that this scheme does not support, and fills the ring buffers with the history.

use super::flows::{ClassStart, ClassState};
use super::hops::{self, DelayedHops};
use super::links::LinkSetState;
use super::{ChangeKind, FixedStep, TimedChange};
use crate::assembly::{Assembly, LinkLaw};
use crate::discrete_state::DiscreteState;
use crate::error::Error;
use crate::right_hand_side::{RightHandSide, initial_history};
use millpond_law::fluid::{LinkInput, SenderInput};

fn refuse(name: &str, what: &str) -> Result<(), Error> {
    let reason = format!("fixed steps do not support {what}; use the adaptive method");
    Err(Error::InvalidNetwork { name: name.to_owned(), reason })
}

/// The scheme supports neither laws that jump, nor relays, nor feedback that depends on the flow.
fn check(asm: &Assembly) -> Result<(), Error> {
    if let Some(relay) = asm.relays.first() {
        return refuse(&asm.loops[relay.upstream.0].name, "relays");
    }
    let nothing = SenderInput {
        base_rtt: 1.0,
        capacity: 1.0,
        queueing: 0.0,
        queueing_slope: 0.0,
        marked: 0.0,
        lost: 0.0,
        acked: 0.0,
        present_queueing: 0.0,
        earlier_queueing: 0.0,
        feedback: &[0.0; 16],
        discrete: &[0; 16],
        downstream: None,
        upstream: None,
    };
    for class in &asm.sender_classes {
        let name = class.loops.first().map_or("", |l| asm.loops[*l].name.as_str());
        let x: Vec<f64> = class.law.states(0).iter().map(|state| state.initial).collect();
        if class.law.maps_signals() {
            return refuse(name, "feedback that depends on the flow at each hop");
        }
        if class.law.inputs_used().present_queueing {
            return refuse(name, "laws that use the present queueing delay");
        }
        if class.law.inputs_used().earlier_queueing {
            return refuse(name, "signals at a lag of the law's own");
        }
        if class.law.period(0, &x, &nothing).is_some() {
            return refuse(name, "laws in discrete time");
        }
    }
    let quiet = LinkInput {
        capacity: 1.0,
        arriving: 0.0,
        own_arriving: 0.0,
        queue: 0.0,
        carried: &[0.0; 16],
        discrete: &[0; 16],
    };
    for set in &asm.link_sets {
        let name = set.links.first().map_or("", |l| asm.links[*l].name.as_str());
        let x: Vec<f64> = set.law.states(0).iter().map(|state| state.initial).collect();
        if set.law.period(0, &x, &quiet).is_some() {
            return refuse(name, "laws in discrete time");
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
        let hops = DelayedHops::new(asm, step);
        let zero = (asm.longest_delay() / step).ceil() as usize + 2;
        let mut first = 0;
        let flows = |class| {
            let flows = ClassState::new(asm, class, &hops, ClassStart { first, zero, step, remembered });
            first += class.loops.len();
            flows
        };
        let flow_classes = asm.sender_classes.iter().map(flows).collect();
        let emitted = hops.record.count;
        let routers =
            asm.link_sets.iter().enumerate().map(|(s, set)| LinkSetState::new(asm, s, set, emitted));
        let mut fixed = Self {
            asm,
            step,
            n: 0,
            zero,
            hops,
            flow_classes,
            routers: routers.collect(),
            queues: vec![0.0; asm.links.len()],
            queue_moves: vec![0.0; asm.links.len()],
            capacity: asm.links.iter().map(|link| link.capacity).collect(),
            configured: asm.links.iter().map(|link| link.configured.initial(link.capacity)).collect(),
            arriving: vec![0.0; asm.links.len()],
            admitted: vec![0.0; asm.links.len()],
            marked: vec![0.0; asm.links.len()],
            lost: vec![0.0; asm.links.len()],
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
        let at = &asm.channels;
        for (link, data) in asm.links.iter().enumerate() {
            let mut record = vec![0.0; self.hops.emitted.width];
            let places = self.hops.record;
            if let Some(k) = places.queueing {
                (record[k], record[k + 1]) = (before[at.delay + link], before[at.slope + link]);
            }
            places.marks.into_iter().for_each(|k| record[k] = before[at.marked + link]);
            places.losses.into_iter().for_each(|k| record[k] = before[at.lost + link]);
            for router in &data.routers {
                let LinkLaw { set, place } = router.law;
                let signals = asm.link_sets[set].law.signal_names().len();
                let first = asm.slots(link, router.law, places.count).signals;
                let emitted = asm.link_sets[set].first_signal + place * signals;
                record[first..first + signals].copy_from_slice(&before[emitted..emitted + signals]);
            }
            self.hops.emitted.fill(link, &record);
        }
        // Rates on their way to the links, and the derivatives of the links' states.
        let steps = std::mem::replace(&mut self.step, 0.0);
        let is_idle = asm.loops.iter().all(|l| l.start.is_some());
        for n in if is_idle { self.zero - 1..self.zero } else { 0..self.zero } {
            for (flows, class) in self.flow_classes.iter_mut().zip(&asm.sender_classes) {
                let rates: Vec<f64> = class.loops.iter().map(|l| before[at.rate + l]).collect();
                let carried = class.law.carried().len() * class.loops.len();
                flows.emit_constant(n, &rates, &before[class.first_carried..][..carried], &mut self.hops);
            }
            self.n = n;
            self.step_links();
        }
        self.step = steps;
        for flows in &mut self.flow_classes {
            flows.initialize_derivatives(self.zero - 1, &self.hops);
        }
        self.n = self.zero;
    }
}

fn changes(asm: &Assembly, step: f64, zero: usize) -> Vec<TimedChange> {
    let at = |time: f64, what| {
        let nearest = (time / step).round().max(0.0);
        TimedChange { step: zero + nearest as usize, later: (time / step - nearest).clamp(-0.5, 0.5), what }
    };
    let mut changes = Vec::new();
    for l in &asm.loops {
        changes.extend(l.start.map(|time| at(time, ChangeKind::Start(l.class, l.place))));
        changes.extend(l.stop.map(|time| at(time, ChangeKind::Stop(l.class, l.place))));
    }
    for step in &asm.steps {
        let part = at(step.time, ChangeKind::PartOfCapacity(*step));
        let whole = TimedChange { step: part.step + 1, later: 0.0, what: ChangeKind::Capacity(*step) };
        changes.extend([part, whole]);
    }
    changes.sort_by_key(|change| change.step);
    changes
}
