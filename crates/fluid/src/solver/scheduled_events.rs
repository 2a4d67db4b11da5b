//! What is known to happen at a known time: changes of the network, clocks of laws, and kinks.
//!
//! A jump anywhere is a jump or a kink wherever its word arrives, one delay later, one derivative higher for each
//! link that it passes: a queue and a price integrate. A step across one loses the order of the method, so each is
//! followed until it is in a derivative that the method does not see. Where too many are on their way (many flows of
//! unlike delays) those of higher order are left to the error control, which meets them with shorter steps.

use crate::assembly::{Assembly, Entity};
use std::collections::BTreeMap;

/// Derivatives from this one on are smooth enough for a method of order 5.
const DEPTH: u8 = 5;

/// So many kinks may be on their way before only jumps and kinks of the first derivative are followed.
const MOST: usize = 64;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScheduledEvent {
    /// A loop starts.
    Start(usize),
    /// A loop stops.
    Stop(usize),
    /// A capacity changes, by its place in the assembly's list.
    Capacity(usize),
    /// The clock of a sender: class and place.
    SenderTick(usize, usize),
    /// The clock of a link's law: set and place.
    LinkTick(usize, usize),
    /// A derivative of somebody's quantities jumps.
    Discontinuity(Entity),
}

/// Times to come, in order. Times are not negative, so that their bits sort as they do.
pub(super) struct ScheduledEvents {
    due: BTreeMap<(u64, ScheduledEvent), u8>,
    pending: usize,
    follow: bool,
    /// Of each link: who crosses it, how long its word takes, and whether its queue is met as it is.
    crossing: Vec<Vec<(usize, f64, bool)>>,
    /// From when until when each loop is there.
    lives: Vec<(f64, f64)>,
}

impl ScheduledEvents {
    /// Nothing starts, stops or changes.
    pub(super) fn quiet(asm: &Assembly, follow: bool) -> Self {
        let mut crossing = vec![Vec::new(); asm.links.len()];
        for l in (0..asm.loops.len()).filter(|l| !asm.is_shared_flow(*l)) {
            for hop in asm.hops_of(l) {
                let ahead = asm.classes[asm.loops[l].class].law.inputs_used().present_queueing;
                crossing[hop.link].push((l, hop.backward, ahead));
            }
        }
        let lives = vec![(f64::NEG_INFINITY, f64::INFINITY); asm.loops.len()];
        Self { due: BTreeMap::new(), pending: 0, follow, crossing, lives }
    }

    /// What the network says of itself.
    pub(super) fn new(asm: &Assembly, follow: bool) -> Self {
        let mut scheduled = Self::quiet(asm, follow);
        for (l, data) in asm.loops.iter().enumerate() {
            scheduled.lives[l] =
                (data.start.unwrap_or(f64::NEG_INFINITY), data.stop.unwrap_or(f64::INFINITY));
            for (time, what) in [(data.start, ScheduledEvent::Start(l)), (data.stop, ScheduledEvent::Stop(l))]
            {
                time.into_iter().for_each(|time| scheduled.add(time, what));
            }
        }
        for (i, step) in asm.steps.iter().enumerate() {
            scheduled.add(step.time, ScheduledEvent::Capacity(i));
        }
        scheduled
    }

    pub(super) fn add(&mut self, time: f64, what: ScheduledEvent) {
        self.due.insert((time.max(0.0).to_bits(), what), 0);
    }

    /// When something happens next.
    pub(super) fn next(&self) -> f64 {
        self.due.keys().next().map_or(f64::INFINITY, |(bits, _)| f64::from_bits(*bits))
    }

    /// What is due now, kinks followed onwards.
    pub(super) fn take(&mut self, asm: &Assembly, now: f64, soon: f64) -> Vec<ScheduledEvent> {
        let mut events = Vec::new();
        while let Some((&(bits, what), &level)) = self.due.first_key_value() {
            let time = f64::from_bits(bits);
            if time > soon {
                break;
            }
            self.due.pop_first();
            if let ScheduledEvent::Discontinuity(entity) = what {
                self.pending -= 1;
                self.spread(asm, time.max(now), entity, level);
            }
            events.push(what);
        }
        events
    }

    /// A derivative of this order of somebody's quantities jumps now: tells whoever will see it.
    pub(super) fn spread(&mut self, asm: &Assembly, now: f64, entity: Entity, level: u8) {
        match entity {
            Entity::Loop(l) => {
                let controlling_loop = asm.controlling_loop(l);
                self.send(asm, now, controlling_loop, level);
                for relay in asm.start_relays(controlling_loop).map(|relay| &asm.relays[relay]) {
                    self.schedule_discontinuity(
                        now + asm.return_delay(relay),
                        Entity::Loop(asm.controlling_loop(relay.upstream.0)),
                        level,
                    );
                }
                if controlling_loop != l {
                    // It comes or goes: where flows part, the shared loop is told that when word of the part has come back.
                    self.schedule_discontinuity(
                        now + asm.loops[l].base_rtt,
                        Entity::Loop(controlling_loop),
                        level,
                    );
                }
            }
            Entity::Link(link) => {
                for i in 0..self.crossing[link].len() {
                    let (l, backward, ahead) = self.crossing[link][i];
                    self.schedule_discontinuity(now + backward, Entity::Loop(l), level + 1);
                    if ahead {
                        self.send(asm, now, l, level + 1);
                    }
                }
            }
            // A dry relay hands on what comes; what its next loop would be permitted does not change with that, so
            // that the loop before sees the backlog alone. Otherwise kinks would go round between the two for ever.
            Entity::Relay(r) => {
                let relay = &asm.relays[r];
                self.send(asm, now, asm.controlling_loop(relay.downstream.0), level);
                let before = asm.controlling_loop(relay.upstream.0);
                self.schedule_discontinuity(now + asm.return_delay(relay), Entity::Loop(before), level + 1);
            }
        }
    }

    /// What a loop sends has a kink, and so has what each flow sends that shares it.
    fn send(&mut self, asm: &Assembly, now: f64, l: usize, level: u8) {
        for hop in asm.hops_of(l) {
            self.schedule_discontinuity(now + hop.forward, Entity::Link(hop.link), level);
        }
        self.schedule_discontinuity(now + asm.loops[l].base_rtt, Entity::Loop(l), level + 1);
        for relay in asm.end_relays(l) {
            self.schedule_discontinuity(now + asm.relays[relay].forward, Entity::Relay(relay), level);
        }
    }

    /// Nobody sees what a loop does that is not there.
    fn is_absent(&self, entity: Entity, time: f64) -> bool {
        let Entity::Loop(l) = entity else { return false };
        let (start, stop) = self.lives[l];
        time < start || time > stop
    }

    fn schedule_discontinuity(&mut self, time: f64, entity: Entity, level: u8) {
        if !self.follow || level > DEPTH || (self.pending > MOST && level > 1) || self.is_absent(entity, time)
        {
            return;
        }
        let known = self.due.entry((time.to_bits(), ScheduledEvent::Discontinuity(entity)));
        let before = self.pending;
        known.and_modify(|known| *known = (*known).min(level)).or_insert_with(|| {
            self.pending = before + 1;
            level
        });
    }
}
