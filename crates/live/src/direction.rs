//! One direction of the emulated link, without device and clock: IP packets enter with their times and leave with theirs.
//!
//! ```text
//!   IP packet, time --> size, flow, ECN --> SingleLink: laws, queue, server, loss, delay --> IP packet with its ECN bits, time
//!                            |                                  |
//!                            +----- bytes stored by slot -------+
//! ```

use crate::ip::{self, FlowKey};
use millpond_law::QueuedFlow;
use millpond_sim::{EnteringPacket, LinkSpec, LinkView, SingleLink};
use millpond_units::{Span, Time};
use std::collections::BTreeMap;

/// Most flows with a number of their own; the packets of further flows have the number of the first one.
const MOST_FLOWS: usize = 65_536;

/// A packet at the end of the link.
#[derive(Debug)]
pub struct Delivered<'a> {
    /// When it reaches the end of the link.
    pub at: Time,
    /// The IP packet; its ECN bits are CE if a law has marked it.
    pub packet: &'a [u8],
    /// Time in the queue without its own service.
    pub queueing: Span,
}

/// One direction of the emulated link. Times must not decrease.
pub struct Direction {
    link: SingleLink,
    /// The bytes of the packets in the link, by slot; their memory is reused.
    stored: Vec<Vec<u8>>,
    flows: BTreeMap<FlowKey, u32>,
    /// Packets that are not IP, or that no router forwards.
    ignored: u64,
}

impl Direction {
    /// The direction at time zero.
    pub fn new(spec: LinkSpec, seed: u64) -> Self {
        Self { link: SingleLink::new(spec, seed), stored: Vec::new(), flows: BTreeMap::new(), ignored: 0 }
    }

    /// An IP packet enters at `at`. Returns false if it is no packet that a router forwards.
    pub fn enter(&mut self, at: Time, packet: &[u8]) -> bool {
        let facts = ip::read(packet).filter(|_| !ip::is_link_local_multicast(packet));
        let Some(facts) = facts else {
            self.ignored += 1;
            return false;
        };
        let flow = self.flow(facts.flow);
        let bytes = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let slot = self.link.enter(at, EnteringPacket { bytes, flow, ecn: facts.ecn }) as usize;
        if self.stored.len() <= slot {
            self.stored.resize_with(slot + 1, Vec::new);
        }
        self.stored[slot].clear();
        self.stored[slot].extend_from_slice(packet);
        true
    }

    /// The number of a flow. Queues are chosen by its addresses and ports, whatever other flows there are.
    fn flow(&mut self, key: FlowKey) -> u32 {
        if let Some(known) = self.flows.get(&key) {
            return *known;
        }
        if self.flows.len() >= MOST_FLOWS {
            return 0;
        }
        let number = self.link.add_flow(QueuedFlow { weight: 1.0, address: key.hash() });
        self.flows.insert(key, number);
        number
    }

    /// When the link must be called next.
    pub fn next_event(&self) -> Time {
        self.link.next_event()
    }

    /// Passes each packet that leaves up to `time` to `deliver`, with its own time.
    pub fn run_to(&mut self, time: Time, mut deliver: impl FnMut(Delivered<'_>)) {
        let stored = &mut self.stored;
        self.link.run_to(time, |leaving| {
            let Some(packet) = stored.get_mut(leaving.slot as usize) else { return };
            if ip::read(packet).is_some_and(|facts| facts.ecn != leaving.ecn) {
                ip::set_ecn(packet, leaving.ecn);
            }
            deliver(Delivered { at: leaving.at, packet, queueing: leaving.queueing });
        });
    }

    /// State and statistics at the time up to which it has run.
    pub fn view(&self) -> LinkView<'_> {
        self.link.view()
    }

    /// Number of packets in the queue and on the wire.
    pub fn packets(&self) -> usize {
        self.link.packets()
    }

    /// Number of packets that did not enter, because they are not IP or no router forwards them.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Number of flows so far.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkOptions;
    use crate::ip::read;
    use crate::ip::tests::packet;
    use millpond_law::Ecn;
    use millpond_protocols::Registry;

    /// The direction from the command.
    fn up(options: &LinkOptions) -> Direction {
        let [_, up] = options.directions(&Registry::builtin()).unwrap();
        Direction::new(up, options.seed)
    }

    fn options(rate: &str) -> LinkOptions {
        LinkOptions {
            rate: Some(rate.to_owned()),
            buffer: Some("unlimited".to_owned()),
            seed: 1,
            ..LinkOptions::default()
        }
    }

    fn millis(millis: f64) -> Time {
        Time::from_secs(millis / 1e3)
    }

    /// A packet that has left: when, its ECN bits, its queueing delay, its source port.
    struct Left {
        at: Time,
        ecn: Ecn,
        queueing: Span,
        port: u16,
    }

    /// What leaves until `end` if the direction is called every `calls` milliseconds, and receives each packet at the first
    /// call at or after its time, as from a clock.
    fn run(direction: &mut Direction, arrivals: &[(Time, Vec<u8>)], calls: f64, end: Time) -> Vec<Left> {
        let (mut left, mut arrivals, mut call) = (Vec::new(), arrivals.iter().peekable(), 0.0);
        while millis(call) <= end {
            while let Some((at, packet)) = arrivals.next_if(|(at, _)| *at <= millis(call)) {
                direction.enter(*at, packet);
            }
            direction.run_to(millis(call), |delivered| {
                let Delivered { at, packet, queueing } = delivered;
                let port = u16::from_be_bytes([packet[20], packet[21]]);
                left.push(Left { at, ecn: read(packet).unwrap().ecn, queueing, port });
            });
            call += calls;
        }
        left
    }

    #[test]
    fn late_calls_change_neither_departures_nor_marks() {
        // Packets of 1000 bytes every 0.75 ms at 8 Mbit/s: packet n waits n/4 ms. The step marks above 5 ms: from n = 21 on.
        let options = LinkOptions {
            delay: Some("10ms".to_owned()),
            queue: Some("l4s-step".to_owned()),
            sets: vec!["queue.l4s-step.threshold=5ms".to_owned()],
            ..options("8Mbps")
        };
        let arrivals: Vec<_> =
            (0..100).map(|n| (millis(f64::from(n) * 0.75), packet(1000, Ecn::Ect1, 1))).collect();
        let mut direction = up(&options);
        for (at, packet) in &arrivals {
            assert!(direction.enter(*at, packet));
        }
        let mut punctual = Vec::new();
        direction.run_to(millis(500.0), |delivered| {
            punctual.push((delivered.at, read(delivered.packet).unwrap().ecn));
        });
        let times: Vec<Time> = punctual.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, (0..100).map(|n| millis(f64::from(n) + 11.0)).collect::<Vec<_>>());
        let first = punctual.iter().position(|(_, ecn)| *ecn == Ecn::Ce).unwrap();
        assert_eq!(first, 21, "the first packet that waits longer than 5 ms");
        assert!(punctual[first..].iter().all(|(_, ecn)| *ecn == Ecn::Ce));
        assert_eq!(direction.view().totals().marks, 100 - first as u64);
        // Calls that come up to a quarter of a millisecond after departures.
        let mut called = up(&options);
        let late = run(&mut called, &arrivals, 0.25, millis(500.0));
        let late: Vec<_> = late.iter().map(|left| (left.at, left.ecn)).collect();
        assert_eq!(late, punctual);
    }

    #[test]
    fn a_mahimahi_trace_delivers_its_opportunities_in_their_milliseconds() {
        let folder = std::env::temp_dir().join(format!("millpond-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("trace.up");
        std::fs::write(&file, "1\n1\n1\n4\n6\n6\n10\n").unwrap();
        let opportunities = [3, 0, 0, 1, 0, 2, 0, 0, 0, 1];
        let options = LinkOptions { up: Some(file.display().to_string()), rate: None, ..options("1Mbps") };
        let mut direction = up(&options);
        std::fs::remove_dir_all(&folder).unwrap();
        // A backlog of full packets: every opportunity is used.
        (0..100).for_each(|_| assert!(direction.enter(Time::ZERO, &packet(1500, Ecn::NotCapable, 1))));
        let (mut delivered, mut expected) = (0, 0);
        for millisecond in 0..100 {
            direction.run_to(millis(f64::from(millisecond) + 1.0), |_| delivered += 1);
            expected += opportunities[millisecond as usize % 10];
            assert_eq!(delivered, expected.min(100), "until {} ms", millisecond + 1);
        }
    }

    #[test]
    fn a_sparse_flow_does_not_wait_for_another_one_under_fq_codel() {
        // One flow sends at 1.5 times the rate, the other one packet of 100 bytes every 20 ms, once
        // the first one has a backlog and is no longer a new queue. Under FQ-CoDel the latter waits
        // at most for the packet of 1500 bytes in service, 1.2 ms (RFC 8290, section 4.2: new queues first).
        let sparse = |queue: &str| {
            let options = LinkOptions { queue: Some(queue.to_owned()), ..options("10Mbps") };
            let full = (0..2500).map(|n| (millis(f64::from(n) * 0.8), packet(1500, Ecn::Ect0, 1)));
            let small = (0..90).map(|n| (millis(f64::from(n) * 20.0 + 100.0), packet(100, Ecn::Ect0, 2)));
            let mut arrivals: Vec<_> = full.chain(small).collect();
            arrivals.sort_by_key(|(at, _)| *at);
            let left = run(&mut up(&options), &arrivals, 0.1, millis(2000.0));
            left.iter().filter(|left| left.port == 2).map(|left| left.queueing).max().unwrap()
        };
        assert!(sparse("fq-codel") <= Span::from_micros(1201), "{}", sparse("fq-codel"));
        assert!(
            sparse("droptail") > Span::from_millis(100),
            "the other flow's queue grows by 0.4 ms per packet"
        );
    }

    /// A source that does not react sends packets of 1000 bytes, 5 % more than the capacity of 8 Mbit/s, for 40 s: the packets
    /// that left from 20 s on.
    fn overloaded(queue: &str, sets: &[&str]) -> Vec<Left> {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        let options = LinkOptions { queue: Some(queue.to_owned()), sets, ..options("8Mbps") };
        let source = (0..42_000).map(|n| (millis(f64::from(n) / 1.05), packet(1000, Ecn::NotCapable, 1)));
        let mut left = run(&mut up(&options), &source.collect::<Vec<_>>(), 0.5, millis(40_000.0));
        left.retain(|left| left.at > millis(20_000.0));
        left
    }

    #[test]
    fn queues_drop_the_excess_of_a_constant_rate_where_their_equations_balance() {
        // p = 1 - 1/1.05 = 4.76 %. The integral parts of PIE (RFC 8033, section 4.2) and DualPI2 (RFC 9332, section A.1) are at
        // rest at their targets of 15 ms. RED's line from 0 at 7.5 KB to 10 % at 22.5 KB has p at 7.5 + 15 * 0.476 = 14.6 KB; a
        // kilobyte takes a millisecond. Queues are sampled up to a packet before they are measured: 1 ms.
        let red = ["queue.red.max_p=0.1", "queue.red.spacing=geometric"];
        for (queue, sets, delay_ms) in
            [("pie", &[] as &[&str], 15.0), ("dualpi2", &[], 15.0), ("red", &red, 14.64)]
        {
            let left = overloaded(queue, sets);
            let mean = left.iter().map(|left| left.queueing.millis()).sum::<f64>() / left.len() as f64;
            assert_eq!(left.len(), 20_000, "{queue}: 20 s of a busy link");
            assert!((mean - delay_ms).abs() < 1.0, "{queue}: {mean} ms");
        }
    }

    #[test]
    fn codel_drops_an_interval_over_the_root_of_the_count_apart() {
        // The n-th drop comes 100 ms (1 + 1/sqrt(2) + ... + 1/sqrt(n - 1)) after the first one (RFC 8289, section 3.3).
        let options = LinkOptions { queue: Some("codel".to_owned()), ..options("8Mbps") };
        let mut direction = up(&options);
        let (mut drops, mut sent) = (Vec::new(), 0);
        for call in 0..4000 {
            let now = f64::from(call);
            while f64::from(sent) * 0.8 <= now {
                direction.enter(millis(f64::from(sent) * 0.8), &packet(1000, Ecn::NotCapable, 1));
                sent += 1;
            }
            direction.run_to(millis(now), |_| {});
            let new = direction.view().totals().law_drops - drops.len() as u64;
            (0..new).for_each(|_| drops.push(now));
        }
        let first = drops[0];
        // The delay grows by 0.25 ms each millisecond: 5 ms are exceeded after 20 ms, and for 100 ms.
        assert!((120.0..=125.0).contains(&first), "{first} ms");
        let mut expected = first;
        for (n, at) in drops.iter().enumerate() {
            // A packet is dropped when it would be served, each millisecond; calls are a millisecond apart.
            assert!((at - expected).abs() <= 2.0, "drop {n} at {at} ms, expected {expected}");
            expected += 100.0 / ((n + 1) as f64).sqrt();
        }
        assert!(drops.len() > 300, "{}", drops.len());
    }

    #[test]
    fn random_loss_has_its_probability_and_no_packet_is_unaccounted() {
        let options = LinkOptions { loss: Some("10%".to_owned()), ..options("100Mbps") };
        let mut direction = up(&options);
        let arrivals: Vec<_> =
            (0..20_000).map(|n| (millis(f64::from(n) * 0.1), packet(100, Ecn::Ect0, 1))).collect();
        let left = run(&mut direction, &arrivals, 1.0, millis(2100.0)).len() as f64;
        // Five standard deviations of a binomial variable: 5 sqrt(20000 * 0.1 * 0.9) = 212.
        assert!((left - 18_000.0).abs() < 212.0, "{left}");
        let totals = direction.view().totals();
        assert_eq!(totals.arrivals, 20_000);
        assert_eq!((left as u64 + totals.wire_losses, direction.packets()), (20_000, 0));
    }

    #[test]
    fn packets_that_no_router_forwards_do_not_enter() {
        let mut direction = up(&options("1Mbps"));
        let mut solicitation = vec![0; 48];
        solicitation[0] = 0x60;
        solicitation[24..26].copy_from_slice(&[0xff, 0x02]);
        assert!(!direction.enter(Time::ZERO, &solicitation));
        assert!(!direction.enter(Time::ZERO, &[1, 2, 3]));
        assert_eq!((direction.ignored(), direction.packets()), (2, 0));
    }
}
