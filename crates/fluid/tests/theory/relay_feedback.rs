//! What the loops on both sides of a relay receive from it, read by laws that send in proportion to one quantity.

use crate::laws::{BASE, P, Ramp, Steady};
use millpond_fluid::{
    Accuracy, Assembly, Entity, FluidNetwork, Frozen, Loop, LoopId, ProtocolId, Relay, RelayBuffer,
};
use millpond_law::fluid::{
    FluidLink, FluidSender, LinkInput, Number, Quantity, SenderInput, State, Verdicts, link_law, sender_law,
};

/// A quantity of the feedback of relays.
#[derive(Clone, Copy)]
enum Of {
    DownstreamRate,
    DownstreamRtt,
    DownstreamBaseRtt,
    Inverses,
    UpstreamMarked,
}

/// Sends `BASE` times a quantity; the rate of the next loop as it is.
struct Read(Of);

impl FluidSender for Read {
    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        let Some(next) = input.downstream else { return T::zero() };
        match self.0 {
            Of::DownstreamRate => next.rate,
            Of::DownstreamRtt => next.rtt * BASE,
            Of::DownstreamBaseRtt => T::from(next.base_rtt * BASE),
            Of::Inverses => T::from(next.sharing.inverses * BASE),
            Of::UpstreamMarked => input.upstream.map_or(T::zero(), |upstream| upstream.marked * BASE),
        }
    }
}

/// Marks this share.
struct Constant(f64);

impl FluidLink for Constant {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "probability", unit: "1" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = T::from(self.0);
    }
}

fn relay(network: &mut FluidNetwork, upstream: LoopId, downstream: LoopId) {
    network.add_relay(Relay { upstream, downstream, forward: 0.05, buffer: RelayBuffer::UNLIMITED });
}

/// Two flows of weight 1 over A and one of weight 3 over B share a loop. Then the two flows send at most 100 each, in loops of their
/// own of .1 s or, if `share_again`, in a loop with a limit of 900, which they share with one more flow of weight 2. The third
/// flow sends at most 700 in a loop of .4 s.
fn network(first: Of, shared: Of, share_again: bool) -> Assembly {
    let mut network = FluidNetwork::new();
    let mut link = |marked: f64| {
        let link = network.link("", 1e6, f64::INFINITY);
        network.set_queue(link, link_law(Constant(marked)), Verdicts::Marks);
        link
    };
    let (a, b, s, c, d) = (link(0.2), link(0.5), link(0.0), link(0.0), link(0.0));
    let upstream = [
        network.add(Loop::new("first", P, sender_law(Read(first)), 0.2).over(a, 0.0).times(2.0)),
        network.add(Loop::new("other", P, sender_law(Steady(BASE)), 0.2).over(b, 0.0)),
    ];
    let whole = network.add(Loop::new("shared", ProtocolId(1), sender_law(Read(shared)), 0.2).over(s, 0.0));
    let parts = [
        network.add(network.shared_flow(whole, "first/2", 1.0).times(2.0)),
        network.add(network.shared_flow(whole, "other/2", 3.0)),
    ];
    relay(&mut network, upstream[0], parts[0]);
    relay(&mut network, upstream[1], parts[1]);
    let next = if share_again {
        let again =
            network.add(Loop::new("again", ProtocolId(2), sender_law(Steady(900.0)), 0.1).over(c, 0.0));
        let third = network.add(Loop::new("third", P, sender_law(Steady(BASE)), 0.2).over(b, 0.0));
        let of_third = network.add(network.shared_flow(again, "third/2", 2.0));
        relay(&mut network, third, of_third);
        network.add(network.shared_flow(again, "first/3", 1.0).times(2.0))
    } else {
        network
            .add(Loop::new("first/3", ProtocolId(2), sender_law(Steady(100.0)), 0.1).over(c, 0.0).times(2.0))
    };
    relay(&mut network, parts[0], next);
    let last = network.add(Loop::new("other/3", ProtocolId(2), sender_law(Steady(700.0)), 0.4).over(d, 0.0));
    relay(&mut network, parts[1], last);
    Assembly::new(network).unwrap()
}

/// A channel in the steady state.
fn steady(asm: &Assembly, entity: Entity, quantity: &str) -> f64 {
    let columns = asm.channel_columns();
    let place = columns.iter().position(|column| column.entity == entity && column.quantity == quantity);
    Frozen::new(asm, 1.0).at(&asm.initial()).unwrap().channels[place.unwrap()]
}

fn near(found: f64, theory: f64) {
    assert!((found / theory - 1.0).abs() < 1e-9, "{found}, not {theory}");
}

/// The rate that the shared loop's law permits, which reads this quantity.
fn read_by_shared(quantity: Of, share_again: bool) -> f64 {
    steady(&network(Of::DownstreamRate, quantity, share_again), Entity::Relay(0), "permitted rate")
}

#[test]
fn flows_that_continue_in_different_loops_receive_the_sum_of_rates_and_the_mean_of_round_trips() {
    near(read_by_shared(Of::DownstreamRate, false), 2.0 * 100.0 + 700.0);
    let mean = (2.0 * 0.1 + 0.4) / 3.0;
    near(read_by_shared(Of::DownstreamRtt, false), mean * BASE);
    near(read_by_shared(Of::DownstreamBaseRtt, false), mean * BASE);
}

/// Half of the weights in the loop that two of the flows share again are theirs.
#[test]
fn flows_that_share_the_next_loop_with_others_receive_their_share_of_its_rate() {
    near(read_by_shared(Of::DownstreamRate, true), 900.0 * 2.0 / (2.0 + 2.0) + 700.0);
}

#[test]
fn marks_of_the_loops_before_a_shared_one_count_by_the_weights_of_all_flows() {
    near(read_by_shared(Of::UpstreamMarked, false), (2.0 * 1.0 * 0.2 + 3.0 * 0.5) / 5.0 * BASE);
}

/// The sum over all loops before the shared one of the total weight over their own: two of weight 1, and one of weight 3.
#[test]
fn each_of_several_equal_loops_counts_in_the_sum_of_inverse_shares() {
    let asm = network(Of::Inverses, Of::DownstreamRate, false);
    near(steady(&asm, Entity::Loop(0), "sending rate"), (2.0 * 5.0 / 1.0 + 5.0 / 3.0) * BASE);
}

/// .5 s less .1 s lie between a change of what the next loop permits and that of what arrives at the relay's upstream sender.
#[test]
fn what_a_relay_returns_takes_the_rest_of_the_round_trip() {
    const SLOPE: f64 = 400.0;
    let mut network = FluidNetwork::new();
    let [a, b] = ["A", "B"].map(|name| network.link(name, 1e6, f64::INFINITY));
    let upstream =
        network.add(Loop::new("first", P, sender_law(Read(Of::DownstreamRate)), 0.5).over(a, 0.02));
    let law = sender_law(Ramp::<true> { initial: BASE, slope: SLOPE });
    let downstream = network.add(Loop::new("second", P, law, 0.2).over(b, 0.02));
    network.add_relay(Relay { upstream, downstream, forward: 0.1, buffer: RelayBuffer::UNLIMITED });
    let asm = Assembly::new(network).unwrap();
    let accuracy = Accuracy { tolerance: 1e-9, ..Accuracy::default() };
    let solution = asm.run(2.0, 1.0, accuracy).unwrap();
    for (time, rate) in [1.0, 2.0].into_iter().zip(&solution.of(Entity::Loop(0), "sending rate")[1..]) {
        near(*rate, BASE + SLOPE * (time - 0.4));
    }
}

/// The first and the third of three flows of a shared loop continue together on a loop with a limit of 900, of which a flow from
/// elsewhere has half of the weights; the second sends at most 700 on a loop of its own.
#[test]
fn a_loop_that_several_flows_continue_on_counts_once() {
    let mut network = FluidNetwork::new();
    let links: Vec<_> = (0..7).map(|_| network.link("", 1e6, f64::INFINITY)).collect();
    let own = |name: &str, link: usize, rate: f64| {
        Loop::new(name, P, sender_law(Steady(rate)), 0.2).over(links[link], 0.0)
    };
    let before = [0, 1, 2].map(|number| network.add(own("before", number, BASE)));
    let reads = sender_law(Read(Of::DownstreamRate));
    let shared = network.add(Loop::new("shared", ProtocolId(1), reads, 0.2).over(links[3], 0.0));
    let parts = before.map(|upstream| {
        let part = network.add(network.shared_flow(shared, "part", 1.0));
        relay(&mut network, upstream, part);
        part
    });
    let again =
        network.add(Loop::new("again", ProtocolId(2), sender_law(Steady(900.0)), 0.1).over(links[4], 0.0));
    let elsewhere = network.add(own("elsewhere", 5, BASE));
    for (upstream, weight) in [(parts[0], 1.0), (parts[2], 1.0), (elsewhere, 2.0)] {
        let next = network.add(network.shared_flow(again, "next", weight));
        relay(&mut network, upstream, next);
    }
    let alone = network.add(own("alone", 6, 700.0));
    relay(&mut network, parts[1], alone);
    let asm = Assembly::new(network).unwrap();
    near(steady(&asm, Entity::Relay(0), "permitted rate"), 900.0 * 2.0 / 4.0 + 700.0);
}
