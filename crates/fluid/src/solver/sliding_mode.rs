//! Solutions that slide along a threshold: a guard that changes its sign again and again gets a hysteresis. All others keep
//! their exact thresholds, so that a solution that crosses every threshold is not affected.

use super::Solver;
use super::history::nudge;
use crate::error::Error;
use crate::integration::SlidingThreshold;

/// Number of sign changes of one guard within a hundredth of the shortest delay that counts as chattering.
const CHATTER: u32 = 100;

/// The pulses of one chattering guard make others chatter one delay later. With a chattering guard, all guards get a hysteresis
/// that have had this number of sign changes within a hundredth of the shortest delay.
const FEW: u32 = 10;

/// Number of sign changes of a guard with hysteresis within a hundredth of the shortest delay that ends the integration.
const MOST: u32 = 100 * CHATTER;

/// Number of jumps of a guard at one time that ends the integration. Where the jump of one guard makes another one jump at once, and
/// that one the first again, time does not advance.
const MOST_JUMPS: u32 = 1000;

/// Number of sign changes of a guard at one time if a signal begins and ends there; more of them repeat.
const BEGIN_AND_END: u32 = 2;

/// Half the width of a hysteresis relative to the largest magnitude of the guard, as a multiple of the tolerance.
const WIDTH: f64 = 1e3;

/// The sign changes of guards, and which of them have a hysteresis.
#[derive(Debug)]
pub(super) struct SlidingMode {
    /// Beginning of the interval in which sign changes are counted, in seconds.
    window_start: f64,
    /// For each guard: number of sign changes since then.
    crossings: Vec<u32>,
    /// For each guard: largest number of sign changes in an interval so far.
    most_crossings: Vec<u32>,
    /// For each guard with a hysteresis: since when, in seconds.
    hysteresis_since: Vec<Option<f64>>,
    /// For each guard: a time in seconds, and the number of its sign changes that are as close to it as times are rounded.
    repeated: Vec<(f64, u32)>,
    /// For each guard: the time of its last jump in seconds, and the number of its jumps at that time.
    jumps: Vec<(f64, u32)>,
    /// Until this time in seconds, guards are in a pulse that is shorter than the distance at which the side of a jump is chosen.
    pulse_end: f64,
}

impl SlidingMode {
    pub(super) fn new(guards: usize) -> Self {
        let zeros = vec![0; guards];
        Self {
            window_start: 0.0,
            crossings: zeros.clone(),
            most_crossings: zeros,
            hysteresis_since: vec![None; guards],
            repeated: vec![(f64::NEG_INFINITY, 0); guards],
            jumps: vec![(f64::NEG_INFINITY, 0); guards],
            pulse_end: f64::NEG_INFINITY,
        }
    }

    /// The end of the last short pulse of a guard, in seconds.
    pub(super) fn pulse_end(&self) -> f64 {
        self.pulse_end
    }

    /// Counts a sign change. One that repeats at the same time, within `resolution`, is that of a pulse: after its beginning the guard
    /// is evaluated beyond its end, at most `nudge` later.
    fn count_repeated(&mut self, g: usize, time: f64, resolution: f64, nudge: f64) {
        let (first, count) = &mut self.repeated[g];
        if time - *first > resolution {
            (*first, *count) = (time, 0);
        }
        *count += 1;
        if *count > BEGIN_AND_END {
            self.pulse_end = time + nudge;
        }
    }
}

impl Solver<'_> {
    /// Counts a sign change of a guard. A law that is driven back from both sides of a threshold slides along it; it gets a
    /// hysteresis, because no step could end beyond.
    ///
    /// # Errors
    /// The guard changes its sign without end in spite of its hysteresis.
    pub(super) fn count_crossing(&mut self, g: usize) -> Result<(), Error> {
        let (time, length) = (self.time, 0.01 * self.shortest_delay);
        let resolution = self.latest() - time;
        let sliding = &mut self.sliding;
        sliding.count_repeated(g, time, resolution, nudge(time, time + self.step));
        if time - sliding.window_start > length {
            sliding.window_start = time;
            sliding.crossings.fill(0);
        }
        sliding.crossings[g] += 1;
        let count = sliding.crossings[g];
        sliding.most_crossings[g] = sliding.most_crossings[g].max(count);
        if self.accuracy.hysteresis && count > CHATTER && sliding.hysteresis_since[g].is_none() {
            self.introduce_hysteresis();
        }
        if count <= MOST {
            return Ok(());
        }
        Err(Error::Chattering { time, guard: self.guard_name(g) })
    }

    /// Counts a sign change of a guard because its inputs have jumped.
    ///
    /// # Errors
    /// The guard jumps without end at one time.
    pub(super) fn count_jump(&mut self, g: usize) -> Result<(), Error> {
        let time = self.time;
        let (last, count) = &mut self.sliding.jumps[g];
        *count = if *last == time { *count + 1 } else { 1 };
        *last = time;
        if *count <= MOST_JUMPS {
            return Ok(());
        }
        Err(Error::Chattering { time, guard: self.guard_name(g) })
    }

    fn guard_name(&self, g: usize) -> String {
        let asm = self.rhs.asm;
        format!("{} of {}", asm.guard_name(&self.rhs, g), asm.name(self.guard_owners[g]))
    }

    /// The thresholds along which the solution has slid so far.
    pub fn sliding_thresholds(&self) -> Vec<SlidingThreshold> {
        let since = self.sliding.hysteresis_since.iter().enumerate();
        let sliding = since.filter_map(|(g, since)| Some((g, (*since)?)));
        sliding.map(|(g, since)| SlidingThreshold { guard: self.guard_name(g), since }).collect()
    }

    /// Introduces the hysteresis of all guards that have changed their sign again and again.
    fn introduce_hysteresis(&mut self) {
        for g in 0..self.guards.len() {
            if self.sliding.most_crossings[g] >= FEW && self.sliding.hysteresis_since[g].is_none() {
                self.sliding.hysteresis_since[g] = Some(self.time);
                self.rhs.hold_side(g, self.signs[g]);
            }
        }
    }

    /// Half the width of a guard's hysteresis, relative to its largest magnitude; none without hysteresis.
    pub(super) fn sliding_width(&self, g: usize) -> Option<f64> {
        self.sliding.hysteresis_since[g].map(|_| WIDTH * self.accuracy.tolerance)
    }

    /// Moves the law of a guard with hysteresis to the side of its present sign. Returns whether it has a hysteresis: its law
    /// then jumps at the switch.
    pub(super) fn switches_side(&mut self, g: usize) -> bool {
        let has_hysteresis = self.sliding.hysteresis_since[g].is_some();
        if has_hysteresis {
            self.rhs.hold_side(g, self.signs[g]);
        }
        has_hysteresis
    }
}
