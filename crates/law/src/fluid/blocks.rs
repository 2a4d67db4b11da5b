//! Loops over blocks of flows and links under laws of one type.
//!
//! Inputs are slices of one length, the number of states is known to the compiler where it is small, and the functions are
//! inlined. A law without branches then has no checks in its loop, and the compiler evaluates several flows with one
//! instruction.

use super::{FluidLink, FluidSender, LinkInputs, SenderInputs, SenderOutputs};

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
            let flows = inputs.view_for::<L>();
            let dx = out.dx;
            for (i, (law, rate)) in laws.iter().zip(&mut *out.rates).enumerate().take(flows.count()) {
                let (x, dx) = (&x[i * width..][..width], &mut dx[i * width..][..width]);
                *rate = law.derivative_and_rate(x, &flows.flow(i), dx);
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

/// Defines the loop over the flows of a block as a function that is compiled with these attributes. It is not inlined: as its
/// own function it states that the outputs do not overlap with the inputs.
macro_rules! each_flow {
    ($(#[$attribute:meta])* $name:ident) => {
        $(#[$attribute])*
        #[inline(never)]
        fn $name<L: FluidSender, const WIDTH: usize>(
            laws: &[L],
            x: &[f64],
            inputs: &SenderInputs,
            dx: &mut [f64],
            rates: &mut [f64],
        ) {
            let flows = inputs.view_for::<L>();
            let count = flows.count();
            let (laws, rates) = (&laws[..count], &mut rates[..count]);
            let (x, dx) = (&x.as_chunks::<WIDTH>().0[..count], &mut dx.as_chunks_mut::<WIDTH>().0[..count]);
            for i in 0..count {
                rates[i] = laws[i].derivative_and_rate(&x[i], &flows.flow(i), &mut dx[i]);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
each_flow!(
    #[target_feature(enable = "avx2")]
    with_avx2
);
each_flow!(on_any_processor);

/// The derivatives of the flows of a block, with `width` states each.
#[inline]
pub(super) fn derivatives<L: FluidSender>(
    laws: &[L],
    width: usize,
    x: &[f64],
    inputs: &SenderInputs,
    dx: &mut [f64],
) {
    let flows = inputs.view_for::<L>();
    for (i, law) in laws.iter().enumerate().take(flows.count()) {
        law.derivative(&x[i * width..][..width], &flows.flow(i), &mut dx[i * width..][..width]);
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
    let flows = inputs.view_for::<L>();
    for (i, (law, rate)) in laws.iter().zip(rates).enumerate().take(flows.count()) {
        *rate = law.rate(&x[i * width..][..width], &flows.flow(i));
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
    let flows = inputs.view_for::<L>();
    for (i, (law, carried)) in laws.iter().zip(carried.chunks_exact_mut(each)).enumerate().take(flows.count())
    {
        law.carried(&x[i * width..][..width], &flows.flow(i), carried);
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
    let links = inputs.view();
    for (i, law) in laws.iter().enumerate().take(links.count()) {
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
    let (links, each) = (inputs.view(), L::SIGNALS.len());
    for (i, law) in laws.iter().enumerate().take(links.count()) {
        law.signals(&x[i * width..][..width], &links.link(i), &mut signals[i * each..][..each]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Number, Quantity, SenderInput, State, exp, ln_1p};
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
