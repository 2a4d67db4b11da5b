//! Chains of loops against theory: marks, rates, delays.

use crate::world::{App, Wire, World};
use millpond_node::config::LGCC_DEFAULTS;
use millpond_node::stats::LoopStats;
use millpond_node::weight::Weight;
use millpond_units::{Bytes, Rate, Span};

/// Stream data in a full packet over its size: at least 28 bytes of IP and UDP, 26 of QUIC's header and tag, and 5 of the
/// frame's header.
const PAYLOAD_SHARE: f64 = 1427.0 / (1427.0 + 28.0 + 26.0 + 5.0);

/// The loop of a host towards its next neighbour.
fn next_loop(world: &World, host: usize) -> LoopStats {
    world.node(host).stats().loops.into_iter().find(|link| link.is_next).unwrap()
}

/// The bytes that the exit's application has received.
fn received(world: &World) -> u64 {
    world.hosts.last().unwrap().apps.values().map(|app| app.received).sum()
}

/// Goodput at the exit in Mbit/s over some seconds.
fn goodput(world: &mut World, seconds: f64) -> f64 {
    let before = received(world);
    world.run(seconds);
    (received(world) - before) as f64 * 8.0 / seconds / 1e6
}

#[test]
fn a_transfer_over_a_relay_arrives_unchanged_and_ends_in_order_at_both_sides() {
    let mut world = World::chain(&[Wire::new(50.0, 5.0), Wire::new(20.0, 5.0)], "lgcc", LGCC_DEFAULTS);
    world.answer = App::sending(300_000);
    let flow = world.open(App::sending(2_000_000));
    world.run(5.0);
    let (enter, exit) = (&world.hosts[0].apps[&flow], world.hosts[2].apps.values().next().unwrap());
    assert_eq!((enter.received, exit.received), (300_000, 2_000_000));
    assert!(!enter.is_wrong && !exit.is_wrong && enter.is_closed && exit.is_closed);
    for host in 0..3 {
        assert_eq!(world.node(host).flow_count(), 0, "host {host}");
    }
}

#[test]
fn every_mark_that_a_link_sets_reaches_the_law_of_its_loop() {
    for protocol in ["lgcc", "dctcp"] {
        let mut world = World::chain(&[Wire::new(20.0, 5.0), Wire::new(20.0, 3.0)], protocol, &[]);
        // RED that marks early: both links have queues.
        for wire in world.wires.values_mut() {
            wire.marking = (3e3, 40e3);
        }
        world.open(App::sending(6_000_000));
        world.run(6.0);
        // What was marked last is reported with the acknowledgements of later packets.
        world.wires.values_mut().for_each(|wire| wire.marking = (1e9, 2e9));
        world.run(2.0);
        let mut all = 0;
        for host in [0, 1] {
            let (wire, loop_stats) = (&world.wires[&(host, host + 1)], next_loop(&world, host));
            assert!(loop_stats.sends_ecn && wire.dropped == 0);
            assert_eq!(loop_stats.counters.marked_packets, wire.marked, "{protocol}, loop {host}");
            let receiver = world.node(host + 1).stats().loops;
            let received = receiver.iter().find(|link| !link.is_next).unwrap().received_marks;
            assert_eq!((received.packets, received.bytes.get()), (wire.marked, wire.marked_bytes));
            all += wire.marked;
        }
        assert!(all > 50, "{protocol}: {all} marks are no test");
    }
}

#[test]
fn the_rate_of_a_chain_is_that_of_its_slowest_hop() {
    for rates in [[20.0, 50.0], [50.0, 20.0]] {
        let wires = rates.map(|rate| Wire::new(rate, 5.0));
        let mut world = World::chain(&wires, "lgcc", LGCC_DEFAULTS);
        world.open(App::sending(1 << 40));
        world.run(5.0);
        let share = goodput(&mut world, 5.0) / (20.0 * PAYLOAD_SHARE);
        assert!((0.85..=1.0).contains(&share), "{rates:?}: {share} of the slowest hop");
    }
}

#[test]
fn a_relay_holds_data_for_at_most_20_ms_and_its_next_loop_never_starves() {
    let wires = [Wire::new(100.0, 5.0), Wire::new(20.0, 5.0)];
    let mut world = World::chain(&wires, "lgcc", LGCC_DEFAULTS);
    world.open(App::sending(1 << 40));
    world.run(2.0);
    let before = received(&world);
    for _ in 0..3000 {
        world.run(0.001);
        let relay = next_loop(&world, 1);
        assert!(relay.held <= relay.hold_limit, "{relay:?}");
    }
    let share = (received(&world) - before) as f64 * 8.0 / 3.0 / (20e6 * PAYLOAD_SHARE);
    let times = next_loop(&world, 1).hold_times;
    assert!(times.longest <= Span::from_millis(20), "held for {:?}", times.longest);
    assert!((0.85..=1.0).contains(&share), "{share} of the next loop's link");
    // The upstream loop is limited by the downstream rate, not by marks or losses of its own link.
    let wire = &world.wires[&(0, 1)];
    assert_eq!((wire.marked, wire.dropped), (0, 0));
}

#[test]
fn a_relay_holds_no_more_than_20_ms_of_a_law_without_feedback_of_the_next_rate() {
    // NewReno in the first loop fills what it may: flow control alone bounds the relay.
    let wires = [Wire::new(100.0, 5.0), Wire::new(20.0, 5.0)];
    let mut world = World::chain(&wires, "newreno", &[]);
    world.open(App::sending(1 << 40));
    world.run(2.0);
    let mut most = 0;
    for _ in 0..3000 {
        world.run(0.001);
        most = most.max(next_loop(&world, 1).held.get());
    }
    // The window over the RTT exceeds the link's rate by a packet in a window of 18 at most, and a stream may have one packet
    // beyond its bound.
    let bound = (20e6 / 8.0 * 0.020 * (1.0 + 1.0 / 18.0) + 1500.0) as u64;
    assert!((bound / 2..=bound).contains(&most), "{most} bytes held, bound {bound}");
}

#[test]
fn a_relay_with_a_long_hold_time_holds_at_most_four_stream_windows() {
    // Ten seconds at a megabit per second and more exceed 4 times 64 KiB.
    let wires = [Wire::new(100.0, 5.0), Wire::new(20.0, 5.0)];
    let mut world = World::chain_with(&wires, "lgcc", LGCC_DEFAULTS, |_, config| {
        (config.hold, config.stream_window) = (Span::from_millis(10_000), Bytes::new(1 << 16));
    });
    world.open(App::sending(1 << 40));
    world.run(2.0);
    assert_eq!(next_loop(&world, 1).hold_limit, Bytes::new(4 << 16));
}

#[test]
fn packets_of_a_paced_law_leave_in_no_burst_after_a_pause() {
    let wires = [Wire::new(100.0, 5.0), Wire::new(20.0, 5.0)];
    let mut world = World::chain(&wires, "lgcc", LGCC_DEFAULTS);
    world.answer.stays_open = true;
    let flow = world.open(App { stays_open: true, ..App::sending(10_000_000) });
    world.run(6.0);
    assert_eq!(received(&world), 10_000_000);
    world.wires.get_mut(&(0, 1)).unwrap().longest_queue = Span::ZERO;
    // More than a window at once: the pacer spaces the packets by more than they take on the link.
    world.hosts[0].apps.get_mut(&flow).unwrap().to_send += 100_000;
    world.run(1.0);
    assert_eq!(received(&world), 10_100_000);
    // A data packet may meet one more and two with control messages, of at most 120 us each.
    let queue = world.wires[&(0, 1)].longest_queue;
    assert!(queue <= Span::from_micros(4 * 120), "a queue of {} ms", queue.millis());
}

#[test]
fn flows_of_a_loop_share_it_equally() {
    let mut world = World::chain(&[Wire::new(50.0, 2.0), Wire::new(20.0, 5.0)], "lgcc", LGCC_DEFAULTS);
    let flows: Vec<_> = (0..10).map(|_| world.open(App::sending(1 << 40))).collect();
    world.run(10.0);
    let rates: Vec<f64> = world.hosts[2].apps.values().map(|app| app.received as f64).collect();
    let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|rate| rate * rate).sum());
    let jain = sum * sum / (rates.len() as f64 * squares);
    assert_eq!(rates.len(), flows.len());
    assert!(jain > 0.99, "Jain's index {jain}: {rates:?}");
}

#[test]
fn flows_of_a_loop_share_it_in_proportion_to_their_weights_while_all_have_data() {
    // The relay's next loop is the bottleneck in the first chain, the first loop in the second.
    for rates in [[50.0, 20.0], [20.0, 50.0]] {
        let mut world = World::chain(&rates.map(|rate| Wire::new(rate, 3.0)), "lgcc", LGCC_DEFAULTS);
        let weights = [4.0, 1.0, 1.0, 0.5];
        for weight in weights {
            // The reverse direction has the same weights.
            world.answer = App::sending(1 << 40);
            world.open_weighted(App::sending(1 << 40), Weight::new(weight).unwrap());
        }
        world.run(1.0);
        let bytes = |world: &World| -> Vec<Vec<u64>> {
            let received = |host: usize| world.hosts[host].apps.values().map(|app| app.received).collect();
            [0, 2].map(received).to_vec()
        };
        let before = bytes(&world);
        world.run(3.0);
        for (place, (before, after)) in before.iter().zip(bytes(&world)).enumerate() {
            let rates: Vec<f64> =
                before.iter().zip(&after).map(|(before, after)| (after - before) as f64).collect();
            let unit = rates.iter().sum::<f64>() / weights.iter().sum::<f64>();
            for (rate, weight) in rates.iter().zip(weights) {
                let share = rate / (weight * unit);
                assert!(
                    (0.95..=1.05).contains(&share),
                    "{rates:?} at end {place}: {share} of the share of {weight}"
                );
            }
            assert!(unit * 6.5 * 8.0 / 3.0 / 20e6 > 0.75, "{rates:?} at end {place}: the loops are not full");
        }
    }
}

#[test]
fn the_lateness_of_paced_packets_is_that_of_wake_ups() {
    for late in [Span::ZERO, Span::from_micros(400)] {
        let mut world = World::chain(&[Wire::new(20.0, 5.0)], "lgcc", LGCC_DEFAULTS);
        world.wake_up_delay = late;
        world.open(App::sending(1 << 40));
        world.run(3.0);
        let (median, most) = next_loop(&world, 0).pacing_lateness.unwrap();
        // Times are whole nanoseconds. An acknowledgement that comes before the late timer lets the packet leave earlier.
        let nanosecond = Span::from_picos(1000);
        assert!(median <= most && most <= late + nanosecond, "{median:?}, {most:?}");
        assert!(most >= late / 2, "{most:?}");
    }
}

/// Goodput in Mbit/s over so many loops of 20 Mbit/s, with wake-ups that are so late.
fn goodput_over(loops: usize, late: Span) -> f64 {
    let wires: Vec<Wire> = (0..loops).map(|_| Wire::new(20.0, 5.0)).collect();
    let mut world = World::chain_with(&wires, "lgcc", LGCC_DEFAULTS, |_, config| {
        config.capacity = Some(Rate::from_mbps(20.0));
    });
    world.wake_up_delay = late;
    world.open(App::sending(1 << 40));
    world.run(4.0);
    goodput(&mut world, 6.0)
}

#[test]
fn loops_of_known_capacity_are_full_alone_and_in_chains() {
    for (loops, late) in [(1, 0), (1, 400), (2, 0), (2, 400), (4, 400)] {
        // The pacer counts full packets of 1500 bytes.
        let share = goodput_over(loops, Span::from_micros(late)) / (20.0 * 1427.0 / 1500.0);
        // Beside data travel rate messages about the direction without data: 20 a second, each of less than 200 bytes.
        let least = if loops == 1 { 0.99 } else { 0.99 - 20.0 * 200.0 * 8.0 / 20e6 };
        assert!(share > least, "{loops} loops, wake-ups {late} us late: {share} of the link");
    }
}

#[test]
fn a_law_of_windows_fills_a_loop_over_quic() {
    // NewReno with a buffer of more than a bandwidth-delay product keeps the link busy.
    for protocol in ["newreno", "cubic"] {
        let mut wire = Wire::new(20.0, 5.0);
        (wire.marking, wire.buffer) = ((1e9, 2e9), 60e3);
        let mut world = World::chain(&[wire], protocol, &[]);
        world.open(App::sending(1 << 40));
        world.run(3.0);
        let share = goodput(&mut world, 5.0) / (20.0 * PAYLOAD_SHARE);
        // A retransmission at the beginning releases what came behind the gap before: at most the buffer and the link's BDP.
        let most = 1.0 + (60e3 + 25e3) * 8.0 / (20e6 * 5.0);
        assert!((0.95..=most).contains(&share), "{protocol}: {share} of the link");
        let loop_stats = next_loop(&world, 0);
        assert!(loop_stats.counters.lost_packets > 0, "{protocol}: {loop_stats:?}");
    }
}
