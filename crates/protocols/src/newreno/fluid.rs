//! NewReno as a differential equation: the additive increase and multiplicative decrease of V. Misra, W.-B. Gong,
//! D. Towsley, SIGCOMM 2000, without slow start.

use super::params::{ECN, Params};
use crate::parts::window::initial_window;
use millpond_law::Settings;
use millpond_law::fluid::{
    AdditiveIncrease, Allocation, FluidModel, FluidSender, LoopFacts, Number, SenderInput, SenderLaws, State,
    SteadyStateFacts, sender_law,
};

/// The fluid model of NewReno.
pub(super) struct NewRenoFluid {
    params: Params,
    ecn: bool,
}

impl NewRenoFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self { params: Params::read(settings), ecn: settings.get(ECN) }
    }
}

impl FluidModel for NewRenoFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let initial = initial_window(facts.packet, self.params.initial_window);
        let decrease = 1.0 - self.params.loss_reduction_factor;
        sender_law(Source { packet: facts.packet, initial, decrease, ecn: self.ecn })
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "a window's rate depends on the queue in its round-trip time as well as on marks or losses",
        }
    }

    fn steady_state(&self, _facts: &LoopFacts) -> SteadyStateFacts {
        let cycle = AdditiveIncrease { per_round: 1.0, kept: self.params.loss_reduction_factor };
        SteadyStateFacts { cycle: Some(Box::new(cycle)), ..SteadyStateFacts::default() }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["slow start", "timeouts", "a single reduction for all losses of a round trip"]
    }
}

/// `w' = 1 / rtt - (1 - b) w x(t - rtt) p`, in packets: p is the probability of a loss or, with ECN, of a mark.
struct Source {
    /// In bits.
    packet: f64,
    /// In bits.
    initial: f64,
    /// 1 - b.
    decrease: f64,
    ecn: bool,
}

impl FluidSender for Source {
    fn states(&self) -> Vec<State> {
        vec![State::new("window", "bit", self.initial).within(self.packet, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        let marked = if self.ecn { input.marked } else { T::zero() };
        let loss_or_mark = input.lost + marked - input.lost * marked;
        let decreases = input.acked * loss_or_mark / self.packet;
        dx[0] = T::from(self.packet) / input.rtt() - x[0] * decreases * self.decrease;
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
    use crate::newreno::params::PARAMETERS;
    use crate::testing::fluid::{PACKET, flow, inputs, near, one_loop};
    use millpond_law::Value;

    const D: f64 = 0.1;

    fn model(ecn: bool) -> NewRenoFluid {
        NewRenoFluid::read(&Settings::check(PARAMETERS, [("ecn", Value::Flag(ecn))]).unwrap())
    }

    #[test]
    fn the_window_adds_a_packet_per_round_trip_and_halves_at_each_loss() {
        let senders = model(false).sender(&one_loop(D));
        assert_eq!(senders.states(0)[0].initial, 10.0 * PACKET);
        let quiet = inputs(&*senders, D, |i| (i.acked[0], i.marked[0]) = (1.6e6, 0.5));
        let (dx, rate) = flow(&*senders, &[20.0 * PACKET], &quiet);
        assert!(near(dx[0], PACKET / D) && near(rate, 1.6e6), "without ECN marks have no effect: {dx:?}");
        // 200 packets/s of which a hundredth are lost: two halvings of 20 packets a second.
        let lossy = inputs(&*senders, D, |i| (i.acked[0], i.lost[0]) = (1.6e6, 0.01));
        let (dx, _) = flow(&*senders, &[20.0 * PACKET], &lossy);
        assert!(near(dx[0], PACKET / D - 20.0 * PACKET), "{dx:?}");
    }

    #[test]
    fn the_equilibrium_window_is_the_root_of_two_over_the_marking_probability() {
        // w = sqrt(2 / .005) = 20.
        let senders = model(true).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| (i.acked[0], i.marked[0]) = (1.6e6, 0.005));
        let (dx, rate) = flow(&*senders, &[20.0 * PACKET], &seen);
        assert!(dx[0].abs() < 1e-6 * PACKET);
        assert!(near(rate, 1.6e6));
    }
}
