//! One step of the solver: its stages, its error estimate, and its early end at an event.

use super::Solver;
use super::dormand_prince::{A, C, E, dense, sum};
use super::history::{BOOLE, NODES, View};
use crate::delivery::HopService;
use crate::error::Error;

/// Shortest step, as a share of the shortest delay.
const MIN_STEP: f64 = 1e-10;

impl Solver<'_> {
    /// Makes one step that ends at `limit` or before.
    pub(super) fn step_towards(&mut self, limit: f64) -> Result<(), Error> {
        let most = self.shortest_delay.min(self.accuracy.longest_step);
        let left = limit - self.time;
        let h = self.step.min(most);
        // Avoids a very short step before the limit.
        let mut h = if left <= most.min(1.2 * h) { left } else { h.min(0.6 * left) };
        loop {
            let error = self.attempt(h);
            if error <= 1.0 {
                let end = if h == left { limit } else { self.time + h };
                // The error of a step shortened by a limit says little about the next step.
                let grown = h * (0.9 * error.max(1e-8).powf(-0.2)).clamp(0.5, 4.0);
                self.step = if h == left { grown.max(self.step) } else { grown };
                return self.accept(h, end);
            }
            self.ended.rejected += 1;
            h *= if error.is_finite() { (0.9 * error.powf(-0.2)).clamp(0.1, 0.9) } else { 0.1 };
            self.step = h;
            if h < MIN_STEP * self.shortest_delay {
                return Err(self.stalled(h));
            }
        }
    }

    /// Computes the stages of a step of length `h`. Returns its error relative to the tolerance.
    fn attempt(&mut self, h: f64) -> f64 {
        let middle = self.time + 0.5 * h;
        for s in 1..7 {
            for i in 0..self.x.len() {
                self.next[i] = self.x[i] + h * sum(&A[s], &self.stages, i);
            }
            self.set_lookups(self.time + C[s] * h, middle);
            let next = std::mem::take(&mut self.next);
            self.evaluate_within(&next, 4);
            self.next = next;
            self.project(s);
        }
        (0..self.x.len()).map(|i| self.error_ratio(i, h)).fold(0.0, f64::max)
    }

    /// The error of one state relative to the tolerance.
    fn error_ratio(&self, i: usize, h: f64) -> f64 {
        let error = (h * sum(&E, &self.stages, i)).abs();
        let size = self.scales[i].max(self.x[i].abs()).max(self.next[i].abs());
        let ratio = error / (self.accuracy.tolerance * size);
        // `f64::max` ignores NaN.
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }

    /// Evaluates the right-hand side at `x` and writes the channels to a node. States beyond their bounds, which occur
    /// in trial steps, are clipped before laws receive them.
    fn evaluate_within(&mut self, x: &[f64], node: usize) {
        let mut trial = std::mem::take(&mut self.trial);
        trial.clear();
        let states = &self.rhs.asm.states;
        trial.extend(x.iter().zip(states).map(|(x, state)| x.max(state.lower).min(state.upper)));
        let mut channels = std::mem::take(&mut self.nodes[node]);
        self.evaluate(&trial, &mut channels);
        self.read_guards(&trial);
        (self.nodes[node], self.trial) = (channels, trial);
    }

    /// Evaluates a step of length `h` at the fraction `theta` and writes the channels to a node.
    fn probe(&mut self, theta: f64, h: f64, node: usize) {
        self.set_lookups(self.time + theta * h, self.time + 0.5 * h);
        let mut inside = std::mem::take(&mut self.inside);
        inside.clear();
        let value = |i: usize| dense(theta, h, self.x[i], self.next[i], &self.stages, i);
        inside.extend((0..self.x.len()).map(value));
        self.evaluate_within(&inside, node);
        self.inside = inside;
    }

    /// Accepts a step whose error is within the tolerance, or ends it early at an event.
    fn accept(&mut self, h: f64, end: f64) -> Result<(), Error> {
        self.steps += 1;
        let event_at_end = self.detects_event(&self.next);
        for node in 1..4 {
            self.probe(NODES[node], h, node);
            if self.detects_event(&self.inside) {
                return self.end_early(NODES[node - 1], NODES[node], h);
            }
        }
        if event_at_end {
            return self.end_early(NODES[3], 1.0, h);
        }
        self.update_guard_sizes();
        self.finish(h, end);
        Ok(())
    }

    /// Locates an event between two fractions of the step by bisection and makes the step up to there.
    fn end_early(&mut self, mut before: f64, mut after: f64, h: f64) -> Result<(), Error> {
        let exact = (1e-12 * h).max(4e-16 * self.time);
        while (after - before) * h > exact {
            let middle = 0.5 * (before + after);
            self.probe(middle, h, 1);
            if self.detects_event(&self.inside) { after = middle } else { before = middle }
        }
        self.probe(before, h, 2);
        self.probe(after, h, 1);
        let (events, order) = (self.detected_events(), self.jump_order(2, 1));
        let cut = after * h;
        self.ended.events += 1;
        if self.time + cut > self.time {
            self.attempt(cut);
            for (node, theta) in NODES.into_iter().enumerate().take(4).skip(1) {
                self.probe(theta, cut, node);
            }
            self.finish(cut, self.time + cut);
        }
        self.apply_events(&events, order)
    }

    /// Adds the step to the history and to the integrals.
    fn finish(&mut self, h: f64, end: f64) {
        self.history.push(self.time, end - self.time, &self.nodes);
        self.measure_deliveries(h);
        self.record_step(h);
        for (i, integral) in self.integrals.iter_mut().enumerate() {
            let step: f64 = self.nodes.iter().zip(BOOLE).map(|(node, weight)| weight * node[i]).sum();
            *integral += h * step;
        }
        self.add_deliveries(h);
        self.record_deliveries();
        for ((x, next), state) in self.x.iter_mut().zip(&self.next).zip(&self.rhs.asm.states) {
            *x = next.max(state.lower).min(state.upper);
        }
        // The last stage and node of this step are the first of the next one.
        self.stages.swap(0, 6);
        self.nodes.swap(0, 4);
        self.time = end;
    }

    /// Measures the deliveries at the nodes of the step, which the history contains.
    fn measure_deliveries(&mut self, h: f64) {
        let middle = self.time + 0.5 * h;
        for (node, theta) in NODES.into_iter().enumerate() {
            let time = self.time + theta * h;
            let lookups = &mut self.measured_lookups;
            self.history.set_lookups(lookups, &self.rhs.delays.delays, time, middle);
            let view = View { history: &self.history, lookups, time, middle };
            self.rhs.measure_deliveries(&view, &mut self.nodes[node]);
            self.services[node].copy_from_slice(&self.rhs.services);
        }
    }

    /// Replaces the delivered bits of the loops whose deliveries differ from what one link serves.
    fn add_deliveries(&mut self, h: f64) {
        let (asm, services) = (self.rhs.asm, &self.services);
        let bits = |hop: usize, of: fn(&HopService) -> f64| {
            let rate: f64 = services.iter().zip(BOOLE).map(|(node, weight)| weight * of(&node[hop])).sum();
            h * rate
        };
        let service = |hop| HopService { served: bits(hop, |s| s.served), offered: bits(hop, |s| s.offered) };
        self.deliveries.add_interval(asm, service);
        for &l in self.deliveries.loops() {
            self.integrals[asm.channels.delivered + l] = self.deliveries.delivered(l);
        }
    }

    fn stalled(&self, step: f64) -> Error {
        let worst = (0..self.x.len())
            .max_by(|a, b| self.error_ratio(*a, step).total_cmp(&self.error_ratio(*b, step)));
        let state = worst.map_or_else(String::new, |i| self.state_name(i));
        match self.first_non_finite() {
            Some(quantity) => Error::NotFinite { time: self.time, quantity },
            None => Error::Stalled { time: self.time, state, step },
        }
    }

    pub(super) fn too_many_steps(&self) -> Error {
        let ended = self.ended;
        let causes = [
            (ended.events, "events (a law that switches, a queue that becomes empty or full)"),
            (ended.due, "starts, stops, ticks and discontinuities"),
            (ended.rejected, "the tolerance"),
        ];
        let cause = causes.iter().max_by_key(|(count, _)| *count).map_or("", |(_, cause)| cause);
        let steps = self.accuracy.max_steps;
        Error::TooManySteps { time: self.time, steps, cause: cause.to_owned() }
    }
}
