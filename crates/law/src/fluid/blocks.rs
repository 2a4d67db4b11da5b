//! Loops over blocks of flows and links under laws of one type.
//!
//! Inputs are slices of one length, the number of states is known to the compiler where it is small, and the functions are
//! inlined. A law without branches then has no checks in its loop, and the compiler evaluates several flows with one
//! instruction.

use super::{FluidLink, FluidSender, LinkInput, LinkInputs, SenderInput, SenderInputs, SenderOutputs};

/// The inputs of the flows of a block, each as a slice of one value per flow.
struct FlowInputs<'a> {
    inputs: &'a SenderInputs,
    count: usize,
    base_rtt: &'a [f64],
    capacity: &'a [f64],
    queueing: &'a [f64],
    queueing_slope: &'a [f64],
    marked: &'a [f64],
    lost: &'a [f64],
    acked: &'a [f64],
    present_queueing: &'a [f64],
    earlier_queueing: &'a [f64],
}

impl<'a> FlowInputs<'a> {
    #[inline(always)]
    fn new(inputs: &'a SenderInputs) -> Self {
        let count = inputs.count();
        Self {
            inputs,
            count,
            base_rtt: &inputs.base_rtt[..count],
            capacity: &inputs.capacity[..count],
            queueing: &inputs.queueing[..count],
            queueing_slope: &inputs.queueing_slope[..count],
            marked: &inputs.marked[..count],
            lost: &inputs.lost[..count],
            acked: &inputs.acked[..count],
            present_queueing: &inputs.present_queueing[..count],
            earlier_queueing: &inputs.earlier_queueing[..count],
        }
    }

    /// The input of flow `i` under a law of type `L`.
    #[inline(always)]
    fn flow<L: FluidSender>(&self, i: usize) -> SenderInput<'a, f64> {
        SenderInput {
            base_rtt: self.base_rtt[i],
            capacity: self.capacity[i],
            queueing: self.queueing[i],
            queueing_slope: self.queueing_slope[i],
            marked: self.marked[i],
            lost: self.lost[i],
            acked: self.acked[i],
            present_queueing: self.present_queueing[i],
            earlier_queueing: self.earlier_queueing[i],
            feedback: entries(&self.inputs.feedback, i, L::FEEDBACK.len()),
            discrete: entries(&self.inputs.discrete, i, L::DISCRETE.len()),
            downstream: self.inputs.downstream.get(i).copied().flatten(),
            upstream: self.inputs.upstream.get(i).copied().flatten(),
        }
    }
}

/// The entries of flow or link `i`, of which each has `width`.
#[inline(always)]
fn entries<T>(all: &[T], i: usize, width: usize) -> &[T] {
    if width == 0 { &[] } else { &all[i * width..][..width] }
}

/// Derivatives, rates and carried quantities of the flows of a block, with `width` states each.
#[inline]
pub(super) fn derivatives_and_rates<L: FluidSender>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &SenderInputs,
    out: SenderOutputs<'_>,
) {
    match width {
        1 => derivatives_and_rates_of::<L, 1>(laws, x, inputs, out.dx, out.rates),
        2 => derivatives_and_rates_of::<L, 2>(laws, x, inputs, out.dx, out.rates),
        _ => {
            let flows = FlowInputs::new(inputs);
            let dx = out.dx;
            for (i, (law, rate)) in laws.iter().zip(&mut *out.rates).enumerate().take(flows.count) {
                let (x, dx) = (&x[i * width..][..width], &mut dx[i * width..][..width]);
                *rate = law.derivative_and_rate(x, &flows.flow::<L>(i), dx);
            }
        }
    }
    carried(laws, width, x, inputs, out.carried);
}

/// The same with a constant number of states.
///
/// Processors with AVX2 evaluate four flows with one instruction. The bits do not depend on it: each flow has the same sums,
/// products and quotients, and the compiler fuses none of them.
fn derivatives_and_rates_of<L: FluidSender, const WIDTH: usize>(
    laws: &[L],
    x: &[f64],
    inputs: &SenderInputs,
    dx: &mut [f64],
    rates: &mut [f64],
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[allow(unsafe_code)]
        // SAFETY: the function has no other condition than that the processor has AVX2.
        return unsafe { with_avx2::<L, WIDTH>(laws, x, inputs, dx, rates) };
    }
    on_any_processor::<L, WIDTH>(laws, x, inputs, dx, rates);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<L: FluidSender, const WIDTH: usize>(
    laws: &[L],
    x: &[f64],
    inputs: &SenderInputs,
    dx: &mut [f64],
    rates: &mut [f64],
) {
    each_flow::<L, WIDTH>(laws, x, inputs, dx, rates);
}

/// Not inlined: as its own function it states that the outputs do not overlap with the inputs.
#[inline(never)]
fn on_any_processor<L: FluidSender, const WIDTH: usize>(
    laws: &[L],
    x: &[f64],
    inputs: &SenderInputs,
    dx: &mut [f64],
    rates: &mut [f64],
) {
    each_flow::<L, WIDTH>(laws, x, inputs, dx, rates);
}

#[inline(always)]
fn each_flow<L: FluidSender, const WIDTH: usize>(
    laws: &[L],
    x: &[f64],
    inputs: &SenderInputs,
    dx: &mut [f64],
    rates: &mut [f64],
) {
    let flows = FlowInputs::new(inputs);
    let count = flows.count;
    let (laws, rates) = (&laws[..count], &mut rates[..count]);
    let (x, dx) = (&x.as_chunks::<WIDTH>().0[..count], &mut dx.as_chunks_mut::<WIDTH>().0[..count]);
    for i in 0..count {
        rates[i] = laws[i].derivative_and_rate(&x[i], &flows.flow::<L>(i), &mut dx[i]);
    }
}

/// The derivatives of the flows of a block, with `width` states each.
#[inline]
pub(super) fn derivatives<L: FluidSender>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &SenderInputs,
    dx: &mut [f64],
) {
    let flows = FlowInputs::new(inputs);
    for (i, law) in laws.iter().enumerate().take(flows.count) {
        law.derivative(&x[i * width..][..width], &flows.flow::<L>(i), &mut dx[i * width..][..width]);
    }
}

/// The sending rates of the flows of a block, with `width` states each.
#[inline]
pub(super) fn rates<L: FluidSender>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &SenderInputs,
    rates: &mut [f64],
) {
    let flows = FlowInputs::new(inputs);
    for (i, (law, rate)) in laws.iter().zip(rates).enumerate().take(flows.count) {
        *rate = law.rate(&x[i * width..][..width], &flows.flow::<L>(i));
    }
}

/// The carried quantities of the flows of a block, with `width` states each.
#[inline]
pub(super) fn carried<L: FluidSender>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &SenderInputs,
    carried: &mut [f64],
) {
    let each = L::CARRIED.len();
    if each == 0 {
        return;
    }
    let flows = FlowInputs::new(inputs);
    for (i, (law, carried)) in laws.iter().zip(carried.chunks_exact_mut(each)).enumerate().take(flows.count) {
        law.carried(&x[i * width..][..width], &flows.flow::<L>(i), carried);
    }
}

/// The inputs of the links of a block, each as a slice of one value per link.
struct BlockLinks<'a> {
    inputs: &'a LinkInputs,
    count: usize,
    capacity: &'a [f64],
    arriving: &'a [f64],
    own_arriving: &'a [f64],
    queue: &'a [f64],
    /// Number of carried quantities and of discrete states of each link.
    carried: usize,
    discrete: usize,
}

impl<'a> BlockLinks<'a> {
    #[inline(always)]
    fn new(inputs: &'a LinkInputs) -> Self {
        let count = inputs.count();
        Self {
            inputs,
            count,
            capacity: &inputs.capacity[..count],
            arriving: &inputs.arriving[..count],
            own_arriving: &inputs.own_arriving[..count],
            queue: &inputs.queue[..count],
            carried: inputs.carried.len() / count.max(1),
            discrete: inputs.discrete.len() / count.max(1),
        }
    }

    #[inline(always)]
    fn link(&self, i: usize) -> LinkInput<'a, f64> {
        LinkInput {
            capacity: self.capacity[i],
            arriving: self.arriving[i],
            own_arriving: self.own_arriving[i],
            queue: self.queue[i],
            carried: entries(&self.inputs.carried, i, self.carried),
            discrete: entries(&self.inputs.discrete, i, self.discrete),
        }
    }
}

/// The derivatives of the links of a block, with `width` states each.
#[inline]
pub(super) fn link_derivatives<L: FluidLink>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &LinkInputs,
    dx: &mut [f64],
) {
    let links = BlockLinks::new(inputs);
    for (i, law) in laws.iter().enumerate().take(links.count) {
        law.derivative(&x[i * width..][..width], &links.link(i), &mut dx[i * width..][..width]);
    }
}

/// The signals of the links of a block, with `width` states each.
#[inline]
pub(super) fn link_signals<L: FluidLink>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &LinkInputs,
    signals: &mut [f64],
) {
    let (links, each) = (BlockLinks::new(inputs), L::SIGNALS.len());
    for (i, law) in laws.iter().enumerate().take(links.count) {
        law.signals(&x[i * width..][..width], &links.link(i), &mut signals[i * each..][..each]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Number, Quantity, State, exp, ln_1p};
    use alloc::vec;
    use alloc::vec::Vec;

    /// A law with any number of states: `x_k' = gain ln(1 + x_k) - marked`, it sends `exp(-sum x_k) / base_rtt`.
    struct Growth {
        gain: f64,
        states: usize,
    }

    impl FluidSender for Growth {
        const CARRIED: &'static [Quantity] = &[Quantity { name: "first state", unit: "1" }];

        fn states(&self) -> Vec<State> {
            vec![State::new("x", "1", 1.0); self.states]
        }

        fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
            dx.iter_mut().zip(x).for_each(|(dx, x)| *dx = ln_1p(*x) * self.gain - input.marked);
        }

        fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
            exp(-x.iter().fold(T::zero(), |sum, x| sum + *x)) / input.base_rtt
        }

        fn carried<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, carried: &mut [T]) {
            carried[0] = x[0];
        }
    }

    #[test]
    fn one_pass_over_a_block_has_the_bits_of_single_flows_for_any_number_of_states() {
        for width in 1..=4 {
            // More laws than flows in the block, and an odd number of flows.
            let laws: Vec<_> =
                (0..9).map(|flow| Growth { gain: 0.1 * f64::from(flow), states: width }).collect();
            let mut inputs = SenderInputs::zeros(7, 0);
            for i in 0..7 {
                (inputs.base_rtt[i], inputs.marked[i]) = (0.01 + 0.003 * i as f64, 1.0 / (i + 3) as f64);
            }
            let x: Vec<f64> = (0..7 * width).map(|i| 1.0 / (1.0 + i as f64)).collect();
            let (mut dx, mut sent, mut first) = (vec![0.0; 7 * width], vec![0.0; 7], vec![0.0; 7]);
            let out = SenderOutputs { dx: &mut dx, rates: &mut sent, carried: &mut first };
            derivatives_and_rates(&laws[1..], width, &x, &inputs, out);
            if width == 2 {
                // This processor may have wider instructions than another.
                let (mut other_dx, mut other_sent) = (dx.clone(), sent.clone());
                on_any_processor::<Growth, 2>(&laws[1..], &x, &inputs, &mut other_dx, &mut other_sent);
                assert_eq!((&other_dx, &other_sent), (&dx, &sent));
            }
            for i in 0..7 {
                let (law, x, input) = (&laws[1 + i], &x[i * width..][..width], inputs.flow(i));
                let mut alone = vec![0.0; width];
                law.derivative(x, &input, &mut alone);
                assert_eq!(dx[i * width..][..width], alone);
                assert_eq!((sent[i], first[i]), (law.rate(x, &input), x[0]));
            }
        }
    }
}
