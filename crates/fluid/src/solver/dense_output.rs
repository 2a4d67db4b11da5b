//! Values at times within a step: the step-size control alone decides how long steps are, however many times are asked for.

use super::Solver;
use super::dormand_prince::dense;
use super::history::{BOOLE, NODES, lagrange};
use crate::error::Error;
use crate::integration::{Integration, SlidingThreshold};

/// The last step of a solver as polynomials of degree four through its nodes.
#[derive(Clone, Debug)]
pub(super) struct LastStep {
    start: f64,
    length: f64,
    /// States at the nodes, which may be beyond their bounds.
    states: [Vec<f64>; 5],
    /// Channels at the nodes.
    channels: [Vec<f64>; 5],
    /// Discrete states of laws, which are constant within the step.
    discrete: Vec<u64>,
    /// Integrals of channels since time zero, at the start of the step.
    integrals: Vec<f64>,
    /// Bits delivered in the step by each loop whose deliveries differ from what one link serves.
    deliveries: Vec<LoopDelivery>,
}

/// The bits that a loop delivers in a step.
#[derive(Clone, Copy, Debug)]
struct LoopDelivery {
    /// The channel of its deliveries.
    channel: usize,
    bits: f64,
}

/// Weights of the nodes in the integral over the first share `theta` of a step of length one.
fn integral_weights(theta: f64) -> [f64; 5] {
    let mut weights = [0.0; 5];
    for (node, boole) in NODES.into_iter().zip(BOOLE) {
        for (weight, value) in weights.iter_mut().zip(lagrange(theta * node)) {
            *weight += theta * boole * value;
        }
    }
    weights
}

/// The weighted sum of one value at the nodes.
fn weighted(weights: &[f64; 5], nodes: &[Vec<f64>; 5], i: usize) -> f64 {
    nodes.iter().zip(weights).map(|(node, weight)| weight * node[i]).sum()
}

/// A channel between the nodes. A polynomial can be negative there although the channel is not: a value between nodes that
/// are not negative is at least zero.
fn channel_between(weights: &[f64; 5], nodes: &[Vec<f64>; 5], i: usize) -> f64 {
    let value = weighted(weights, nodes, i);
    if value < 0.0 && nodes.iter().all(|node| node[i] >= 0.0) { 0.0 } else { value }
}

impl LastStep {
    pub(super) fn new(states: usize, channels: usize) -> Self {
        Self {
            start: 0.0,
            length: 0.0,
            states: std::array::from_fn(|_| vec![0.0; states]),
            channels: std::array::from_fn(|_| vec![0.0; channels]),
            discrete: Vec::new(),
            integrals: vec![0.0; channels],
            deliveries: Vec::new(),
        }
    }

    /// The integral of a channel from time zero to the share `theta` of the step.
    fn integral(&self, channel: usize, weights: &[f64; 5]) -> f64 {
        self.integrals[channel] + self.length * weighted(weights, &self.channels, channel)
    }

    /// The bits that a loop has delivered at the share `theta` of the step: in proportion to what the last link of its path
    /// has served, whose integral within the step has these weights.
    fn delivered(&self, delivery: LoopDelivery, theta: f64, weights: &[f64; 5]) -> f64 {
        let LoopDelivery { channel, bits } = delivery;
        let (served, whole) =
            (weighted(weights, &self.channels, channel), weighted(&BOOLE, &self.channels, channel));
        let share = if whole > 0.0 { (served / whole).clamp(0.0, 1.0) } else { theta };
        self.integrals[channel] + share * bits
    }
}

impl Solver<'_> {
    /// Records the step of length `h` that is about to be added, if values within it may be asked for.
    pub(super) fn record_step(&mut self, h: f64) {
        let Some(last) = &mut self.last_step else { return };
        (last.start, last.length) = (self.time, h);
        for (values, theta) in last.states.iter_mut().zip(NODES) {
            for (i, value) in values.iter_mut().enumerate() {
                *value = dense(theta, h, self.x[i], self.next[i], &self.stages, i);
            }
        }
        for (values, node) in last.channels.iter_mut().zip(&self.nodes) {
            values.copy_from_slice(node);
        }
        last.discrete.clone_from(&self.discrete.laws);
        last.integrals.copy_from_slice(&self.integrals);
        last.deliveries.clear();
    }

    /// The last step, if `time` lies within it.
    fn step_around(&self, time: f64) -> Option<&LastStep> {
        self.last_step.as_ref().filter(|_| time < self.time)
    }

    /// Records what loops with several links have delivered in the step.
    pub(super) fn record_deliveries(&mut self) {
        let (Some(last), asm) = (&mut self.last_step, self.rhs.asm) else { return };
        last.deliveries.extend(self.deliveries.loops().iter().map(|&l| {
            let channel = asm.channels.delivered + l;
            LoopDelivery { channel, bits: self.integrals[channel] - last.integrals[channel] }
        }));
    }
}

/// A solver whose steps do not end where values are asked for. Between the ends of a step, states are those of the
/// method's interpolant, channels and their integrals those of the polynomial through the nodes that delayed look-ups read.
pub struct DenseOutput<'a> {
    solver: Solver<'a>,
    /// No step ends later, in seconds.
    end: f64,
    /// The time that is shown, in seconds.
    time: f64,
    states: Vec<f64>,
    channels: Vec<f64>,
    integrals: Vec<f64>,
}

impl<'a> DenseOutput<'a> {
    /// The output of a solver up to the time `end` in seconds.
    pub fn new(mut solver: Solver<'a>, end: f64) -> Self {
        let (states, channels) = (solver.x.len(), solver.integrals.len());
        solver.last_step = Some(LastStep::new(states, channels));
        let mut output = Self {
            end,
            time: solver.time,
            states: vec![0.0; states],
            channels: vec![0.0; channels],
            integrals: vec![0.0; channels],
            solver,
        };
        output.show(output.time);
        output
    }

    /// Number of steps so far.
    pub fn steps(&self) -> u64 {
        self.solver.steps()
    }

    /// Computes the values at `time`, which is the solver's present or lies within its last step.
    fn show(&mut self, time: f64) {
        self.time = time;
        let Self { solver, states, channels, integrals, .. } = self;
        let Some(last) = solver.step_around(time) else {
            states.copy_from_slice(solver.state());
            channels.copy_from_slice(solver.channels());
            integrals.copy_from_slice(solver.integrals());
            return;
        };
        let theta = ((time - last.start) / last.length).clamp(0.0, 1.0);
        let (values, sums) = (lagrange(theta), integral_weights(theta));
        let bounds = &solver.rhs.asm.states;
        for (i, (state, bound)) in states.iter_mut().zip(bounds).enumerate() {
            *state = weighted(&values, &last.states, i).max(bound.lower).min(bound.upper);
        }
        for (i, (channel, integral)) in channels.iter_mut().zip(integrals.iter_mut()).enumerate() {
            *channel = channel_between(&values, &last.channels, i);
            *integral = last.integral(i, &sums);
        }
        for delivery in &last.deliveries {
            integrals[delivery.channel] = last.delivered(*delivery, theta, &sums);
        }
    }
}

impl Integration for DenseOutput<'_> {
    fn advance_some(&mut self, until: f64, steps: u64) -> Result<bool, Error> {
        let is_reached = self.solver.advance_past(until, self.end.max(until), steps)?;
        if is_reached {
            self.show(until);
        }
        Ok(is_reached)
    }

    fn state(&self) -> &[f64] {
        &self.states
    }

    fn discrete(&self) -> &[u64] {
        self.solver.step_around(self.time).map_or(&self.solver.discrete.laws, |last| &last.discrete)
    }

    fn channels(&self) -> &[f64] {
        &self.channels
    }

    fn integrals(&self) -> &[f64] {
        &self.integrals
    }

    fn sliding_thresholds(&self) -> Vec<SlidingThreshold> {
        self.solver.sliding_thresholds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_of_quartics_over_a_part_of_a_step_are_exact() {
        let p = |t: f64| 1.0 - 2.0 * t + 3.0 * t.powi(3) - 4.0 * t.powi(4);
        let integral = |t: f64| t - t.powi(2) + 0.75 * t.powi(4) - 0.8 * t.powi(5);
        for theta in [0.0, 0.1, 0.25, 0.6, 0.99, 1.0] {
            let sum: f64 = NODES.into_iter().zip(integral_weights(theta)).map(|(t, w)| w * p(t)).sum();
            assert!((sum - integral(theta)).abs() < 1e-14, "{theta}");
        }
    }

    /// A queue that drains and is empty from the middle of the step on: the polynomial through the nodes oscillates about
    /// zero behind it.
    #[test]
    fn a_channel_that_is_not_negative_at_the_nodes_is_not_negative_between_them() {
        let falling = [2.0, 1.0, 0.0, 0.0, 0.0];
        let nodes = falling.map(|queue| vec![queue, -queue]);
        let (mut lowest, mut highest) = (0.0_f64, 0.0_f64);
        for place in 0..=100 {
            let weights = lagrange(f64::from(place) / 100.0);
            lowest = lowest.min(weighted(&weights, &nodes, 0));
            highest = highest.max(channel_between(&weights, &nodes, 1));
            assert!(channel_between(&weights, &nodes, 0) >= 0.0, "{place}");
        }
        assert!(lowest < -0.01, "the polynomial alone: {lowest}");
        assert!(highest > 0.01, "a channel that is negative at nodes is not changed: {highest}");
    }
}
