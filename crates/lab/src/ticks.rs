//! The times at which a run is measured.

use millpond_scenario::{Method, Scenario};
use millpond_units::{Span, Time};

/// The measurements that are due at a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// The measured time begins.
    pub(crate) begin: bool,
    /// A sample of every series, every `measure.every`.
    pub(crate) sample: bool,
    /// The end of a window of the short-term Jain index, every `measure.jain_window`.
    pub(crate) window: bool,
    /// A report of the progress: at least a thousand in a run, however often it is sampled.
    pub(crate) progress: bool,
}

impl Due {
    /// Whether anything is measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.begin || self.sample || self.window
    }
}

/// The times at which a run stops to be measured, ascending; the last is the end of the run.
pub(crate) struct Ticks {
    from: Time,
    every: Span,
    window: Span,
    /// The longest time between two ticks, at which a run reports progress and can be stopped.
    progress: Span,
    end: Time,
    now: Time,
}

/// The number of samples of every series in a run.
pub(crate) fn samples(scenario: &Scenario) -> usize {
    let samples = scenario.duration.picos().checked_div(scenario.measure.every.picos());
    samples.and_then(|samples| usize::try_from(samples).ok()).unwrap_or_default()
}

/// The least number of ticks of a run.
const LEAST_TICKS: u64 = 1000;

impl Ticks {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let measure = &scenario.measure;
        Self {
            from: measure.from,
            every: measure.every,
            window: measure.jain_window,
            progress: whole_steps(scenario.duration / LEAST_TICKS, &scenario.fluid.method),
            end: Time::ZERO + scenario.duration,
            now: Time::ZERO,
        }
    }
}

impl Iterator for Ticks {
    type Item = (Time, Due);

    fn next(&mut self) -> Option<(Time, Due)> {
        if self.now >= self.end {
            return None;
        }
        let regular = [self.every, self.window, self.progress].map(|period| multiple_after(period, self.now));
        let from = if self.now < self.from { self.from } else { Time::NEVER };
        let now = regular.into_iter().chain([from, self.end]).min()?;
        self.now = now;
        let falls_on = |period: Span| !period.is_zero() && now.picos().is_multiple_of(period.picos());
        let due = Due {
            begin: now == self.from,
            sample: falls_on(self.every),
            window: falls_on(self.window),
            progress: falls_on(self.progress) || now == self.end,
        };
        Some((now, due))
    }
}

/// `span`, rounded up to a whole number of steps if the method has fixed steps.
fn whole_steps(span: Span, method: &Method) -> Span {
    match method {
        Method::Adaptive => span,
        Method::FixedStep(step) => **step * span.picos().div_ceil(step.picos()),
    }
}

/// The first multiple of `period` after `now`; never if the period is zero.
fn multiple_after(period: Span, now: Time) -> Time {
    match period.picos() {
        0 => Time::NEVER,
        picos => Time::from_picos((now.picos() / picos + 1).saturating_mul(picos)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_scenario::Disk;
    use std::path::Path;

    fn scenario(duration: &str, from: &str, every: &str, window: &str) -> Scenario {
        let text = format!(
            "title = \"t\"\nduration = \"{duration}\"\nmeasure = {{ from = \"{from}\", every = \"{every}\", \
             jain_window = \"{window}\" }}\n[[links]]\nname = \"L\"\nbetween = [\"A\", \"B\"]\nrate = \"1Mbps\"\n\
             delay = \"1ms\"\n[[flows]]\nname = \"f\"\nprotocol = \"p\"\npath = [\"A\", \"B\"]\n"
        );
        Scenario::parse(&text, "t", Path::new(""), &[], &Disk).unwrap()
    }

    fn ticks(duration: &str, from: &str, every: &str, window: &str) -> Vec<(f64, Due)> {
        let due = Ticks::new(&scenario(duration, from, every, window));
        let measured = due.filter(|(_, due)| due.is_measured());
        measured.map(|(time, due)| (time.secs(), Due { progress: false, ..due })).collect()
    }

    #[test]
    fn the_number_of_samples_is_that_of_the_ticks_with_one() {
        for (duration, every) in [("1s", "100ms"), ("1s", "300ms"), ("1s", "1s"), ("100ms", "1s")] {
            let scenario = scenario(duration, "0s", every, "7ms");
            let counted = Ticks::new(&scenario).filter(|(_, due)| due.sample).count();
            assert_eq!(samples(&scenario), counted, "{every} of {duration}");
        }
    }

    #[test]
    fn samples_windows_and_the_measured_time_have_their_own_ticks() {
        let sample = Due { sample: true, ..Due::default() };
        let window = Due { window: true, ..Due::default() };
        let begin = Due { begin: true, ..Due::default() };
        assert_eq!(
            ticks("1s", "500ms", "400ms", "300ms"),
            [(0.3, window), (0.4, sample), (0.5, begin), (0.6, window), (0.8, sample), (0.9, window)]
        );
        let both = Due { sample: true, window: true, ..Due::default() };
        assert_eq!(ticks("1s", "0s", "500ms", "500ms"), [(0.5, both), (1.0, both)]);
    }

    #[test]
    fn progress_is_reported_a_thousand_times_however_often_a_run_is_sampled() {
        for every in ["100ms", "7ms", "10us"] {
            let scenario = scenario("1s", "0s", every, "1s");
            let reports: Vec<Time> =
                Ticks::new(&scenario).filter(|(_, due)| due.progress).map(|(time, _)| time).collect();
            assert_eq!((reports.len(), reports.last()), (1000, Some(&Time::from_secs(1.0))), "{every}");
        }
    }

    #[test]
    fn a_run_has_at_least_a_thousand_ticks_and_the_last_is_its_end() {
        let text = "title = \"t\"\nduration = \"100s\"\n[[links]]\nname = \"L\"\nbetween = [\"A\", \"B\"]\n\
                    rate = \"1Mbps\"\ndelay = \"1ms\"\n[[flows]]\nname = \"f\"\nprotocol = \"p\"\npath = [\"A\", \"B\"]\n";
        let scenario = Scenario::parse(text, "t", Path::new(""), &[], &Disk).unwrap();
        let times: Vec<Time> = Ticks::new(&scenario).map(|(time, _)| time).collect();
        assert!(times.len() >= 1000 && times.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(times.last(), Some(&Time::from_secs(100.0)));
    }
}
