//! Loops that stop. One that begins at a relay sends what the relay holds before it stops:
//!
//! ```text
//!   the loop before it stops --(delay to the relay, queues)--> all data have arrived --(backlog is sent)--> it stops
//! ```

use super::Solver;
use super::scheduled_events::ScheduledEvent;
use crate::assembly::Entity;
use crate::credit::settling_time;
use crate::discrete_state::Held;
use crate::network::Relay;

impl Solver<'_> {
    /// A loop stops now. If it begins at a relay, this is when the last data can have arrived there: it stops as soon as all data
    /// have arrived and the backlog is empty.
    pub(super) fn stop(&mut self, loop_index: usize) {
        let Some(r) = self.rhs.asm.loops[loop_index].start_relay else {
            return self.end_loop(loop_index);
        };
        match self.time_of_queued_data(r) {
            Some(time) => self.scheduled.add(self.time + time, ScheduledEvent::Stop(loop_index)),
            None => self.draining.push(loop_index),
        }
    }

    /// Ends the loops that have sent all data of their relays. Returns whether there were any.
    pub(super) fn stop_drained_loops(&mut self) -> bool {
        let (asm, held) = (self.rhs.asm, &self.discrete.held);
        let is_empty = |relay: usize| held[asm.offsets.backlogs + relay] == Held::Lower;
        let is_drained = |l: &usize| asm.loops[*l].start_relay.is_none_or(is_empty);
        let (drained, left): (Vec<usize>, Vec<usize>) =
            std::mem::take(&mut self.draining).into_iter().partition(is_drained);
        self.draining = left;
        drained.iter().for_each(|l| self.end_loop(*l));
        !drained.is_empty()
    }

    /// Ends a loop; the loop after it follows once the data that are under way have arrived.
    fn end_loop(&mut self, loop_index: usize) {
        self.discrete.active[loop_index] = false;
        self.propagate_jump(Entity::Loop(loop_index));
        self.scheduled.end_loop(loop_index, self.time);
        if let Some(relay) = self.rhs.asm.loops[loop_index].end_relay {
            let Relay { downstream, forward, .. } = self.rhs.asm.relays[relay];
            self.scheduled.add(self.time + forward, ScheduledEvent::Stop(downstream.0));
        }
    }

    /// The time in seconds in which most of what the loop before this relay has in queues arrives at it; none if nothing is left,
    /// or if the queues divide their departures by the present arrivals.
    fn time_of_queued_data(&self, relay: usize) -> Option<f64> {
        let asm = self.rhs.asm;
        let state = asm.queued_states().nth(asm.credits.binary_search(&relay).ok()?)?;
        let before = asm.relays[relay].upstream.0;
        let is_left = self.x[state] > self.accuracy.tolerance * self.scales[state];
        let queueing: f64 =
            asm.hops_of(before).iter().map(|hop| self.nodes[0][asm.channels.delay + hop.link]).sum();
        is_left.then(|| settling_time(asm, before) + queueing)
    }
}
