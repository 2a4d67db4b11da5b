//! Where each hop reads and writes in the rings of links, and the rings themselves.
//!
//! A rate that reaches a link `(k + f) h` later adds `1 - f` of itself to the link's slot `k` steps ahead and `f` to the
//! one after: that is the sum of linearly interpolated rates, found without a search. What a link says is read back
//! between two slots likewise.

use crate::assembly::{Assembly, HopData};
use crate::error::Error;
use millpond_law::fluid::{InputSet, Verdicts};

/// No delay has as many steps: they are counted in 16 bits.
const MAX_DELAY_STEPS: f64 = 30_000.0;

/// A delay in steps, rounded to 1/65536 of one.
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

    /// What is left of it after a shorter one.
    fn since(self, shorter: Self) -> Self {
        let parts = |steps: Self| u32::from(steps.whole) << 16 | u32::from(steps.parts);
        let left = parts(self).saturating_sub(parts(shorter));
        Self { whole: (left >> 16) as u16, parts: left as u16 }
    }
}

/// Where each thing that a link says lies in its record, if any sender hears it and any link ever says it. Signals of
/// routers follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecordLayout {
    /// Queueing delay and its slope.
    pub(super) queueing: Option<usize>,
    /// Probability of a mark.
    pub(super) marks: Option<usize>,
    /// Probability of a loss.
    pub(super) losses: Option<usize>,
    /// How many numbers these are.
    pub(super) count: usize,
}

impl RecordLayout {
    fn new(asm: &Assembly) -> Self {
        let heard = |of: fn(InputSet) -> bool| asm.classes.iter().any(|class| of(class.law.inputs_used()));
        let verdict = |wanted| asm.sets.iter().any(|set| set.verdicts() == Some(wanted));
        let marks = verdict(Verdicts::Marks) && (heard(|h| h.marked) || heard(|h| h.lost));
        let can_lose = verdict(Verdicts::Drops) || asm.links.iter().any(|link| link.buffer.is_finite());
        let mut count = 0;
        let mut place = |is_said: bool, width: usize| {
            let place = is_said.then_some(count);
            count += if is_said { width } else { 0 };
            place
        };
        let queueing = place(heard(|h| h.queueing), 2);
        let marks = place(marks, 1);
        let losses = place(can_lose && heard(|h| h.lost), 1);
        Self { queueing, marks, losses, count }
    }
}

/// One hop, as compact as it can be: all of them are read in each step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DelayedHop {
    pub(super) link: u32,
    pub(super) forward: Steps,
    pub(super) backward: Steps,
    /// Where the loop's own protocol has its sums in what arrives, less one; its signals in what is said.
    pub(super) own: u16,
    pub(super) signals: u16,
}

/// So many steps at most are done at once for flows that hear nothing newer.
pub(super) const MAX_STEPS_AHEAD: usize = 8;

impl DelayedHop {
    /// After how many whole steps what the link says is heard.
    pub(super) fn heard_after(&self) -> usize {
        self.backward.whole()
    }

    /// From here to another link further on.
    pub(super) fn onward(&self, other: &Self) -> Steps {
        other.forward.since(self.forward)
    }
}

/// A ring of records for each link, one record per step.
pub(super) struct RingBuffers {
    values: Vec<f64>,
    pub(super) width: usize,
    /// Slots of each link, a power of two.
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

    /// A link's record at a step.
    #[inline]
    pub(super) fn at(&mut self, link: usize, step: usize) -> &mut [f64] {
        let place = self.place(link, step);
        &mut self.values[place..][..self.width]
    }

    /// Every slot says this.
    pub(super) fn fill(&mut self, link: usize, record: &[f64]) {
        (0..self.slots).for_each(|slot| self.at(link, slot).copy_from_slice(record));
    }

    /// What a wire reads now in one place of the records.
    #[inline]
    pub(super) fn read(&self, hop: &DelayedHop, now: usize, k: usize) -> f64 {
        self.before(hop.link as usize, (now, hop.backward), k)
    }

    /// One place of a link's records so long before a step, linear between two steps.
    #[inline]
    pub(super) fn before(&self, link: usize, (now, delay): (usize, Steps), k: usize) -> f64 {
        let then = now.wrapping_sub(delay.whole());
        let newer = self.values[self.place(link, then) + k];
        let older = self.values[self.place(link, then.wrapping_sub(1)) + k];
        newer + delay.fraction() * (older - newer)
    }

    /// Sends a quantity on its way.
    #[inline]
    pub(super) fn send(&mut self, hop: &DelayedHop, own: usize, now: usize, value: f64) {
        let then = now + hop.forward.whole();
        let first = self.place(hop.link as usize, then) + own;
        let second = self.place(hop.link as usize, then + 1) + own;
        let later = value * hop.forward.fraction();
        self.values[first] += value - later;
        self.values[second] += later;
    }
}

/// Is a step short enough for every word, and long enough for the longest delay?
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
            return Err(Error::StepTooLong { step, name, link, delay: hop.backward, longest: shortest });
        }
    }
    Ok(())
}

/// One hop of a loop, `said` being the length of what every link says.
fn delayed_hop(asm: &Assembly, hop: &HopData, step: f64, said: usize) -> DelayedHop {
    let (own, signals) = hop.router.map_or((0, 0), |router| asm.slots(hop.link, router, said));
    DelayedHop {
        link: hop.link as u32,
        forward: Steps::new(hop.forward, step),
        backward: Steps::new(hop.backward, step),
        own: own as u16,
        signals: signals as u16,
    }
}

/// All hops, loops in the order of the classes.
pub(super) struct DelayedHops {
    pub(super) hops: Vec<DelayedHop>,
    /// Of each loop in that order, where its wires begin; one more at the end.
    pub(super) first: Vec<u32>,
    /// What is on its way to the links.
    pub(super) arriving: RingBuffers,
    /// What the links have said, and where it lies in a record.
    pub(super) said: RingBuffers,
    pub(super) record: RecordLayout,
}

impl DelayedHops {
    /// For steps that [`check`] has found right.
    pub(super) fn new(asm: &Assembly, step: f64) -> Self {
        let order: Vec<usize> = asm.classes.iter().flat_map(|class| class.loops.iter().copied()).collect();
        let record = RecordLayout::new(asm);
        let (mut hops, mut first) = (Vec::with_capacity(asm.hops.len()), vec![0]);
        for &l in &order {
            hops.extend(asm.hops_of(l).iter().map(|hop| delayed_hop(asm, hop, step, record.count)));
            first.push(hops.len() as u32);
        }
        let widest =
            |of: fn(&Assembly, usize) -> usize| (0..asm.links.len()).map(|l| of(asm, l)).max().unwrap_or(0);
        let longest =
            |of: fn(&HopData) -> f64| (asm.hops.iter().map(of).fold(0.0, f64::max) / step) as usize + 1;
        let arriving = RingBuffers::new(
            asm.links.len(),
            1 + widest(Assembly::sums_at),
            longest(|hop| hop.forward) + MAX_STEPS_AHEAD,
        );
        let width = record.count + widest(Assembly::signals_at);
        let said = RingBuffers::new(asm.links.len(), width, longest(|hop| hop.backward));
        Self { hops, first, arriving, said, record }
    }

    /// The places of a loop's wires; loops in the order of the classes.
    #[inline]
    pub(super) fn range(&self, l: usize) -> std::ops::Range<usize> {
        self.first[l] as usize..self.first[l + 1] as usize
    }

    /// A loop's wires.
    #[inline]
    pub(super) fn of(&self, l: usize) -> &[DelayedHop] {
        &self.hops[self.range(l)]
    }
}

impl Assembly {
    /// How many sums a link's routers ask for: the rate of their own protocol, and what it carries.
    fn sums_at(&self, link: usize) -> usize {
        self.links[link].routers.iter().map(|(_, set, _)| 1 + self.sets[*set].carried).sum()
    }

    fn signals_at(&self, link: usize) -> usize {
        self.links[link].routers.iter().map(|(_, set, _)| self.sets[*set].law.signal_names().len()).sum()
    }

    /// Where a router's sums begin in what arrives, and its signals in what is said.
    pub(super) fn slots(&self, link: usize, router: (usize, usize), said: usize) -> (usize, usize) {
        let (mut own, mut signals) = (1, said);
        for (_, set, place) in &self.links[link].routers {
            if (*set, *place) == router {
                break;
            }
            own += 1 + self.sets[*set].carried;
            signals += self.sets[*set].law.signal_names().len();
        }
        (own, signals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_arrives_interpolated_and_what_is_said_is_read_back() {
        let mut rings = RingBuffers::new(2, 1, 8);
        let hop = DelayedHop {
            link: 1,
            forward: Steps::new(0.025, 0.01),
            backward: Steps::new(0.03, 0.01),
            ..DelayedHop::default()
        };
        // A ramp: r(n) = n. At step n there is r(n - 2.5).
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
}
