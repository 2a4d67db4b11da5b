//! CLTCP as differential equations: system (6), consisting of the rate (3) and the rate factor (2), with the smallest
//! factor of the path (4).

use super::link::LEAST_FACTOR;
use super::params::{ALPHA, INITIAL_RATE, RouterParams};
use super::sender::LEAST_RATE;
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, InputSet, LinkEquilibrium, LinkInput, LinkLaws,
    LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, link_law, sender_law,
};
use millpond_law::{LinkFacts, SettingError, Settings};

/// The fluid model of CLTCP.
pub(super) struct CltcpFluid {
    alpha: f64,
    /// In packets/s.
    initial_rate: f64,
    router: RouterParams,
}

impl CltcpFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            alpha: settings.get(ALPHA),
            initial_rate: settings.get(INITIAL_RATE),
            router: RouterParams::read(settings)?,
        })
    }
}

impl FluidModel for CltcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let (initial, least) = (self.initial_rate * facts.packet, LEAST_RATE * facts.packet);
        sender_law(Source { alpha: self.alpha, initial, least })
    }

    fn link(&self, facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        let packet = facts.packet.as_f64() * 8.0;
        Some(link_law(Router { params: self.router, packet, capacity: facts.capacity.as_f64() }))
    }

    /// `x = min r`: the factor of the bottleneck is the same for all flows, regardless of their paths.
    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::MaxMin { weight: 1.0 }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["update intervals", "timeouts"]
    }
}

/// Eq. (3): `x' = alpha x (ln r - ln x)`.
struct Source {
    /// alpha in 1/s.
    alpha: f64,
    /// Initial x in bit/s.
    initial: f64,
    /// Smallest x in bit/s.
    least: f64,
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "rate factor", unit: "bit/s", over_path: PathAggregation::Min }];
    const INPUTS: InputSet = InputSet::NONE;

    fn states(&self) -> Vec<State> {
        vec![State::new("rate", "bit/s", self.initial).within(self.least, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = x[0] * ((input.feedback[0] / x[0]).ln() * self.alpha);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }
}

/// Eq. (2): `r' = beta r (1 - (sum x + (q - q0) / T) / C)`.
struct Router {
    params: RouterParams,
    /// In bits.
    packet: f64,
    /// Initial C in bit/s, for the bound on r.
    capacity: f64,
}

impl Router {
    /// q0 in bits.
    fn target_queue(&self) -> f64 {
        self.params.target_queue * self.packet
    }
}

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "rate factor", unit: "bit/s" }];

    fn states(&self) -> Vec<State> {
        let (initial, least) = (self.params.initial_factor * self.packet, LEAST_FACTOR * self.packet);
        vec![State::new("rate factor", "bit/s", initial).within(least, self.params.cap * self.capacity)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let excess = (input.queue - self.target_queue()) / self.params.time_constant;
        let load = (input.arriving + excess) / input.capacity;
        dx[0] = x[0] * (-load + 1.0) * self.params.beta;
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium { utilization: 1.0, queue: Some(self.target_queue()), ..LinkEquilibrium::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cltcp::params::PARAMETERS;
    use millpond_law::fluid::{LinkInputs, SenderInputs};
    use millpond_units::{Bytes, Rate};

    /// 1000 bytes.
    const PACKET: f64 = 8000.0;

    fn model() -> CltcpFluid {
        CltcpFluid::read(&Settings::check(PARAMETERS, []).unwrap()).unwrap()
    }

    #[test]
    fn the_rate_follows_equation_3_computed_by_hand() {
        let facts = LoopFacts {
            packet: PACKET,
            base_rtt: 0.1,
            capacity: 120e6,
            hops: 1,
            weight: 1.0,
            chained: false,
        };
        let source = model().sender(&facts);
        assert_eq!(source.states(0)[0].initial, 800e3);
        let mut inputs = SenderInputs::zeros(1, 1);
        inputs.feedback[0] = 1e6 * std::f64::consts::E;
        let mut dx = [0.0];
        source.derivatives(0, &[1e6], &inputs, &mut dx);
        assert!((dx[0] / 2e6 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_factor_follows_equation_2_with_equilibrium_at_the_target_queue() {
        let facts = LinkFacts { capacity: Rate::from_mbps(120.0), buffer: None, packet: Bytes::new(1000) };
        let router = model().link(&facts).unwrap();
        let mut inputs = LinkInputs::zeros(1, 0);
        let mut grows = |arriving: f64, packets: f64| {
            (inputs.capacity[0], inputs.arriving[0], inputs.queue[0]) = (120e6, arriving, packets * PACKET);
            let mut dx = [0.0];
            router.derivatives(0, &[1e6], &inputs, &mut dx);
            dx[0]
        };
        // 12000 packets/s and an excess of 300 packets over 2 s: 12150 of 15000.
        assert!((grows(96e6, 400.0) / 0.19e6 - 1.0).abs() < 1e-12);
        assert_eq!(grows(120e6, 100.0), 0.0);
        assert_eq!(router.equilibrium(0).queue, Some(800e3));
    }
}
