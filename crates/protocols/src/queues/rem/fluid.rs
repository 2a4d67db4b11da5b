//! REM as a differential equation: Eq. (17) and (36), Paganini et al.

use super::link::most_price;
use super::params::Params;
use millpond_law::fluid::{FluidLink, LinkEquilibrium, LinkInput, Number, Quantity, State, exp_m1};

/// `p' = (y - c_0) / c_0` plus the queueing delay times its weight; the marking probability of a packet is `1 -
/// phi^(-p)`.
pub(super) struct RemFluid {
    params: Params,
    /// ln phi.
    log_phi: f64,
}

impl RemFluid {
    pub(super) fn new(params: Params) -> Self {
        Self { params, log_phi: libm::log(params.phi) }
    }
}

impl FluidLink for RemFluid {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "marking probability", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("price", "s", 0.0).within(0.0, most_price(self.params.phi))]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let queued = input.queue * (self.params.queue_weight / input.capacity);
        dx[0] = input.arriving / (self.params.virtual_capacity * input.capacity) - 1.0 + queued;
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = -exp_m1(x[0] * -self.log_phi);
    }

    /// Below its capacity a link has no queue; with a weight, the price is at equilibrium only with an empty queue.
    fn equilibrium(&self) -> LinkEquilibrium {
        let empties = self.params.virtual_capacity < 1.0 || self.params.queue_weight > 0.0;
        LinkEquilibrium {
            utilization: self.params.virtual_capacity,
            queue: empties.then_some(0.0),
            ..LinkEquilibrium::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::queues::rem::Rem;
    use crate::testing::fluid::{law, link, near, one_link};
    use millpond_law::fluid::LinkLaws;
    use millpond_law::{Queue, Settings, Value};

    fn rem(queue_weight: f64) -> Box<dyn LinkLaws> {
        let written = [("queue_weight", Value::Number(queue_weight))];
        let settings = Settings::check(Rem.card().parameters, written).unwrap();
        law(Rem.fluid(&settings, &one_link()).unwrap())
    }

    #[test]
    fn a_queue_is_empty_at_equilibrium_below_the_capacity_or_with_a_weight() {
        let equilibrium = |virtual_capacity: f64, queue_weight: f64| {
            let written = [("virtual_capacity", virtual_capacity), ("queue_weight", queue_weight)];
            let written = written.map(|(name, value)| (name, Value::Number(value)));
            let settings = Settings::check(Rem.card().parameters, written).unwrap();
            let found = law(Rem.fluid(&settings, &one_link()).unwrap()).equilibrium(0);
            (found.utilization, found.queue)
        };
        assert_eq!(equilibrium(0.95, 0.0), (0.95, Some(0.0)));
        assert_eq!((equilibrium(1.0, 0.0), equilibrium(1.0, 3.0)), ((1.0, None), (1.0, Some(0.0))));
    }

    #[test]
    fn the_price_is_the_delay_of_the_queue_that_the_virtual_capacity_would_have() {
        // 9.12 Mbit/s at a link of 7.6: a fifth more than its capacity.
        let (dx, signals) = link(&*rem(0.0), &[0.0067368421], &[], |i| i.arriving[0] = 9.12e6);
        assert!(near(dx[0], 0.2) && (signals[0] - 0.0889).abs() < 5e-5, "{dx:?} {signals:?}");
        let (dx, _) = link(&*rem(0.0), &[0.01], &[], |i| i.arriving[0] = 7.6e6);
        assert!(dx[0].abs() < 1e-12);
        // A queue of 10 ms at a weight of 3/s.
        let (dx, _) = link(&*rem(3.0), &[0.01], &[], |i| (i.arriving[0], i.queue[0]) = (7.6e6, 80e3));
        assert!(near(dx[0], 0.03), "{dx:?}");
    }
}
