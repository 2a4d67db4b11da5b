//! The noise floor of a network at equilibrium: the effect of random marks, random losses and whole packets in windows
//! on the closed loop.
//!
//! A mark is a Bernoulli trial for each packet; a sender receives the outcomes instead of the probability `m`. The
//! share of marked packets among `n` has the variance `m (1 - m) / n` for every `n`. It is therefore white noise about
//! `m` with the density `m (1 - m) / lambda` per Hz at `lambda` packets/s. The same holds for losses. A window in whole
//! packets has a rounding error that is uniform within half a packet: a variance of 1/12 packet², constant for a round
//! trip (W. R. Bennett, Bell Syst. Tech. J. 27, 1948). Densities are two-sided. The density of an output is that of the
//! input times the squared gain of the closed loop.
//!
//! LGCC's rule of thumb results without loop and lag: with `ln x = eta ln(1 - p)` for one flow, and p averaged with
//! weight alpha per interval of `BDP / S` packets, the deviation is `eta sqrt((S^(1/eta) - 1) S alpha / (2 BDP))`.

use super::closed_loop::{ClosedLoop, FrequencyResponse};
use super::linearized::{Linearized, effect, varying_states};
use super::{BlockInput, BlockOutput, Complex, Root, System};
use crate::assembly::Entity;
use crate::frozen::{Frozen, OperatingPoint};
use crate::subsystems::Subsystem;
use nalgebra::DVector;
use std::f64::consts::PI;

/// The origin of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseKind {
    /// Each packet is marked or not.
    Marks,
    /// Each packet is lost or not.
    Losses,
    /// A window holds whole packets.
    Windows,
}

/// The packet granularity of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketGranularity {
    /// Packet size, in bits.
    pub packet: f64,
    /// Whether the law uses a window.
    pub has_window: bool,
}

/// White noise at an input of one flow, independent of all other flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSource {
    /// The origin.
    pub kind: NoiseKind,
    /// Block and input.
    pub input: BlockInput,
    /// Number of equal flows that the block represents, each with such a source.
    pub count: f64,
    /// Two-sided density per Hz, in the squared unit of the input.
    pub density: f64,
}

/// A linear system with inputs for noise.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseModel {
    /// The system.
    pub system: System,
    /// The noise sources.
    pub sources: Vec<NoiseSource>,
}

/// The output whose noise is computed.
#[derive(Clone, Debug, PartialEq)]
pub enum NoiseOutput {
    /// One flow of a class.
    Flow(BlockOutput),
    /// The sum over all flows of these classes, each with its number of flows.
    Flows(Vec<(BlockOutput, f64)>),
    /// A link.
    Link(BlockOutput),
}

impl Linearized {
    /// Adds the noise sources of each loop. `granularities` has one entry per loop.
    #[must_use]
    pub fn noise(
        &self,
        frozen: &Frozen<'_>,
        point: &OperatingPoint,
        granularities: &[PacketGranularity],
    ) -> NoiseModel {
        let mut noise = NoiseModel { system: self.system.clone(), sources: Vec::new() };
        for (block, owner) in self.owners.iter().enumerate() {
            let Entity::Loop(l) = *owner else { continue };
            let subsystem = frozen.loop_subsystem(l, point);
            let count = frozen.asm.loops[l].count;
            for NoiseOrigin { kind, column, density } in
                noise_origins(frozen, point, l, &subsystem, granularities[l])
            {
                let input = noise.system.blocks[block].add_input(&column);
                noise.sources.push(NoiseSource {
                    kind,
                    input: BlockInput::new(block, input),
                    count,
                    density,
                });
            }
        }
        noise
    }
}

/// An origin of noise in a loop.
struct NoiseOrigin {
    kind: NoiseKind,
    /// Its column of B, for the states that vary, above its column of D.
    column: DVector<f64>,
    density: f64,
}

/// The noise origins of a loop.
fn noise_origins(
    frozen: &Frozen<'_>,
    point: &OperatingPoint,
    loop_index: usize,
    subsystem: &Subsystem,
    granularity: PacketGranularity,
) -> Vec<NoiseOrigin> {
    let (at, hops) = (&frozen.asm.channels, frozen.asm.hops_of(loop_index));
    let marks = hops.iter().map(|hop| at.marked + hop.link);
    let losses = hops.iter().map(|hop| at.lost + hop.link);
    // For a flow that is not ECN-capable a mark is a loss.
    let (marks, losses): (Vec<usize>, Vec<usize>) = if frozen.asm.loops[loop_index].ecn {
        (marks.collect(), losses.collect())
    } else {
        (Vec::new(), losses.chain(marks).collect())
    };
    let (rate, rtt) = (point.channels[at.rate + loop_index], point.channels[at.rtt + loop_index]);
    let mut causes = Vec::new();
    for (kind, channels) in [(NoiseKind::Marks, marks), (NoiseKind::Losses, losses)] {
        if let Some((column, variance)) = bernoulli_effect(subsystem, point, &channels) {
            causes.push(NoiseOrigin { kind, column, density: variance * granularity.packet / rate });
        }
    }
    if granularity.has_window {
        let states = varying_states(subsystem, point).len();
        let mut column = DVector::zeros(states + subsystem.outputs.len());
        column[states] = 1.0;
        let variance = (granularity.packet / rtt).powi(2) / 12.0;
        causes.push(NoiseOrigin { kind: NoiseKind::Windows, column, density: variance * rtt });
    }
    causes
}

/// The effect of the probability that at least one of these channels hits a packet on a sender, and the variance of one
/// trial.
fn bernoulli_effect(
    subsystem: &Subsystem,
    point: &OperatingPoint,
    channels: &[usize],
) -> Option<(DVector<f64>, f64)> {
    let probability_of_no_hit = |channel: usize| 1.0 - point.channels[channel];
    let kept: f64 = channels.iter().map(|channel| probability_of_no_hit(*channel)).product();
    if !(0.0 < kept && kept < 1.0) {
        return None;
    }
    let moves = |channel: &usize| {
        let input = subsystem.inputs.iter().position(|input| input.channel == *channel)?;
        let column = effect(subsystem, &varying_states(subsystem, point), input);
        // The probability of a hit is 1 - kept; its derivative by one channel is the product over the other channels.
        let scale = probability_of_no_hit(*channel) / kept;
        column.iter().any(|entry| *entry != 0.0).then(|| DVector::from_vec(column) * scale)
    };
    channels.iter().find_map(moves).map(|column| (column, kept * (1.0 - kept)))
}

impl NoiseModel {
    /// The density of one noise origin at a target, per Hz and two-sided, at the frequency of `responses`.
    #[must_use]
    pub fn density(&self, responses: &ClosedLoop<'_>, target: &NoiseOutput, kind: NoiseKind) -> f64 {
        let sources = self.sources.iter().filter(|source| source.kind == kind);
        sources.map(|source| source.density * power(responses, source, target)).sum()
    }
}

/// The squared gain from a source to a target, summed over the flows with such a source.
fn power(responses: &ClosedLoop<'_>, source: &NoiseSource, target: &NoiseOutput) -> f64 {
    let to = |outputs: &[BlockOutput]| responses.to(source.input, source.count, outputs);
    match target {
        NoiseOutput::Flow(output) => {
            let [FrequencyResponse { own, shared }] = to(&[*output])[..] else { return 0.0 };
            (own + shared).norm_sqr() + (source.count - 1.0) * shared.norm_sqr()
        }
        NoiseOutput::Flows(outputs) => {
            let places: Vec<BlockOutput> = outputs.iter().map(|(output, _)| *output).collect();
            let sum: Complex<f64> =
                to(&places).iter().zip(outputs).map(|(r, (_, count))| r.own + r.shared * *count).sum();
            source.count * sum.norm_sqr()
        }
        NoiseOutput::Link(output) => {
            source.count * to(&[*output]).iter().map(|r| r.shared.norm_sqr()).sum::<f64>()
        }
    }
}

/// Frequencies in Hz between two limits, equidistant on a logarithmic scale, with additional points around the
/// resonance of each root.
#[must_use]
pub fn frequencies(low: f64, high: f64, roots: &[Root]) -> Vec<f64> {
    const PER_DECADE: f64 = 100.0;
    const ABOUT_A_ROOT: i32 = 60;
    let steps = ((high / low).log10() * PER_DECADE).ceil().max(1.0);
    let mut all: Vec<f64> = Vec::new();
    let mut step = 0.0;
    while step <= steps {
        all.push(low * (high / low).powf(step / steps));
        step += 1.0;
    }
    for root in roots.iter().filter(|root| root.s.im > 0.0) {
        let near = |part: i32| (root.s.im + root.s.re * f64::from(part) / 6.0) / (2.0 * PI);
        all.extend((-ABOUT_A_ROOT..=ABOUT_A_ROOT).map(near).filter(|f| (low..=high).contains(f)));
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// The variance of means over consecutive intervals of a quantity with this two-sided spectrum (Hz and density). The
/// mean over an interval has the gain `sinc²(pi f interval)`. With an interval of zero: the variance of the quantity
/// itself.
#[must_use]
pub fn variance(spectrum: &[(f64, f64)], interval: f64) -> f64 {
    let passed = |&(frequency, density): &(f64, f64)| {
        let angle = PI * frequency * interval;
        let sinc = if angle < 1e-6 { 1.0 } else { angle.sin() / angle };
        (frequency, density * sinc * sinc)
    };
    let passed: Vec<(f64, f64)> = spectrum.iter().map(passed).collect();
    passed.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Characteristic, Connection, rightmost};
    use super::*;
    use nalgebra::DMatrix;

    /// `count` senders `y' = -a y - k sum y(t - tau) + n`, each with noise n of density one.
    fn senders(count: f64, a: f64, k: f64, tau: f64) -> NoiseModel {
        let link = Block::gain(DMatrix::from_element(1, 1, count)).as_link();
        let sender = Block {
            a: DMatrix::from_element(1, 1, -a),
            b: DMatrix::from_row_slice(1, 2, &[-k, 1.0]),
            c: DMatrix::from_element(1, 1, 1.0),
            d: DMatrix::zeros(1, 2),
            is_link: false,
        };
        let connection = |from, to, delay| Connection {
            from: BlockOutput::new(from, 0),
            to: BlockInput::new(to, 0),
            gain: 1.0,
            delay,
        };
        let system = System {
            blocks: vec![link, sender],
            connections: vec![connection(1, 0, tau), connection(0, 1, 0.0)],
        };
        let source =
            NoiseSource { kind: NoiseKind::Marks, input: BlockInput::new(1, 1), count, density: 1.0 };
        NoiseModel { system, sources: vec![source] }
    }

    fn variance_of(noise: &NoiseModel, target: &NoiseOutput) -> f64 {
        let function = Characteristic::of_all_links(&noise.system);
        let roots = rightmost(&noise.system).unwrap().roots;
        let density = |f: &f64| {
            let s = Complex::new(0.0, 2.0 * PI * f);
            (*f, noise.density(&function.responses(s).unwrap(), target, NoiseKind::Marks))
        };
        // From zero on: the spectrum is flat in the lowest decades.
        let spectrum: Vec<(f64, f64)> = [(0.0, density(&1e-4).1)]
            .into_iter()
            .chain(frequencies(1e-4, 1e4, &roots).iter().map(density))
            .collect();
        variance(&spectrum, 0.0)
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 2e-3, "found {found}, expected {expected}");
    }

    /// Ornstein and Uhlenbeck: y' = -(a + k) y + n has the variance 1 / (2 (a + k)).
    #[test]
    fn a_first_order_loop_has_the_variance_of_ornstein_and_uhlenbeck() {
        near(
            variance_of(&senders(1.0, 1.0, 3.0, 0.0), &NoiseOutput::Flow(BlockOutput::new(1, 0))),
            1.0 / 8.0,
        );
    }

    /// U. Küchler, B. Mensch, Stochastics 40 (1992): x' = -k x(t - tau) + n has the variance
    /// (1 + sin k tau) / (2 k cos k tau), which grows without bound towards k tau = pi/2.
    #[test]
    fn a_delayed_loop_has_the_variance_of_kuechler_and_mensch() {
        for product in [0.2, 1.0, 1.5] {
            let expected = (1.0 + f64::sin(product)) / (2.0 * f64::cos(product));
            near(
                variance_of(&senders(1.0, 0.0, 1.0, product), &NoiseOutput::Flow(BlockOutput::new(1, 0))),
                expected,
            );
        }
    }

    /// The sum of N flows decays with N (a + N k), the differences with a; the variance of one flow has a part of each.
    #[test]
    fn the_loop_acts_on_the_sum_of_equal_flows_and_not_on_their_differences() {
        let (n, a, k) = (5.0, 1.0, 3.0);
        let noise = senders(n, a, k, 0.0);
        let sum = n / (2.0 * (a + n * k));
        near(variance_of(&noise, &NoiseOutput::Flows(vec![(BlockOutput::new(1, 0), n)])), sum);
        near(variance_of(&noise, &NoiseOutput::Link(BlockOutput::new(0, 0))), sum);
        let one = sum / (n * n) + (1.0 - 1.0 / n) / (2.0 * a);
        near(variance_of(&noise, &NoiseOutput::Flow(BlockOutput::new(1, 0))), one);
    }

    /// The mean of white noise over an interval T has the variance density / T.
    #[test]
    fn means_over_intervals_of_white_noise_have_its_density_over_their_length() {
        let white: Vec<(f64, f64)> = (0..2_000_000).map(|i| (f64::from(i) * 1e-2, 3.0)).collect();
        near(variance(&white, 0.1), 30.0);
    }
}
