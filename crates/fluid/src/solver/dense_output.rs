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

/// Numbers of the parts of a step at whose ends [`is_negative_between`] evaluates a polynomial.
const PARTS: u8 = 32;

/// Whether the polynomial through nodes that are not negative is negative between them. It is not if the least node is more than
/// 0.38 of the greatest: the weights of five equidistant nodes have absolute values whose sum is below 2.21, so that the
/// polynomial differs from the middle of both by less than 2.21 times half of their difference.
fn is_negative_between(nodes: [f64; 5]) -> bool {
    let (least, greatest) = nodes.iter().fold((f64::INFINITY, 0.0_f64), |(l, g), x| (l.min(*x), g.max(*x)));
    let value = |part: u8| -> f64 {
        let weights = lagrange(f64::from(part) / f64::from(PARTS));
        weights.iter().zip(nodes).map(|(weight, node)| weight * node).sum()
    };
    least >= 0.0 && least < 0.38 * greatest && (1..PARTS).any(|part| value(part) < 0.0)
}

/// The integral over the first share `theta` of a step of length one, of the piecewise linear function through the nodes.
fn integral_of_lines(nodes: [f64; 5], theta: f64) -> f64 {
    let parts = nodes.windows(2).zip(NODES).map(|(ends, start)| {
        let share = ((theta - start) * 4.0).clamp(0.0, 1.0);
        0.25 * share * (ends[0] + 0.5 * share * (ends[1] - ends[0]))
    });
    parts.sum()
}

/// The integral of a channel over the first share `theta` of a step of length one; `weights`: those of the nodes. Where the
/// polynomial is negative although no node is, it would fall over time: it then has the shape of the piecewise linear
/// function through the nodes.
fn integral_between(nodes: [f64; 5], theta: f64, weights: &[f64; 5]) -> f64 {
    let sum =
        |weights: &[f64; 5]| -> f64 { weights.iter().zip(nodes).map(|(weight, node)| weight * node).sum() };
    if is_negative_between(nodes) {
        return sum(&BOOLE) * integral_of_lines(nodes, theta) / integral_of_lines(nodes, 1.0);
    }
    sum(weights)
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

    /// The integral of a channel over the share `theta` of the step, as one of length one; `weights`: those of the nodes.
    fn integral_within(&self, channel: usize, theta: f64, weights: &[f64; 5]) -> f64 {
        integral_between(std::array::from_fn(|node| self.channels[node][channel]), theta, weights)
    }

    /// The integral of a channel from time zero to the share `theta` of the step.
    fn integral(&self, channel: usize, theta: f64, weights: &[f64; 5]) -> f64 {
        self.integrals[channel] + self.length * self.integral_within(channel, theta, weights)
    }

    /// The bits that a loop has delivered at the share `theta` of the step: in proportion to what the last link of its path
    /// has served, whose integral within the step has these weights.
    fn delivered(&self, delivery: LoopDelivery, theta: f64, weights: &[f64; 5]) -> f64 {
        let LoopDelivery { channel, bits } = delivery;
        let served = self.integral_within(channel, theta, weights);
        let whole = weighted(&BOOLE, &self.channels, channel);
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
            *integral = last.integral(i, theta, &sums);
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

    /// A rate that decays within a step: the polynomial through the nodes is negative behind it.
    #[test]
    fn the_integral_of_a_channel_that_is_not_negative_at_the_nodes_never_falls() {
        for nodes in
            [[2.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.3, 4.0], [9.0, 0.5, 0.02, 0.0, 0.0], [0.0; 5]]
        {
            let integral = |part: u32| {
                let theta = f64::from(part) / 1000.0;
                integral_between(nodes, theta, &integral_weights(theta))
            };
            let whole: f64 = nodes.iter().zip(BOOLE).map(|(node, weight)| node * weight).sum();
            assert!((1..=1000).all(|part| integral(part) >= integral(part - 1)), "{nodes:?}");
            assert!((integral(1000) - whole).abs() <= 1e-14 * whole, "{nodes:?}");
        }
        let falls = |theta: f64| integral_weights(theta)[0] * 2.0 + integral_weights(theta)[1];
        assert!(falls(0.7) < falls(0.55), "the polynomial alone falls");
    }

    /// `e^(-t)` over a fifth of its time constant has no such part, and keeps the polynomial's integral.
    #[test]
    fn a_polynomial_that_is_not_negative_is_not_changed() {
        let nodes = NODES.map(|theta| (-0.2 * theta).exp());
        let integral = integral_between(nodes, 0.6, &integral_weights(0.6));
        assert!((integral - (1.0 - (-0.12_f64).exp()) / 0.2).abs() < 1e-9, "{integral}");
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
