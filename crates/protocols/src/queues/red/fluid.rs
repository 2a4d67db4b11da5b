//! RED as differential equations: the average follows the queue, the probability follows the average. The fluid model
//! marks at departure instead of arrival, one queueing delay later.

use super::link::probability;
use super::params::{Params, Shape, Spacing};
use millpond_law::LinkFacts;
use millpond_law::fluid::{FluidLink, Jump, LinkEquilibrium, LinkInput, Number, Quantity, State};

const BITS: f64 = 8.0;

/// `v' = -ln(1 - w_q) c / packet (q - v)`: an average with one sample per served packet
/// (Misra, Gong, Towsley, SIGCOMM 2000). With `w_q = 1` it is the queue itself.
pub(super) struct RedFluid {
    params: Params,
    /// In bits.
    packet: f64,
}

impl RedFluid {
    pub(super) fn new(params: Params, facts: &LinkFacts) -> Self {
        Self { params, packet: facts.packet.bits() as f64 }
    }

    fn averages(&self) -> bool {
        self.params.weight < 1.0
    }

    /// The marking probability for packets with probability p_b.
    fn signalled<T: Number>(&self, p_b: T) -> T {
        match self.params.spacing {
            Spacing::Uniform => spread_out(p_b),
            Spacing::Geometric => p_b,
        }
    }

    /// The queue length that the law uses, in bytes.
    fn queue_bytes<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>) -> T {
        (if self.averages() { x[0] } else { input.queue }) / BITS
    }
}

/// Gaps between marks that are uniform on 1 .. 1/p_b have a mean of (1 + 1/p_b) / 2: more marks than p_b.
fn spread_out<T: Number>(p_b: T) -> T {
    p_b * 2.0 / (p_b + 1.0)
}

impl FluidLink for RedFluid {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "marking probability", unit: "1" }];
    const GUARDS: &'static [&'static str] = &["min_th", "max_th", "2 max_th"];

    fn states(&self) -> Vec<State> {
        let average = State::new("average queue", "bit", 0.0).within(0.0, f64::INFINITY);
        if self.averages() { vec![average] } else { Vec::new() }
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        if self.averages() {
            let pace = -libm::log1p(-self.params.weight) * input.capacity / self.packet;
            dx[0] = (input.queue - x[0]) * pace;
        }
    }

    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let p_b = probability(&self.params, self.queue_bytes(x, input));
        signals[0] = self.signalled(p_b);
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        let Params { min_th, max_th, max_p, shape, .. } = self.params;
        let jump = |threshold: f64, below: f64, above: f64| {
            let (below, above) = (self.signalled(below), self.signalled(above));
            (above > below).then_some(Jump { queue: threshold * BITS, below, above })
        };
        let jumps = match shape {
            Shape::Step => [jump(max_th, 0.0, 1.0), None],
            Shape::Classic => [jump(max_th, max_p, 1.0), None],
            // From `min_th` on every packet is marked.
            Shape::Proportional if min_th >= max_th => [jump(min_th, 0.0, 1.0), None],
            Shape::Proportional => [jump(min_th, 0.0, max_p * min_th / max_th), jump(max_th, max_p, 1.0)],
            Shape::Gentle => [None; 2],
        };
        LinkEquilibrium { jumps, ..LinkEquilibrium::default() }
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        let (queue, Params { min_th, max_th, shape, .. }) = (self.queue_bytes(x, input), self.params);
        let never = -T::one();
        guards[0] = if shape == Shape::Step { never } else { queue - min_th };
        guards[1] = queue - max_th;
        guards[2] = if shape == Shape::Gentle { queue - 2.0 * max_th } else { never };
    }
}

#[cfg(test)]
mod tests {
    use crate::queues::red::Red;
    use crate::testing::fluid::{law, link, near, one_link};
    use millpond_law::fluid::LinkLaws;
    use millpond_law::{Queue, Settings, Value};

    fn red(preset: Option<&'static str>, written: &[(&'static str, Value)]) -> Box<dyn LinkLaws> {
        let presets = Red.card().presets.iter().filter(|(name, _)| Some(*name) == preset);
        let all = presets.flat_map(|(_, values)| values.iter().cloned()).chain(written.iter().cloned());
        let settings = Settings::check(Red.card().parameters, all).unwrap();
        law(Red.fluid(&settings, &one_link()).unwrap())
    }

    fn marks(links: &dyn LinkLaws, x: &[f64], queue_bytes: f64) -> f64 {
        link(links, x, &[], |i| i.queue[0] = queue_bytes * 8.0).1[0]
    }

    #[test]
    fn the_lgcc_setting_marks_in_proportion_to_the_queue() {
        let links = red(Some("lgcc"), &[("min_th", Value::text("3KB"))]);
        assert!(links.states(0).is_empty());
        for (bytes, p) in [(2999.0, 0.0), (3000.0, 0.04), (37_500.0, 0.5), (75_000.0, 1.0), (1e6, 1.0)] {
            assert!((marks(&*links, &[], bytes) - p).abs() < 1e-12, "{bytes}");
        }
    }

    /// The floor of the lesson on noise floors at its end: 120 KB over the 75 KB at which all packets are marked.
    #[test]
    fn a_floor_above_the_upper_threshold_is_one_jump_to_one() {
        let floor = [("min_th", Value::text("120KB")), ("max_th", Value::text("75KB"))];
        let links = red(Some("lgcc"), &floor);
        let jumps: Vec<_> = links.equilibrium(0).jumps.into_iter().flatten().collect();
        assert_eq!(jumps.len(), 1);
        assert_eq!((jumps[0].queue, jumps[0].below, jumps[0].above), (960_000.0, 0.0, 1.0));
        assert_eq!([119_999.0, 120_000.0].map(|bytes| marks(&*links, &[], bytes)), [0.0, 1.0]);
    }

    #[test]
    fn a_step_marks_all_above_its_threshold() {
        let links = red(Some("dctcp-step"), &[]);
        assert_eq!([97_499.0, 97_501.0].map(|queue| marks(&*links, &[], queue)), [0.0, 1.0]);
    }

    #[test]
    fn the_average_follows_with_one_sample_per_packet_served_and_marks_are_spread() {
        // 1000 packets/s at w_q = .002: a pole at 2.002/s.
        let links = red(None, &[]);
        let (dx, signals) = link(&*links, &[15_000.0 * 8.0], &[], |i| i.queue[0] = 25_000.0 * 8.0);
        assert!(near(dx[0], 2.002_002_670_673 * 80_000.0), "{dx:?}");
        // Halfway from 7.5 to 22.5 KB: p_b = .01, gaps of 50.5 packets on the average.
        assert!(near(signals[0], 1.0 / 50.5), "{signals:?}");
    }

    #[test]
    fn guards_change_their_sign_at_the_thresholds() {
        let links = red(None, &[("shape", Value::text("gentle")), ("weight", Value::Number(1.0))]);
        let at = |bytes: f64| {
            let input = millpond_law::fluid::LinkInput {
                capacity: 8e6,
                arriving: 0.0,
                own_arriving: 0.0,
                queue: bytes * 8.0,
                carried: &[],
                discrete: &[],
            };
            let mut guards = [0.0; 3];
            links.guards(0, &[], &input, &mut guards);
            guards.map(|guard| guard > 0.0)
        };
        assert_eq!(
            [7000.0, 8000.0, 23_000.0, 46_000.0].map(at).map(|g| g.iter().filter(|g| **g).count()),
            [0, 1, 2, 3]
        );
    }
}
