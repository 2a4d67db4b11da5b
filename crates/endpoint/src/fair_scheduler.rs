//! Whose turn it is: start-time fair queueing (Goyal, Vin and Cheng 1997) among those that have something to send.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Virtual time is counted in bytes per unit of weight, in 2^-20ths.
const VIRTUAL_BITS: u32 = 20;

/// One of those that share.
#[derive(Clone, Debug)]
struct Party {
    /// Virtual time per byte.
    slowness: u64,
    /// The finish tag of what it sent last or, if it waits, the start tag of what comes next.
    tag: u64,
}

/// Each has a start tag in virtual time; the least is served first. What it sends moves its tag by bytes over weight.
#[derive(Clone, Debug, Default)]
pub struct FairTurns {
    parties: Vec<Party>,
    /// Those that wait by (start tag, order of entry).
    waiting: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    /// The start tag of what was served last.
    virtual_time: u64,
}

impl FairTurns {
    /// Parties of these weights, numbered from 0; nobody waits.
    pub fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut turns = Self::default();
        weights.into_iter().for_each(|weight| turns.add(weight));
        turns
    }

    /// One more.
    pub fn add(&mut self, weight: f64) {
        let slowness = ((f64::from(1 << VIRTUAL_BITS) / weight + 0.5) as u64).max(1);
        self.parties.push(Party { slowness, tag: 0 });
    }

    /// One that did not wait has something to send now. What it did not use claims nothing for the past.
    pub fn enlist(&mut self, who: u32) {
        let Some(party) = self.parties.get_mut(who as usize) else { return };
        party.tag = party.tag.max(self.virtual_time);
        self.waiting.push(Reverse((party.tag, self.order, who)));
        self.order += 1;
    }

    /// Whose turn it is.
    pub fn next(&self) -> Option<u32> {
        self.waiting.peek().map(|Reverse((_, _, who))| *who)
    }

    /// Whose turn it is sends so many bytes, and waits again if it has `more`.
    pub fn serve(&mut self, bytes: u64, more: bool) {
        let Some(Reverse((start, _, who))) = self.waiting.pop() else { return };
        self.virtual_time = start;
        if let Some(party) = self.parties.get_mut(who as usize) {
            party.tag = start.saturating_add(bytes.saturating_mul(party.slowness));
        }
        if more {
            self.enlist(who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_wait_share_by_weight_whatever_the_size_of_what_they_send() {
        let (weights, sizes) = ([1.0, 2.0, 5.0], [1500, 300, 900]);
        let mut turns = FairTurns::new(weights);
        (0..3).for_each(|who| turns.enlist(who));
        let mut served = [0_u64; 3];
        for _ in 0..20_000 {
            let who = turns.next().unwrap() as usize;
            turns.serve(sizes[who], true);
            served[who] += sizes[who];
        }
        // Theorem 1 of the paper: normalized service differs by at most l_i/w_i + l_j/w_j.
        let normal = |who: usize| served[who] as f64 / weights[who];
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let bound = sizes[i] as f64 / weights[i] + sizes[j] as f64 / weights[j];
            assert!((normal(i) - normal(j)).abs() <= bound + 1.0, "{served:?}");
        }
    }

    #[test]
    fn one_that_was_idle_claims_nothing_for_the_past() {
        let mut turns = FairTurns::new([1.0, 1.0]);
        turns.enlist(0);
        (0..50).for_each(|_| turns.serve(1000, true));
        turns.enlist(1);
        let order: Vec<_> = (0..6)
            .map(|_| {
                let who = turns.next();
                turns.serve(1000, true);
                who
            })
            .collect();
        assert_eq!(order.iter().filter(|who| **who == Some(0)).count(), 3, "{order:?}");
    }
}
