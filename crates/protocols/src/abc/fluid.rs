//! ABC as differential equations: the target rate (1) and accelerate fraction (2) of a router, the window (3) of a
//! sender. The second window of ABC, for bottlenecks without ABC, is left out.

use super::link::{accelerate_fraction, mean_window, target_rate};
use super::params::{INITIAL_WINDOW, RouterParams};
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, LinkInput, LinkLaws, LoopFacts, Number,
    PathAggregation, Quantity, SenderInput, SenderLaws, State, least, link_law, sender_law,
};
use millpond_law::{LinkFacts, Settings};

/// The fluid model of ABC.
pub(super) struct AbcFluid {
    /// In packets.
    initial_window: f64,
    router: RouterParams,
}

impl AbcFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        let initial_window = settings.get(INITIAL_WINDOW);
        Self { initial_window, router: RouterParams::read(settings) }
    }
}

impl FluidModel for AbcFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(Source { packet: facts.packet, initial: self.initial_window * facts.packet })
    }

    fn link(&self, facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        Some(link_law(Router { params: self.router, packet: facts.packet.bits() as f64 }))
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "the equilibrium depends on the number of flows and on the bandwidth-delay product",
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "the window for other routers (CUBIC)",
            "the token bucket's spacing of marks",
            "brakes of whole packets",
            "the excess share of accelerates that a second router converts to brakes",
        ]
    }
}

/// Eq. (3): per acknowledged packet, an accelerate adds `1 + 1/w` and a brake `-1 + 1/w`: `w' = x (2 f - 1 + 1/w)`.
struct Source {
    /// Packet size, in bits.
    packet: f64,
    /// Initial window, in bits.
    initial: f64,
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "accelerate fraction", unit: "1", over_path: PathAggregation::Min }];

    fn states(&self) -> Vec<State> {
        vec![State::new("window", "bit", self.initial).within(self.packet, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let growth = input.feedback[0] * 2.0 - 1.0 + T::from(self.packet) / x[0];
        dx[0] = input.acked * (-input.lost + 1.0) * growth;
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt()
    }
}

/// Eqs. (1) and (2). The dequeue rate is the present one, averaged like a sliding window in the mean.
struct Router {
    params: RouterParams,
    /// Packet size, in bits.
    packet: f64,
}

impl Router {
    /// The sliding-window average of a rate. The window is evaluated just after a packet has left, so that it contains
    /// half a packet more than the mean. One more brake in 300 changes the queue by a third.
    fn counted<T: Number>(&self, rate: T) -> T {
        if rate > 0.0 { rate + self.packet / 2.0 / mean_window(&self.params).secs() } else { rate }
    }
}

/// The departing rate, in bit/s.
fn served<T: Number>(input: &LinkInput<'_, T>) -> T {
    if input.queue > 0.0 { T::from(input.capacity) } else { least(input.arriving, T::from(input.capacity)) }
}

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "accelerate fraction", unit: "1" }];
    const GUARDS: &'static [&'static str] =
        &["queueing delay less d_t", "target less twice the dequeue rate"];

    fn states(&self) -> Vec<State> {
        vec![State::new("dequeue rate", "bit/s", 0.0).within(0.0, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        dx[0] = (served(input) - x[0]) * 2.0 / self.params.rate_window.secs();
    }

    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let target = target_rate(&self.params, input.capacity, input.queue / input.capacity);
        signals[0] = accelerate_fraction(target, self.counted(x[0]));
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        let delay = input.queue / input.capacity;
        guards[0] = delay - self.params.delay_threshold;
        guards[1] = target_rate(&self.params, input.capacity, delay) - self.counted(x[0]) * 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abc::params::PARAMETERS;
    use crate::testing::fluid::{PACKET, flow, inputs, link, near, one_link, one_loop};

    const D: f64 = 0.1;

    fn model() -> AbcFluid {
        AbcFluid::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    #[test]
    fn a_window_of_198_packets_becomes_197_02_in_a_round_trip() {
        let senders = model().sender(&one_loop(D));
        let window = 198.0 * PACKET;
        let seen = inputs(&*senders, D, |i| (i.acked[0], i.feedback[0]) = (window / D, 0.495));
        let (dx, _) = flow(&*senders, &[window], &seen);
        assert!((dx[0] * D / PACKET + 0.98).abs() < 1e-9, "{dx:?}");
    }

    #[test]
    fn a_routers_signals_agree_with_equations_1_and_2() {
        let router = model().link(&one_link()).unwrap();
        // 90 ms of queue: 40 more than d_t, of 133: .98 - .3008 of 8 Mbit/s, half of it over 8. The window of 20 ms is
        // 15.5 of 16 slots long in the mean, in which 19.375 packets pass.
        let (dx, signals) = link(&*router, &[8e6], &[], |i| (i.arriving[0], i.queue[0]) = (9e6, 0.09 * 8e6));
        let counted = 19.875 / 19.375;
        assert!(near(signals[0], 0.5 * (0.98 - 0.04 / 0.133) / counted) && dx[0] == 0.0, "{signals:?}");
        // Idle link: no departures, so all packets may be accelerated.
        let (dx, signals) = link(&*router, &[0.0], &[], |i| i.arriving[0] = 1e6);
        assert!(signals[0] == 1.0 && near(dx[0], 1e6 * 2.0 / 0.02));
    }
}
