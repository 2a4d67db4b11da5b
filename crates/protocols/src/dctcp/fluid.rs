//! DCTCP as differential equations (M. Alizadeh, A. Javanmard, B. Prabhakar, "Analysis of DCTCP", SIGMETRICS 2011, Eqs.
//! (1) and (2)), without slow start.

use super::params::{GrowthReading, Params};
use super::sender::LOSS_FACTOR;
use crate::parts::window::initial_window;
use millpond_law::Settings;
use millpond_law::fluid::{
    Allocation, Cycle, CyclePeak, FluidModel, FluidSender, LoopFacts, Number, SenderInput, SenderLaws, State,
    SteadyStateFacts, sender_law,
};

/// The fluid model of DCTCP.
pub(super) struct DctcpFluid(Params);

impl DctcpFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self(Params::read(settings))
    }
}

impl FluidModel for DctcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let initial = initial_window(facts.packet, self.0.initial_window);
        sender_law(Source { params: self.0, packet: facts.packet, initial })
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "step marking is all or nothing, so windows and queue oscillate; a linear profile may have an equilibrium",
        }
    }

    fn steady_state(&self, _facts: &LoopFacts) -> SteadyStateFacts {
        SteadyStateFacts { cycle: Some(Box::new(MarkedRounds)), ..SteadyStateFacts::default() }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["slow start", "one reduction of the window per round trip, at one instant"]
    }
}

/// Of N flows in phase, with a window of W packets when marks begin (M. Alizadeh and others, SIGCOMM 2010, Eqs. (6) to
/// (8)): `alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2`, and a period of `(W + 1) alpha / 2` round trips.
struct MarkedRounds;

impl MarkedRounds {
    /// The fraction of marked packets.
    fn alpha(window: f64) -> f64 {
        const ROUNDS: usize = 20;
        let share = (2.0 * window + 1.0) / ((window + 1.0) * (window + 1.0));
        let next = |alpha: f64| libm::sqrt(share / (1.0 - alpha / 4.0)).min(1.0);
        (0..ROUNDS).fold(0.0, |alpha, _| next(alpha))
    }
}

impl Cycle for MarkedRounds {
    fn period(&self, peak: &CyclePeak) -> f64 {
        (peak.window + 1.0) * Self::alpha(peak.window) / 2.0 * peak.rtt
    }

    fn kept(&self, peak: &CyclePeak) -> f64 {
        1.0 - Self::alpha(peak.window) / 2.0
    }
}

/// `w' = 1 / rtt - w alpha p / (2 rtt)`, in packets, and `alpha' = g (p - alpha) / rtt`.
struct Source {
    params: Params,
    /// In bits.
    packet: f64,
    /// In bits.
    initial: f64,
}

impl FluidSender for Source {
    fn states(&self) -> Vec<State> {
        vec![
            State::new("window", "bit", self.initial).within(self.packet, f64::INFINITY),
            State::new("marked fraction", "1", self.params.initial_alpha).within(0.0, 1.0),
        ]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let (marked, rtt) = (input.marked, input.rtt());
        let growing = match self.params.growth {
            GrowthReading::Always => T::one(),
            // In a round trip with marks the window is reduced, and does not grow afterwards.
            GrowthReading::OutsideRecovery | GrowthReading::Unmarked => -marked + 1.0,
        };
        let losses = input.acked * input.lost / self.packet;
        dx[0] =
            (growing * self.packet - x[0] * x[1] * marked * 0.5) / rtt - x[0] * losses * (1.0 - LOSS_FACTOR);
        dx[1] = (marked - x[1]) * self.params.g / rtt;
    }

    /// As in the literature. With w' added (`parts/ack_clock.rs`), losses would affect the rate at once and with a
    /// large gain: a neutral equation.
    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dctcp::params::PARAMETERS;
    use crate::testing::fluid::{PACKET, flow, inputs, near, one_loop};
    use millpond_law::Value;

    const D: f64 = 0.1;

    fn slopes(growth: &'static str, marked: f64, lost: f64) -> Vec<f64> {
        let settings = Settings::check(PARAMETERS, [("growth", Value::text(growth))]).unwrap();
        let senders = DctcpFluid::read(&settings).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| {
            (i.acked[0], i.marked[0], i.lost[0]) = (1.6e6, marked, lost);
        });
        flow(&*senders, &[20.0 * PACKET, 0.3], &seen).0
    }

    #[test]
    fn window_and_estimate_follow_equations_1_and_2_computed_by_hand() {
        let dx = slopes("always", 0.5, 0.0);
        assert!(near(dx[0], (1.0 - 20.0 * 0.3 * 0.5 / 2.0) * PACKET / D), "{dx:?}");
        assert!(near(dx[1], 0.0625 * 0.2 / D), "{dx:?}");
        let dx = slopes("outside-recovery", 1.0, 0.0);
        assert!(near(dx[0], -3.0 * PACKET / D), "no growth in a marked round trip: {dx:?}");
        // Two losses per second halve the window twice.
        let dx = slopes("always", 0.0, 0.01);
        assert!(near(dx[0], PACKET / D - 20.0 * PACKET), "{dx:?}");
    }
}
