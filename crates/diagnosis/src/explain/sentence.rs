//! The explanation of a run in one sentence.

use super::cycle::SAMPLES_PER_PERIOD;
use super::verdict::{SAME_FREQUENCY, clearest_queue, clearest_rate};
use super::{Explanation, Finding, Fluctuation, FluctuationKind, LinearModel, NoiseFloor, SpectralPeak};
use millpond_fluid::stability::NoiseKind;
use millpond_theory::steady_state::{SteadyState, continuum_clause, steady_state_sentence};
use millpond_units::format::{at_most_decimals, duration, number};
use std::f64::consts::PI;

/// The verdict in one sentence.
pub fn explanation_sentence(explained: &Explanation) -> String {
    let fluctuations = &explained.fluctuations;
    let Some(shown) = explained.verdict.clearest.map(|index| &fluctuations[index]) else {
        return "no rate and no queue was recorded".to_owned();
    };
    let Some(model) = &explained.model else { return sentence_of_cycle(explained, shown) };
    let sentence = linear_sentence(explained, model, shown);
    if let SteadyState::Continuum { reason, ranges } = &explained.steady_state {
        return format!("{sentence}; there is {}: {reason}", continuum_clause(ranges));
    }
    match explained.steady_state.is_stable() {
        // The run's queues are in the loop of the model, but not in that of the equilibrium.
        Some(is_stable) if is_stable != model.is_stable() => format!(
            "{sentence}; without the queueing delays of the run the equilibrium is {}",
            steady_state_sentence(&explained.steady_state)
        ),
        _ => sentence,
    }
}

/// The sentence about a network that oscillates by its laws: the predicted and the measured period.
fn sentence_of_cycle(explained: &Explanation, shown: &Fluctuation) -> String {
    let measured = match explained.measured_period {
        Some(seconds) => format!("in this run every {}", duration(seconds)),
        None => unmeasured_period(explained),
    };
    // Flows that are reduced at different times have no frequency in common.
    let is_common = |peak: SpectralPeak| {
        let cycles = explained.measured_period.map_or(0.0, |period| period * peak.frequency);
        peak.is_significant() && (1.0 / SAME_FREQUENCY..SAME_FREQUENCY).contains(&cycles)
    };
    let seen = if shown.peak.is_some_and(is_common) {
        oscillation(&explained.fluctuations, shown)
    } else {
        fluctuation(&explained.fluctuations)
    };
    format!("has {}; {measured}; {seen}", steady_state_sentence(&explained.steady_state))
}

/// Why the series have no period.
fn unmeasured_period(explained: &Explanation) -> String {
    let periods = explained.steady_state.oscillation().map_or(&[][..], |found| &found.periods);
    let longest = periods.iter().map(|period| period.seconds).fold(0.0, f64::max);
    let needed = longest / SAMPLES_PER_PERIOD;
    if longest > 0.0 && explained.sample_interval > needed {
        let (interval, needed) = (duration(explained.sample_interval), duration(needed));
        return format!(
            "a sample every {interval} is too rare for this period: run with measure.every of at most {needed}"
        );
    }
    "the series of this run show no reduction twice".to_owned()
}

/// `its rates fluctuate by 9.1 % (s.d.), its queue by 28 packets (s.d.)`.
fn fluctuation(fluctuations: &[Fluctuation]) -> String {
    let size = |found: &Fluctuation| format!("by {} (s.d.)", format_fluctuation(found, found.deviation));
    let rates = clearest_rate(fluctuations).map(|found| format!("its rates fluctuate {}", size(found)));
    let queue = clearest_queue(fluctuations).map(|found| format!("its queue {}", size(found)));
    rates.into_iter().chain(queue).collect::<Vec<_>>().join(", ")
}

/// The sentence about the linear loop and the series.
fn linear_sentence(explained: &Explanation, model: &LinearModel, shown: &Fluctuation) -> String {
    let fluctuations = &explained.fluctuations;
    let rates = clearest_rate(fluctuations).unwrap_or(shown);
    let candidates = explained.verdict.candidates.join("; ");
    match explained.verdict.finding {
        Finding::Noise => format!("does not oscillate: {}", noise(rates)),
        Finding::Unstable => {
            format!(
                "oscillates because its loop is unstable ({}); {}",
                loop_gain(model),
                oscillation(fluctuations, shown)
            )
        }
        Finding::Decaying => format!(
            "oscillates and settles: its loop is stable ({}) with an oscillation that changes by x{} per cycle, x{} in the series; {}",
            loop_gain(model),
            number(model.growth_per_cycle().unwrap_or(f64::NAN)),
            number(shown.peak.and_then(|peak| peak.growth).map_or(f64::NAN, |growth| growth.per_cycle)),
            oscillation(fluctuations, shown)
        ),
        Finding::NotExcited => format!(
            "does not oscillate, although its loop is unstable ({}): {}. Nothing has excited it, or effects limit it that a linear \
             model leaves out",
            loop_gain(model),
            noise(rates)
        ),
        Finding::Undersampled => {
            let frequency = model.frequency().unwrap_or(f64::NAN);
            format!(
                "cannot be verified by its series: its loop is unstable ({}), and a sample every {} shows no frequency above {} Hz; run \
                 it again with --set measure.every={}",
                loop_gain(model),
                format_time(explained.sample_interval),
                number(0.5 / explained.sample_interval),
                format_time(round_down(0.1 / frequency))
            )
        }
        Finding::OtherOscillation => format!(
            "its loop is unstable ({}), but {}: this is not the oscillation of the linear loop; possible causes: {candidates}",
            loop_gain(model),
            oscillation(fluctuations, shown)
        ),
        Finding::Unexplained => format!(
            "{}, although its loop is stable ({}) and {}: the linear model does not explain it; possible causes: {candidates}",
            oscillation(fluctuations, shown),
            loop_gain(model),
            predicted_noise(shown)
        ),
        // A finding without a linear model.
        Finding::LimitCycle | Finding::Sawtooth => sentence_of_cycle(explained, shown),
    }
}

/// `gain 1.18 at 0.41 Hz, limit 1`. A loop that is stable only above a gain of 1 needs more than 1.
fn loop_gain(model: &LinearModel) -> String {
    match model.loop_gain {
        Some(gain) => {
            let limit = if model.is_stable() == (gain.gain < 1.0) { "limit 1" } else { "stable above 1" };
            format!("gain {} at {} Hz, {limit}", number(gain.gain), number(gain.frequency / (2.0 * PI)))
        }
        None if model.is_stable() => "at any gain".to_owned(),
        None => "a disturbance grows without oscillating".to_owned(),
    }
}

/// The deviation of a rate beside its noise floor.
fn noise(found: &Fluctuation) -> String {
    let moved = format_fluctuation(found, found.deviation);
    let of = name(found);
    let floor = &found.noise_floor;
    if floor.total_deviation() == 0.0 {
        return format!("{of} are constant within {moved}");
    }
    let causes = causes(floor);
    let predicted = format_fluctuation(found, floor.total_deviation());
    if found.deviation < floor.total_deviation() / 2.0 {
        format!("{of} fluctuate by {moved}, less than {causes} can cause (up to {predicted})")
    } else {
        format!("{of} fluctuate by {moved}; predicted from {causes}: {predicted}")
    }
}

/// The noise floor with its causes.
fn predicted_noise(found: &Fluctuation) -> String {
    match found.noise_floor.total_deviation() {
        0.0 => "no noise is predicted".to_owned(),
        floor => format!("{} causes {}", causes(&found.noise_floor), format_fluctuation(found, floor)),
    }
}

/// The causes of at least a tenth of the variance each.
fn causes(floor: &NoiseFloor) -> String {
    let total = floor.total_deviation().powi(2);
    let matters = |deviation: f64| deviation.powi(2) > 0.1 * total;
    let named =
        floor.causes.iter().filter(|(_, deviation)| matters(*deviation)).map(|(cause, _)| match cause {
            NoiseKind::Marks => "the randomness of marks",
            NoiseKind::Losses => "the randomness of losses",
            NoiseKind::Windows => "the rounding of windows to whole packets",
        });
    let counted = matters(floor.quantization).then_some("the counting of whole packets");
    named.chain(counted).collect::<Vec<_>>().join(" and ")
}

/// `its rates oscillate at 0.40 Hz with amplitude 38 %, its queue with 2900 packets`; standard deviations if no peak
/// dominates.
fn oscillation(fluctuations: &[Fluctuation], shown: &Fluctuation) -> String {
    let dominant = shown.peak.filter(SpectralPeak::dominates);
    let size = |found: &Fluctuation| match dominant {
        Some(_) => format!(
            "with amplitude {}",
            format_fluctuation(found, found.peak.map_or(0.0, |peak| peak.amplitude))
        ),
        None => format!("by {} (s.d.)", format_fluctuation(found, found.deviation)),
    };
    let verb = match dominant {
        Some(peak) => format!("oscillate at {} Hz", number(peak.frequency)),
        None => "fluctuate without a dominant frequency".to_owned(),
    };
    let rates = clearest_rate(fluctuations).map(|found| format!("its rates {verb} {}", size(found)));
    let queue = clearest_queue(fluctuations).map(|found| format!("its queue {}", size(found)));
    rates.into_iter().chain(queue).collect::<Vec<_>>().join(", ")
}

/// The quantity in the words of the sentence.
fn name(found: &Fluctuation) -> String {
    match found.kind {
        FluctuationKind::TotalRate => "the rates of all flows together".to_owned(),
        FluctuationKind::FlowRate => format!("the rates of {}", found.name),
        FluctuationKind::Queue => format!("the {}", found.name),
    }
}

/// A deviation or amplitude: of a rate as a share of its mean, of a queue in packets.
pub fn format_fluctuation(found: &Fluctuation, value: f64) -> String {
    match found.kind {
        FluctuationKind::Queue => format!("{} packets", number(value)),
        FluctuationKind::TotalRate | FluctuationKind::FlowRate => {
            format!("{} %", number(100.0 * value / found.mean))
        }
    }
}

/// A time as it is typed in a scenario, such as `20ms`.
pub fn format_time(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 1.0 => format!("{}s", at_most_decimals(seconds, 3)),
        _ if seconds >= 1e-3 => format!("{}ms", at_most_decimals(seconds * 1e3, 3)),
        _ => format!("{}us", at_most_decimals(seconds * 1e6, 3)),
    }
}

/// The greatest number of the form 1, 2 or 5 times a power of ten that does not exceed `x`.
fn round_down(x: f64) -> f64 {
    let power = 10_f64.powf(x.log10().floor());
    [5.0, 2.0].into_iter().map(|digit| digit * power).find(|value| *value <= x).unwrap_or(power)
}
