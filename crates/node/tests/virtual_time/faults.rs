//! Loss, reordering, nodes that disappear and start again.

use crate::world::{App, Wire, World, address};
use millpond_node::Abort;
use millpond_node::config::LGCC_DEFAULTS;
use millpond_units::Span;

fn chain() -> World {
    World::chain(&[Wire::new(50.0, 5.0), Wire::new(20.0, 5.0)], "lgcc", LGCC_DEFAULTS)
}

#[test]
fn a_transfer_over_lossy_and_reordering_links_arrives_unchanged() {
    let mut world = chain();
    for wire in world.wires.values_mut() {
        (wire.loss, wire.reordering) = (0.02, 0.05);
    }
    world.answer = App::sending(200_000);
    let flow = world.open(App::sending(1_000_000));
    world.run(60.0);
    let (enter, exit) = (&world.hosts[0].apps[&flow], world.hosts[2].apps.values().next().unwrap());
    assert_eq!((enter.received, exit.received), (200_000, 1_000_000));
    assert!(!enter.is_wrong && !exit.is_wrong && enter.is_closed && exit.is_closed);
    assert!(world.wires.values().map(|wire| wire.dropped).sum::<u64>() > 20);
}

/// Kills the relay in the middle of a transfer, and starts it again after this time. Returns how long both ends took to see
/// an error.
fn time_to_error(restart_after: Option<f64>) -> (World, Span) {
    let mut world = chain();
    world.answer.stays_open = true;
    let flow = world.open(App::sending(1 << 40));
    world.run(1.0);
    world.kill(1);
    let killed_at = world.now;
    if let Some(seconds) = restart_after {
        world.run(seconds);
        world.restart(1);
    }
    world.run(5.0);
    let ends = [&world.hosts[0].apps[&flow], world.hosts[2].apps.values().next().unwrap()];
    let mut longest = Span::ZERO;
    for end in ends {
        let (reason, at) = end.aborted.unwrap();
        assert_eq!(reason, Abort::LinkLost);
        assert!(!end.saw_end && !end.is_wrong, "a truncated stream has no end");
        longest = longest.max(at.since(killed_at));
    }
    (world, longest)
}

#[test]
fn a_killed_relay_is_an_error_at_both_ends_after_the_idle_timeout() {
    let (_, longest) = time_to_error(None);
    // Three seconds after the last packet; the probe timeout may move the idle timeout of the sender a little.
    assert!((Span::from_millis(2900)..Span::from_millis(3600)).contains(&longest), "{longest:?}");
}

#[test]
fn a_node_that_was_never_reached_is_not_a_lost_connection() {
    let mut world = chain();
    world.kill(1);
    world.run(12.0);
    let enter = &world.hosts[0];
    assert_eq!(enter.links_lost.len(), 1, "{:?}", enter.links_lost);
    let (next, reason, _) = &enter.not_connected[0];
    assert_eq!((*next, reason.as_str()), (Some(address(1)), "timed out"));
    assert!(world.hosts[2].not_connected.is_empty(), "an exit dials no neighbour");
}

#[test]
fn a_node_that_refuses_is_dialled_again_after_times_that_double() {
    let mut world = chain();
    world.kill(1);
    // The relay permits another previous node only.
    world.restart_with(1, |config| config.previous = vec![config.identity.public()]);
    world.run(10.0);
    // After 0.1, 0.2, 0.4, 0.8, 1.6 s, then each 2 s: at 0.1, 0.3, 0.7, 1.5, 3.1, 5.1, 7.1 and 9.1 s.
    let attempts = world.hosts[0].not_connected.len();
    assert!((7..=8).contains(&attempts), "{attempts}: {:?}", world.hosts[0].not_connected);
    let refusing = &world.hosts[1].not_connected;
    assert!(refusing.iter().all(|(next, ..)| next.is_none()), "the relay did not dial it");
    let refused = Some(world.hosts[0].config.identity.public());
    assert!(refusing.len() >= attempts && refusing.iter().all(|(.., key)| *key == refused), "{refusing:?}");
}

#[test]
fn a_relay_that_starts_again_resets_the_connections_of_its_predecessor() {
    let (mut world, longest) = time_to_error(Some(0.2));
    assert!(longest < Span::from_millis(1500), "{longest:?}");
    world.answer = App::default();
    let flow = world.open(App::sending(500_000));
    world.run(4.0);
    let enter = &world.hosts[0].apps[&flow];
    assert!(enter.is_closed, "a new flow works: {enter:?}");
}

#[test]
fn without_rate_messages_a_sender_stops_and_continues_when_they_return() {
    let mut world = chain();
    world.open(App::sending(1 << 40));
    world.run(2.0);
    // The way back from the exit is cut for half a second.
    world.wires.get_mut(&(2, 1)).unwrap().loss = 1.0;
    world.run(0.5);
    let silent =
        |world: &World| world.node(1).stats().loops.iter().any(|link| link.is_next && link.is_silent);
    assert!(silent(&world));
    let sent = world.wires[&(1, 2)].bytes;
    world.run(0.2);
    assert!(world.wires[&(1, 2)].bytes - sent < 20_000, "only probes leave");
    world.wires.get_mut(&(2, 1)).unwrap().loss = 0.0;
    world.run(5.0);
    assert!(!silent(&world));
    let before = world.hosts[2].apps.values().next().unwrap().received;
    world.run(1.0);
    assert!(world.hosts[2].apps.values().next().unwrap().received - before > 1_000_000);
}

#[test]
fn rate_messages_leave_at_once_while_their_own_sender_waits() {
    // Data in both directions over a second link on which the senders of both ends wait for their windows.
    let mut world = chain();
    world.answer = App::sending(1 << 40);
    world.open(App::sending(1 << 40));
    world.run(2.0);
    // Both ends receive no rate message for half a second, so that neither may send data.
    for wire in [(1, 2), (2, 1)] {
        world.wires.get_mut(&wire).unwrap().loss = 1.0;
    }
    world.run(0.5);
    for wire in [(1, 2), (2, 1)] {
        world.wires.get_mut(&wire).unwrap().loss = 0.0;
    }
    // Messages are sent each 50 ms without data.
    world.run(0.1);
    let silent = |host: usize| world.node(host).stats().loops.iter().any(|link| link.is_silent);
    assert_eq!([1, 2].map(silent), [false; 2]);
}

#[test]
fn hours_of_operation_leave_nothing_behind() {
    let mut world = chain();
    for _ in 0..60 {
        let flow = world.open(App::sending(100_000));
        world.run(60.0);
        assert!(world.hosts[0].apps[&flow].is_closed);
        world.hosts.iter_mut().for_each(|host| host.apps.clear());
    }
    for host in 0..3 {
        let stats = world.node(host).stats();
        assert_eq!((stats.flows, stats.flows_made, stats.flows_aborted), (0, 60, 0));
        assert!(world.hosts[host].links_lost.is_empty(), "{:?}", world.hosts[host].links_lost);
        for link in stats.loops {
            assert!(link.held.get() == 0 && link.counters.silences == 0 && link.sends_ecn, "{link:?}");
            // Two messages of about 20 a second are never both lost here: all sent are received, except those under way.
            assert!(link.messages_received > 3600 * 19, "{link:?}");
        }
    }
}
