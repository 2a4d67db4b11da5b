//! Link layers: when the medium of a link is free for a packet, and how often the packet is sent.
//!
//! ```text
//!   queue --> grant, or contention --> server [bit/s] --> attempts, until one succeeds --> delivered in order
//! ```

use millpond_law::Random;
use millpond_units::{Span, Time};
use std::collections::VecDeque;

/// A link layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkLayer {
    /// Each packet is sent until an attempt succeeds, and packets are delivered in order.
    Radio {
        /// Probability that an attempt fails.
        error: f64,
        /// Time from an attempt to the next one.
        retransmit_after: Span,
        /// The packet is lost after this many attempts.
        attempts: u32,
    },
    /// A packet is served no earlier than the grant for the first request after its arrival.
    Grants {
        /// Time between two opportunities to send a request.
        every: Span,
        /// Time from a request to its grant.
        after: Span,
    },
    /// Packets are sent in aggregates, each after random access to the medium.
    Contention {
        /// Constant time of an aggregate without its packets.
        access: Span,
        /// Length of a backoff slot.
        slot: Span,
        /// The most slots of a backoff.
        window: u32,
        /// The most packets of an aggregate.
        aggregate: u32,
        /// Other stations that always have data.
        stations: u32,
        /// How long one of them occupies the medium.
        busy: Span,
    },
}

/// State of a link layer.
#[derive(Debug)]
pub(super) struct Medium {
    layer: LinkLayer,
    random: Random,
    /// When the transmission of the last aggregate began or begins, and the number of its packets.
    begun: Time,
    packets: u32,
    /// Arrival time of the last packet at the end of the link.
    last: Time,
    /// For each packet under way, whether all attempts failed, in order.
    lost: VecDeque<bool>,
}

impl Medium {
    pub(super) fn new(layer: LinkLayer, random: Random) -> Self {
        Self { layer, random, begun: Time::ZERO, packets: 0, last: Time::ZERO, lost: VecDeque::new() }
    }

    /// The earliest time at which a packet may be served that arrived at `entered`. `free`: when the server has completed
    /// all packets before it, not before `entered`.
    pub(super) fn release(&mut self, entered: Time, free: Time) -> Time {
        match self.layer {
            LinkLayer::Radio { .. } => free,
            LinkLayer::Grants { every, after } => free.max(next_request(entered, every) + after),
            LinkLayer::Contention { aggregate, .. } => {
                let joins = self.packets > 0 && entered <= self.begun && self.packets < aggregate;
                if joins {
                    self.packets += 1;
                } else {
                    (self.begun, self.packets) = (free + self.access_time(), 1);
                }
                free.max(self.begun)
            }
        }
    }

    /// Time from the end of an aggregate to the transmission of the next one of this station.
    fn access_time(&mut self) -> Span {
        let LinkLayer::Contention { access, slot, window, stations, busy, .. } = self.layer else {
            return Span::ZERO;
        };
        let random = &mut self.random;
        let mut backoff = || access + slot * (random.uniform() * f64::from(window + 1)) as u64;
        let mut time = backoff();
        if stations > 0 {
            // Each station wins with equal probability, so that the number of others before this one is geometric.
            let others = f64::from(stations) / f64::from(stations + 1);
            while self.random.chance(others) {
                time += busy;
            }
        }
        time
    }

    /// When a packet arrives at the end of the link that would arrive at `at` after one attempt. Called once for each packet,
    /// in order.
    pub(super) fn arrival(&mut self, at: Time) -> Time {
        let LinkLayer::Radio { error, retransmit_after, attempts } = self.layer else { return at };
        let mut failed = 0;
        while failed < attempts && self.random.chance(error) {
            failed += 1;
        }
        self.lost.push_back(failed == attempts);
        let retransmissions = u64::from(failed.min(attempts.saturating_sub(1)));
        self.last = self.last.max(at + retransmit_after * retransmissions);
        self.last
    }

    /// True if packets may be lost on the medium.
    pub(super) fn may_lose(&self) -> bool {
        matches!(self.layer, LinkLayer::Radio { .. })
    }

    /// True if the packet that arrives next at the end of the link is lost. Called once for each packet, in order.
    pub(super) fn is_lost(&mut self) -> bool {
        self.lost.pop_front().unwrap_or(false)
    }
}

/// The first multiple of `every` from `time` on.
fn next_request(time: Time, every: Span) -> Time {
    let every = every.picos().max(1);
    Time::from_picos(time.picos().div_ceil(every).saturating_mul(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Span = Span::from_millis(1);

    fn medium(layer: LinkLayer) -> Medium {
        Medium::new(layer, Random::stream(7, "medium"))
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + MILLI * millis
    }

    #[test]
    fn a_grant_follows_the_first_request_after_the_arrival() {
        let mut medium = medium(LinkLayer::Grants { every: MILLI * 5, after: MILLI * 4 });
        assert_eq!(medium.release(at(0), at(0)), at(4));
        assert_eq!(medium.release(at(1), at(1)), at(9));
        assert_eq!(medium.release(at(5), at(5)), at(9));
        // A server that is busy for longer delays the packet further.
        assert_eq!(medium.release(at(6), at(20)), at(20));
    }

    #[test]
    fn the_number_of_attempts_is_geometric_and_delivery_is_in_order() {
        let (error, attempts) = (0.3, 3);
        let layer = LinkLayer::Radio { error, retransmit_after: MILLI * 8, attempts };
        let mut medium = medium(layer);
        let n = 200_000_u64;
        let (mut delays, mut lost, mut last) = (0.0, 0, Time::ZERO);
        for i in 0..n {
            // So far apart that no packet waits for another one.
            let sent = at(100 * i);
            let arrives = medium.arrival(sent);
            assert!(arrives >= last);
            last = arrives;
            delays += arrives.since(sent).millis();
            lost += u64::from(medium.is_lost());
        }
        // Retransmissions of a packet: one with probability p, a second one with p^2. Lost: p^3. Five standard errors.
        let mean = 8.0 * (error + error * error);
        let bound = 5.0 / (n as f64).sqrt();
        assert!((delays / n as f64 - mean).abs() < 8.0 * bound, "{} {mean}", delays / n as f64);
        let share = lost as f64 / n as f64;
        assert!((share - 0.027).abs() < 0.17 * bound, "{share}");
    }

    #[test]
    fn a_late_packet_holds_back_those_behind_it() {
        let layer = LinkLayer::Radio { error: 0.5, retransmit_after: MILLI * 8, attempts: 8 };
        let mut medium = medium(layer);
        let arrivals: Vec<Time> = (0..1000).map(|i| medium.arrival(at(i))).collect();
        assert!(arrivals.is_sorted());
        assert!(arrivals.windows(2).any(|pair| pair[0] == pair[1]), "packets are released together");
    }

    #[test]
    fn access_takes_its_constant_time_the_mean_backoff_and_the_turns_of_the_others() {
        let (access, slot, busy) = (Span::from_micros(100), Span::from_micros(9), MILLI * 2);
        let layer = LinkLayer::Contention { access, slot, window: 15, aggregate: 1, stations: 3, busy };
        let mut medium = medium(layer);
        let n = 200_000_u64;
        let total: f64 =
            (0..n).map(|i| medium.release(at(1000 * i), at(1000 * i)).since(at(1000 * i)).millis()).sum();
        // 7.5 slots on average, and three others: geometric with mean 3 and variance 12.
        let mean = 0.1 + 7.5 * 0.009 + 3.0 * 2.0;
        assert!(
            (total / n as f64 - mean).abs() < 5.0 * 2.0 * 12_f64.sqrt() / (n as f64).sqrt(),
            "{}",
            total / n as f64
        );
    }

    /// Uniform among 0 to 15 slots: a mean of 7.5 and a variance of 255 / 12.
    #[test]
    fn a_backoff_has_each_number_of_slots_up_to_the_window_with_equal_probability() {
        let slot = Span::from_micros(9);
        let layer = LinkLayer::Contention {
            access: Span::ZERO,
            slot,
            window: 15,
            aggregate: 1,
            stations: 0,
            busy: Span::ZERO,
        };
        let mut medium = medium(layer);
        let n = 20_000_u64;
        let backoff = |i: u64| medium.release(at(i), at(i)).since(at(i)).picos() / slot.picos();
        let slots: Vec<u64> = (0..n).map(backoff).collect();
        assert_eq!((slots.iter().min(), slots.iter().max()), (Some(&0), Some(&15)));
        let mean = slots.iter().sum::<u64>() as f64 / n as f64;
        assert!((mean - 7.5).abs() < 5.0 * (255.0 / 12.0 / n as f64).sqrt(), "{mean}");
    }

    #[test]
    fn packets_join_an_aggregate_until_it_begins_or_is_full() {
        let (access, slot) = (MILLI, Span::ZERO);
        let layer =
            LinkLayer::Contention { access, slot, window: 0, aggregate: 3, stations: 0, busy: Span::ZERO };
        let mut medium = medium(layer);
        assert_eq!(medium.release(at(0), at(0)), at(1));
        // Two that arrive during the contention join it, behind the packet before them.
        assert_eq!(medium.release(at(0), at(2)), at(2));
        assert_eq!(medium.release(at(1), at(3)), at(3));
        // It is full: the next one contends after its end.
        assert_eq!(medium.release(at(1), at(4)), at(5));
        // This one arrives after the second aggregate has begun.
        assert_eq!(medium.release(at(6), at(7)), at(8));
    }
}
