//! A trace as a link uses it: which file, which part of it, what comes after.

use super::{Format, Trace};
use crate::place::At;
use crate::schedule::{End, Schedule};
use crate::served::ServedData;
use millpond_units::{Rate, Span, Time};
use std::path::PathBuf;
use std::sync::Arc;

/// A trace as a link uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSource {
    /// Where it was read from, absolute.
    pub file: At<PathBuf>,
    /// How the file is written.
    pub format: Format,
    /// What follows the end.
    pub end: End,
    /// The part of the file's beginning that is left out.
    pub skip: Span,
    /// The length that is used from there; `None`: up to the end.
    pub length: Option<Span>,
    /// Each rate is multiplied by this.
    pub scale: f64,
    /// Link laws receive the mean of delivery opportunities over this trailing window.
    pub window: Span,
    /// The whole file.
    pub trace: Arc<Trace>,
}

impl TraceSource {
    /// The capacity over time.
    pub fn schedule(&self) -> Schedule {
        let left = self.trace.length.saturating_sub(self.skip);
        let length = self.length.map_or(left, |length| length.min(left));
        let (from, to) = (Time::ZERO + self.skip, Time::ZERO + self.skip + length);
        let begun = self.trace.steps.partition_point(|&(start, _)| start <= from).saturating_sub(1);
        let used = self.trace.steps.iter().skip(begun).take_while(|&&(start, _)| start < to);
        let steps = used.map(|&(start, rate)| (Time::ZERO + start.since(from), rate.scale(self.scale)));
        Schedule { steps: steps.collect(), length, end: self.end }
    }

    /// The capacity as the link's laws receive it: the rates of a CSV trace as they are, delivery opportunities as their
    /// mean over the trailing window, updated ten times per window.
    pub fn configured_schedule(&self) -> Schedule {
        match self.format {
            Format::Csv => self.schedule(),
            Format::Mahimahi => trailing_mean(&self.schedule(), self.window),
        }
    }
}

/// The mean of the last `window`, updated ten times per window; at the start as if the first window were over.
fn trailing_mean(truth: &Schedule, window: Span) -> Schedule {
    let window = window.min(truth.length);
    let update = Span::from_picos((window.picos() / 10).max(1));
    let served = ServedData::new(&truth.steps);
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    let mut now = Time::ZERO;
    while now.since(Time::ZERO) < truth.length {
        let end = now.max(Time::ZERO + window);
        let mean = served.mean(Time::from_picos(end.picos() - window.picos()), end);
        if steps.last().is_none_or(|&(_, last)| last != mean) {
            steps.push((now, mean));
        }
        now = next_change(&served, now, window, update);
    }
    Schedule { steps, ..*truth }
}

/// The next update at which the mean may differ: updates within a long constant segment are skipped.
fn next_change(served: &ServedData<'_>, now: Time, window: Span, update: Span) -> Time {
    let is_constant = now.since(served.this_step(now)) >= window;
    let updates = if is_constant { served.next_step(now).since(now).picos() / update.picos() } else { 0 };
    now + update * updates.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opportunities(steps: Vec<(Time, Rate)>, length: Span) -> TraceSource {
        TraceSource {
            file: At::default(),
            format: Format::Mahimahi,
            end: End::Loop,
            skip: Span::ZERO,
            length: None,
            scale: 1.0,
            window: Span::from_millis(100),
            trace: Arc::new(Trace {
                format: Format::Mahimahi,
                steps,
                length,
                sampling: Span::from_millis(1),
            }),
        }
    }

    /// One packet in the first millisecond of every ten: 1.2 Mbps on average.
    fn bursts(count: u64) -> Vec<(Time, Rate)> {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        (0..count).flat_map(|i| [(at(10 * i), Rate::from_mbps(12.0)), (at(10 * i + 1), Rate::ZERO)]).collect()
    }

    #[test]
    fn laws_are_configured_with_the_mean_of_the_opportunities() {
        let configured = opportunities(bursts(100), Span::from_secs(1.0)).configured_schedule();
        // A window of 100 ms that ends on a multiple of 10 ms holds exactly ten bursts, wherever it begins.
        assert_eq!(configured.steps, vec![(Time::ZERO, Rate::from_mbps(1.2))]);
        assert_eq!(configured.length, Span::from_secs(1.0));
    }

    #[test]
    fn a_long_interval_without_opportunities_costs_no_steps_and_the_mean_reaches_zero_within_one_window() {
        let day = Span::from_secs(86_400.0);
        let configured = opportunities(bursts(10), day).configured_schedule();
        assert_eq!(configured.at(Time::from_secs(0.1)), Rate::from_mbps(1.2));
        assert_eq!(configured.at(Time::from_secs(0.15)), Rate::from_mbps(0.6));
        assert_eq!(configured.at(Time::from_secs(0.2)), Rate::ZERO);
        assert_eq!(configured.at(Time::from_secs(40_000.0)), Rate::ZERO);
        assert!(configured.steps.len() < 25, "{}", configured.steps.len());
    }

    #[test]
    fn an_excerpt_is_the_same_as_the_file_read_later() {
        let mut source = opportunities(bursts(100), Span::from_secs(1.0));
        let whole = source.schedule();
        source.skip = Span::from_micros(15_500);
        source.length = Some(Span::from_millis(300));
        source.scale = 2.0;
        let excerpt = source.schedule();
        assert_eq!(excerpt.length, Span::from_millis(300));
        assert_eq!(excerpt.steps.first(), Some(&(Time::ZERO, Rate::ZERO)));
        for millis in 0..300 {
            let time = Time::ZERO + Span::from_millis(millis);
            assert_eq!(excerpt.at(time), whole.at(time + source.skip).scale(2.0), "{millis} ms");
        }
        assert_eq!(excerpt.at(Time::from_secs(0.3)), excerpt.at(Time::ZERO), "it loops");
    }
}
