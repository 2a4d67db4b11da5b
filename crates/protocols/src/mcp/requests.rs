//! Requesters that a router ignores (`request_limit`), beyond the report: docs/extensions/mcp-many-flows.md.
//!
//! A flow that starts needs seven cycles of fairing. A flow that requests for more overloads than the limit is ignored for
//! eight times as long as its request has lasted, after each further such request for twice as many times as long. A flow
//! that is silent for that long is forgotten.

use millpond_units::{Span, Time};
use std::collections::BTreeMap;

/// For how many times the duration of its request a flow is ignored the first time.
const FIRST_REST: u64 = 8;
/// How often the rest is doubled at most.
const MOST_DOUBLINGS: u32 = 16;
/// Number of flows of which a router keeps a record; requests of further flows are served.
const MOST_FLOWS: usize = 65_536;

/// The record of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Requester {
    /// Whether a request was served in this period.
    was_served: bool,
    /// Time of the last request, served or not.
    last: Time,
    /// For how long requests have been served.
    served: Span,
    /// Number of overloads that began while they were.
    overloads: u64,
    /// Until when requests are ignored.
    ignored_until: Time,
    /// How long the last time of being ignored was.
    ignored_for: Span,
    /// Number of times.
    times: u32,
}

impl Requester {
    /// How long the flow has to be silent for a request as long as the present one.
    fn rest(&self) -> Span {
        self.served * (FIRST_REST << self.times.min(MOST_DOUBLINGS))
    }

    fn end_period(&mut self, now: Time, period: Span, overload_began: bool, limit: u64) {
        if std::mem::take(&mut self.was_served) {
            self.served += period;
            self.overloads += u64::from(overload_began);
        }
        if self.overloads >= limit {
            self.ignored_for = self.rest();
            self.ignored_until = now + self.ignored_for;
            self.times = self.times.saturating_add(1);
            (self.overloads, self.served) = (0, Span::ZERO);
        }
    }

    fn is_remembered(&self, now: Time) -> bool {
        now < self.ignored_until || now.since(self.last) < self.rest().max(self.ignored_for)
    }
}

/// The flows that have requested fairing at one link.
#[derive(Debug)]
pub(super) struct Requests {
    /// Number of overloads; zero: all requests are served, and no record is kept.
    limit: u64,
    flows: BTreeMap<u32, Requester>,
}

impl Requests {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, flows: BTreeMap::new() }
    }

    /// Whether any request may be ignored.
    pub(super) fn are_limited(&self) -> bool {
        self.limit > 0
    }

    /// Whether a request of this flow that arrives now is served.
    pub(super) fn serve(&mut self, now: Time, flow: u32) -> bool {
        if self.limit == 0 || self.flows.len() >= MOST_FLOWS && !self.flows.contains_key(&flow) {
            return true;
        }
        let requester = self.flows.entry(flow).or_default();
        requester.last = now;
        let is_served = now >= requester.ignored_until;
        requester.was_served |= is_served;
        is_served
    }

    /// Ends a period of the router. `overload_began`: the load has become an overload with it.
    pub(super) fn end_period(&mut self, now: Time, period: Span, overload_began: bool) {
        let limit = self.limit;
        self.flows
            .values_mut()
            .for_each(|requester| requester.end_period(now, period, overload_began, limit));
        self.flows.retain(|_, requester| requester.is_remembered(now));
    }

    /// Number of flows that are ignored now.
    pub(super) fn ignored(&self, now: Time) -> usize {
        self.flows.values().filter(|requester| now < requester.ignored_until).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_millis(200);

    /// A router that serves three overloads, and the present time.
    struct Bench {
        requests: Requests,
        now: Time,
    }

    impl Bench {
        fn new() -> Self {
            Self { requests: Requests::new(3), now: Time::ZERO }
        }

        /// A period in which these flows request; returns which of them were served.
        fn period(&mut self, flows: &[u32], overload_began: bool) -> Vec<bool> {
            let served = flows.iter().map(|flow| self.requests.serve(self.now, *flow)).collect();
            self.now += PERIOD;
            self.requests.end_period(self.now, PERIOD, overload_began);
            served
        }

        /// Number of periods until flow 1, which requests in all of them, is served again.
        fn rest(&mut self) -> u32 {
            (0..).find(|_| self.period(&[1], true) == [true]).unwrap()
        }
    }

    #[test]
    fn a_flow_is_served_for_the_limit_of_overloads_and_then_rests_for_growing_times() {
        let mut bench = Bench::new();
        for overload_began in [false, true, true, false, true] {
            assert_eq!(bench.period(&[1], overload_began), [true]);
        }
        assert_eq!(bench.requests.ignored(bench.now), 1);
        // Eight times five periods. The next request has an overload in each of three periods: 16 times three.
        assert_eq!(bench.rest(), 40);
        (0..2).for_each(|_| _ = bench.period(&[1], true));
        assert_eq!(bench.rest(), 48);
        (0..2).for_each(|_| _ = bench.period(&[1], true));
        assert_eq!(bench.rest(), 96);
    }

    #[test]
    fn a_pause_does_not_give_a_flow_more_overloads_until_it_is_as_long_as_the_rest() {
        let mut bench = Bench::new();
        (0..2).for_each(|_| _ = bench.period(&[1], true));
        (0..14).for_each(|_| _ = bench.period(&[], true));
        bench.period(&[1], true);
        assert_eq!(bench.requests.ignored(bench.now), 1, "the third overload");

        let mut bench = Bench::new();
        (0..2).for_each(|_| _ = bench.period(&[1], true));
        (0..15).for_each(|_| _ = bench.period(&[], true));
        assert!(bench.requests.flows.is_empty(), "eight times two periods after the last request");
        (0..2).for_each(|_| _ = bench.period(&[1], true));
        assert_eq!(bench.requests.ignored(bench.now), 0);
    }

    #[test]
    fn other_flows_are_served_while_one_is_ignored() {
        let mut bench = Bench::new();
        (0..3).for_each(|_| _ = bench.period(&[1], true));
        assert_eq!(bench.period(&[1, 2], true), [false, true]);
    }

    #[test]
    fn without_a_limit_every_request_is_served_and_no_record_is_kept() {
        let mut requests = Requests::new(0);
        assert!(requests.serve(Time::ZERO, 1) && requests.flows.is_empty() && !requests.are_limited());
    }
}
