//! The noise floor of a network at rest: what chance and whole packets make of it, all loops closed.
//!
//! A mark is a coin that is tossed for each packet, and a sender hears its outcomes instead of the probability `m`. Over `n`
//! packets the share of heads has the variance `m (1 - m) / n`, whatever `n` is; so it is white noise about `m`, of density
//! `m (1 - m) / lambda` per Hz at `lambda` packets/s, as the fluid model's `m` is heard. Losses likewise. A window in whole
//! packets is off by up to half a packet, uniformly: a variance of 1/12 packet², held for a round trip (W. R. Bennett, Bell
//! Syst. Tech. J. 27, 1948). Densities are two-sided; the output's is that times the square of the closed loop's gain.
//!
//! LGCC's rule of thumb is the same without loop and lag: of one flow's `ln x = eta ln(1 - p)`, with p averaged at alpha per
//! interval of `BDP / S` packets, the deviation is `eta sqrt((S^(1/eta) - 1) S alpha / (2 BDP))`.

use super::closed_loop::{ClosedLoop, FrequencyResponse};
use super::linearized::{Linearized, effect, moving};
use super::{Complex, Root, System};
use crate::assembly::Entity;
use crate::frozen::{Frozen, OperatingPoint};
use crate::subsystems::Subsystem;
use nalgebra::DVector;
use std::f64::consts::PI;

/// What makes packets noisy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseKind {
    /// Each packet is marked or not.
    Marks,
    /// Each packet is lost or not.
    Losses,
    /// A window holds whole packets.
    Windows,
}

/// What a loop's packets are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketGranularity {
    /// In bits.
    pub packet: f64,
    /// Whether its law permits a window.
    pub has_window: bool,
}

/// White noise at an input of one flow, independent of all other flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSource {
    /// What it is.
    pub cause: NoiseKind,
    /// Block and input.
    pub input: (usize, usize),
    /// How many equal flows the block stands for, each with such a source.
    pub count: f64,
    /// Per Hz, two-sided, in the square of the input's unit.
    pub density: f64,
}

/// A linear network with inputs for its noise.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseModel {
    /// The network.
    pub system: System,
    /// What disturbs it.
    pub sources: Vec<NoiseSource>,
}

/// What is asked for its noise: outputs are block and output.
#[derive(Clone, Debug, PartialEq)]
pub enum NoiseOutput {
    /// One flow of a class.
    Flow((usize, usize)),
    /// A sum over all flows of these classes, each with its number of flows.
    Flows(Vec<((usize, usize), f64)>),
    /// A link.
    Link((usize, usize)),
}

impl Linearized {
    /// Adds the noise that packets bring, loop by loop as `grains` has them.
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
            for (cause, column, density) in causes(frozen, point, l, &subsystem, granularities[l]) {
                let input = noise.system.blocks[block].add_input(&column);
                noise.sources.push(NoiseSource { cause, input: (block, input), count, density });
            }
        }
        noise
    }
}

/// Each cause with its column of B (of the states that move) and D, and its density.
fn causes(
    frozen: &Frozen<'_>,
    point: &OperatingPoint,
    l: usize,
    subsystem: &Subsystem,
    granularity: PacketGranularity,
) -> Vec<(NoiseKind, DVector<f64>, f64)> {
    let (at, hops) = (&frozen.asm.channels, frozen.asm.hops_of(l));
    let marks = hops.iter().map(|hop| at.marked + hop.link);
    let losses = hops.iter().map(|hop| at.lost + hop.link);
    // To a flow that is not ECN-capable a mark is a loss.
    let (marks, losses): (Vec<usize>, Vec<usize>) = if frozen.asm.loops[l].ecn {
        (marks.collect(), losses.collect())
    } else {
        (Vec::new(), losses.chain(marks).collect())
    };
    let (rate, rtt) = (point.channels[at.rate + l], point.channels[at.rtt + l]);
    let mut causes = Vec::new();
    for (cause, channels) in [(NoiseKind::Marks, marks), (NoiseKind::Losses, losses)] {
        if let Some((column, variance)) = coin(subsystem, point, &channels) {
            causes.push((cause, column, variance * granularity.packet / rate));
        }
    }
    if granularity.has_window {
        let states = moving(subsystem, point).len();
        let mut column = DVector::zeros(states + subsystem.outputs.len());
        column[states] = 1.0;
        let variance = (granularity.packet / rtt).powi(2) / 12.0;
        causes.push((NoiseKind::Windows, column, variance * rtt));
    }
    causes
}

/// How a sender moves with the probability that any of these channels hits a packet, and the variance of one such toss.
fn coin(subsystem: &Subsystem, point: &OperatingPoint, channels: &[usize]) -> Option<(DVector<f64>, f64)> {
    let spared = |channel: usize| 1.0 - point.channels[channel];
    let kept: f64 = channels.iter().map(|channel| spared(*channel)).product();
    if !(0.0 < kept && kept < 1.0) {
        return None;
    }
    let moves = |channel: &usize| {
        let input = subsystem.inputs.iter().position(|input| input.channel == *channel)?;
        let column = effect(subsystem, &moving(subsystem, point), input);
        // All hits: 1 - kept; its derivative by one of them is the part that the others spare.
        let scale = spared(*channel) / kept;
        column.iter().any(|entry| *entry != 0.0).then(|| DVector::from_vec(column) * scale)
    };
    channels.iter().find_map(moves).map(|column| (column, kept * (1.0 - kept)))
}

impl NoiseModel {
    /// The density that a cause gives a target at the frequency of `responses`, per Hz and two-sided.
    #[must_use]
    pub fn density(&self, responses: &ClosedLoop<'_>, target: &NoiseOutput, cause: NoiseKind) -> f64 {
        let sources = self.sources.iter().filter(|source| source.cause == cause);
        sources.map(|source| source.density * power(responses, source, target)).sum()
    }
}

/// The square of the gain from a source to a target, added up over the flows that have such a source.
fn power(responses: &ClosedLoop<'_>, source: &NoiseSource, target: &NoiseOutput) -> f64 {
    let to = |outputs: &[(usize, usize)]| responses.to(source.input, source.count, outputs);
    match target {
        NoiseOutput::Flow(output) => {
            let [FrequencyResponse { own, shared }] = to(&[*output])[..] else { return 0.0 };
            (own + shared).norm_sqr() + (source.count - 1.0) * shared.norm_sqr()
        }
        NoiseOutput::Flows(outputs) => {
            let places: Vec<(usize, usize)> = outputs.iter().map(|(output, _)| *output).collect();
            let sum: Complex<f64> =
                to(&places).iter().zip(outputs).map(|(r, (_, count))| r.own + r.shared * *count).sum();
            source.count * sum.norm_sqr()
        }
        NoiseOutput::Link(output) => {
            source.count * to(&[*output]).iter().map(|r| r.shared.norm_sqr()).sum::<f64>()
        }
    }
}

/// Frequencies in Hz between two, in equal ratios, and close together where a root makes a resonance.
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

/// The variance of means over consecutive intervals of a quantity with this two-sided spectrum (Hz and density): an
/// interval passes `sinc²(pi f interval)`. An interval of zero takes the quantity as it is.
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
        let connection = |from, to, delay| Connection { from: (from, 0), to: (to, 0), gain: 1.0, delay };
        let system = System {
            blocks: vec![link, sender],
            connections: vec![connection(1, 0, tau), connection(0, 1, 0.0)],
        };
        let source = NoiseSource { cause: NoiseKind::Marks, input: (1, 1), count, density: 1.0 };
        NoiseModel { system, sources: vec![source] }
    }

    fn variance_of(noise: &NoiseModel, target: &NoiseOutput) -> f64 {
        let function = Characteristic::of_all_links(&noise.system);
        let roots = rightmost(&noise.system).unwrap().roots;
        let density = |f: &f64| {
            let s = Complex::new(0.0, 2.0 * PI * f);
            (*f, noise.density(&function.responses(s).unwrap(), target, NoiseKind::Marks))
        };
        // From zero on: the lowest decades are flat.
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
        near(variance_of(&senders(1.0, 1.0, 3.0, 0.0), &NoiseOutput::Flow((1, 0))), 1.0 / 8.0);
    }

    /// U. Küchler, B. Mensch, Stochastics 40 (1992): x' = -k x(t - tau) + n has the variance
    /// (1 + sin k tau) / (2 k cos k tau), which grows without bound towards k tau = pi/2.
    #[test]
    fn a_delayed_loop_has_the_variance_of_kuechler_and_mensch() {
        for product in [0.2, 1.0, 1.5] {
            let expected = (1.0 + f64::sin(product)) / (2.0 * f64::cos(product));
            near(variance_of(&senders(1.0, 0.0, 1.0, product), &NoiseOutput::Flow((1, 0))), expected);
        }
    }

    /// Of N flows the sum moves as N (a + N k), the differences as N - 1 lags of a: the variance of one flow is a part of
    /// each.
    #[test]
    fn of_equal_flows_the_sum_is_held_together_and_the_differences_are_not() {
        let (n, a, k) = (5.0, 1.0, 3.0);
        let noise = senders(n, a, k, 0.0);
        let sum = n / (2.0 * (a + n * k));
        near(variance_of(&noise, &NoiseOutput::Flows(vec![((1, 0), n)])), sum);
        near(variance_of(&noise, &NoiseOutput::Link((0, 0))), sum);
        let one = sum / (n * n) + (1.0 - 1.0 / n) / (2.0 * a);
        near(variance_of(&noise, &NoiseOutput::Flow((1, 0))), one);
    }

    /// The mean of white noise over an interval T has the variance density / T.
    #[test]
    fn means_over_intervals_of_white_noise_have_its_density_over_their_length() {
        let white: Vec<(f64, f64)> = (0..2_000_000).map(|i| (f64::from(i) * 1e-2, 3.0)).collect();
        near(variance(&white, 0.1), 30.0);
    }
}
