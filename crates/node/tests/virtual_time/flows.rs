//! Flows as users of TCP expect them: half-close, reset, back-pressure, limits.

use crate::world::{App, Wire, World};
use millpond_node::Abort;
use millpond_node::config::LGCC_DEFAULTS;
use millpond_node::weight::Weight;

fn chain() -> World {
    World::chain(&[Wire::new(50.0, 2.0), Wire::new(50.0, 2.0)], "lgcc", LGCC_DEFAULTS)
}

#[test]
fn a_half_closed_flow_carries_data_in_the_other_direction() {
    let mut world = chain();
    world.answer = App { stays_open: true, ..App::sending(500_000) };
    let flow = world.open(App::sending(1000));
    world.run(3.0);
    let exit = world.hosts[2].apps.values().next().unwrap();
    assert!(exit.saw_end && !exit.is_closed && exit.received == 1000);
    let enter = &world.hosts[0].apps[&flow];
    assert!(!enter.saw_end && enter.received == 500_000);
    assert_eq!(world.node(1).flow_count(), 1, "the relay keeps the flow");
}

#[test]
fn a_reset_at_one_end_is_a_reset_at_the_other_and_no_end() {
    for host in [0, 2] {
        let mut world = chain();
        world.answer = App { stays_open: true, ..App::default() };
        let flow = world.open(App { stays_open: true, ..App::sending(100_000) });
        world.run(1.0);
        let local = if host == 0 { flow } else { *world.hosts[2].apps.keys().next().unwrap() };
        world.hosts[host].node.as_mut().unwrap().abort(local, Abort::Local);
        world.run(1.0);
        for host in [0, 2] {
            let app = world.hosts[host].apps.values().next().unwrap();
            assert_eq!(app.aborted.map(|(reason, _)| reason), Some(Abort::Local));
            assert!(!app.saw_end);
        }
        assert_eq!(world.node(1).flow_count(), 0);
    }
}

#[test]
fn a_target_that_does_not_read_stops_its_sender_and_no_other_flow() {
    let mut world = chain();
    world.answer = App { is_stalled: true, ..App::default() };
    let stalled = world.open(App::sending(1 << 40));
    world.run(5.0);
    let sent = world.hosts[0].apps[&stalled].sent;
    // Two windows of a stream, what three nodes hold, and the buffer of the local socket.
    assert!(sent < 3 << 20, "{sent} bytes were taken from the application");
    world.run(5.0);
    assert_eq!(world.hosts[0].apps[&stalled].sent, sent);
    world.answer = App::default();
    let other = world.open(App::sending(5_000_000));
    world.run(5.0);
    assert!(world.hosts[0].apps[&other].is_closed);
}

#[test]
fn a_node_refuses_flows_beyond_its_limit() {
    let mut world = chain();
    world.answer = App { stays_open: true, ..App::default() };
    (0..200).for_each(|_| {
        world.open(App { stays_open: true, ..App::sending(10) });
    });
    let now = world.now;
    let opened = world.hosts[0].node.as_mut().unwrap().open(now, "target.example:80", Weight::default());
    assert_eq!(opened, Err(Abort::Refused));
    world.run(3.0);
    assert_eq!(world.node(2).flow_count(), 200);
}

#[test]
fn a_node_that_closes_ends_its_flows_at_once() {
    let mut world = chain();
    world.answer.stays_open = true;
    let flow = world.open(App::sending(1 << 40));
    world.run(1.0);
    let now = world.now;
    world.hosts[1].node.as_mut().unwrap().close(now);
    world.run(0.1);
    for app in [&world.hosts[0].apps[&flow], world.hosts[2].apps.values().next().unwrap()] {
        assert!(app.aborted.is_some() && !app.saw_end, "{app:?}");
    }
}
