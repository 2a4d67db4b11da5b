//! PIE as a differential equation (R. Pan et al., IEEE HPSR 2013, section IV): an update per interval becomes a rate.

use super::link::divisor;
use super::params::Params;
use millpond_law::LinkFacts;
use millpond_law::fluid::{FluidLink, LinkEquilibrium, LinkInput, Number, Quantity, State, Verdicts};

/// `p' = (alpha (d - target) / T + beta d') / k(p)` with the queueing delay `d = q / c` and `d' = (y - c) / c`, of
/// which `y` enters the queue. Left out: burst allowance, decay, the limit of a change, the exemption of short queues, and that
/// ECN-capable packets are dropped above `ecn_limit`.
pub(super) struct PieFluid {
    params: Params,
    /// The queue of the target at the configured capacity, in bits.
    target: f64,
    verdicts: Verdicts,
}

impl PieFluid {
    pub(super) fn new(params: Params, facts: &LinkFacts, verdicts: Verdicts) -> Self {
        Self { params, target: facts.capacity.as_f64() * params.target.secs(), verdicts }
    }

    /// The share of arriving packets that enter the queue.
    fn admitted<T: Number>(&self, probability: T) -> T {
        match self.verdicts {
            Verdicts::Marks => T::one(),
            Verdicts::Drops => -probability + 1.0,
        }
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
        let growth =
            if input.queue.re() > 0.0 { input.load() * self.admitted(x[0]) - 1.0 } else { T::zero() };
        dx[0] = (excess * (alpha / update.secs()) + growth * beta) / divisor(x[0].re());
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium { queue: Some(self.target), ..LinkEquilibrium::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::queues::pie::Pie;
    use crate::testing::fluid::{law, link, one_link};
    use millpond_law::{LinkFacts, Queue, Settings, Value};

    /// Where packets are dropped, the queue is constant if `c / (1 - p)` arrives; where they are marked, if `c` arrives.
    #[test]
    fn the_probability_is_constant_if_the_queue_is_constant_at_its_target() {
        let (probability, capacity, target) = (0.2, 8e6, 8e6 * 0.015);
        for (ecn, carries_ecn, arriving) in
            [(true, true, capacity), (true, false, 10e6), (false, true, 10e6), (false, false, 10e6)]
        {
            let settings = Settings::check(Pie.card().parameters, [("ecn", Value::Flag(ecn))]).unwrap();
            let pie = law(Pie.fluid(&settings, &LinkFacts { carries_ecn, ..one_link() }).unwrap());
            let (dx, _) = link(&*pie, &[probability], &[], |i| {
                (i.queue[0], i.arriving[0]) = (target, arriving);
            });
            assert!(dx[0].abs() < 1e-9, "{ecn} {carries_ecn}: {dx:?}");
        }
    }
}
