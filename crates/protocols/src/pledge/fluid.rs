//! Pledge as differential equations: the use factor of each router, and senders that follow the offered rate at once.

use super::factors::{BUFFER_SHARE, USE_FLOOR};
use super::params::RouterParams;
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, InputSet, LinkEquilibrium, LinkInput, LinkLaws,
    LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, greatest, least, link_law,
    positive, sender_law,
};
use millpond_law::{LinkFacts, Settings};

/// The fluid model of Pledge.
pub(super) struct PledgeFluid {
    router: RouterParams,
}

impl PledgeFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self { router: RouterParams::read(settings) }
    }
}

impl FluidModel for PledgeFluid {
    fn sender(&self, _facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(Source)
    }

    fn link(&self, facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        let buffer = facts.buffer.map_or(f64::INFINITY, |buffer| buffer.bits() as f64);
        Some(link_law(Router { params: self.router, buffer }))
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::MaxMin { weight: 1.0 }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "the late factor, which is 1 at constant capacity",
            "the correction of a signalled capacity by departures",
            "mean waits at several links",
            "labels: a flow counts at every link that it crosses",
            "the drain of a standing queue once in fifty windows",
            "whole packets, the packet of (3) and the least pace",
        ]
    }
}

/// Eq. (8): the window is the offered rate times the base round-trip time. The mean waits, which prolong both this time and
/// that of (7), are left out: at one bottleneck they cancel.
struct Source;

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "offered rate", unit: "bit/s", over_path: PathAggregation::Min }];
    const CARRIED: &'static [Quantity] =
        &[Quantity { name: "flows", unit: "1" }, Quantity { name: "base round-trip times", unit: "s" }];
    const INPUTS: InputSet = InputSet { present_queueing: true, ..InputSet::NONE };

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        let window = input.feedback[0] * input.base_rtt;
        window / (input.present_queueing + input.base_rtt)
    }

    fn carried<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = T::one();
        carried[1] = T::from(input.base_rtt);
    }
}

/// Eqs. (3), (5) and (7).
struct Router {
    params: RouterParams,
    /// In bits.
    buffer: f64,
}

impl Router {
    /// N and T.
    fn flows<T: Number>(&self, input: &LinkInput<'_, T>) -> (T, T) {
        let flows = greatest(input.carried[0], T::one());
        let known = input.carried[1] > 0.0;
        let base_rtt = if known { input.carried[1] / flows } else { T::from(self.params.initial_rtt.secs()) };
        (flows, greatest(base_rtt, T::from(1e-6)))
    }

    /// The bytes that the link serves until a packet sent now is late, as a time: those of (3) over the capacity.
    fn in_time<T: Number>(&self, base_rtt: T, capacity: f64) -> T {
        base_rtt + self.params.target.secs().min(BUFFER_SHARE * self.buffer / capacity)
    }
}

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "offered rate", unit: "bit/s" }];
    const GUARDS: &'static [&'static str] = &["arrivals less the capacity", "late window less use window"];

    fn states(&self) -> Vec<State> {
        vec![State::new("use factor", "1", 1.0).within(USE_FLOOR, f64::INFINITY)]
    }

    /// `theta' = theta eta_u ((1 - spare) wasted - spare served) / B`.
    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let (_, base_rtt) = self.flows(input);
        let use_factor = x[0];
        let idle = if input.queue > 0.0 { T::zero() } else { positive(-input.arriving + input.capacity) };
        let served = -idle + input.capacity;
        // B is the mean served rate times T: at most this, and at least the floor's.
        let windows = (idle * (1.0 - self.params.spare) - served * self.params.spare)
            / (greatest(served, T::from(USE_FLOOR * input.capacity)) * base_rtt);
        let most = self.in_time(base_rtt, input.capacity) / base_rtt;
        let rises = use_factor >= most && windows > 0.0;
        dx[0] = if rises { T::zero() } else { use_factor * windows * self.params.use_step };
    }

    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let (flows, base_rtt) = self.flows(input);
        let window = least(x[0] * base_rtt, self.in_time(base_rtt, input.capacity)) * input.capacity;
        signals[0] = window / (base_rtt * flows);
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        LinkEquilibrium {
            utilization: 1.0 - self.params.spare,
            queue: Some(0.0),
            ..LinkEquilibrium::default()
        }
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        let (_, base_rtt) = self.flows(input);
        guards[0] = input.arriving - input.capacity;
        guards[1] = self.in_time(base_rtt, input.capacity) - x[0] * base_rtt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pledge::params::PARAMETERS;
    use crate::testing::fluid::{carried, flow, inputs, link, near, one_link, one_loop};
    use millpond_units::Bytes;

    const D: f64 = 0.05;

    fn model() -> PledgeFluid {
        PledgeFluid::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    /// Derivatives and signals of a link of 8 Mbit/s with two flows.
    fn at(use_factor: f64, arriving: f64, queue: f64) -> (Vec<f64>, Vec<f64>) {
        let router = model().link(&one_link()).unwrap();
        link(&*router, &[use_factor], &[2.0, 2.0 * D], |i| {
            (i.arriving[0], i.own_arriving[0], i.queue[0]) = (arriving, arriving, queue);
        })
    }

    #[test]
    fn a_sender_spreads_its_window_over_the_present_round_trip() {
        let senders = model().sender(&one_loop(D));
        let at = |queueing: f64| {
            inputs(&*senders, D, |i| (i.feedback[0], i.present_queueing[0]) = (3e6, queueing))
        };
        assert!(near(flow(&*senders, &[], &at(0.0)).1, 3e6));
        assert!(near(flow(&*senders, &[], &at(0.1)).1, 1e6));
        assert_eq!(carried(&*senders, &[], &at(0.1)), [1.0, D]);
    }

    #[test]
    fn the_use_factor_follows_equation_5_with_equilibrium_at_99_percent() {
        // 10 % idle: .05 (.99 * .1 - .01 * .9) / .9 windows of 50 ms.
        assert!(near(at(0.9, 7.2e6, 0.0).0[0], 0.9 * 0.05 * (0.99 * 0.1 - 0.01 * 0.9) / 0.9 / D));
        assert!(at(0.99, 7.92e6, 0.0).0[0].abs() < 1e-12);
        // Busy: -.01 per window.
        assert!(near(at(1.0, 9e6, 8e3).0[0], -0.05 * 0.01 / D));
        assert_eq!(at(2.0, 0.0, 0.0).0[0], 0.0, "not beyond the window of the target");
    }

    #[test]
    fn the_offered_rate_is_a_share_of_the_window_per_round_trip() {
        assert!(near(at(1.0, 8e6, 8e3).1[0], 4e6));
        assert!(near(at(3.0, 8e6, 0.0).1[0], 8e6), "the window of the target is 2 mu T");
    }

    #[test]
    fn a_short_buffer_limits_the_window_to_nine_tenths_of_it() {
        // 25 kB are 25 ms; two flows share mu (T + 22.5 ms).
        let facts = LinkFacts { buffer: Some(Bytes::new(25_000)), ..one_link() };
        let router = model().link(&facts).unwrap();
        let (dx, signals) = link(&*router, &[3.0], &[2.0, 2.0 * D], |i| i.own_arriving[0] = 0.0);
        assert!(near(signals[0], 4e6 * (1.0 + 0.0225 / D)), "{signals:?}");
        assert_eq!(dx[0], 0.0, "the use factor is at its bound");
    }
}
