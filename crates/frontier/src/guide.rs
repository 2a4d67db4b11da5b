//! The same program for a recorded trace, whose random process is not known: a guide and no bound.
//!
//! States are cells of two numbers that a controller can measure: the present rate, and how it has changed. The futures of a
//! cell are those that followed on this trace, and the window is a constant of the cell times the present rate. A controller
//! that knows more than these two numbers can exceed the guide. The constants are fitted to the same trace, which flatters it.

use crate::capacity::Capacity;
use crate::newsvendor::{Outcome, TradeOff};
use millpond_scenario::trace::{Format, Trace};
use rayon::prelude::*;

/// Cells of the present rate, and of its change within each of them: about equally many times in each.
const CELLS: (usize, usize) = (8, 4);
/// Distance of the times that are sampled, in seconds, and the greatest number of them.
const SAMPLING: (f64, f64) = (0.001, 200_000.0);
/// The least present rate that a window is a multiple of, as a share of the mean.
const LEAST_RATE: f64 = 0.05;

/// The times over which the present rate and its change are measured, in seconds.
struct Memory {
    /// The present rate: mean over this time; that at the present time if it is zero.
    present: f64,
    /// The change: mean over the first time, divided by that over the second one.
    change: (f64, f64),
}

impl Memory {
    /// Delivery opportunities need a mean; the rates of a table of rates are means already.
    fn of(format: Format) -> Self {
        match format {
            Format::Mahimahi => Self { present: 0.1, change: (0.04, 0.4) },
            Format::Csv => Self { present: 0.0, change: (0.0, 2.0) },
        }
    }
}

/// A sampled time with what is measured then.
#[derive(Clone, Copy)]
struct Observation {
    rate: f64,
    change: f64,
    outcome: Outcome,
}

/// The utilization of the program with a base round-trip time `rtt` and at most the share `late` of bytes that wait longer than
/// `delay`, from `from` to `to`. Times are in seconds.
pub fn guided_utilization(trace: &Trace, rtt: f64, delay: f64, late: f64, (from, to): (f64, f64)) -> f64 {
    let capacity = Capacity::of(trace);
    let end = to - rtt - delay;
    let all = capacity.between(from, end);
    if end <= from || all <= 0.0 {
        return 1.0;
    }
    let memory = Memory::of(trace.format);
    let count = ((end - from) / SAMPLING.0).min(SAMPLING.1).ceil() as usize;
    let spacing = (end - from) / count as f64;
    let least = LEAST_RATE * all / (end - from);
    let observe = |index: usize| {
        let time = from + (index as f64 + 0.5) * spacing;
        let rate = capacity.recent(time, memory.present).max(least);
        let change =
            capacity.recent(time, memory.change.0) / capacity.recent(time, memory.change.1).max(least);
        let outcome = Outcome { weight: spacing, scale: rate, ..outcome_at(&capacity, time, rtt, delay) };
        Observation { rate, change, outcome }
    };
    let mut observations: Vec<Observation> = (0..count).into_par_iter().map(observe).collect();
    let mut trade_off = TradeOff::default();
    for cell in cells(&mut observations) {
        let mut outcomes: Vec<Outcome> = cell.iter().map(|one| one.outcome).collect();
        trade_off.add(&mut outcomes, rtt);
    }
    1.0 - trade_off.least_idle(all, late) / all
}

/// The service after a time, with a weight and a scale of one.
fn outcome_at(capacity: &Capacity, time: f64, rtt: f64, delay: f64) -> Outcome {
    Outcome {
        weight: 1.0,
        scale: 1.0,
        within_rtt: capacity.between(time, time + rtt),
        within_delay: capacity.between(time, time + rtt + delay),
        rate_after: capacity.rate(time + rtt + delay),
    }
}

/// The observations of each cell.
fn cells(observations: &mut [Observation]) -> Vec<&[Observation]> {
    let size = |all: usize, cells: usize| all.div_ceil(cells).max(1);
    let mut found = Vec::new();
    observations.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let rows = size(observations.len(), CELLS.0);
    for row in observations.chunks_mut(rows) {
        row.sort_by(|a, b| a.change.total_cmp(&b.change));
        found.extend(row.chunks(size(row.len(), CELLS.1)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use millpond_units::{Rate, Span, Time};

    /// A trace with these rates in bit/s, each for a second.
    fn trace(rates: &[u64]) -> Trace {
        let step = |(second, bps): (u64, &u64)| {
            (Time::ZERO + Span::from_millis(1000) * second, Rate::from_bps(*bps))
        };
        Trace {
            format: Format::Csv,
            steps: (0..).zip(rates).map(step).collect(),
            length: Span::from_secs(rates.len() as f64),
            sampling: Span::from_secs(1.0),
        }
    }

    /// 1, 2 and 4 bit/s: from 0.5 s on 0.5 + 1 bits in a second, 0.5 + 2 + 2 in two, and 4 bit/s then.
    #[test]
    fn an_outcome_has_the_service_of_both_times_and_the_rate_after_both() {
        let found = outcome_at(&Capacity::of(&trace(&[1, 2, 4])), 0.5, 1.0, 1.0);
        let expected =
            Outcome { weight: 1.0, scale: 1.0, within_rtt: 1.5, within_delay: 4.5, rate_after: 4.0 };
        assert_eq!(found, expected);
    }

    /// The futures of all times that are used end with the measured time.
    #[test]
    fn what_follows_the_measured_time_changes_nothing() {
        let measured = [8, 2, 8, 4, 2, 8, 4, 2];
        let utilization = |rest: &[u64]| {
            let trace = trace(&[&measured, rest].concat());
            guided_utilization(&trace, 0.5, 0.25, 0.05, (1.0, measured.len() as f64))
        };
        let (slow, fast) = (utilization(&[0, 0, 0]), utilization(&[100, 100, 100]));
        assert_eq!(slow, fast);
        assert!((0.5..1.0).contains(&slow), "{slow}");
    }

    /// A second without capacity and one with 8 bit/s follow each other. Of a state without capacity, an RTT of 0.5 s and a delay of
    /// 0.25 s, a window of W bits leaves `2 (1 - W / 4)^2` of the 8 bits of a period idle, and W of them are late. The share 0.05 of
    /// what is used may be late: W = 0.315, and 1.70 bits are idle.
    #[test]
    fn where_the_present_rate_is_zero_a_window_is_a_multiple_of_the_least_rate() {
        let on_and_off: Vec<u64> = (0..200).map(|second| 8 * (second % 2)).collect();
        let utilization = guided_utilization(&trace(&on_and_off), 0.5, 0.25, 0.05, (0.0, 200.0));
        assert!((utilization - (1.0 - 1.697 / 8.0)).abs() < 0.005, "{utilization}");
    }

    #[test]
    fn a_constant_capacity_is_used_whole() {
        assert!(guided_utilization(&trace(&[8; 10]), 0.5, 0.25, 0.0, (1.0, 10.0)) > 1.0 - 1e-9);
    }
}
