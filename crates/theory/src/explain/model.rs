//! The fluid model at a run's own operating point.

use super::spectrum::Density;
use crate::Refusal;
use crate::equilibrium::Settled;
use crate::stability::{Stability, judge_linear};
use millpond_fluid::Entity;
use millpond_fluid::stability::{
    Characteristic, Complex, Crossover, Linearized, NoiseKind, NoiseModel, NoiseOutput, PacketGranularity,
    Root, frequencies, loop_gain, variance,
};
use millpond_plan::fluid::Plan;
use std::f64::consts::PI;

/// A linear model and the noise that drives it.
pub struct Model {
    /// Roots and margins.
    pub stability: Stability,
    /// What the loop does to a disturbance that comes back in phase.
    pub gain: Option<Crossover>,
    /// What packets bring; nothing in the fluid world.
    pub noise: NoiseModel,
}

/// How much a quantity moves by chance, all loops closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floor {
    /// The standard deviation that each cause makes.
    pub causes: Vec<(NoiseKind, f64)>,
    /// What counting whole packets makes.
    pub grain: f64,
    /// Densities of all causes together.
    pub spectrum: Density,
}

impl Floor {
    /// Of all causes together.
    #[must_use]
    pub fn chance(&self) -> f64 {
        self.causes.iter().map(|(_, deviation)| deviation.powi(2)).sum::<f64>().sqrt()
    }

    /// Of everything.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.chance().hypot(self.grain)
    }
}

impl Model {
    /// About a point of rest, with what packets wait at each link of the engine in seconds.
    pub(super) fn at(
        settled: &Settled<'_>,
        waiting: &[f64],
        grains: Option<&[PacketGranularity]>,
    ) -> Result<Self, Refusal> {
        let linear =
            Linearized::of(&settled.frozen, &settled.moment).with_queueing_delays(&settled.frozen, waiting);
        let noise = match grains {
            Some(grains) => linear.noise(&settled.frozen, &settled.moment, grains),
            None => NoiseModel { system: linear.system.clone(), sources: Vec::new() },
        };
        let stability = judge_linear(settled.plan, linear)?;
        let gain = loop_gain(&stability.linear.system, stability.spectrum.first_nonzero())?;
        Ok(Self { stability, gain, noise })
    }

    /// Whether every disturbance dies out, but for what stays where it is put.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.stability.is_calm()
    }

    /// The rightmost root, but for what stays where it is put.
    #[must_use]
    pub fn root(&self) -> Option<&Root> {
        self.stability.spectrum.first_nonzero()
    }

    /// At which it oscillates, in Hz: of the rightmost root, or where the loop comes back in phase.
    #[must_use]
    pub fn frequency(&self) -> Option<f64> {
        let root = self.root().filter(|root| root.s.im > 0.0);
        let crossing = self.gain.map(|gain| gain.frequency);
        root.map(|root| root.s.im).or(crossing).map(|frequency| frequency / (2.0 * PI))
    }

    /// By which factor an oscillation grows from one cycle to the next.
    #[must_use]
    pub fn growth_per_cycle(&self) -> Option<f64> {
        self.root().and_then(Root::growth_per_cycle)
    }

    /// The block of a loop or link of the engine.
    pub(super) fn block(&self, entity: Entity) -> Option<usize> {
        self.stability.linear.owners.iter().position(|owner| *owner == entity)
    }

    /// What chance makes of a target's means over intervals, in a stretch of this length; `scale` turns the model's unit into
    /// that of the series. A loop that is unstable amplifies everything without bound: it has no floor.
    pub(super) fn floor(&self, target: &NoiseOutput, (interval, stretch): (f64, f64), scale: f64) -> Floor {
        const BEYOND: f64 = 50.0;
        let mut causes: Vec<NoiseKind> = self.noise.sources.iter().map(|source| source.kind).collect();
        causes.sort_unstable();
        causes.dedup();
        if causes.is_empty() || !self.is_stable() {
            return Floor::default();
        }
        let function = Characteristic::of_all_links(&self.noise.system);
        let grid = frequencies(1.0 / stretch, BEYOND / interval, &self.stability.spectrum.roots);
        let mut spectra: Vec<Density> = vec![Vec::new(); causes.len()];
        for frequency in grid {
            let Some(responses) = function.responses(Complex::new(0.0, 2.0 * PI * frequency)) else {
                continue;
            };
            for (cause, spectrum) in causes.iter().zip(&mut spectra) {
                let density = self.noise.density(&responses, target, *cause);
                spectrum.push((frequency, density * scale * scale));
            }
        }
        let deviation = |spectrum: &Density| variance(spectrum, interval).sqrt();
        Floor {
            causes: causes.into_iter().zip(spectra.iter().map(deviation)).collect(),
            grain: 0.0,
            spectrum: sum(&spectra),
        }
    }
}

fn sum(spectra: &[Density]) -> Density {
    let Some(first) = spectra.first() else { return Vec::new() };
    let at = |place: usize| spectra.iter().map(|spectrum| spectrum[place].1).sum();
    first.iter().enumerate().map(|(place, (frequency, _))| (*frequency, at(place))).collect()
}

/// The loops with which flows begin, among those that are there.
pub(super) fn first_loops(plan: &Plan, settled: &Settled<'_>) -> Vec<usize> {
    let mut loops: Vec<usize> =
        plan.flows.iter().filter_map(|flow| flow.loops.first()).map(|id| id.0).collect();
    loops.sort_unstable();
    loops.dedup();
    loops.retain(|l| settled.frozen.is_active(*l));
    loops
}
