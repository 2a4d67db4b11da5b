//! Datagrams that are lost, repeated, reordered, delayed, truncated or damaged: right bytes, everything counted, bounded
//! memory.

use super::{VirtualRun, ideal};
use millpond_law::Random;
use millpond_protocols::Registry;
use millpond_units::{Bytes, Span, Time};

/// Protocols whose constants are those of data centres: they need round-trip times of microseconds.
const DATA_CENTRES: [&str; 3] = ["swift", "timely", "hpcc"];

/// Rates of two links, and the delay of each.
fn path(protocol: &str) -> (&'static str, &'static str, Span) {
    if DATA_CENTRES.contains(&protocol) {
        ("1Gbps", "800Mbps", Span::from_micros(5))
    } else {
        ("10Mbps", "8Mbps", Span::from_millis(5))
    }
}

/// A transfer of 300 kB over two loops, or over one for a protocol without relays. The buffers hold whatever comes.
fn transfer(protocol: &str, relays: &str) -> String {
    let (first, second, delay) = path(protocol);
    format!(
        r#"
        title = "transfer"
        duration = "200s"
        links = [
            {{ name = "A", between = ["S", "R"], rate = "{first}", delay = "{delay}", buffer = "unlimited" }},
            {{ name = "B", between = ["R", "D"], rate = "{second}", delay = "{delay}", buffer = "unlimited" }},
        ]
        flows = [
            {{ name = "f", protocol = "{protocol}", path = ["S", "R", "D"], workload = {{ size = "300KB" }} }},
        ]
        {relays}
        "#
    )
}

/// What was done to datagrams.
#[derive(Default)]
struct Done {
    lost: u64,
    repeated: u64,
    damaged: u64,
}

impl Done {
    /// One datagram of six has a fault.
    fn fault(&mut self, bytes: &[u8], random: &mut Random) -> Vec<(Span, Vec<u8>)> {
        let mut bytes = bytes.to_vec();
        let now = Span::ZERO;
        match random.bits() % 60 {
            0 | 1 => {
                self.lost += 1;
                return Vec::new();
            }
            2 | 3 => {
                self.repeated += 1;
                return vec![(now, bytes.clone()), (Span::from_millis(7), bytes)];
            }
            4 | 5 => return vec![(Span::from_millis(u64::from(random.bits() % 20)), bytes)],
            6 => return vec![(Span::from_millis(3000), bytes)],
            7 | 8 => {
                self.damaged += 1;
                bytes.truncate(random.bits() as usize % bytes.len());
            }
            9 => {
                self.damaged += 1;
                let bit = random.bits() as usize % (8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            _ => {}
        }
        vec![(now, bytes)]
    }
}

fn completes_with_faults(text: &str) {
    let (mut run, mut done) = (VirtualRun::new(text), Done::default());
    run.run_to(Time::from_secs(200.0), Span::from_millis(1), &mut |bytes, random| done.fault(bytes, random));
    let flow = run.plan.network.flow(run.plan.flows[0].id);
    assert!(flow.completed().is_some(), "{text}");
    assert_eq!(flow.delivered(), Bytes::new(300_000));
    let counters = run.counters();
    assert_eq!((counters.wrong_bytes, counters.foreign, counters.lost_ecn), (0, 0, 0));
    // Routers do not look at stream bytes, so that a datagram with damaged ones may be lost or repeated on its second way.
    assert!(done.damaged > 5 && counters.damaged > done.damaged / 2, "{text}");
    assert!(counters.damaged <= done.damaged + done.repeated, "{text}");
    assert_eq!(counters.sent + done.repeated, counters.accepted + counters.damaged + done.lost);
    // Nothing is left anywhere, and the frames in the links never were more than a transfer.
    assert_eq!((run.plan.network.packets_in_network(), run.on_the_way.len()), (0, 0));
    assert!(run.carrier.slots() < 1000 && run.carrier.bytes_at_relays() <= 300_000);
}

#[test]
fn transfers_of_every_protocol_complete_with_the_right_bytes() {
    for protocol in Registry::builtin().protocols() {
        completes_with_faults(&transfer(protocol.card().name, ""));
    }
}

#[test]
fn a_transfer_through_a_relay_completes_with_the_right_bytes() {
    completes_with_faults(&transfer("lgcc", "protocols = { lgcc = { relays = [\"R\"] } }"));
}

#[test]
fn calls_that_come_late_lose_and_reorder_nothing() {
    // Up to a quarter of the base RTT late.
    for protocol in Registry::builtin().protocols() {
        let mut run = VirtualRun::new(&transfer(protocol.card().name, ""));
        let (.., latest) = path(protocol.card().name);
        run.run_to(Time::from_secs(60.0), latest, &mut ideal);
        let network = &run.plan.network;
        let flow = network.flow(run.plan.flows[0].id);
        assert_eq!(flow.delivered(), Bytes::new(300_000), "{}", protocol.card().name);
        let counters = run.counters();
        assert_eq!(counters.sent, counters.accepted);
        assert_eq!(flow.totals().retransmitted, 0, "{}", protocol.card().name);
        for link in network.links() {
            assert_eq!(link.totals().served, link.totals().arrivals);
        }
        let late = run.carrier.lateness().max();
        assert!(late > 0 && late <= latest.picos());
    }
}

#[test]
fn datagrams_of_strangers_are_dropped_and_counted() {
    let text = transfer("cubic", "");
    let mut other = VirtualRun::new(&text);
    other.carrier = crate::lab::Carrier::new(78);
    let mut strange = Vec::new();
    other.run_to(Time::from_secs(0.01), Span::ZERO, &mut |bytes, random| {
        strange.push(bytes.to_vec());
        ideal(bytes, random)
    });
    let mut run = VirtualRun::new(&text);
    run.run_to(Time::from_secs(0.01), Span::ZERO, &mut ideal);
    let (before, places) = (run.counters(), run.places.clone());
    for bytes in &strange {
        for place in &places {
            run.carrier.receive(&mut run.plan.network, *place, None, bytes);
            run.carrier.receive(&mut run.plan.network, *place, None, &bytes[1..]);
        }
    }
    let each = (strange.len() * places.len()) as u64;
    let after = run.counters();
    assert!(each > 0);
    assert_eq!((after.foreign - before.foreign, after.damaged - before.damaged), (each, each));
    assert_eq!(after.accepted, before.accepted);
}

#[test]
fn a_relay_stores_no_more_than_its_buffer_and_what_the_next_loop_may_lose() {
    // The next loop is slower. The relay's buffer is 20 packets of 1500 bytes; the next loop has a window of at most its BDP of
    // 8 Mbit/s times 10 ms plus the queue of 60 packets before it.
    let relays = "protocols = { lgcc = { relays = [\"R\"], relay_buffer = \"20packets\" } }";
    let text = transfer("lgcc", relays).replace("300KB", "10MB").replace("\"unlimited\"", "\"60packets\"");
    let mut run = VirtualRun::new(&text);
    let mut most = 0;
    for millisecond in 0..8000_u32 {
        run.run_to(Time::from_secs(f64::from(millisecond) / 1e3), Span::from_micros(50), &mut ideal);
        most = most.max(run.carrier.bytes_at_relays());
    }
    assert!(most > 1500 && most <= (20 + 7 + 60) * 1500, "{most} bytes");
    assert_eq!(run.counters().wrong_bytes, 0);
}
