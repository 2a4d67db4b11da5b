//! The linear equations of single senders, links and relays: which quantity they receive with which delay, and its exact gain.

use crate::laws::{BASE, P, Steady};
use millpond_fluid::stability::{Linearized, NoiseKind, PacketGranularity};
use millpond_fluid::{
    Assembly, Entity, FluidNetwork, Frozen, Loop, OperatingPoint, Relay, RelayBuffer, Subsystem,
};
use millpond_law::fluid::{
    Feedback, FluidLink, FluidSender, InputSet, LinkInput, Number, PathAggregation, Quantity, SenderInput,
    State, link_law, sender_law,
};

const A: usize = 0;
const B: usize = 1;

/// `x' = lost + 2 marked`; sends `BASE`, and carries 3 x.
struct Signals;

impl FluidSender for Signals {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "total", unit: "1", over_path: PathAggregation::Sum }];
    const INPUTS: InputSet = InputSet { marked: true, lost: true, ..InputSet::NONE };
    const CARRIED: &'static [Quantity] = &[Quantity { name: "three x", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("x", "1", 1.0)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = input.marked * 2.0 + input.lost;
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0] * 0.0 + BASE
    }

    fn carried<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = x[0] * 3.0;
    }
}

/// Emits the sum of what its flows carry.
struct Total;

impl FluidLink for Total {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "total", unit: "1" }];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = input.carried[0];
    }
}

/// A chain of three loops. The first crosses A and B, .05 and .1 s after its sender, and ends .2 s after it.
fn chain(ecn: bool) -> Assembly {
    let mut network = FluidNetwork::new();
    let [a, b, c, d] = ["A", "B", "C", "D"].map(|name| network.link(name, 1e6, f64::INFINITY));
    let first =
        Loop { ecn, ..Loop::new("first", P, sender_law(Steady(BASE)), 0.5).over(a, 0.05).over(b, 0.1) };
    let loops = [
        network.add(first),
        network.add(Loop::new("second", P, sender_law(Steady(BASE)), 0.3).over(c, 0.03)),
        network.add(Loop::new("third", P, sender_law(Steady(BASE)), 0.2).over(d, 0.02)),
    ];
    for (pair, forward) in loops.windows(2).zip([0.2, 0.12]) {
        let [upstream, downstream] = [pair[0], pair[1]];
        network.add_relay(Relay { upstream, downstream, forward, buffer: RelayBuffer::UNLIMITED });
    }
    Assembly::new(network).unwrap()
}

/// Three equal flows over A and B.
fn parallel(ecn: bool) -> Assembly {
    let mut network = FluidNetwork::new();
    let [a, b] = ["A", "B"].map(|name| network.link(name, 1e6, f64::INFINITY));
    [a, b].into_iter().for_each(|link| network.add_router(link, P, link_law(Total)));
    let flows = Loop::new("f", P, sender_law(Signals), 0.5).over(a, 0.05).over(b, 0.1).times(3.0).always();
    network.add(Loop { ecn, ..flows });
    Assembly::new(network).unwrap()
}

fn channel(asm: &Assembly, entity: Entity, quantity: &str) -> usize {
    let columns = asm.channel_columns();
    columns.iter().position(|column| column.entity == entity && column.quantity == quantity).unwrap()
}

/// Inputs with entity, quantity and delay in thousandths of a second.
fn inputs(asm: &Assembly, subsystem: &Subsystem) -> Vec<(Entity, &'static str, i64)> {
    let columns = asm.channel_columns();
    let input = |input: &millpond_fluid::Input| {
        let column = &columns[input.channel];
        (column.entity, column.quantity, (input.delay * 1e3).round() as i64)
    };
    subsystem.inputs.iter().map(input).collect()
}

/// What arrives at a relay has left its sender one forward delay ago, and each link when it left that link.
#[test]
fn a_relay_receives_each_quantity_with_the_delay_from_its_place_on_the_path() {
    let asm = chain(true);
    let frozen = Frozen::new(&asm, 1.0);
    let point = frozen.at(&asm.initial()).unwrap();
    let quantities = ["departing over arriving", "loss probability", "marking probability"];
    let of_link = |link, delay| quantities.map(|quantity| (Entity::Link(link), quantity, delay));
    let mut expected = vec![(Entity::Loop(0), "sending rate", 200)];
    expected.extend(of_link(A, 150));
    expected.extend(of_link(B, 100));
    expected.push((Entity::Loop(1), "sending rate", 0));
    assert_eq!(inputs(&asm, &frozen.relay_subsystem(0, &point)), expected);
    // The marks of the first loop reach the second relay with the data.
    let second = inputs(&asm, &frozen.relay_subsystem(1, &point));
    assert_eq!(second.last(), Some(&(Entity::Relay(0), "marked before", 120)));
    // What the relay returns arrives .5 - .2 s later.
    let sender = inputs(&asm, &frozen.loop_subsystem(0, &point));
    let relay = [(Entity::Relay(0), "permitted rate"), (Entity::Relay(0), "backlog")];
    let returned = relay.into_iter().chain([(Entity::Loop(1), "round-trip time")]);
    for (entity, quantity) in returned {
        assert!(sender.contains(&(entity, quantity, 300)), "{quantity}: {sender:?}");
    }
}

#[test]
fn a_relay_passes_marks_on_only_if_the_loop_before_it_is_ecn_capable() {
    for (ecn, gain) in [(true, 1.0), (false, 0.0)] {
        let asm = chain(ecn);
        let frozen = Frozen::new(&asm, 1.0);
        let relay = frozen.relay_subsystem(0, &frozen.at(&asm.initial()).unwrap());
        let marking = channel(&asm, Entity::Link(A), "marking probability");
        let input = relay.inputs.iter().position(|input| input.channel == marking).unwrap();
        assert_eq!(relay.d[2][input], gain, "{ecn}");
    }
}

/// The operating point with a share of .2 marked at A, and a share of .1 lost at B.
fn marked_and_lost(asm: &Assembly, frozen: &Frozen<'_>) -> OperatingPoint {
    let mut point = frozen.at(&asm.initial()).unwrap();
    point.channels[channel(asm, Entity::Link(A), "marking probability")] = 0.2;
    point.channels[channel(asm, Entity::Link(B), "loss probability")] = 0.1;
    point
}

/// With ECN, `lost` is .1 and `marked` is .2. Without, a mark is a loss: `1 - .8 * .9` are lost.
#[test]
fn a_mark_is_a_loss_for_a_sender_that_is_not_ecn_capable() {
    for (ecn, by_marking, by_loss) in [(true, 2.0, 1.0), (false, 0.9, 0.8)] {
        let asm = parallel(ecn);
        let frozen = Frozen::new(&asm, 1.0);
        let sender = frozen.loop_subsystem(0, &marked_and_lost(&asm, &frozen));
        for (link, quantity, gain) in
            [(A, "marking probability", by_marking), (B, "loss probability", by_loss)]
        {
            let of = channel(&asm, Entity::Link(link), quantity);
            let input = sender.inputs.iter().position(|input| input.channel == of).unwrap();
            assert!((sender.b[0][input] - gain).abs() < 1e-12, "{ecn} {quantity}: {}", sender.b[0][input]);
        }
    }
}

#[test]
fn a_link_adds_what_all_flows_of_a_class_carry() {
    let asm = parallel(true);
    let frozen = Frozen::new(&asm, 1.0);
    let link = frozen.link_subsystem(A, &frozen.at(&asm.initial()).unwrap());
    let carried = channel(&asm, Entity::Loop(0), "three x");
    let input = link.inputs.iter().position(|input| input.channel == carried).unwrap();
    assert_eq!(link.d.last().unwrap()[input], 3.0);
}

/// A packet is lost or not at A and at B, and a mark at A is a loss without ECN: of `lambda` packets/s a share p is hit, which is white noise of
/// the density `p (1 - p) / lambda`. It changes `lost` by itself, whichever link it is from.
#[test]
fn losses_are_bernoulli_trials_of_the_whole_path() {
    for (ecn, probability) in [(true, 1.0 - 0.7 * 0.9), (false, 1.0 - 0.7 * 0.8 * 0.9)] {
        let asm = parallel(ecn);
        let frozen = Frozen::new(&asm, 1.0);
        let mut point = marked_and_lost(&asm, &frozen);
        point.channels[channel(&asm, Entity::Link(A), "loss probability")] = 0.3;
        let granularity = PacketGranularity { packet: 12.0, has_window: false };
        let noise = Linearized::of(&frozen, &point).noise(&frozen, &point, &[granularity]);
        let source = noise.sources.iter().find(|source| source.kind == NoiseKind::Losses).unwrap();
        let density = probability * (1.0 - probability) / (BASE / 12.0);
        assert!((source.density / density - 1.0).abs() < 1e-12, "{ecn}: {source:?} {density}");
        let block = &noise.system.blocks[source.input.block];
        let column = block.b.column(source.input.input);
        assert!((column.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{ecn}: {column}");
    }
}
