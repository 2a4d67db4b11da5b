//! The maximum of the recent samples of a quantity.

use std::collections::VecDeque;

/// The largest sample of a window of time, which is counted in any unit: round trips, cycles or picoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowedMax {
    /// Samples that no later sample exceeds, with their times; values fall from front to back.
    samples: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// Records a sample at `time` and removes those that are older by more than `window`.
    pub(crate) fn record(&mut self, time: u64, value: f64, window: u64) {
        while self.samples.back().is_some_and(|(_, last)| *last <= value) {
            self.samples.pop_back();
        }
        self.samples.push_back((time, value));
        while self.samples.front().is_some_and(|(first, _)| time.saturating_sub(*first) > window) {
            self.samples.pop_front();
        }
    }

    /// The largest sample; zero before the first.
    pub(crate) fn get(&self) -> f64 {
        self.samples.front().map_or(0.0, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maximum_is_that_of_the_samples_in_the_window() {
        let values = [3.0, 9.0, 2.0, 5.0, 5.0, 1.0, 0.0, 4.0, 4.0, 8.0];
        for window in 0..5 {
            let mut max = WindowedMax::default();
            assert_eq!(max.get(), 0.0);
            for (time, value) in values.iter().enumerate() {
                max.record(time as u64, *value, window as u64);
                let recent = &values[time.saturating_sub(window)..=time];
                assert_eq!(max.get(), recent.iter().copied().fold(0.0, f64::max), "{window} at {time}");
            }
        }
    }
}
