//! The price of a link as a differential equation (`price = "field"`): Eq. (P1).

use super::price::{MOST_NATS, PriceParams};
use millpond_law::fluid::{FluidLink, LinkEquilibrium, LinkInput, Number, Quantity, State};

/// The price of one link, whose path is the sum of its links (P2).
pub(super) struct PriceFluid(pub(super) PriceParams);

impl FluidLink for PriceFluid {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "price", unit: "1" }];

    fn states(&self) -> Vec<State> {
        vec![State::new("price", "1", 0.0).within(0.0, MOST_NATS)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[0] = self.0.growth(input.load() / self.0.capacity, input.queue / input.capacity);
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }

    /// Below its capacity a link has no queue; with a drain, the price is at equilibrium only with an empty queue.
    fn equilibrium(&self) -> LinkEquilibrium {
        let empties = self.0.capacity < 1.0 || self.0.drain > 0.0;
        LinkEquilibrium {
            utilization: self.0.capacity,
            queue: empties.then_some(0.0),
            ..LinkEquilibrium::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgcc::params::PARAMETERS;
    use crate::testing::fluid::link;
    use millpond_law::fluid::link_law;
    use millpond_law::{Settings, Value};

    #[test]
    fn the_price_grows_by_eq_p1() {
        let written = [("price_rtt", Value::text("200ms")), ("price_capacity", Value::Number(0.8))];
        let params = PriceParams::read(&Settings::check(PARAMETERS, written).unwrap()).unwrap();
        let law = link_law(PriceFluid(params));
        // A link of 8 Mbit/s. Twice the virtual capacity: .1 / 200 ms, over eta = 1.4307.
        let unit = 0.5 / 1.430_676_558;
        let (dx, signals) = link(&*law, &[0.7], &[], |i| i.arriving[0] = 12.8e6);
        assert!((dx[0] - unit).abs() < 1e-9 && signals == [0.7], "{dx:?} {signals:?}");
        // A queue of 40 ms is .3 * 40 / 200 of the virtual capacity.
        let (dx, _) = link(&*law, &[0.7], &[], |i| (i.arriving[0], i.queue[0]) = (6.4e6, 320e3));
        assert!((dx[0] - 0.06 * unit).abs() < 1e-9, "{dx:?}");
        let equilibrium = PriceFluid(params).equilibrium();
        assert_eq!((equilibrium.utilization, equilibrium.queue), (0.8, Some(0.0)));
    }
}
