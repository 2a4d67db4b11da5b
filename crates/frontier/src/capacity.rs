//! The capacity of a link over time, as a controller finds it.

use millpond_scenario::trace::Trace;
use millpond_units::Time;

/// The service of a link from the beginning of its trace, in bits and seconds.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// `(time, bits served until then, rate from then on)`.
    steps: Vec<(f64, f64, f64)>,
}

impl Capacity {
    /// The capacity of a trace.
    pub fn of(trace: &Trace) -> Self {
        let mut steps: Vec<(f64, f64, f64)> = Vec::with_capacity(trace.steps.len());
        for &(start, rate) in &trace.steps {
            let start = start.since(Time::ZERO).secs();
            let before = steps.last().map_or(0.0, |&(time, bits, rate)| bits + rate * (start - time));
            steps.push((start, before, rate.as_f64()));
        }
        Self { steps }
    }

    fn step(&self, time: f64) -> (f64, f64, f64) {
        let index = self.steps.partition_point(|step| step.0 <= time).saturating_sub(1);
        self.steps.get(index).copied().unwrap_or_default()
    }

    /// The bits that are served until this time.
    pub fn until(&self, time: f64) -> f64 {
        let (start, bits, rate) = self.step(time);
        bits + rate * (time - start).max(0.0)
    }

    /// The bits that are served between two times.
    pub fn between(&self, from: f64, to: f64) -> f64 {
        self.until(to) - self.until(from)
    }

    /// The rate at this time, in bit/s.
    pub fn rate(&self, time: f64) -> f64 {
        self.step(time).2
    }

    /// The mean rate of the last `window` seconds, as far as they belong to the trace.
    pub fn recent(&self, time: f64, window: f64) -> f64 {
        let from = (time - window).max(0.0);
        if time > from { self.between(from, time) / (time - from) } else { self.rate(time) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::trace::Format;
    use millpond_units::{Rate, Span};

    /// 1 bit/s, 2 bit/s from 1 s on and 4 bit/s from 2 s on.
    #[test]
    fn bits_and_mean_rates_are_those_of_the_steps() {
        let steps = [(0.0, 1), (1.0, 2), (2.0, 4)];
        let steps = steps.map(|(at, bps)| (Time::from_secs(at), Rate::from_bps(bps)));
        let (length, sampling) = (Span::from_secs(3.0), Span::from_secs(1.0));
        let trace = Trace { format: Format::Csv, steps: steps.to_vec(), length, sampling };
        let capacity = Capacity::of(&trace);
        assert_eq!([0.5, 1.0, 1.5, 2.5].map(|time| capacity.until(time)), [0.5, 1.0, 2.0, 5.0]);
        assert_eq!((capacity.between(0.5, 2.5), capacity.rate(1.0), capacity.rate(1.9)), (4.5, 2.0, 2.0));
        // Of a window that begins before the trace only the part in the trace counts.
        assert_eq!(
            [(0.0, 1.0), (0.5, 1.0), (1.5, 1.0), (2.0, 0.0)].map(|(t, w)| capacity.recent(t, w)),
            [1.0, 1.0, 1.5, 4.0]
        );
    }
}
