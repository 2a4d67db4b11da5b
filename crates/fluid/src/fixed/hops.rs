//! Delays in steps, and where each hop reads and writes in the ring buffers of its link.

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

/// Number of links in a block, such that a block's data fit into the cache and large networks have many blocks.
pub(super) const LINKS: usize = 512;

/// The block of a link, and its position there.
#[inline]
pub(super) fn place_of(link: usize) -> (usize, usize) {
    (link / LINKS, link % LINKS)
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
    pub(super) fn new(asm: &Assembly) -> Self {
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
pub(super) const MAX_STEPS_AHEAD: usize = 16;

/// Calls a method whose constant parameter is the least of these numbers of steps that is not below the first argument. The
/// greatest of them is [`MAX_STEPS_AHEAD`].
macro_rules! with_constant_steps {
    ($steps:expr, [$($number:literal)*], $object:ident.$method:ident $arguments:tt) => {
        match $steps {
            $(0..=$number => $object.$method::<$number> $arguments,)*
            _ => $object.$method::<{ $crate::fixed::hops::MAX_STEPS_AHEAD }> $arguments,
        }
    };
}
pub(super) use with_constant_steps;

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

/// One hop of a flow, as a source of signals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SignalHop {
    /// The link's block and its position there.
    pub(super) block: u16,
    pub(super) place: u16,
    pub(super) delay: Steps,
    /// Position of the signals of the loop's own protocol in the record of the link.
    pub(super) signals: u16,
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
}

impl DelayedHops {
    /// For a step that has passed [`check`]; `emitted` is the number of values before the signals of routers in a
    /// link's record.
    pub(super) fn new(asm: &Assembly, step: f64, emitted: usize) -> Self {
        let (mut hops, mut first) = (Vec::with_capacity(asm.hops.len()), vec![0]);
        for &l in asm.sender_classes.iter().flat_map(|class| &class.loops) {
            hops.extend(asm.hops_of(l).iter().map(|hop| delayed_hop(asm, hop, step, emitted)));
            first.push(hops.len() as u32);
        }
        Self { hops, first }
    }

    /// The range of a loop's hops; `loop_index` counts loops in the order of the classes.
    pub(super) fn range(&self, loop_index: usize) -> Range<usize> {
        self.first[loop_index] as usize..self.first[loop_index + 1] as usize
    }

    /// The hops of a loop.
    pub(super) fn of(&self, loop_index: usize) -> &[DelayedHop] {
        &self.hops[self.range(loop_index)]
    }
}

impl Assembly {
    /// Number of sums for the routers of a link: the rate of each protocol and the quantities that its senders carry.
    pub(super) fn sums_at(&self, link: usize) -> usize {
        self.links[link].routers.iter().map(|router| 1 + self.link_sets[router.law.set].carried).sum()
    }

    pub(super) fn signals_at(&self, link: usize) -> usize {
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
    fn a_suggested_step_has_at_most_four_digits_and_is_not_too_long() {
        for (longest, step) in [(0.009_999_999_999_9, 0.01), (0.012_345_678, 0.012_34), (0.0, 0.0)] {
            assert!((round_down_step(longest) - step).abs() < 1e-15, "{longest}");
        }
    }
}
