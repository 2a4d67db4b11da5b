//! Evaluation of one flow and one link for tests.

use millpond_law::LinkFacts;
use millpond_law::fluid::{
    Allocation, Dual64, FluidQueue, LinkInputs, LinkLaws, LoopFacts, Marginal, SenderInput, SenderInputs,
    SenderLaws,
};
use millpond_units::{Bytes, Rate};

/// Packets of 1000 bytes, in bits.
pub const PACKET: f64 = 8000.0;

/// One loop over one link of 8 Mbit/s: 1000 packets/s.
pub fn one_loop(base_rtt: f64) -> LoopFacts {
    LoopFacts { packet: PACKET, base_rtt, capacity: 8e6, hops: 1, weight: 1.0, chained: false }
}

/// A link of 8 Mbit/s.
pub fn one_link() -> LinkFacts {
    LinkFacts::fifo(Rate::from_mbps(8.0), None, Bytes::new(1000))
}

/// The law of a queue.
pub fn law(queue: FluidQueue) -> Box<dyn LinkLaws> {
    match queue {
        FluidQueue::Law { law, .. } => law,
        _ => panic!("no law"),
    }
}

/// The inputs of one flow of [`one_loop`], modified by `change`.
pub fn inputs(
    senders: &dyn SenderLaws,
    base_rtt: f64,
    change: impl FnOnce(&mut SenderInputs),
) -> SenderInputs {
    let mut inputs = SenderInputs::of(senders, 0..1);
    (inputs.base_rtt[0], inputs.capacity[0]) = (base_rtt, 8e6);
    change(&mut inputs);
    inputs
}

/// The derivatives of one flow's states, and its rate in bit/s.
pub fn flow(senders: &dyn SenderLaws, x: &[f64], inputs: &SenderInputs) -> (Vec<f64>, f64) {
    let (mut dx, mut rate) = (vec![f64::NAN; x.len()], [f64::NAN]);
    senders.derivatives(0, x, inputs, &mut dx);
    senders.rates(0, x, inputs, &mut rate, &mut vec![0.0; senders.carried().len()]);
    (dx, rate[0])
}

/// The quantities that one flow carries to its links.
pub fn carried(senders: &dyn SenderLaws, x: &[f64], inputs: &SenderInputs) -> Vec<f64> {
    let mut carried = vec![f64::NAN; senders.carried().len()];
    senders.rates(0, x, inputs, &mut [0.0], &mut carried);
    carried
}

/// The derivatives and signals of a link of 8 Mbit/s.
pub fn link(
    links: &dyn LinkLaws,
    x: &[f64],
    carried: &[f64],
    change: impl FnOnce(&mut LinkInputs),
) -> (Vec<f64>, Vec<f64>) {
    let mut inputs = LinkInputs::of(links, 0..1, carried.len());
    inputs.capacity[0] = 8e6;
    inputs.carried.copy_from_slice(carried);
    change(&mut inputs);
    let (mut dx, mut signals) = (vec![f64::NAN; x.len()], vec![f64::NAN; links.signal_names().len()]);
    links.derivatives(0, x, &inputs, &mut dx);
    links.signals(0, x, &inputs, &mut signals);
    (dx, signals)
}

/// The marginal utility of an allocation.
pub fn marginal(allocation: Allocation) -> Box<dyn Marginal> {
    match allocation {
        Allocation::Utility { marginal, .. } => marginal,
        _ => panic!("no utility"),
    }
}

/// The exact derivative of one flow's rate by its marking probability.
pub fn slope_by_marking(senders: &dyn SenderLaws, x: &[f64], base_rtt: f64, marked: f64) -> f64 {
    let x: Vec<Dual64> = x.iter().map(|&x| Dual64::from(x)).collect();
    let zero = Dual64::from(0.0);
    let input = SenderInput {
        base_rtt,
        capacity: 8e6,
        queueing: zero,
        queueing_slope: zero,
        marked: Dual64::from(marked).derivative(),
        lost: zero,
        acked: zero,
        present_queueing: zero,
        earlier_queueing: zero,
        feedback: &[],
        discrete: &[],
        growth: 1.0,
        downstream: None,
        upstream: None,
    };
    let mut dx = vec![zero; x.len()];
    senders.dual(0, &x, &input, &mut dx, &mut []).eps
}

/// Is `a` within a relative 1e-9 of `b`?
pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-12)
}
