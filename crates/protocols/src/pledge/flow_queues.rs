//! The router at a link that serves each flow from a queue of its own (fair queueing): a router for each queue, whose
//! capacity is the service that this queue receives.
//!
//! ```text
//!                          own queue        another one
//!   service of the link  |== packet 1 ==|--- others ---|== packet 2 ==|
//!                        began          ended                         now
//!                        |<--------- busy: packet 2 has waited ------>|
//! ```
//!
//! The queue of the whole link says nothing about one flow: flows that fill their queues leave the link never idle, and
//! their packets wait as long as they want without a delay for others. What a flow receives while it has a packet in its
//! queue is its share of the link, whatever the scheduler.

use super::factors::FIRST_WINDOWS;
use super::header::ID;
use super::link::PledgeRouter;
use super::params::RouterParams;
use millpond_law::{Context, Gauge, Hooks, Link, LinkFacts, PacketView, QueueView, Verdict};
use millpond_units::{Bytes, Rate, Span, Time};
use std::collections::BTreeMap;

/// The state of a flow without a packet for this time is removed. Flows with a window below a packet pause for a second at most.
const FORGOTTEN: Span = Span::from_millis(10_000);

/// The share of a link that one queue receives: the mean of service time by the time in which it had a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share {
    /// Seconds that the link needs at its signalled capacity for the packets that were served.
    service: f64,
    /// Seconds from the beginning of their services to that of the next one, without the time in which the queue was empty.
    busy: f64,
}

impl Share {
    /// Counts a packet, whose weight is the part of the mean that it replaces.
    fn count(&mut self, service: f64, busy: f64, weight: f64) {
        self.service += service - weight * self.service;
        self.busy += busy - weight * self.busy;
    }

    /// One before the first measurement. It exceeds one if the signalled capacity is too low.
    fn value(&self) -> f64 {
        if self.busy > 0.0 { self.service / self.busy } else { 1.0 }
    }
}

/// The packet of a queue whose service began last.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Served {
    began: Time,
    ended: Time,
    /// Seconds that it needs at the signalled capacity.
    service: f64,
}

/// The router of one queue.
struct FlowRouter {
    router: PledgeRouter,
    share: Share,
    last: Option<Served>,
}

impl FlowRouter {
    /// A packet of the flow is about to be served.
    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, link: &QueueView) -> Verdict {
        let bytes = packet.bytes.as_f64();
        let signalled = link.configured_capacity.bytes_per_sec().max(1.0);
        let service = bytes / signalled;
        let served = Served { began: cx.now, ended: cx.now + Span::from_secs(service), service };
        if let Some(last) = self.last.replace(served) {
            let arrived = Time::ZERO + cx.now.since(Time::ZERO).saturating_sub(link.head_sojourn);
            let idle = arrived.since(last.ended).secs();
            let busy = cx.now.since(last.began).secs() - idle;
            self.share.count(last.service, busy, self.router.share(bytes) / FIRST_WINDOWS);
            if idle > 0.0 {
                self.router.count_idle_time(idle);
            }
        }
        let capacity = signalled * self.share.value();
        // What is behind a packet is about what was before it when it arrived.
        let own = QueueView {
            configured_capacity: Rate::from_bps_f64(capacity * 8.0),
            bytes: packet.bytes + Bytes::new((capacity * link.head_sojourn.secs()) as u64),
            packets: 1,
            ..*link
        };
        self.router.serve(cx, packet, &own)
    }
}

/// The routers of all queues of a link.
pub(super) struct FlowRouters {
    params: RouterParams,
    facts: LinkFacts,
    flows: BTreeMap<u32, FlowRouter>,
    /// The flow of the packet in service, if others wait behind it: the next departure shows when its service has ended.
    in_service: Option<u32>,
    /// When routers of flows without packets are removed, at the earliest.
    next_removal: Time,
    /// Unreadable headers of flows that have been removed.
    unread: u64,
}

impl FlowRouters {
    pub(super) fn new(params: RouterParams, facts: &LinkFacts) -> Self {
        Self {
            params,
            facts: *facts,
            flows: BTreeMap::new(),
            in_service: None,
            next_removal: Time::ZERO + FORGOTTEN,
            unread: 0,
        }
    }

    /// Removes the routers of flows without packets.
    fn forget(&mut self, now: Time) {
        self.next_removal = now + FORGOTTEN;
        self.flows.retain(|_, flow| {
            let stays = flow.last.is_some_and(|last| now.since(last.began) < FORGOTTEN);
            self.unread += if stays { 0 } else { flow.router.unread() };
            stays
        });
    }
}

impl Link for FlowRouters {
    fn hooks(&self) -> Hooks {
        Hooks { depart: true, flow: true, ..Hooks::default() }
    }

    fn depart(&mut self, cx: &mut Context<'_>, packet: &mut PacketView<'_>, queue: &QueueView) -> Verdict {
        if let Some(last) = self.in_service.take().and_then(|flow| self.flows.get_mut(&flow)?.last.as_mut()) {
            last.ended = cx.now;
        }
        if packet.header.protocol() != ID {
            return Verdict::Keep;
        }
        self.in_service = (queue.packets > 1).then_some(packet.flow);
        if cx.now >= self.next_removal {
            self.forget(cx.now);
        }
        let flow = self.flows.entry(packet.flow).or_insert_with(|| FlowRouter {
            router: PledgeRouter::new(self.params, &self.facts),
            share: Share::default(),
            last: None,
        });
        flow.depart(cx, packet, queue)
    }

    fn unread(&self) -> u64 {
        self.unread + self.flows.values().map(|flow| flow.router.unread()).sum::<u64>()
    }

    fn observe(&self, gauge: &mut dyn Gauge) {
        let sum =
            |of: fn(&PledgeRouter) -> f64| self.flows.values().map(|flow| of(&flow.router)).sum::<f64>();
        gauge.quantity("window", "B", sum(PledgeRouter::window));
        gauge.quantity("flows", "1", self.flows.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pledge::PledgeHeader;
    use crate::pledge::params::PARAMETERS;
    use crate::testing::PACKET;
    use millpond_law::{Ecn, Header, PacketKind, Random, Settings};

    /// 8 Mbit/s: a packet of 1000 bytes in a millisecond.
    struct Bench {
        routers: FlowRouters,
        random: Random,
        now: Time,
    }

    impl Bench {
        fn new() -> Self {
            let params = RouterParams::read(&Settings::check(PARAMETERS, []).unwrap());
            let fifo = LinkFacts::fifo(Rate::from_mbps(8.0), None, PACKET);
            let facts = LinkFacts { has_flow_queues: true, ..fifo };
            Self {
                routers: FlowRouters::new(params, &facts),
                random: Random::stream(1, "router"),
                now: Time::ZERO,
            }
        }

        /// A packet of a flow is served after this wait, with a header of Pledge or without one. Without a wait it is the only
        /// one at the link.
        fn depart(&mut self, flow: u32, waited: Span, has_header: bool) -> Option<f64> {
            let mut header = Header::NONE;
            if has_header {
                PledgeHeader::sent(flow + 1, Span::from_millis(50), None).emit(&mut header);
            }
            let mut ecn = Ecn::NotCapable;
            let mut packet = PacketView {
                bytes: PACKET,
                kind: PacketKind::Data,
                flow,
                ecn: &mut ecn,
                header: &mut header,
            };
            let packets = if waited.is_zero() { 1 } else { 50 };
            let view = QueueView {
                configured_capacity: Rate::from_mbps(8.0),
                bytes: PACKET * packets,
                link_bytes: PACKET * packets,
                packets,
                head_sojourn: waited,
            };
            let mut cx = Context { now: self.now, random: &mut self.random };
            self.routers.depart(&mut cx, &mut packet, &view);
            PledgeHeader::parse(&header).and_then(|header| header.offer()).map(|offer| offer.rate)
        }
    }

    #[test]
    fn a_flow_is_offered_the_rate_at_which_its_queue_is_served() {
        // One packet in four: 0.25 Mbyte/s. Eq. (6) takes the standing queue of 4 ms from a window of 50 ms, 8 %; a few percent
        // more for the use factor, which falls while the queue is never empty.
        let mut bench = Bench::new();
        let mut offered = 0.0;
        for turn in 0..4000_u64 {
            bench.now += Span::from_millis(1);
            match turn % 4 {
                0 => offered = bench.depart(7, Span::from_millis(4), true).unwrap(),
                other => assert_eq!(bench.depart(other as u32, Span::from_millis(90), false), None),
            }
        }
        let use_factor = offered / 0.25e6;
        assert!((0.85..1.0).contains(&use_factor), "{offered}");
        assert_eq!(bench.routers.flows.len(), 1, "none for a flow without the header");
    }

    #[test]
    fn flows_that_have_ended_leave_no_state() {
        let mut bench = Bench::new();
        for flow in 0..100_000 {
            bench.now += Span::from_millis(1);
            bench.depart(flow, Span::ZERO, true);
            assert!(bench.routers.flows.len() <= 20_000, "those of the last 20 s");
        }
    }

    #[test]
    fn time_in_which_its_queue_is_empty_does_not_count_as_service_of_others() {
        // Served at once, every tenth millisecond: the whole link is offered.
        let mut bench = Bench::new();
        let mut offered = 0.0;
        for _ in 0..200 {
            bench.now += Span::from_millis(10);
            offered = bench.depart(7, Span::ZERO, true).unwrap();
        }
        assert!(offered >= 1e6, "{offered}");
    }
}
