//! PIE as a differential equation (R. Pan et al., IEEE HPSR 2013, section IV): an update per interval becomes a rate.

use super::link::divisor;
use super::params::Params;
use millpond_law::LinkFacts;
use millpond_law::fluid::{FluidLink, LinkEquilibrium, LinkInput, Number, Quantity, State};

/// `p' = (alpha (d - target) / T + beta d') / k(p)` with the queueing delay `d = q / c` and `d' = (y - c) / c`. Left out:
/// burst allowance, decay, the limit of a change, and the exemption of short queues.
pub(super) struct PieFluid {
    params: Params,
    /// The queue of the target at the configured capacity, in bits.
    target: f64,
}

impl PieFluid {
    pub(super) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self { params, target: facts.capacity.as_f64() * params.target.secs() }
    }
}

impl FluidLink for PieFluid {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "marking probability", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("marking probability", "1", 0.0).within(0.0, 1.0)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let Params { target, update, alpha, beta, .. } = self.params;
        let excess = input.queue / input.capacity - target.secs();
        let growth = if input.queue.re() > 0.0 { input.load() - 1.0 } else { T::zero() };
        dx[0] = (excess * (alpha / update.secs()) + growth * beta) / divisor(x[0].re());
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium { queue: Some(self.target), ..LinkEquilibrium::default() }
    }
}
