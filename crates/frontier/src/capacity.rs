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
