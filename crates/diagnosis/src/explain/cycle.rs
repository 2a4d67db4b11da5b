//! The measured period of a limit cycle or a sawtooth.

use super::subject::Subject;
use millpond_results::{EntityKind, quantity};
use millpond_theory::steady_state::{FlowPeriod, Oscillation};

/// The least number of samples in a period that show its reductions.
pub(super) const SAMPLES_PER_PERIOD: f64 = 4.0;

/// The mean time in seconds between two reductions of a flow; none if the series show too few of them, or are sampled too
/// rarely for the predicted period.
pub(super) fn measured_period(subject: &Subject<'_>, oscillation: &Oscillation) -> Option<f64> {
    let interval = subject.series.interval;
    let (mut spans, mut cycles) = (0, 0);
    for period in oscillation.periods.iter().filter(|period| period.seconds >= SAMPLES_PER_PERIOD * interval)
    {
        for values in flows_of(subject, period) {
            let falls = reductions(&values, period.kept);
            if let (Some(first), Some(last)) = (falls.first(), falls.last()) {
                spans += last - first;
                cycles += falls.len() - 1;
            }
        }
    }
    (cycles > 0).then(|| spans as f64 * interval / cycles as f64)
}

/// The windows of the flows of a class over time; their sending rates where no window was recorded.
fn flows_of(subject: &Subject<'_>, period: &FlowPeriod) -> Vec<Vec<f64>> {
    let flows = subject.plan.flows.iter().filter_map(|flow| {
        let position = flow.loops.iter().position(|id| id.0 == period.l)?;
        let window = subject.series.find(EntityKind::Flow, &flow.loop_name(position), quantity::WINDOW);
        window.or_else(|| subject.series.find(EntityKind::Flow, &flow.name, quantity::SEND_RATE))
    });
    flows.collect()
}

/// The samples at which a series has fallen from its last peak by more than half of a reduction.
fn reductions(values: &[f64], kept: f64) -> Vec<usize> {
    let threshold = f64::midpoint(1.0, kept);
    let (mut peak, mut trough, mut falling) = (0.0_f64, f64::INFINITY, false);
    let mut found = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if falling {
            trough = trough.min(*value);
            // Growth again: a new peak begins.
            if *value > trough * (1.0 + 0.25 * (1.0 / kept - 1.0)) {
                (falling, peak) = (false, *value);
            }
        } else {
            peak = peak.max(*value);
            if *value < threshold * peak {
                found.push(index);
                (falling, trough) = (true, *value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reduction_of_a_sawtooth_with_unequal_teeth_is_counted_once() {
        let mut values = Vec::new();
        for (from, to) in [(50, 100), (50, 120), (60, 90), (45, 100)] {
            values.extend((from..to).map(f64::from));
        }
        assert_eq!(reductions(&values, 0.5), [50, 120, 150]);
        assert!(reductions(&[10.0; 50], 0.5).is_empty());
    }
}
