//! The history of all channels as polynomials, one per step.

use crate::channel_history::ChannelHistory;
use std::collections::VecDeque;

/// The nodes at which each step stores its channels, as fractions of the step.
pub(super) const NODES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Weights of Boole's rule, which integrates the polynomial through the nodes over a step.
pub(super) const BOOLE: [f64; 5] = [7.0 / 90.0, 32.0 / 90.0, 12.0 / 90.0, 32.0 / 90.0, 7.0 / 90.0];

/// Lagrange weights of the nodes at the fraction `theta`.
pub(super) fn lagrange(theta: f64) -> [f64; 5] {
    let u = 4.0 * theta;
    let [a, b, c, d, e] = [u, u - 1.0, u - 2.0, u - 3.0, u - 4.0];
    [
        b * c * d * e / 24.0,
        a * c * d * e / -6.0,
        a * b * d * e / 4.0,
        a * b * c * e / -6.0,
        a * b * c * d / 24.0,
    ]
}

struct HistorySegment {
    start: f64,
    length: f64,
    /// For each channel, its values at the nodes.
    values: Vec<f64>,
}

/// The history over the longest delay.
pub(super) struct History {
    /// Values before time zero.
    before: Vec<f64>,
    segments: VecDeque<HistorySegment>,
    /// Number of segments dropped so far.
    forgotten: usize,
    spare: Vec<Vec<f64>>,
    horizon: f64,
}

impl History {
    pub(super) fn new(before: Vec<f64>, horizon: f64) -> Self {
        Self { before, segments: VecDeque::new(), forgotten: 0, spare: Vec::new(), horizon }
    }

    /// Adds a step with the channels at each node.
    pub(super) fn push(&mut self, start: f64, length: f64, nodes: &[Vec<f64>; 5]) {
        while self.segments.get(1).is_some_and(|next| next.start < start - self.horizon) {
            self.spare.extend(self.segments.pop_front().map(|segment| segment.values));
            self.forgotten += 1;
        }
        let mut values = self.spare.pop().unwrap_or_default();
        values.clear();
        values.extend((0..self.before.len()).flat_map(|channel| nodes.iter().map(move |node| node[channel])));
        self.segments.push_back(HistorySegment { start, length, values });
    }

    /// Sets each look-up to its delayed time. At a jump, the side of the step's middle is used.
    pub(super) fn set_lookups(&self, lookups: &mut [Lookup], delays: &[f64], time: f64, middle: f64) {
        let nudge = nudge(time, middle);
        for (lookup, delay) in lookups.iter_mut().zip(delays).skip(1) {
            let then = time - delay;
            *lookup = self.find(then, then + nudge, lookup.segment);
        }
    }

    /// Finds the segment of a time, starting from the previous one because times grow.
    fn find(&self, then: f64, key: f64, hint: Option<usize>) -> Lookup {
        let Some(first) = self.segments.front().filter(|first| key >= first.start) else {
            return Lookup::default();
        };
        debug_assert!(self.forgotten == 0 || key >= first.start);
        let last = self.segments.len() - 1;
        let mut i = hint.map_or(0, |hint| hint.saturating_sub(self.forgotten)).min(last);
        while i > 0 && key < self.segments[i].start {
            i -= 1;
        }
        while i < last && key >= self.segments[i + 1].start {
            i += 1;
        }
        self.within(i, then)
    }

    /// Finds the segment of any time.
    fn search(&self, then: f64, key: f64) -> Lookup {
        match self.segments.partition_point(|segment| segment.start <= key) {
            0 => Lookup::default(),
            count => self.within(count - 1, then),
        }
    }

    /// The position of a time in a segment.
    fn within(&self, i: usize, then: f64) -> Lookup {
        let segment = &self.segments[i];
        // In a very short step the fraction is dominated by rounding: the polynomial is not extrapolated.
        let weights = lagrange(((then - segment.start) / segment.length).clamp(0.0, 1.0));
        Lookup { segment: Some(self.forgotten + i), weights }
    }

    /// The value of a channel at a look-up.
    fn value(&self, channel: usize, lookup: &Lookup) -> f64 {
        let Some(segment) = lookup.segment else { return self.before[channel] };
        let values = &self.segments[segment - self.forgotten].values;
        let nodes = &values[channel * NODES.len()..][..NODES.len()];
        nodes.iter().zip(&lookup.weights).map(|(value, weight)| value * weight).sum()
    }
}

/// The share of the distance from a time to the middle of its step by which the side of a jump is chosen.
const NUDGE: f64 = 1e-9;

/// The distance in seconds of the middle of a step for which the side of a jump is chosen at this distance.
pub(super) fn middle_of_nudge(distance: f64) -> f64 {
    distance / NUDGE
}

/// The distance from a time towards the middle of its step by which the side of a jump is chosen.
pub(super) fn nudge(time: f64, middle: f64) -> f64 {
    (NUDGE * (middle - time).abs()).max(1e-15 * time.abs()).copysign(middle - time)
}

/// The position of one delayed time in the history.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lookup {
    /// Number of the segment since the start; none before time zero.
    segment: Option<usize>,
    weights: [f64; 5],
}

/// The history at the delayed times of all look-ups.
pub(super) struct View<'a> {
    pub(super) history: &'a History,
    pub(super) lookups: &'a [Lookup],
    /// The present time in seconds, and the middle of its step.
    pub(super) time: f64,
    pub(super) middle: f64,
}

impl ChannelHistory for View<'_> {
    fn get(&self, channel: usize, delay: usize) -> f64 {
        self.history.value(channel, &self.lookups[delay])
    }

    fn earlier(&self, channel: usize, seconds: f64) -> f64 {
        let then = self.time - seconds;
        self.history.value(channel, &self.history.search(then, then + nudge(self.time, self.middle)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view<'a>(history: &'a History, lookups: &'a [Lookup], time: f64) -> View<'a> {
        View { history, lookups, time, middle: time + 1e-3 }
    }

    #[test]
    fn a_polynomial_of_degree_four_is_stored_and_integrated_exactly() {
        let p = |t: f64| 1.0 - 2.0 * t + 3.0 * t.powi(3) - 4.0 * t.powi(4);
        let mut history = History::new(vec![p(0.0)], 10.0);
        let nodes = |start: f64| NODES.map(|n| vec![p(start + 0.5 * n)]);
        history.push(0.0, 0.5, &nodes(0.0));
        history.push(0.5, 0.5, &nodes(0.5));
        let mut lookups = [Lookup::default(); 2];
        for then in [-0.3, 0.0, 0.2, 0.5, 0.77, 1.0] {
            history.set_lookups(&mut lookups, &[0.0, 1.0], 1.0 + then, 1.0 + then + 1e-3);
            let view = view(&history, &lookups, 1.0 + then);
            assert!((view.get(0, 1) - p(then.max(0.0))).abs() < 1e-14, "{then}");
            assert_eq!(view.earlier(0, 1.0), view.get(0, 1), "{then}");
        }
        let integral: f64 = nodes(0.0).iter().zip(BOOLE).map(|(v, w)| 0.5 * w * v[0]).sum();
        let exact = 0.5 - 0.25 + 3.0 / 4.0 * 0.5_f64.powi(4) - 4.0 / 5.0 * 0.5_f64.powi(5);
        assert!((integral - exact).abs() < 1e-15);
    }

    #[test]
    fn at_a_jump_the_side_of_the_steps_middle_is_read() {
        let mut history = History::new(vec![0.0], 10.0);
        history.push(0.0, 1.0, &NODES.map(|_| vec![1.0]));
        history.push(1.0, 1.0, &NODES.map(|_| vec![2.0]));
        let output = |time: f64, middle: f64| {
            let mut lookups = [Lookup::default(); 2];
            history.set_lookups(&mut lookups, &[0.0, 0.1], time, middle);
            view(&history, &lookups, time).get(0, 1)
        };
        // In floating point, 0.1 + 1 and 1.1 - 0.1 are not exactly 1.1 and 1.
        assert_eq!((output(1.1, 1.05), output(1.1, 1.15)), (1.0, 2.0));
        assert_eq!((output(0.1, 0.05), output(0.1, 0.15)), (0.0, 1.0));
    }

    #[test]
    fn segments_older_than_the_longest_delay_are_dropped() {
        let mut history = History::new(vec![0.0], 1.0);
        for i in 0..100 {
            history.push(0.1 * f64::from(i), 0.1, &NODES.map(|n| vec![0.1 * (f64::from(i) + n)]));
        }
        assert!(history.segments.len() <= 12);
        let mut lookups = [Lookup::default(); 2];
        history.set_lookups(&mut lookups, &[0.0, 1.0], 9.95, 9.96);
        assert!((view(&history, &lookups, 9.95).get(0, 1) - 8.95).abs() < 1e-12);
    }
}
