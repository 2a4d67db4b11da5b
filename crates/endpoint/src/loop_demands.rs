//! The demands of incoming loops that share a sender, and its division among them: weighted max-min fairness, where
//! loops that deliver less than their share leave the rest to the others.

use alloc::vec;
use alloc::vec::Vec;
use millpond_units::{Bytes, Span, Time};

/// Arrivals are counted for as long.
const PERIOD: Span = Span::from_millis(50);

/// Periods over which a demand is measured. Together they must be longer than the round-trip time of an incoming loop,
/// which needs that long to follow a larger share.
const PERIODS: usize = 4;

/// Periods in which a loop that has become active still grows, and counts as one that uses its share.
const GROWTH_PERIODS: u32 = 20;

/// A loop that delivers less than this part of its share, and as many packets less, is limited by something else.
const USED_SHARE: f64 = 0.95;
const PACKETS_OF_NOISE: f64 = 2.0;

/// The most by which the share of a loop grows in a period beyond that of its weight.
const MOST_GROWTH: f64 = 1.25;

/// One incoming loop.
#[derive(Clone, Debug)]
struct LoopDemand {
    /// Bits that arrived in this period and in those before it, the latest first.
    arrived: [f64; PERIODS + 1],
    /// Bits that its share permitted in these periods.
    permitted: [f64; PERIODS + 1],
    /// True if its queue has been empty in this period.
    ran_empty: bool,
    /// Periods since it became active.
    age: u32,
    /// Its demand in bit/s; infinite if it uses its share.
    demand: f64,
}

impl Default for LoopDemand {
    fn default() -> Self {
        Self {
            arrived: [0.0; PERIODS + 1],
            permitted: [0.0; PERIODS + 1],
            ran_empty: false,
            age: 0,
            demand: f64::INFINITY,
        }
    }
}

impl LoopDemand {
    /// Ends a period in which its share of the rate was this, in bit/s; `packet` in bits.
    fn end_period(&mut self, share: f64, packet: f64) {
        self.permitted[0] = share * PERIOD.secs();
        let arrived: f64 = self.arrived[..PERIODS].iter().sum();
        // The least of all periods, as its sender may still follow an older share.
        let least = self.permitted.iter().copied().fold(f64::INFINITY, f64::min) * PERIODS as f64;
        let is_limited = self.ran_empty
            && self.age >= GROWTH_PERIODS
            && arrived + PACKETS_OF_NOISE * packet < USED_SHARE * least;
        // A demand that has grown counts at once.
        let latest = (self.arrived[0] - PACKETS_OF_NOISE * packet) / PERIOD.secs();
        let mean = arrived / (PERIODS as f64 * PERIOD.secs());
        self.demand = if is_limited { mean.max(latest) } else { f64::INFINITY };
        self.age = self.age.saturating_add(1);
        self.ran_empty = false;
        self.arrived.rotate_right(1);
        self.permitted.rotate_right(1);
        self.arrived[0] = 0.0;
    }
}

/// The demands of all incoming loops.
#[derive(Clone, Debug)]
pub(crate) struct LoopDemands {
    loops: Vec<LoopDemand>,
    /// When the current period ends; none before the first arrival.
    period_end: Option<Time>,
    /// The most that a loop of weight one may receive, as a multiple of what it receives if all use their shares.
    most_level: f64,
}

impl LoopDemands {
    /// Loops that use their shares.
    pub(crate) fn new(loops: usize) -> Self {
        Self { loops: vec![LoopDemand::default(); loops], period_end: None, most_level: 1.0 }
    }

    /// A packet of this size arrived from an incoming loop.
    pub(crate) fn on_arrival(&mut self, incoming: u32, bytes: Bytes) {
        if let Some(demand) = self.loops.get_mut(incoming as usize) {
            demand.arrived[0] += bytes.bits() as f64;
        }
    }

    /// The queue of a stream of an incoming loop is empty.
    pub(crate) fn on_empty(&mut self, incoming: u32) {
        if let Some(demand) = self.loops.get_mut(incoming as usize) {
            demand.ran_empty = true;
        }
    }

    /// True if a period has ended: [`Self::end_period`] follows.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        now >= *self.period_end.get_or_insert(now + PERIOD)
    }

    /// Ends a period: the weights of the active loops, zero for the others, the rate of the sender in bit/s, and the size of a
    /// packet.
    pub(crate) fn end_period(&mut self, now: Time, weights: &[f64], rate: f64, packet: Bytes) {
        self.period_end = Some(now + PERIOD);
        let fair = rate / weights.iter().sum::<f64>();
        let level = self.level(weights, rate);
        for (demand, weight) in self.loops.iter_mut().zip(weights) {
            match *weight > 0.0 {
                true => demand.end_period(weight * level, packet.bits() as f64),
                false => *demand = LoopDemand::default(),
            }
        }
        self.most_level = MOST_GROWTH * (level / fair).max(1.0);
    }

    /// The share of an incoming loop in the rate, in bit/s, of the sender.
    pub(crate) fn share(&self, incoming: u32, weights: &[f64], rate: f64) -> f64 {
        let weight = weights.get(incoming as usize).copied().unwrap_or(0.0);
        weight * self.level(weights, rate) / rate
    }

    /// The level l of the max-min allocation `min(demand, w l)` of a rate, in bit/s for a weight of one: no loop without a
    /// limit receives less, and if all are limited, one more loop would receive what they leave. It grows by steps.
    fn level(&self, weights: &[f64], rate: f64) -> f64 {
        let fair = rate / weights.iter().sum::<f64>();
        filled_level(weights, rate, |index| {
            self.loops.get(index).map_or(f64::INFINITY, |demand| demand.demand)
        })
        .min(fair * self.most_level)
    }
}

/// The level l with `sum min(demand, w l) = rate`. If the demands are less than the rate, that of the greatest demand is
/// taken as unlimited.
fn filled_level(weights: &[f64], rate: f64, demand: impl Fn(usize) -> f64) -> f64 {
    let active = || weights.iter().copied().enumerate().filter(|(_, weight)| *weight > 0.0);
    let greatest = active().map(|(index, weight)| demand(index) / weight).fold(0.0, f64::max);
    let mut level = rate / weights.iter().sum::<f64>();
    // Each round finds another loop whose demand is below the level, or ends.
    for _ in weights {
        let (mut left, mut sum) = (rate, 0.0);
        for (index, weight) in active() {
            let demand = demand(index);
            if demand < weight * level && demand / weight < greatest {
                left -= demand;
            } else {
                sum += weight;
            }
        }
        let next = left / sum;
        if next <= level {
            break;
        }
        level = next;
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEDY: f64 = f64::INFINITY;
    const PACKET: Bytes = Bytes::new(1250);

    /// 20 bit/s for the weights 1, 3 and 4: 2.5 per weight without demands.
    fn level(demands: [f64; 3]) -> f64 {
        filled_level(&[1.0, 3.0, 4.0], 20.0, |index| demands[index])
    }

    #[test]
    fn what_limited_loops_leave_is_divided_by_the_weights_of_the_others() {
        assert_eq!(level([GREEDY; 3]), 2.5);
        assert_eq!(level([GREEDY, GREEDY, 4.0]), 4.0, "16 for the weights 1 and 3");
        assert_eq!(level([GREEDY, 9.0, 4.0]), 7.0, "9 is less than 3 * 4");
        assert_eq!(level([GREEDY, 13.0, 4.0]), 4.0, "13 is more than 3 * 4");
        assert_eq!(level([GREEDY, GREEDY, 12.0]), 2.5, "more than its share");
        // All limited: 20 less the two smaller demands per weight, 1 and 2, are left for a loop of weight 3.
        assert_eq!(level([1.0, 9.0, 2.0]), 17.0 / 3.0);
        assert_eq!(filled_level(&[2.0, 0.0], 20.0, |_| 3.0), 10.0, "one loop has the whole rate");
    }

    /// Loops at 8 Mbit/s, 40 packets in a period, of which each period delivers these packets.
    fn periods(demands: &mut LoopDemands, weights: &[f64], packets: &[u64], count: u32) {
        for _ in 0..count {
            for (incoming, packets) in (0..).zip(packets) {
                demands.on_arrival(incoming, PACKET * *packets);
                if *packets < 20 {
                    demands.on_empty(incoming);
                }
            }
            demands.end_period(Time::ZERO, weights, 8e6, PACKET);
        }
    }

    #[test]
    fn a_loop_that_delivers_less_than_its_share_leaves_the_rest_and_receives_its_own_share_again_when_it_delivers_more()
     {
        let (mut demands, weights) = (LoopDemands::new(2), [1.0, 1.0]);
        assert!(!demands.is_due(Time::ZERO) && demands.is_due(Time::ZERO + PERIOD));
        let share = |demands: &LoopDemands, incoming| demands.share(incoming, &weights, 8e6);
        periods(&mut demands, &weights, &[20, 10], GROWTH_PERIODS);
        assert_eq!(share(&demands, 0), 0.5, "it may still grow");
        // A quarter of the rate is left to the first one: three quarters, in two steps of a quarter of its share.
        let found = [1, 1, 1].map(|count| {
            periods(&mut demands, &weights, &[20, 10], count);
            share(&demands, 0)
        });
        assert_eq!(found, [0.625, 0.75, 0.75]);
        assert_eq!(share(&demands, 1), 0.75, "what it would receive if it used its share");
        // It delivers 16 packets more: its demand follows after a period, and with its queue never empty its share counts.
        periods(&mut demands, &weights, &[30, 16], 1);
        assert!(share(&demands, 0) < 0.75, "{}", share(&demands, 0));
        periods(&mut demands, &weights, &[30, 30], 1);
        assert_eq!(share(&demands, 0), 0.5);
        periods(&mut demands, &[1.0, 0.0], &[20, 0], 1);
        assert_eq!(demands.share(0, &[1.0, 0.0], 8e6), 1.0, "alone");
    }

    /// The rate doubles: the queues run empty before the loops can follow, which is no smaller demand.
    #[test]
    fn a_loop_that_has_not_followed_a_larger_share_yet_is_not_limited() {
        let (mut demands, weights) = (LoopDemands::new(2), [1.0, 1.0]);
        periods(&mut demands, &weights, &[20, 20], 2 * GROWTH_PERIODS);
        for _ in 0..PERIODS {
            for incoming in 0..2 {
                demands.on_arrival(incoming, PACKET * 20);
                demands.on_empty(incoming);
            }
            demands.end_period(Time::ZERO, &weights, 16e6, PACKET);
            assert_eq!(demands.share(0, &weights, 16e6), 0.5);
        }
    }
}
