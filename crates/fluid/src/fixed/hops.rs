//! The ring buffers of links, and where each hop reads and writes in them.
//!
//! A rate that reaches a link `(k + f) h` later adds `1 - f` of itself to the link's slot `k` steps ahead and `f` to
//! the next slot. The result is the sum of linearly interpolated rates without a search. The signals of a link are
//! interpolated between two slots in the same way.

use crate::assembly::{Assembly, HopData, LinkLaw, RouterData};
use crate::error::Error;
use millpond_law::fluid::{InputSet, Verdicts};
use std::ops::Range;

/// Limit on a delay in steps, which is stored in 16 bits.
const MAX_DELAY_STEPS: f64 = 30_000.0;

/// A delay in steps, rounded to 1/65536 of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Steps {
    whole: u16,
    parts: u16,
}

impl Steps {
    const PARTS: f64 = 65536.0;

    pub(super) fn new(delay: f64, step: f64) -> Self {
        let parts = (delay / step * Self::PARTS).round() as u64;
        Self { whole: (parts >> 16) as u16, parts: parts as u16 }
    }

    pub(super) fn whole(self) -> usize {
        usize::from(self.whole)
    }

    #[inline]
    pub(super) fn fraction(self) -> f64 {
        f64::from(self.parts) * (1.0 / Self::PARTS)
    }

    /// The difference to a shorter delay.
    fn since(self, shorter: Self) -> Self {
        let parts = |steps: Self| u32::from(steps.whole) << 16 | u32::from(steps.parts);
        let left = parts(self).saturating_sub(parts(shorter));
        Self { whole: (left >> 16) as u16, parts: left as u16 }
    }
}

/// Positions of the quantities in a link's record. A quantity that no link emits or no sender uses has no position. The
/// signals of routers follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecordLayout {
    /// Queueing delay, then its derivative.
    pub(super) queueing: Option<usize>,
    /// Marking probability.
    pub(super) marks: Option<usize>,
    /// Loss probability.
    pub(super) losses: Option<usize>,
    /// Number of values before the signals of routers.
    pub(super) count: usize,
}

impl RecordLayout {
    fn new(asm: &Assembly) -> Self {
        let is_used =
            |of: fn(InputSet) -> bool| asm.sender_classes.iter().any(|class| of(class.law.inputs_used()));
        let verdict = |wanted| asm.link_sets.iter().any(|set| set.verdicts() == Some(wanted));
        let marks = verdict(Verdicts::Marks) && (is_used(|h| h.marked) || is_used(|h| h.lost));
        let can_lose = verdict(Verdicts::Drops) || asm.links.iter().any(|link| link.buffer.is_finite());
        let mut count = 0;
        let mut place = |is_said: bool, width: usize| {
            let place = is_said.then_some(count);
            count += if is_said { width } else { 0 };
            place
        };
        let queueing = place(is_used(|h| h.queueing), 2);
        let marks = place(marks, 1);
        let losses = place(can_lose && is_used(|h| h.lost), 1);
        Self { queueing, marks, losses, count }
    }
}

/// One hop in compact form, because every step reads all hops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DelayedHop {
    pub(super) link: u32,
    pub(super) forward: Steps,
    pub(super) backward: Steps,
    /// Position of the sums of the loop's own protocol in the arrivals record, and of its signals in the record of the
    /// link; zero if there is no router.
    pub(super) sums: u16,
    pub(super) signals: u16,
}

/// Limit on the number of steps that a block of flows advances at once.
pub(super) const MAX_STEPS_AHEAD: usize = 8;

impl DelayedHop {
    /// Delay of the link's signals, in whole steps.
    pub(super) fn feedback_steps(&self) -> usize {
        self.backward.whole()
    }

    /// Delay from this link to another link of the same path.
    pub(super) fn onward(&self, other: &Self) -> Steps {
        other.forward.since(self.forward)
    }
}

/// A ring buffer of records for each link, one record per step.
pub(super) struct RingBuffers {
    values: Vec<f64>,
    pub(super) width: usize,
    /// Number of slots per link, a power of two.
    slots: usize,
}

impl RingBuffers {
    pub(super) fn new(links: usize, width: usize, steps: usize) -> Self {
        let slots = (steps + 2).next_power_of_two();
        Self { values: vec![0.0; links * slots * width], width, slots }
    }

    #[inline]
    fn place(&self, link: usize, step: usize) -> usize {
        (link * self.slots + (step & (self.slots - 1))) * self.width
    }

    /// The record of a link at a step.
    #[inline]
    pub(super) fn at(&mut self, link: usize, step: usize) -> &mut [f64] {
        let place = self.place(link, step);
        &mut self.values[place..][..self.width]
    }

    /// Writes the same record to all slots of a link.
    pub(super) fn fill(&mut self, link: usize, record: &[f64]) {
        (0..self.slots).for_each(|slot| self.at(link, slot).copy_from_slice(record));
    }

    /// The value at position `k` of the record that a hop receives at step `now`.
    #[inline]
    pub(super) fn read(&self, hop: &DelayedHop, now: usize, k: usize) -> f64 {
        self.before(hop.link as usize, now, hop.backward, k)
    }

    /// The values at position `k` of a hop's records for these steps at the end of the path, whose last hop is `last`.
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
            *value = self.before(hop.link as usize, n, onward, k);
        }
        values
    }

    /// The value at position `k` of a link's records one delay before step `now`, interpolated linearly.
    #[inline]
    pub(super) fn before(&self, link: usize, now: usize, delay: Steps, k: usize) -> f64 {
        let then = now.wrapping_sub(delay.whole());
        let newer = self.values[self.place(link, then) + k];
        let older = self.values[self.place(link, then.wrapping_sub(1)) + k];
        newer + delay.fraction() * (older - newer)
    }

    /// Adds a value to the records in which it arrives.
    #[inline]
    pub(super) fn send(&mut self, hop: &DelayedHop, sums: usize, now: usize, value: f64) {
        let then = now + hop.forward.whole();
        let first = self.place(hop.link as usize, then) + sums;
        let second = self.place(hop.link as usize, then + 1) + sums;
        let later = value * hop.forward.fraction();
        self.values[first] += value - later;
        self.values[second] += later;
    }
}

/// Checks that the step is not longer than any feedback delay, and that the longest delay has a countable number of
/// steps.
pub(super) fn check(asm: &Assembly, step: f64) -> Result<(), Error> {
    let steps = (asm.longest_delay() / step).ceil();
    if steps >= MAX_DELAY_STEPS {
        return Err(Error::StepTooShort {
            step,
            delay: asm.longest_delay(),
            shortest: asm.longest_delay() / MAX_DELAY_STEPS,
        });
    }
    for (l, data) in asm.loops.iter().enumerate() {
        if let Some(hop) = asm.hops_of(l).iter().find(|hop| hop.backward < step * (1.0 - 1e-9)) {
            let (name, link) = (data.name.clone(), asm.links[hop.link].name.clone());
            let shortest = asm.hops.iter().map(|hop| hop.backward).fold(f64::INFINITY, f64::min);
            return Err(Error::StepTooLong {
                step,
                name,
                link,
                delay: hop.backward,
                longest: round_down_step(shortest),
            });
        }
    }
    Ok(())
}

/// A step of at most four digits that is not longer than this one, both in seconds. A rounding error of the delays below
/// 1e-10 does not count, so that a delay of 10 ms gives 10 ms.
fn round_down_step(longest: f64) -> f64 {
    let picos = (longest * (1.0 + 1e-10) * 1e12) as u64;
    let unit = 10_u64.pow(picos.checked_ilog10().unwrap_or(0).saturating_sub(3));
    (picos / unit * unit) as f64 / 1e12
}

/// The positions of a router in the records of its link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouterSlots {
    /// Its first sum in the record of arrivals.
    pub(super) sums: usize,
    /// Its first signal in the link's record.
    pub(super) signals: usize,
}

/// The compact form of a hop. `first_signal` is the position of the first router's signals in a record.
fn delayed_hop(asm: &Assembly, hop: &HopData, step: f64, emitted: usize) -> DelayedHop {
    let RouterSlots { sums, signals } =
        hop.router.map_or(RouterSlots::default(), |router| asm.slots(hop.link, router, emitted));
    DelayedHop {
        link: hop.link as u32,
        forward: Steps::new(hop.forward, step),
        backward: Steps::new(hop.backward, step),
        sums: sums as u16,
        signals: signals as u16,
    }
}

/// All hops; loops in the order of the classes.
pub(super) struct DelayedHops {
    pub(super) hops: Vec<DelayedHop>,
    /// First hop of each loop in that order, and the number of hops.
    pub(super) first: Vec<u32>,
    /// Rates and carried quantities on their way to the links.
    pub(super) arriving: RingBuffers,
    /// The signals that links have emitted, and the layout of a record.
    pub(super) emitted: RingBuffers,
    pub(super) record: RecordLayout,
}

impl DelayedHops {
    /// For a step that has passed [`check`].
    pub(super) fn new(asm: &Assembly, step: f64) -> Self {
        let order: Vec<usize> =
            asm.sender_classes.iter().flat_map(|class| class.loops.iter().copied()).collect();
        let record = RecordLayout::new(asm);
        let (mut hops, mut first) = (Vec::with_capacity(asm.hops.len()), vec![0]);
        for &l in &order {
            hops.extend(asm.hops_of(l).iter().map(|hop| delayed_hop(asm, hop, step, record.count)));
            first.push(hops.len() as u32);
        }
        let largest =
            |of: fn(&Assembly, usize) -> usize| (0..asm.links.len()).map(|l| of(asm, l)).max().unwrap_or(0);
        let longest =
            |of: fn(&HopData) -> f64| (asm.hops.iter().map(of).fold(0.0, f64::max) / step) as usize + 1;
        let arriving = RingBuffers::new(
            asm.links.len(),
            1 + largest(Assembly::sums_at),
            longest(|hop| hop.forward) + MAX_STEPS_AHEAD,
        );
        let width = record.count + largest(Assembly::signals_at);
        let emitted = RingBuffers::new(asm.links.len(), width, longest(|hop| hop.backward));
        Self { hops, first, arriving, emitted, record }
    }

    /// The range of a loop's hops; `l` counts loops in the order of the classes.
    #[inline]
    pub(super) fn range(&self, loop_index: usize) -> std::ops::Range<usize> {
        self.first[loop_index] as usize..self.first[loop_index + 1] as usize
    }

    /// The hops of a loop.
    #[inline]
    pub(super) fn of(&self, loop_index: usize) -> &[DelayedHop] {
        &self.hops[self.range(loop_index)]
    }
}

impl Assembly {
    /// Number of sums for the routers of a link: the rate of each protocol and the quantities that its senders carry.
    fn sums_at(&self, link: usize) -> usize {
        self.links[link].routers.iter().map(|router| 1 + self.link_sets[router.law.set].carried).sum()
    }

    fn signals_at(&self, link: usize) -> usize {
        let signals = |router: &RouterData| self.link_sets[router.law.set].law.signal_names().len();
        self.links[link].routers.iter().map(signals).sum()
    }

    /// The positions of a router at a link.
    pub(super) fn slots(&self, link: usize, law: LinkLaw, emitted: usize) -> RouterSlots {
        let (mut sums, mut signals) = (1, emitted);
        for router in self.links[link].routers.iter().take_while(|router| router.law != law) {
            let set = &self.link_sets[router.law.set];
            sums += 1 + set.carried;
            signals += set.law.signal_names().len();
        }
        RouterSlots { sums, signals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_signals_are_interpolated_between_steps() {
        let mut rings = RingBuffers::new(2, 1, 8);
        let hop = DelayedHop {
            link: 1,
            forward: Steps::new(0.025, 0.01),
            backward: Steps::new(0.03, 0.01),
            ..DelayedHop::default()
        };
        // A ramp: r(n) = n. The arrival at step n is r(n - 2.5).
        for n in 0..20 {
            rings.send(&hop, 0, n, n as f64);
            let arrived = std::mem::take(&mut rings.at(1, n)[0]);
            if n > 3 {
                assert!((arrived - (n as f64 - 2.5)).abs() < 1e-6, "{n}: {arrived}");
            }
        }
        let mut rings = RingBuffers::new(2, 1, 8);
        for n in 0..20_usize {
            rings.at(1, n)[0] = n as f64;
            let read = rings.read(&hop, n, 0);
            assert!(n < 4 || (read - (n as f64 - 3.0)).abs() < 1e-6);
        }
    }

    #[test]
    fn a_suggested_step_has_at_most_four_digits_and_is_not_too_long() {
        for (longest, step) in [(0.009_999_999_999_9, 0.01), (0.012_345_678, 0.012_34), (0.0, 0.0)] {
            assert!((round_down_step(longest) - step).abs() < 1e-15, "{longest}");
        }
    }
}
