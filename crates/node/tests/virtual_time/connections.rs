//! A connection for each flow, beside one that all share.

use crate::world::{App, Wire, World};
use millpond_node::Abort;
use millpond_node::config::LGCC_DEFAULTS;
use millpond_node::connections::{Connections, most_connections};
use millpond_node::weight::Weight;
use millpond_units::{Bytes, Rate};

/// Two loops with a bottleneck of 20 Mbit/s. The base RTT of the second one is 40 ms: its BDP is 66 packets.
fn chain(connections: Connections) -> World {
    let wires = [Wire::new(50.0, 20.0), Wire::new(20.0, 20.0)];
    World::chain_with(&wires, "lgcc", LGCC_DEFAULTS, |place, config| {
        if place < 2 {
            (config.connections, config.capacity) = (connections, Some(Rate::from_mbps([50.0, 20.0][place])));
        }
    })
}

/// Connections of all nodes.
fn links(world: &World) -> Vec<usize> {
    (0..3).map(|host| world.node(host).stats().loops.len()).collect()
}

/// Goodput in Mbit/s and Jain's index of fairness of four flows, between their 6th and their 12th second.
///
/// Flows that start with a window of one packet need up to five seconds until their shares are equal except for the
/// effect of single marks.
fn four_flows(connections: Connections) -> (f64, f64) {
    let mut world = chain(connections);
    (0..4).for_each(|_| {
        world.open(App::sending(1 << 40));
    });
    let [start, length] = [6.0, 6.0];
    world.run(start);
    let received =
        |world: &World| -> Vec<u64> { world.hosts[2].apps.values().map(|app| app.received).collect() };
    let before = received(&world);
    world.run(length);
    let rates: Vec<f64> = before
        .iter()
        .zip(received(&world))
        .map(|(before, after)| (after - before) as f64 * 8.0 / length / 1e6)
        .collect();
    assert_eq!(rates.len(), 4);
    let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|rate| rate * rate).sum());
    (sum, sum * sum / (4.0 * squares))
}

#[test]
fn flows_with_connections_of_their_own_share_a_path_as_streams_of_one_connection_do() {
    let [shared, per_flow] = [Connections::Shared, Connections::PerFlow].map(four_flows);
    eprintln!("goodput and fairness: shared {shared:?}, a connection for each flow {per_flow:?}");
    for (goodput, fairness) in [shared, per_flow] {
        // Headers take 4 % of the link.
        assert!((0.85 * 19.2..=20.0).contains(&goodput), "{goodput} Mbit/s");
        assert!(fairness > 0.95, "Jain's index {fairness}");
    }
}

#[test]
fn data_that_waits_for_the_handshake_leaves_in_the_window_of_the_law() {
    let mut world = chain(Connections::PerFlow);
    world.open(App::sending(1 << 40));
    let mut most = 0;
    // Three round trips of 40 ms: the handshake, and the first packets before their acknowledgement.
    for _ in 0..120 {
        world.run(0.001);
        let own = world.node(0).stats().loops.into_iter().max_by_key(|link| link.link).unwrap();
        if own.smoothed_rtt.is_none() {
            most = most.max(own.in_flight.get());
        }
    }
    // LGCC begins with a packet, and control messages do not wait for the window.
    assert!((1..=2 * 1500).contains(&most), "{most} bytes in flight before the first RTT sample");
}

#[test]
fn a_connection_of_a_flow_ends_after_the_flow_has_ended_at_both_sides() {
    let mut world = chain(Connections::PerFlow);
    world.answer = App::sending(200_000);
    let before = links(&world);
    assert_eq!(before, [1, 2, 1]);
    let flows: Vec<_> = (0..3).map(|_| world.open(App::sending(100_000))).collect();
    world.run(0.6);
    assert_eq!(links(&world), [4, 8, 4]);
    world.run(10.0);
    for flow in flows {
        let app = &world.hosts[0].apps[&flow];
        assert!(app.is_closed && app.received == 200_000 && !app.is_wrong, "{app:?}");
    }
    assert_eq!(
        world.hosts[2].apps.values().filter(|app| app.is_closed && app.received == 100_000).count(),
        3
    );
    assert_eq!(links(&world), before);
    assert!(world.hosts.iter().all(|host| host.links_lost.is_empty()), "no line about an orderly end");
}

#[test]
fn a_slow_target_receives_the_rest_after_its_sender_has_gone() {
    let mut world = chain(Connections::PerFlow);
    world.answer = App { is_stalled: true, ..App::default() };
    world.open(App::sending(300_000));
    world.run(5.0);
    // Enter and relay have passed everything on; the exit waits for its target.
    assert_eq!(links(&world), [1, 3, 2]);
    world.hosts[2].apps.values_mut().for_each(|app| app.is_stalled = false);
    world.run(3.0);
    let exit = world.hosts[2].apps.values().next().unwrap();
    assert!(exit.received == 300_000 && exit.saw_end && exit.aborted.is_none(), "{exit:?}");
    assert_eq!(links(&world), [1, 2, 1]);
}

#[test]
fn as_many_connections_as_a_quarter_of_the_bdp_in_packets_are_accepted_and_one_more_is_refused() {
    let mut world = chain(Connections::PerFlow);
    // The RTT that the relay has measured contains transmission times and the delay of acknowledgements, up to 1.1 ms.
    let next = world.node(1).stats().loops.into_iter().find(|link| link.is_next).unwrap();
    let most = most_connections(Rate::from_mbps(20.0), next.min_rtt.unwrap(), Bytes::new(1500));
    assert!((16..=17).contains(&most), "{most} connections: a quarter of 66 to 68 packets");
    // The measured minimum may fall during the test, so that one connection less is accepted.
    let flows: Vec<_> =
        (0..most + 2).map(|_| world.open(App { stays_open: true, ..App::sending(1000) })).collect();
    world.run(0.8);
    let accepted = world.node(2).flow_count();
    assert!((16..=17).contains(&accepted), "{accepted} connections");
    let refused = flows.iter().filter_map(|flow| world.hosts[0].apps[flow].aborted);
    let reasons: Vec<_> = refused.map(|(reason, _)| reason).collect();
    assert_eq!(reasons, vec![Abort::Floor; most + 2 - accepted]);
    // 166 packets, and what the RTT has of transmission times.
    let now = world.now;
    let enter = world.hosts[0].node.as_mut().unwrap();
    let opened = std::iter::repeat_with(|| enter.open(now, "target.example:80", Weight::default()));
    let more = opened.take_while(|opened| *opened != Err(Abort::Floor)).take(100).count();
    assert!((41..=42).contains(&(accepted + more)), "{more} more");
}

#[test]
fn a_flow_that_ends_during_the_handshake_leaves_no_connection() {
    let mut world = chain(Connections::PerFlow);
    let flow = world.open(App::sending(1000));
    world.run(0.01);
    world.hosts[0].node.as_mut().unwrap().abort(flow, Abort::Local);
    world.run(5.0);
    assert_eq!(links(&world), [1, 2, 1]);
}

#[test]
fn a_killed_exit_ends_the_flows_with_connections_of_their_own_and_new_ones_work_later() {
    let mut world = chain(Connections::PerFlow);
    world.answer = App { stays_open: true, ..App::default() };
    let flow = world.open(App::sending(1 << 40));
    world.run(1.0);
    world.kill(2);
    world.run(0.2);
    world.restart(2);
    world.run(5.0);
    assert_eq!(world.hosts[0].apps[&flow].aborted.map(|(reason, _)| reason), Some(Abort::LinkLost));
    world.answer = App::default();
    let flow = world.open(App::sending(100_000));
    world.run(5.0);
    assert!(world.hosts[0].apps[&flow].is_closed);
    assert_eq!(links(&world), [1, 2, 1]);
}
