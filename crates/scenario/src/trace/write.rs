//! Writing traces as files.

use super::{OPPORTUNITY, Trace, TraceRecipeError};
use crate::served::ServedData;
use millpond_stats::Random;
use millpond_units::{Rate, Span, Time};
use std::fmt::Write;

const MILLISECOND: Span = Span::from_millis(1);
/// Bursts are placed independently in each segment of this many milliseconds.
const SEGMENT: u64 = 100;
/// Most rows of a file: samples closer together are averaged.
const MAX_ROWS: u64 = 10_000_000;
/// Most opportunities of a file: a few hundred megabytes.
const MAX_OPPORTUNITIES: u64 = 50_000_000;
/// The random stream that places bursts; the lower numbers belong to the processes of the generator.
const BURSTS: u64 = 5;

impl Trace {
    /// The trace as `time_s,mbps`, one row per sample, every bit per second kept.
    pub fn to_csv(&self) -> String {
        let mut out = String::from("time_s,mbps\n");
        let step = self.sampling.max(self.length / MAX_ROWS).max(Span::from_picos(1));
        let served = ServedData::new(&self.steps);
        for i in 0..self.length.picos() / step.picos() {
            let (start, end) = (Time::ZERO + step * i, Time::ZERO + step * (i + 1));
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{},{}", start.secs(), megabits(served.mean(start, end)));
        }
        out
    }

    /// The trace as Mahimahi delivery opportunities. In each tenth of a second they fall into a `busy` share of
    /// milliseconds that is sampled with `seed`.
    ///
    /// # Errors
    /// If it would have no line, or more than 50 million.
    pub fn to_mahimahi(&self, busy: f64, seed: u64) -> Result<String, TraceRecipeError> {
        let served = ServedData::new(&self.steps);
        let mut random = Random::numbered(seed, BURSTS);
        let mut out = String::new();
        let end = self.length.picos() / MILLISECOND.picos();
        let lines = opportunities(&served, end);
        if !(1..=MAX_OPPORTUNITIES).contains(&lines) {
            return Err(TraceRecipeError::new(format!(
                "{lines} delivery opportunities: expected 1 to {MAX_OPPORTUNITIES}"
            )));
        }
        for start in (0..end).step_by(SEGMENT as usize) {
            let millis = SEGMENT.min(end - start);
            let count = opportunities(&served, start + millis) - opportunities(&served, start);
            let slots = busy_slots(millis, busy, &mut random);
            for (slot, count) in slots.iter().zip(shares(count, slots.len() as u64)) {
                for _ in 0..count {
                    // An opportunity's time is the end of its millisecond.
                    let _ = writeln!(out, "{}", start + slot + 1);
                }
            }
        }
        Ok(out)
    }
}

/// In 10^6 bit/s, to the last bit.
fn megabits(rate: Rate) -> f64 {
    rate.as_f64() / 1e6
}

/// Whole opportunities until this many milliseconds.
fn opportunities(served: &ServedData<'_>, millis: u64) -> u64 {
    let picobits = served.until(Time::ZERO + MILLISECOND * millis);
    let one = u128::from(OPPORTUNITY.bits()) * u128::from(millpond_units::PICOS);
    u64::try_from(picobits / one).unwrap_or(u64::MAX)
}

/// A share of the first `millis` numbers, at least one, sampled without replacement (selection sampling).
fn busy_slots(millis: u64, busy: f64, random: &mut Random) -> Vec<u64> {
    let mut wanted = ((busy * millis as f64 + 0.5) as u64).clamp(1, millis);
    let mut slots = Vec::new();
    for slot in 0..millis {
        if random.uniform() * ((millis - slot) as f64) < wanted as f64 {
            slots.push(slot);
            wanted -= 1;
        }
    }
    slots
}

/// `count` cut into `parts` whole numbers that differ by one at most, the larger ones spread evenly.
fn shares(count: u64, parts: u64) -> impl Iterator<Item = u64> {
    (0..parts).map(move |part| count * (part + 1) / parts - count * part / parts)
}
