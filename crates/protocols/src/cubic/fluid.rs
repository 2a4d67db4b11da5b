//! CUBIC as differential equations: the plateau and the time since the last loss, as G. Vardoyan, C. V. Hollot,
//! D. Towsley, "Towards Stability Analysis of Data Transport Mechanisms: a Fluid Model and Its Applications", INFOCOM
//! 2018. Without slow start, the Reno-friendly region and fast convergence.

use super::params::{ECN, Params};
use crate::parts::cubic_window::{k, w_cubic};
use crate::parts::window::initial_window;
use millpond_law::Settings;
use millpond_law::fluid::{
    AdditiveIncrease, Allocation, Cycle, CyclePeak, FluidModel, FluidSender, LoopFacts, Number, SenderInput,
    SenderLaws, State, SteadyStateFacts, sender_law,
};

/// The fluid model of CUBIC.
pub(super) struct CubicFluid {
    params: Params,
    ecn: bool,
}

impl CubicFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self { params: Params::read(settings), ecn: settings.get(ECN) }
    }
}

impl FluidModel for CubicFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let Params { c, beta, initial_window: initial, .. } = self.params;
        // A window of beta times the plateau, as after a loss.
        let plateau = initial_window(facts.packet, initial) / facts.packet / beta.max(LEAST_BETA);
        sender_law(Source { c, beta, packet: facts.packet, plateau, ecn: self.ecn })
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "a window's rate depends on the queue in its round-trip time as well as on marks or losses",
        }
    }

    fn steady_state(&self, _facts: &LoopFacts) -> SteadyStateFacts {
        let Params { c, beta, .. } = self.params;
        SteadyStateFacts {
            slow_decay: Some("the slope of the cubic function is zero at the plateau"),
            cycle: Some(Box::new(Regrowth { c, beta })),
            ..SteadyStateFacts::default()
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "slow start",
            "the Reno-friendly region",
            "fast convergence",
            "a single reduction for all losses of a round trip",
        ]
    }
}

const LEAST_BETA: f64 = 1e-3;

/// The time to the plateau of the last loss: K of the cubic function, or the time that Reno's estimate needs if it is
/// shorter (Figures 2 and 4, RFC 9438), and a round trip of recovery.
struct Regrowth {
    /// In packets/s^3.
    c: f64,
    beta: f64,
}

impl Cycle for Regrowth {
    fn period(&self, peak: &CyclePeak) -> f64 {
        let reno =
            AdditiveIncrease { per_round: 3.0 * (1.0 - self.beta) / (1.0 + self.beta), kept: self.beta };
        reno.period(peak).min(k(self.c, peak.window, self.beta * peak.window) + peak.rtt)
    }

    fn kept(&self, _peak: &CyclePeak) -> f64 {
        self.beta
    }
}

/// With losses (or marks) at a rate of lambda: `s' = 1 - s lambda`, `W_max' = (w - W_max) lambda`,
/// `w = C (s - K)^3 + W_max`, `K = cbrt((1 - beta) W_max / C)`.
struct Source {
    /// In packets/s^3.
    c: f64,
    beta: f64,
    /// In bits.
    packet: f64,
    /// W_max at the start, in packets.
    plateau: f64,
    ecn: bool,
}

impl Source {
    /// In packets.
    fn window<T: Number>(&self, x: &[T]) -> T {
        let back_after = (x[1] * ((1.0 - self.beta) / self.c)).cbrt();
        w_cubic(self.c, x[0], back_after, x[1])
    }
}

impl FluidSender for Source {
    fn states(&self) -> Vec<State> {
        vec![
            State::new("time since the last loss", "s", 0.0).within(0.0, f64::INFINITY),
            State::new("plateau", "packets", self.plateau).within(1.0, f64::INFINITY),
        ]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let marked = if self.ecn { input.marked } else { T::zero() };
        let loss_or_mark = input.lost + marked - input.lost * marked;
        let losses = input.acked * loss_or_mark / self.packet;
        dx[0] = -x[0] * losses + 1.0;
        dx[1] = (self.window(x) - x[1]) * losses;
    }

    /// As in the literature. With w' added (`parts/ack_clock.rs`), losses would affect the rate at once and with a
    /// large gain: a neutral equation.
    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        self.window(x) / input.rtt() * self.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cubic::params::PARAMETERS;
    use crate::testing::fluid::{PACKET, flow, inputs, near, one_loop};

    const D: f64 = 0.1;

    /// The time until a window reduced from 100 packets returns to 100 packets: cbrt(.3 * 100 / .4) s.
    fn back_after() -> f64 {
        libm::cbrt(75.0)
    }

    fn at(s: f64, plateau: f64, lost: f64) -> (Vec<f64>, f64) {
        let senders = CubicFluid::read(&Settings::check(PARAMETERS, []).unwrap()).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| (i.acked[0], i.lost[0]) = (100.0 * PACKET / D, lost));
        let (dx, rate) = flow(&*senders, &[s, plateau], &seen);
        (dx, rate * D / PACKET)
    }

    #[test]
    fn the_window_starts_at_beta_of_the_plateau_and_returns_after_k() {
        assert!(near(at(0.0, 100.0, 0.0).1, 70.0));
        assert!(near(at(back_after(), 100.0, 0.0).1, 100.0));
        let (dx, _) = at(0.0, 10.0 / 0.7, 0.0);
        assert_eq!(dx, [1.0, 0.0], "without losses only the time since the last loss changes");
    }

    #[test]
    fn at_equilibrium_losses_are_as_frequent_as_returns_of_the_window() {
        // 1000 packets/s with one loss per K seconds.
        let (dx, window) = at(back_after(), 100.0, 1.0 / (1000.0 * back_after()));
        assert!(dx.iter().all(|dx| dx.abs() < 1e-9) && near(window, 100.0), "{dx:?}");
    }
}
