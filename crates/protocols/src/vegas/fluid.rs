//! Vegas as a differential equation, without slow start (S. H. Low, L. L. Peterson, L. Wang, "Understanding Vegas",
//! Journal of the ACM 49(2), 2002, section 2).

use super::params::Params;
use super::sender::LEAST_PACKETS;
use crate::parts::window::initial_window;
use millpond_law::fluid::{
    AdditiveIncrease, Allocation, Continuum, FluidModel, FluidSender, LoopFacts, Marginal, Number, PriceSum,
    SenderInput, SenderLaws, State, SteadyStateFacts, least, positive, sender_law,
};
use millpond_law::{SettingError, Settings};

/// The fluid model of Vegas.
pub(super) struct VegasFluid(Params);

impl VegasFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        Params::read(settings).map(Self)
    }
}

/// Why there are many equilibria.
const CONTINUUM: &str =
    "every window with alpha to beta queued packets is an equilibrium; set beta = alpha for a unique one";

impl FluidModel for VegasFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let initial = initial_window(facts.packet, self.0.initial_window);
        sender_law(Source { params: self.0, packet: facts.packet, initial })
    }

    /// `x q = alpha` packets are queued: `U = alpha log x`, with queueing delay as the price.
    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        if self.0.alpha < self.0.beta {
            return Allocation::Numeric { reason: CONTINUUM };
        }
        let marginal = Box::new(QueuedPackets { bits: self.0.alpha * facts.packet });
        Allocation::Utility { marginal, prices: PriceSum::Plain }
    }

    /// Where the buffer is shorter than alpha packets per flow, it behaves as NewReno.
    fn steady_state(&self, _facts: &LoopFacts) -> SteadyStateFacts {
        let Params { alpha, beta, loss_reduction_factor: kept, .. } = self.0;
        SteadyStateFacts {
            continuum: (alpha < beta).then_some(Continuum {
                reason: CONTINUUM,
                quantity: "queued packets",
                low: alpha,
                high: beta,
            }),
            cycle: Some(Box::new(AdditiveIncrease { per_round: 1.0, kept })),
            ..SteadyStateFacts::default()
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["slow start", "window changes in whole packets", "late joiners' overestimates of their base RTT"]
    }
}

/// Width in packets of the slope that replaces the step of the window's derivative. With a jump, the window would slide
/// along alpha while the queue drains (it grows below and not above), where the equations are not defined. With the
/// slope it slides within this distance of alpha, with the same equilibrium.
const RAMP: f64 = 0.05;

/// `w' = +1, 0 or -1 packets per round trip`, for fewer than alpha, alpha to beta, or more than beta queued packets.
struct Source {
    params: Params,
    /// In bits.
    packet: f64,
    /// In bits.
    initial: f64,
}

impl Source {
    /// Section III-C, JSAC 1995: `w (1 - base rtt / rtt)`, in packets.
    fn waiting<T: Number>(&self, window: T, input: &SenderInput<'_, T>) -> T {
        window * input.queueing / input.rtt() / self.packet
    }

    /// In packets per round trip.
    fn change<T: Number>(&self, waiting: T) -> T {
        let share = |beyond: T| least(positive(beyond) / RAMP, T::one());
        share(-waiting + self.params.alpha) - share(waiting - self.params.beta)
    }
}

impl FluidSender for Source {
    const GUARDS: &'static [&'static str] =
        &["full growth", "waiting less alpha", "waiting less beta", "full decrease"];

    fn states(&self) -> Vec<State> {
        vec![State::new("window", "bit", self.initial).within(LEAST_PACKETS * self.packet, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let change = self.change(self.waiting(x[0], input));
        let losses = input.acked * input.lost / self.packet;
        let factor = 1.0 - self.params.loss_reduction_factor;
        dx[0] = change * self.packet / input.rtt() - x[0] * losses * factor;
    }

    /// As in the paper. Between alpha and beta only the acknowledgement clock remains, with the round-trip time delayed
    /// by the return path; the margin there is that of this clock (`parts/ack_clock.rs`).
    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt()
    }

    fn guards<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        let waiting = self.waiting(x[0], input);
        let Params { alpha, beta, .. } = self.params;
        for (guard, threshold) in guards.iter_mut().zip([alpha - RAMP, alpha, beta, beta + RAMP]) {
            *guard = waiting - threshold;
        }
    }
}

/// `U'(x) = alpha / x`.
struct QueuedPackets {
    bits: f64,
}

impl Marginal for QueuedPackets {
    fn marginal(&self, rate: f64) -> f64 {
        self.bits / rate
    }

    fn demand(&self, price: f64) -> f64 {
        self.bits / price
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fluid::{PACKET, flow, inputs, marginal, near, one_loop};
    use crate::vegas::params::PARAMETERS;
    use millpond_law::Value;

    const D: f64 = 0.1;

    fn model(beta: f64) -> VegasFluid {
        let settings = Settings::check(PARAMETERS, [("beta", Value::Number(beta))]).unwrap();
        VegasFluid::read(&settings).unwrap()
    }

    #[test]
    fn a_window_grows_is_constant_or_shrinks_depending_on_the_queued_packets() {
        let senders = model(4.0).sender(&one_loop(D));
        let ramp = [(2.0 - 0.4 * RAMP, 0.4), (4.0 + 0.3 * RAMP, -0.3)];
        for (waiting, change) in [(1.0, 1.0), (3.0, 0.0), (5.0, -1.0)].into_iter().chain(ramp) {
            // With 20 packets in a round trip of .1 s and q, 20 q / (.1 + q) are queued.
            let queueing = 0.1 * waiting / (20.0 - waiting);
            let seen = inputs(&*senders, D, |i| i.queueing[0] = queueing);
            let (dx, _) = flow(&*senders, &[20.0 * PACKET], &seen);
            assert!(near(dx[0], change * PACKET / (D + queueing)), "{waiting}: {dx:?}");
        }
    }

    #[test]
    fn with_equal_thresholds_the_utility_is_alpha_times_a_logarithm() {
        let utility = marginal(model(2.0).allocation(&one_loop(D)));
        // Two packets of 8000 bits in 20 ms.
        assert!(near(utility.demand(0.02), 0.8e6) && near(utility.marginal(0.8e6), 0.02));
        assert!(matches!(model(4.0).allocation(&one_loop(D)), Allocation::Numeric { .. }));
    }
}
