//! How a chain of relayed loops amplifies oscillations from loop to loop.
//!
//! ```text
//!   loop 1 ==> relay ==> loop 2 ==> relay ==> loop 3 (bottleneck)
//!     ^          |         ^          |          ^
//!     +--- H1 ---+         +--- H2 ---+          +-- disturbance of its rate
//! ```
//!
//! The rate of a loop follows that of the loop after its relay: H is the ratio of the two oscillations.

use super::system::Connection;
use super::{Complex, Linearized, System};
use crate::assembly::Entity;
use crate::frozen::{Frozen, OperatingPoint};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::PI;

/// The greatest amplification over one relay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopGain {
    /// The loop before the relay.
    pub upstream: usize,
    /// The loop after it.
    pub downstream: usize,
    /// Amplitude of the rate before the relay over that after it, at the frequency at which this is greatest.
    pub gain: f64,
    /// That frequency, in Hz.
    pub frequency: f64,
}

/// The amplification of a chain of loops, from its bottleneck to its source.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainGain {
    /// One entry for each relay that holds data, from the source on.
    pub hops: Vec<HopGain>,
    /// The greatest amplification from the bottleneck's loop to the first loop.
    pub gain: f64,
    /// Its frequency, in Hz.
    pub frequency: f64,
}

/// Frequencies that are tried, per decade.
const PER_DECADE: f64 = 60.0;

/// The amplification of a chain with these loops. None if no relay holds data, or if no loop of it is disturbed by the next.
#[must_use]
pub fn chain_gain(
    frozen: &Frozen<'_>,
    point: &OperatingPoint,
    linear: &Linearized,
    loops: &[usize],
) -> Option<ChainGain> {
    let blocks: Vec<usize> = loops
        .iter()
        .map(|l| linear.owners.iter().position(|owner| *owner == Entity::Loop(*l)))
        .collect::<Option<_>>()?;
    let relays = relays_with_data(frozen, point, loops);
    if relays == 0 {
        return None;
    }
    let delay = linear.system.longest_delay();
    // From a thousandth of a radian per longest delay to half a cycle.
    let (low, high) = (1e-3 / delay, PI / delay);
    let count = ((high / low).log10() * PER_DECADE).ceil();
    let mut hops: Vec<HopGain> = (0..relays)
        .map(|i| HopGain { upstream: loops[i], downstream: loops[i + 1], gain: 0.0, frequency: 0.0 })
        .collect();
    let mut chain = ChainGain { hops: Vec::new(), gain: 0.0, frequency: 0.0 };
    let mut frequency = low;
    while frequency <= high {
        let rates = rates(&linear.system, &blocks[..=relays], frequency)?;
        let hertz = frequency / (2.0 * PI);
        for (hop, pair) in hops.iter_mut().zip(rates.windows(2)) {
            let gain = pair[0] / pair[1];
            if gain > hop.gain {
                (hop.gain, hop.frequency) = (gain, hertz);
            }
        }
        let total = rates.first()? / rates.last()?;
        if total > chain.gain {
            (chain.gain, chain.frequency) = (total, hertz);
        }
        frequency *= (high / low).powf(1.0 / count);
    }
    chain.hops = hops;
    chain.gain.is_finite().then_some(chain)
}

/// The number of relays from the source on that hold data: behind an empty relay a loop sends what arrives.
fn relays_with_data(frozen: &Frozen<'_>, point: &OperatingPoint, loops: &[usize]) -> usize {
    let asm = frozen.asm;
    let holds_data = |pair: &[usize]| {
        let is_between =
            |relay: &crate::network::Relay| (relay.upstream.0, relay.downstream.0) == (pair[0], pair[1]);
        let found = asm.relays.iter().position(is_between);
        found.is_some_and(|relay| {
            let state = asm.offsets.backlogs + relay;
            point.x[state] > 0.0 && !point.is_held(state)
        })
    };
    loops.windows(2).take_while(|pair| holds_data(pair)).count()
}

/// Amplitudes of the sending rates of these blocks at an angular frequency, if the states that determine the rate of the
/// last one are disturbed.
fn rates(system: &System, blocks: &[usize], frequency: f64) -> Option<Vec<f64>> {
    let s = Complex::new(0.0, frequency);
    let first: Vec<usize> = system
        .blocks
        .iter()
        .scan(0, |next, block| {
            let here = *next;
            *next += block.d.nrows();
            Some(here)
        })
        .collect();
    let outputs = system.blocks.iter().map(|block| block.d.nrows()).sum();
    let mut loops = DMatrix::<Complex<f64>>::identity(outputs, outputs);
    for (index, block) in system.blocks.iter().enumerate() {
        let (transfer, _) = block.transfer(s)?;
        for Connection { from, to, gain, delay } in system.connections.iter().filter(|c| c.to.block == index)
        {
            let through = (-s * *delay).exp() * *gain;
            for output in 0..transfer.nrows() {
                let source = first[from.block] + from.output;
                loops[(first[index] + output, source)] -= transfer[(output, to.input)] * through;
            }
        }
    }
    let (last, mut disturbance) = (*blocks.last()?, DVector::<Complex<f64>>::zeros(outputs));
    for (output, value) in response_to_states(&system.blocks[last], s)?.into_iter().enumerate() {
        disturbance[first[last] + output] = value;
    }
    let solved = loops.lu().solve(&disturbance)?;
    Some(blocks.iter().map(|block| solved[first[*block]].norm()).collect())
}

/// The outputs of a block for a disturbance of the derivative of the state on which its rate, the first output, depends
/// most.
fn response_to_states(block: &super::Block, s: Complex<f64>) -> Option<Vec<Complex<f64>>> {
    let n = block.states();
    let state = (0..n).max_by(|a, b| block.c[(0, *a)].abs().total_cmp(&block.c[(0, *b)].abs()))?;
    let complex = |matrix: &DMatrix<f64>| matrix.map(|value| Complex::new(value, 0.0));
    let resolvent = (DMatrix::from_diagonal_element(n, n, s) - complex(&block.a)).lu();
    let mut unit = DVector::zeros(n);
    unit[state] = Complex::new(1.0, 0.0);
    let moved = complex(&block.c) * resolvent.solve(&unit)?;
    Some(moved.iter().copied().collect())
}
