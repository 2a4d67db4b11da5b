//! CLTCP as differential equations: system (6), consisting of the rate (3) and the rate factor (2), with the smallest
//! factor of the path (4). With `scaling = "rtt"` the routers' gains depend on the mean round-trip time.

use super::params::{ALPHA, DELAY_PHASE, DELAY_RATIO, INITIAL_RATE, LEAST_FACTOR, RouterParams, Scaling};
use super::sender::LEAST_RATE;
use crate::parts::capped_rate;
use crate::parts::mean_rtt::mean_rtt;
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, InputSet, LawState, LinkEquilibrium, LinkInput,
    LinkLaws, LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, greatest, least,
    link_law, ln, sender_law,
};
use millpond_law::{LinkFacts, Settings};
use millpond_units::Span;

/// The fluid model of CLTCP.
pub(super) struct CltcpFluid {
    alpha: f64,
    /// In packets/s.
    initial_rate: f64,
    router: RouterParams,
}

impl CltcpFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self {
            alpha: settings.get(ALPHA),
            initial_rate: settings.get(INITIAL_RATE),
            router: RouterParams::read(settings),
        }
    }
}

impl FluidModel for CltcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let (initial, least) = (self.initial_rate * facts.packet, LEAST_RATE * facts.packet);
        let alpha = self.alpha;
        match self.router.scaling {
            Scaling::Fixed => sender_law(Source::<false> { alpha, initial, least }),
            Scaling::Rtt => sender_law(Source::<true> { alpha, initial, least }),
        }
    }

    fn link(&self, facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        let packet = facts.packet.as_f64() * 8.0;
        let (params, capacity, changes) = (self.router, facts.capacity.as_f64(), facts.capacity_changes);
        Some(match params.scaling {
            Scaling::Fixed => link_law(Router::<false> { params, packet, capacity, changes }),
            Scaling::Rtt => link_law(Router::<true> { params, packet, capacity, changes }),
        })
    }

    /// `x = min r`: the factor of the bottleneck is the same for all flows, regardless of their paths.
    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::MaxMin { weight: 1.0 }
    }

    fn left_out(&self) -> &'static [&'static str] {
        match self.router.scaling {
            Scaling::Fixed => &["update intervals", "timeouts"],
            Scaling::Rtt => {
                &["update intervals", "timeouts", "the first round trip, in which no sender knows its own"]
            }
        }
    }
}

/// Eq. (3): `x' = alpha x (ln r - ln x)`. `SCALED`: packets carry the round-trip time.
struct Source<const SCALED: bool> {
    /// alpha in 1/s.
    alpha: f64,
    /// Initial x in bit/s.
    initial: f64,
    /// Smallest x in bit/s.
    least: f64,
}

impl<const SCALED: bool> FluidSender for Source<SCALED> {
    const GROWS_UNUSED: bool = true;
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "rate factor", unit: "bit/s", over_path: PathAggregation::Min }];
    const CARRIED: &'static [Quantity] =
        if SCALED { &[Quantity { name: "rate times round-trip time", unit: "bit" }] } else { &[] };
    const INPUTS: InputSet = if SCALED { InputSet::QUEUEING } else { InputSet::NONE };

    fn states(&self) -> Vec<State> {
        vec![State::new("rate", "bit/s", self.initial).within(self.least, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = x[0] * (ln(input.feedback[0] / x[0]) * self.alpha);
    }

    fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
        x[0]
    }

    fn carried<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        if SCALED {
            carried[0] = x[0] * input.rtt();
        }
    }
}

/// Bounds of the mean round-trip time.
const RTT_BOUNDS: [Span; 2] = [Span::from_millis(1), Span::from_millis(1_000_000)];

/// Eq. (2): `r' = beta r (1 - (sum x + (q - q0) / T) / C)`. `SCALED`: with `min(beta, .45 / tau)` and `max(T, 8 tau)`,
/// where `tau' = (mean round-trip time of the packets - tau) / tau`.
struct Router<const SCALED: bool> {
    params: RouterParams,
    /// In bits.
    packet: f64,
    /// Initial C in bit/s.
    capacity: f64,
    /// Whether C changes.
    changes: bool,
}

/// The states of a router.
mod at {
    pub(super) const FACTOR: usize = 0;
    pub(super) const MEAN_RTT: usize = 1;
}

impl<const SCALED: bool> Router<SCALED> {
    /// beta in 1/s and T in seconds.
    fn gains<T: Number>(&self, x: &[T]) -> [T; 2] {
        let (beta, time_constant) = (T::from(self.params.beta), T::from(self.params.time_constant));
        if !SCALED {
            return [beta, time_constant];
        }
        let rtt = x[at::MEAN_RTT];
        [least(beta, T::from(DELAY_PHASE) / rtt), greatest(time_constant, rtt * DELAY_RATIO)]
    }

    /// q0 in bits.
    fn target_queue(&self) -> f64 {
        self.params.target_queue * self.packet
    }

    /// Upper limit of r in bit/s: a multiple of the present capacity.
    fn most(&self, capacity: f64) -> f64 {
        self.params.cap * capacity
    }
}

impl<const SCALED: bool> FluidLink for Router<SCALED> {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "rate factor", unit: "bit/s" }];
    const GUARDS: &'static [&'static str] = if SCALED {
        &["rate factor less its limit", "the same after a change of C", "beta less .45 / tau", "8 tau less T"]
    } else {
        &["rate factor less its limit", "the same after a change of C"]
    };

    fn states(&self) -> Vec<State> {
        let initial =
            self.params.bounded(self.params.initial_factor * self.packet, self.capacity, self.packet);
        let most = if self.changes { f64::INFINITY } else { self.most(self.capacity) };
        let lowest = LEAST_FACTOR * self.packet;
        let mut states = vec![State::new("rate factor", "bit/s", initial).within(lowest, most)];
        if SCALED {
            let [low, high] = RTT_BOUNDS.map(Span::secs);
            states.push(State::new("mean round-trip time", "s", low).within(low, high));
        }
        states
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let [beta, time_constant] = self.gains(x);
        let excess = (input.queue - self.target_queue()) / time_constant;
        let load = (input.arriving + excess) / input.capacity;
        let growth = x[at::FACTOR] * (-load + 1.0) * beta;
        dx[at::FACTOR] = if self.changes {
            capped_rate::derivative(x[at::FACTOR], self.most(input.capacity), growth)
        } else {
            growth
        };
        if SCALED {
            let ([low, high], tau) = (RTT_BOUNDS, x[at::MEAN_RTT]);
            dx[at::MEAN_RTT] = (mean_rtt(input, low, low, high) - tau) / tau;
            // A link without senders.
            if input.own_arriving <= 0.0 {
                dx.fill(T::zero());
            }
        }
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[at::FACTOR];
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        // A constant limit is the bound of the state.
        [guards[0], guards[1]] = if self.changes {
            capped_rate::guards(x[at::FACTOR], self.most(input.capacity))
        } else {
            [-T::one(); 2]
        };
        if SCALED {
            let tau = x[at::MEAN_RTT];
            guards[2] = -(T::from(DELAY_PHASE) / tau) + self.params.beta;
            guards[3] = tau * DELAY_RATIO - self.params.time_constant;
        }
    }

    fn crossed(&self, guard: usize, is_rising: bool, state: &mut LawState<'_>, input: &LinkInput<'_, f64>) {
        if guard == 1 && is_rising {
            let factor = &mut state.x[at::FACTOR];
            *factor = capped_rate::after_change(*factor, self.most(input.capacity));
        }
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium { utilization: 1.0, queue: Some(self.target_queue()), ..LinkEquilibrium::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cltcp::params::PARAMETERS;
    use crate::testing::fluid::{carried, inputs, link, near, one_loop};
    use millpond_law::fluid::{LinkInputs, SenderInputs};
    use millpond_units::{Bytes, Rate};

    /// 1000 bytes.
    const PACKET: f64 = 8000.0;

    fn model() -> CltcpFluid {
        CltcpFluid::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    #[test]
    fn scaled_routers_use_the_mean_round_trip_time_that_packets_carry() {
        let settings = Settings::check(PARAMETERS, [("scaling", millpond_law::Value::text("rtt"))]).unwrap();
        let model = CltcpFluid::read(&settings);
        let sender = model.sender(&one_loop(0.7));
        let seen = inputs(&*sender, 0.7, |i| (i.feedback[0], i.queueing[0]) = (1e6, 0.05));
        assert!(near(carried(&*sender, &[2e6], &seen)[0], 2e6 * 0.75));

        let facts = LinkFacts::fifo(Rate::from_mbps(120.0), None, Bytes::new(1000));
        let router = model.link(&facts).unwrap();
        // 12000 packets/s of 15000 and 300 packets above the target; two thirds of the load have .3 s, one third 2.1 s.
        let at = |tau: f64| {
            link(&*router, &[1e6, tau], &[64e6 * 0.3 + 32e6 * 2.1], |i| {
                (i.capacity[0], i.arriving[0], i.own_arriving[0]) = (120e6, 96e6, 96e6);
                i.queue[0] = 400.0 * PACKET;
            })
            .0
        };
        for (tau, beta, time_constant) in [(0.1, 1.0, 2.0), (0.3, 1.0, 2.4), (0.9, 0.5, 7.2)] {
            let load = (96e6 + 300.0 * PACKET / time_constant) / 120e6;
            let dx = at(tau);
            assert!(near(dx[0], 1e6 * beta * (1.0 - load)), "{tau}: {dx:?}");
            assert!(near(dx[1], (0.9 - tau) / tau), "{tau}: {dx:?}");
        }
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
        assert_eq!(source.states(0)[0].lower, PACKET, "a packet per second");
        let mut inputs = SenderInputs::zeros(1, 1);
        inputs.feedback[0] = 1e6 * std::f64::consts::E;
        let mut dx = [0.0];
        source.derivatives(0, &[1e6], &inputs, &mut dx);
        assert!((dx[0] / 2e6 - 1.0).abs() < 1e-12);
    }

    /// An idle link of 12 Mbit/s at first, and of this capacity now, with this factor in bit/s.
    fn limited(capacity: f64, factor: f64) -> (f64, f64) {
        let constant = LinkFacts::fifo(Rate::from_mbps(12.0), None, Bytes::new(1000));
        assert_eq!(model().link(&constant).unwrap().states(0)[0].upper, 24e6);
        let router = model().link(&LinkFacts { capacity_changes: true, ..constant }).unwrap();
        let (dx, _) = link(&*router, &[factor], &[], |i| i.capacity[0] = capacity);
        let mut seen = LinkInputs::of(&*router, 0..1, 0);
        seen.capacity[0] = capacity;
        let mut x = [factor];
        router.crossed(0, 1, true, &mut LawState { x: &mut x, discrete: &mut [] }, &seen.link(0));
        (dx[0], x[0])
    }

    #[test]
    fn the_limit_of_the_factor_is_two_present_capacities() {
        // On an idle link r' = beta r (1 + q0 / (T C)): 50 packets/s of 1500.
        assert_eq!(limited(12e6, 24e6), (0.0, 24e6));
        let (growth, _) = limited(12e6, 23e6);
        assert!(near(growth, 23e6 * (1.0 + 50.0 / 1500.0)), "{growth}");
        // Four times the capacity: 50 packets/s of 6000.
        let (growth, factor) = limited(48e6, 24e6);
        assert!(near(growth, 24e6 * (1.0 + 50.0 / 6000.0)) && factor == 24e6, "{growth} {factor}");
        assert_eq!(limited(6e6, 24e6), (0.0, 12e6));
    }

    #[test]
    fn the_initial_factor_is_not_above_the_limit() {
        // Eight packets per second: twice that in place of a hundred.
        let facts = LinkFacts::fifo(Rate::from_bps(64_000), None, Bytes::new(1000));
        assert_eq!(model().link(&facts).unwrap().states(0)[0].initial, 128e3);
    }

    #[test]
    fn the_factor_follows_equation_2_with_equilibrium_at_the_target_queue() {
        let facts = LinkFacts::fifo(Rate::from_mbps(120.0), None, Bytes::new(1000));
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
