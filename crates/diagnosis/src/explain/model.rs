//! The linear model at a run's operating point, and its noise floor.

use super::spectrum::PowerSpectrum;
use millpond_fluid::stability::{
    Characteristic, Complex, Crossover, Linearized, NoiseKind, NoiseModel, NoiseOutput, PacketGranularity,
    Root, frequencies, loop_gain, variance,
};
use millpond_fluid::{Entity, Frozen};
use millpond_plan::fluid::FluidPlan;
use millpond_theory::AnalysisError;
use millpond_theory::equilibrium::PlanEquilibrium;
use millpond_theory::stability::{Stability, analyze_linear};
use std::f64::consts::PI;

/// A linear model and the noise of packets that drives it.
pub struct LinearModel {
    /// Roots and margins.
    pub stability: Stability,
    /// The loop gain at the frequency at which a disturbance returns in phase; none if there is no such frequency.
    pub loop_gain: Option<Crossover>,
    /// The noise of packets; without sources in the fluid world.
    pub noise: NoiseModel,
}

/// How much packet noise makes a quantity fluctuate in the closed loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoiseFloor {
    /// The standard deviation of each cause.
    pub causes: Vec<(NoiseKind, f64)>,
    /// The standard deviation of counting whole packets.
    pub quantization: f64,
    /// The spectrum of all causes together.
    pub spectrum: PowerSpectrum,
}

impl NoiseFloor {
    /// The standard deviation of all causes together.
    #[must_use]
    pub fn random_deviation(&self) -> f64 {
        self.causes.iter().map(|(_, deviation)| deviation.powi(2)).sum::<f64>().sqrt()
    }

    /// The standard deviation of all causes and of counting.
    #[must_use]
    pub fn total_deviation(&self) -> f64 {
        self.random_deviation().hypot(self.quantization)
    }
}

impl LinearModel {
    /// The model about an equilibrium with these queueing delays at the links of the engine, in seconds; with packet noise if
    /// `granularity` is given.
    pub(super) fn at(
        equilibrium: &PlanEquilibrium<'_>,
        queueing_delays: &[f64],
        granularity: Option<&[PacketGranularity]>,
    ) -> Result<Self, AnalysisError> {
        let PlanEquilibrium { frozen, point, .. } = equilibrium;
        let linear = Linearized::of(frozen, point).with_queueing_delays(frozen, queueing_delays);
        let noise = match granularity {
            Some(granularity) => linear.noise(frozen, point, granularity),
            None => NoiseModel { system: linear.system.clone(), sources: Vec::new() },
        };
        let stability = analyze_linear(equilibrium, linear)?;
        let loop_gain = loop_gain(&stability.linear.system, stability.spectrum.first_nonzero())?;
        Ok(Self { stability, loop_gain, noise })
    }

    /// Whether all roots except those at zero have negative real parts.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.stability.disturbances_decay()
    }

    /// The rightmost root except those at zero.
    #[must_use]
    pub fn root(&self) -> Option<&Root> {
        self.stability.spectrum.first_nonzero()
    }

    /// Its frequency of oscillation in Hz: that of the rightmost root, or of a root without one that at which the loop is in phase.
    #[must_use]
    pub fn frequency(&self) -> Option<f64> {
        let root = self.root().filter(|root| root.s.im > 0.0);
        let crossing = self.loop_gain.map(|gain| gain.frequency);
        root.map(|root| root.s.im).or(crossing).map(|frequency| frequency / (2.0 * PI))
    }

    /// The factor of an oscillation from one cycle to the next.
    #[must_use]
    pub fn growth_per_cycle(&self) -> Option<f64> {
        self.root().and_then(Root::growth_per_cycle)
    }

    /// The block of a loop or link of the engine; none if it takes no part.
    pub(super) fn block(&self, entity: Entity) -> Option<usize> {
        self.stability.linear.owners.iter().position(|owner| *owner == entity)
    }

    /// The noise floor of an output; empty if the loop is unstable, because it amplifies noise without bound.
    pub(super) fn noise_floor(&self, output: &NoiseOutput, observation: Observation) -> NoiseFloor {
        let Observation { interval, duration, scale } = observation;
        const BEYOND: f64 = 50.0;
        let mut causes: Vec<NoiseKind> = self.noise.sources.iter().map(|source| source.kind).collect();
        causes.sort_unstable();
        causes.dedup();
        if causes.is_empty() || !self.is_stable() {
            return NoiseFloor::default();
        }
        let function = Characteristic::of_all_links(&self.noise.system);
        let grid = frequencies(1.0 / duration, BEYOND / interval, &self.stability.spectrum.roots);
        let mut spectra: Vec<PowerSpectrum> = vec![Vec::new(); causes.len()];
        for frequency in grid {
            let Some(responses) = function.responses(Complex::new(0.0, 2.0 * PI * frequency)) else {
                continue;
            };
            for (cause, spectrum) in causes.iter().zip(&mut spectra) {
                let density = self.noise.density(&responses, output, *cause);
                spectrum.push((frequency, density * scale * scale));
            }
        }
        let deviation = |spectrum: &PowerSpectrum| variance(spectrum, interval).sqrt();
        NoiseFloor {
            causes: causes.into_iter().zip(spectra.iter().map(deviation)).collect(),
            quantization: 0.0,
            spectrum: sum(&spectra),
        }
    }
}

/// How an output is observed.
#[derive(Clone, Copy)]
pub(super) struct Observation {
    /// The time over which each sample is a mean, in seconds.
    pub(super) interval: f64,
    /// The duration of the series, in seconds.
    pub(super) duration: f64,
    /// The factor from the unit of the model to that of the series.
    pub(super) scale: f64,
}

/// The sum of spectra at the same frequencies.
fn sum(spectra: &[PowerSpectrum]) -> PowerSpectrum {
    let Some(first) = spectra.first() else { return Vec::new() };
    let total = |index: usize| spectra.iter().map(|spectrum| spectrum[index].1).sum();
    first.iter().enumerate().map(|(index, (frequency, _))| (*frequency, total(index))).collect()
}

/// The first loops of all flows, without inactive ones.
pub(super) fn first_loops(plan: &FluidPlan, frozen: &Frozen<'_>) -> Vec<usize> {
    let mut loops: Vec<usize> =
        plan.flows.iter().filter_map(|flow| flow.loops.first()).map(|id| id.0).collect();
    loops.sort_unstable();
    loops.dedup();
    loops.retain(|l| frozen.is_active(*l));
    loops
}
