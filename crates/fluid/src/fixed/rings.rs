//! The ring buffers of links: one row of steps for each quantity, so that several steps are read and written at once.
//!
//! A rate that reaches a link `(k + f) h` later adds `1 - f` of itself to the link's slot `k` steps ahead and `f` to
//! the next slot. The result is the sum of linearly interpolated rates without a search. The signals of a link are
//! interpolated between two slots in the same way.

use super::hops::{DelayedHop, MAX_STEPS_AHEAD, Steps};
use std::ops::Range;

/// The rows of all quantities of some links. The slots of a row are followed by [`MAX_STEPS_AHEAD`] more, so that
/// consecutive steps are consecutive in memory also at the end of the ring.
struct Rows {
    values: Vec<f64>,
    /// Number of quantities per link.
    width: usize,
    /// Number of slots per row, a power of two.
    slots: usize,
}

impl Rows {
    /// Slots for the present step and this number of others.
    fn new(links: usize, width: usize, steps: usize) -> Self {
        let slots = (steps + 1).next_power_of_two().max(MAX_STEPS_AHEAD);
        Self { values: vec![0.0; links * width * (slots + MAX_STEPS_AHEAD)], width, slots }
    }

    /// The first position of the row of a link's quantity `k`.
    #[inline]
    fn row(&self, link: usize, k: usize) -> usize {
        (link * self.width + k) * (self.slots + MAX_STEPS_AHEAD)
    }

    #[inline]
    fn slot(&self, step: usize) -> usize {
        step & (self.slots - 1)
    }
}

/// What links have emitted. The slots after the end of a ring repeat those at its beginning.
pub(super) struct Signals(Rows);

impl Signals {
    /// Zeros for `links` links with `width` quantities each, for delays of up to this number of steps.
    pub(super) fn new(links: usize, width: usize, steps: usize) -> Self {
        Self(Rows::new(links, width, steps))
    }

    /// Sets quantity `k` of a link at a step.
    #[inline]
    pub(super) fn set(&mut self, link: usize, step: usize, k: usize, value: f64) {
        let (row, slot) = (self.0.row(link, k), self.0.slot(step));
        self.0.values[row + slot] = value;
        if slot < MAX_STEPS_AHEAD {
            self.0.values[row + self.0.slots + slot] = value;
        }
    }

    /// Sets quantity `k` of a link at all steps.
    pub(super) fn fill(&mut self, link: usize, k: usize, value: f64) {
        (0..self.0.slots).for_each(|slot| self.set(link, slot, k, value));
    }

    /// Quantity `k` of a link at a step.
    pub(super) fn at(&self, link: usize, step: usize, k: usize) -> f64 {
        self.0.values[self.0.row(link, k) + self.0.slot(step)]
    }

    /// Quantity `k` of a link in `L` steps from `now`, one delay earlier, interpolated linearly. Values of steps that
    /// the link has not made have no meaning.
    #[inline]
    pub(super) fn before<const L: usize>(&self, link: usize, now: usize, delay: Steps, k: usize) -> [f64; L] {
        let oldest = self.0.slot(now.wrapping_sub(delay.whole() + 1));
        let values = &self.0.values[self.0.row(link, k) + oldest..][..L + 1];
        let fraction = delay.fraction();
        std::array::from_fn(|i| values[i + 1] + fraction * (values[i] - values[i + 1]))
    }

    /// Quantity `k` of a hop for these steps at the end of the path, whose last hop is `last`.
    pub(super) fn of_steps<const N: usize>(
        &self,
        hop: &DelayedHop,
        last: &DelayedHop,
        k: usize,
        steps: &Range<usize>,
    ) -> [f64; N] {
        let onward = hop.onward(last);
        let mut values = [0.0; N];
        for (value, n) in values.iter_mut().zip(steps.clone()) {
            [*value] = self.before(hop.link as usize, n, onward, k);
        }
        values
    }
}

/// Rates and carried quantities on their way to links. The slots after the end of a ring belong to its beginning and are
/// added to it when they arrive.
pub(super) struct Arrivals(Rows);

impl Arrivals {
    /// Nothing on the way to `links` links with `width` quantities each, for delays of up to this number of steps.
    pub(super) fn new(links: usize, width: usize, steps: usize) -> Self {
        Self(Rows::new(links, width, steps + MAX_STEPS_AHEAD))
    }

    /// Adds the values of `L` steps from `now` to quantity `k` of a link, one delay later.
    #[inline]
    pub(super) fn add<const L: usize>(
        &mut self,
        link: usize,
        k: usize,
        now: usize,
        delay: Steps,
        values: &[f64; L],
    ) {
        let first = self.0.row(link, k) + self.0.slot(now + delay.whole());
        let slots = &mut self.0.values[first..][..L + 1];
        let later = values.map(|value| value * delay.fraction());
        slots[0] += values[0] - later[0];
        for i in 1..L {
            slots[i] += (values[i] - later[i]) + later[i - 1];
        }
        slots[L] += later[L - 1];
    }

    /// Removes what arrives in quantity `k` of a link at a step.
    #[inline]
    pub(super) fn take(&mut self, link: usize, step: usize, k: usize) -> f64 {
        let (row, slot) = (self.0.row(link, k), self.0.slot(step));
        let arrived = std::mem::take(&mut self.0.values[row + slot]);
        if slot < MAX_STEPS_AHEAD {
            return arrived + std::mem::take(&mut self.0.values[row + self.0.slots + slot]);
        }
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interpolates a ramp over several turns of a ring, `L` steps at once. The arrival at step n is r(n - 2.5), the
    /// signal at step n that of step n - 8.25.
    fn interpolates<const L: usize>() {
        let (mut arrivals, mut signals) = (Arrivals::new(2, 2, 4), Signals::new(2, 2, 9));
        let (forward, backward) = (Steps::new(0.025, 0.01), Steps::new(0.0825, 0.01));
        for n in 0..200 {
            if n % L == 0 {
                arrivals.add::<L>(1, 1, n, forward, &std::array::from_fn(|i| (n + i) as f64));
                let read: [f64; L] = signals.before(1, n, backward, 1);
                for (i, value) in read.into_iter().enumerate().filter(|_| n > 9) {
                    assert!((value - ((n + i) as f64 - 8.25)).abs() < 1e-3, "{n} {i}: {value}");
                }
            }
            let arrived = arrivals.take(1, n, 1);
            assert!(n < 4 || (arrived - (n as f64 - 2.5)).abs() < 1e-6, "{L} {n}: {arrived}");
            assert_eq!(arrivals.take(1, n, 0) + arrivals.take(0, n, 1), 0.0);
            signals.set(1, n, 1, n as f64);
        }
    }

    #[test]
    fn rates_and_signals_are_interpolated_between_steps() {
        interpolates::<1>();
        interpolates::<2>();
        interpolates::<8>();
    }

    /// A signal and a rate, of which each step has another value, over delays of `steps` and of a quarter of a step less.
    /// Rates are added as many steps ahead as possible.
    fn keeps_all_steps_of_its_delay(steps: usize) {
        const AHEAD: usize = MAX_STEPS_AHEAD;
        let value = |n: f64| if n < 0.0 { 0.0 } else { 1.0 + n };
        for delay in [steps as f64, steps as f64 - 0.25] {
            let (mut arrivals, mut signals) = (Arrivals::new(1, 1, steps), Signals::new(1, 1, steps));
            let in_steps = Steps::new(delay, 1.0);
            for n in 0..4 * (steps + AHEAD) {
                if n % AHEAD == 0 {
                    arrivals.add::<AHEAD>(0, 0, n, in_steps, &std::array::from_fn(|i| value((n + i) as f64)));
                }
                let (arrived, since) = (arrivals.take(0, n, 0), n as f64 - delay);
                // Before the first rate nothing arrives, so that the first one is not interpolated.
                let expected = if since < 0.0 { value(0.0) * (since + 1.0).max(0.0) } else { value(since) };
                assert!((arrived - expected).abs() < 1e-9, "{delay}, {n}: {arrived} {expected}");
                signals.set(0, n, 0, value(n as f64));
                let [signal] = signals.before(0, n, in_steps, 0);
                assert!(n <= steps || (signal - value(since)).abs() < 1e-9, "{delay}, {n}: {signal}");
            }
        }
    }

    #[test]
    fn rings_hold_the_longest_delay_whatever_their_length() {
        (1..=130).for_each(keeps_all_steps_of_its_delay);
    }
}
