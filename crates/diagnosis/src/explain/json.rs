//! The schema of `millpond stability --explain RUN --json`. Keys carry their units.

use super::{
    CycleGrowth, Explanation, Fluctuation, LinearModel, NoiseFloor, OperatingPointRow, SpectralPeak,
};
use millpond_fluid::stability::{Crossover, NoiseKind, Root};
use millpond_theory::NamedCapacity;
use millpond_theory::StabilityOutputJson;
use millpond_theory::stability::{MarginJson, margin_json};
use millpond_theory::steady_state::{SteadyStateJson, steady_state_json};
use schemars::JsonSchema;
use serde::Serialize;

/// The output of `millpond stability SCENARIO.toml --with-run --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StabilityWithRunJson {
    /// The stability of the equilibrium.
    pub stability: StabilityOutputJson,
    /// Whether and why the run in packets oscillates, in a sentence; or why that is unknown.
    pub run_verdict: String,
    /// The run beside the linear loop at its own operating point; null if the run is too short.
    pub run: Option<ExplanationJson>,
}

/// The explanation of a run: `millpond stability --explain RUN --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExplanationJson {
    /// The explanation in a sentence.
    pub verdict: String,
    /// `noise`, `unstable`, `decaying`, `not excited`, `undersampled`, `other oscillation`, `unexplained`, `limit cycle` or
    /// `sawtooth`.
    pub finding: &'static str,
    /// Possible causes that the linear model leaves out, each in a phrase.
    pub candidates: Vec<String>,
    /// Name of the run.
    pub run: String,
    /// `packets` or `fluid`.
    pub world: String,
    /// The part of the run that was analyzed.
    pub interval: IntervalJson,
    /// The capacity at which each link with a varying one was analyzed.
    pub varying_capacities: Vec<NamedCapacity>,
    /// What the laws do in the steady state.
    pub steady_state: SteadyStateJson,
    /// The mean time between two reductions of a flow, in s; null without a limit cycle or a sawtooth, or if the series
    /// do not show it.
    pub measured_period_s: Option<f64>,
    /// The linear loop at the run's operating point; null for a limit cycle or a sawtooth.
    pub model: Option<LinearModelJson>,
    /// The equilibrium of the model beside the means of the series.
    pub operating_point: Vec<OperatingPointJson>,
    /// How rates and queues fluctuate.
    pub fluctuations: Vec<FluctuationJson>,
}

/// The part of a run that was analyzed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IntervalJson {
    /// Its start, in s.
    pub from_s: f64,
    /// Its end, in s.
    pub to_s: f64,
    /// What happens at its start.
    pub begins: String,
    /// What happens at its end.
    pub ends: String,
    /// Time between samples of the series, in s.
    pub sample_interval_s: f64,
}

/// The linear loop at a run's operating point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LinearModelJson {
    /// Whether all roots except those at zero have negative real parts.
    pub stable: bool,
    /// The loop gain where a disturbance returns in phase; null if it never does.
    pub loop_gain: Option<LoopGainJson>,
    /// Gain margin as a factor; null if there is none.
    pub gain_margin: Option<MarginJson>,
    /// Phase margin, in rad; null if there is none.
    pub phase_margin_rad: Option<MarginJson>,
    /// Delay margin, in s; null if there is none.
    pub delay_margin_s: Option<MarginJson>,
    /// The rightmost root except those at zero.
    pub rightmost_root: Option<RightmostRootJson>,
    /// The factor of an oscillation from one cycle to the next; null without an oscillation.
    pub growth_per_cycle: Option<f64>,
}

/// A loop gain and its frequency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoopGainJson {
    /// The gain.
    pub gain: f64,
    /// Angular frequency, in rad/s.
    pub frequency_rad_per_s: f64,
}

/// A root.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RightmostRootJson {
    /// Real part, in 1/s.
    pub growth_per_s: f64,
    /// Imaginary part, in rad/s.
    pub frequency_rad_per_s: f64,
}

/// One quantity of the operating point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OperatingPointJson {
    /// Name of the quantity.
    pub of: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its value at the equilibrium of the model; null if the model does not have the quantity.
    #[schemars(with = "Option<f64>")]
    pub model: f64,
    /// The mean of its series; null if it was not recorded.
    pub series: Option<f64>,
}

/// The fluctuation of a rate or a queue, in its unit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FluctuationJson {
    /// Name of the quantity.
    pub of: String,
    /// `bit/s` or `packets`.
    pub unit: &'static str,
    /// Mean.
    pub mean: f64,
    /// Standard deviation without trend.
    pub deviation: f64,
    /// Greatest less least value.
    pub peak_to_peak: f64,
    /// The peak of its spectrum; null if it is constant.
    pub peak: Option<SpectralPeakJson>,
    /// Its noise floor.
    pub noise_floor: NoiseFloorJson,
}

/// The peak of a spectrum.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SpectralPeakJson {
    /// Frequency, in Hz.
    pub frequency_hz: f64,
    /// Amplitude of the best-fitting sinusoid.
    pub amplitude: f64,
    /// The share of the variance that this sinusoid explains.
    pub share_of_variance: f64,
    /// The probability that a flat spectrum has a peak as high as this at some frequency.
    pub chance_in_a_flat_spectrum: f64,
    /// Growth of the amplitude; null if there are too few cycles.
    pub growth: Option<CycleGrowthJson>,
}

/// The growth of an oscillation per cycle.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CycleGrowthJson {
    /// The factor from one cycle to the next.
    pub per_cycle: f64,
    /// The standard error of its natural logarithm.
    pub standard_error_of_ln: f64,
}

/// A noise floor.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoiseFloorJson {
    /// Standard deviation of all causes together.
    pub deviation: f64,
    /// Standard deviation of counting whole packets.
    pub counting: f64,
    /// Standard deviation of each random cause.
    pub causes: NoiseCausesJson,
}

/// Standard deviations of the random causes that the run has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct NoiseCausesJson {
    /// Random marks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<f64>,
    /// Random losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<f64>,
    /// Whole packets in windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole_packets_in_windows: Option<f64>,
}

/// The JSON of an explanation, `sentence` being its verdict.
#[must_use]
pub fn explanation_json(sentence: &str, explanation: &Explanation) -> ExplanationJson {
    let interval = &explanation.interval;
    ExplanationJson {
        verdict: sentence.to_owned(),
        finding: explanation.verdict.finding.name(),
        candidates: explanation.verdict.candidates.clone(),
        run: explanation.run.clone(),
        world: explanation.world.clone(),
        interval: IntervalJson {
            from_s: interval.start,
            to_s: interval.end,
            begins: interval.start_event.clone(),
            ends: interval.end_event.clone(),
            sample_interval_s: explanation.sample_interval,
        },
        varying_capacities: explanation.capacities.clone(),
        steady_state: steady_state_json(&explanation.steady_state),
        measured_period_s: explanation.measured_period,
        model: explanation.model.as_ref().map(model_json),
        operating_point: explanation.operating_point.iter().map(row_json).collect(),
        fluctuations: explanation.fluctuations.iter().map(fluctuation_json).collect(),
    }
}

fn model_json(model: &LinearModel) -> LinearModelJson {
    let margins = &model.stability.margins;
    let gain = |found: Crossover| LoopGainJson { gain: found.gain, frequency_rad_per_s: found.frequency };
    let root = |root: &Root| RightmostRootJson { growth_per_s: root.s.re, frequency_rad_per_s: root.s.im };
    LinearModelJson {
        stable: model.is_stable(),
        loop_gain: model.loop_gain.map(gain),
        gain_margin: margins.gain.map(margin_json),
        phase_margin_rad: margins.phase.map(margin_json),
        delay_margin_s: margins.delay.map(margin_json),
        rightmost_root: model.root().map(root),
        growth_per_cycle: model.growth_per_cycle(),
    }
}

fn row_json(row: &OperatingPointRow) -> OperatingPointJson {
    OperatingPointJson { of: row.name.clone(), unit: row.unit, model: row.model, series: row.series }
}

fn fluctuation_json(found: &Fluctuation) -> FluctuationJson {
    FluctuationJson {
        of: found.name.clone(),
        unit: if found.is_queue() { "packets" } else { "bit/s" },
        mean: found.mean,
        deviation: found.deviation,
        peak_to_peak: found.peak_to_peak,
        peak: found.peak.as_ref().map(peak_json),
        noise_floor: noise_floor_json(&found.noise_floor),
    }
}

fn peak_json(peak: &SpectralPeak) -> SpectralPeakJson {
    let growth = |growth: CycleGrowth| CycleGrowthJson {
        per_cycle: growth.per_cycle,
        standard_error_of_ln: growth.log_standard_error,
    };
    SpectralPeakJson {
        frequency_hz: peak.frequency,
        amplitude: peak.amplitude,
        share_of_variance: peak.variance_share,
        chance_in_a_flat_spectrum: peak.false_alarm_probability,
        growth: peak.growth.map(growth),
    }
}

fn noise_floor_json(floor: &NoiseFloor) -> NoiseFloorJson {
    let mut causes = NoiseCausesJson::default();
    for (cause, deviation) in &floor.causes {
        match cause {
            NoiseKind::Marks => causes.marks = Some(*deviation),
            NoiseKind::Losses => causes.losses = Some(*deviation),
            NoiseKind::Windows => causes.whole_packets_in_windows = Some(*deviation),
        }
    }
    NoiseFloorJson { deviation: floor.total_deviation(), counting: floor.quantization, causes }
}
