//! LGC as differential equations: Eq. (4) or (7) with the smoothed marks of its path, and the capacity known at the
//! start.

use super::params::form;
use crate::parts::logistic_fluid::{Aim, GUARDS, Grower, LogisticGrowth};
use millpond_law::Settings;
use millpond_law::fluid::{
    Allocation, FluidModel, FluidSender, LoopFacts, Number, SenderInput, SenderLaws, State, sender_law,
};

/// The fluid model of LGC.
pub(super) struct LgcFluid(LogisticGrowth);

impl LgcFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        Self(LogisticGrowth::read(settings, form(settings), false))
    }
}

impl FluidModel for LgcFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(Source { grower: self.0.sender(facts), capacity: facts.capacity * facts.weight })
    }

    fn allocation(&self, facts: &LoopFacts) -> Allocation {
        self.0.allocation(facts.capacity * facts.weight)
    }

    fn left_out(&self) -> &'static [&'static str] {
        &["the randomness of marks", "timeouts"]
    }
}

struct Source {
    grower: Grower,
    /// In bit/s.
    capacity: f64,
}

impl FluidSender for Source {
    const GROWS_UNUSED: bool = true;
    const GUARDS: &'static [&'static str] = &GUARDS;

    fn states(&self) -> Vec<State> {
        self.grower.states()
    }

    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        self.grower.derivative(x, Aim::at(T::from(self.capacity)), input, dx);
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        self.grower.rate(x, Aim::at(T::from(self.capacity)), input)
    }

    fn guards<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>, guards: &mut [T]) {
        self.grower.guards(x, Aim::at(T::from(self.capacity)), guards);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lgc::params::PARAMETERS;
    use crate::testing::fluid::{flow, inputs, marginal, near, one_loop};
    use millpond_law::Value;

    const D: f64 = 0.1;

    fn model(written: &[(&'static str, Value)]) -> LgcFluid {
        let all = [("interval", Value::text("base-rtt"))].into_iter().chain(written.iter().cloned());
        LgcFluid::read(&Settings::check(PARAMETERS, all).unwrap())
    }

    #[test]
    fn in_an_interval_the_rate_changes_as_in_the_packet_law() {
        for (form, name) in [("plain", "plain"), ("deflated", "deflated")] {
            let written = [("form", Value::text(name))];
            let settings = Settings::check(PARAMETERS, written.iter().cloned()).unwrap();
            let senders = model(&written).sender(&one_loop(D));
            let (x, marking) = (1e6, 0.3);
            let (dx, _) = flow(&*senders, &[marking, x, marking], &inputs(&*senders, D, |_| {}));
            let step = super::form(&settings).step(x, 8e6, marking, 0.3) - x;
            assert!(near(dx[1] * D, step), "{form}: {} {step}", dx[1] * D);
        }
    }

    #[test]
    fn the_equilibrium_rate_is_reduced_by_marks_and_a_queue_slows_a_window_but_not_a_pace() {
        // Half of the packets marked leave 1/2, or 1/2 to the power ln 10 / ln 5.
        let deflated = 8e6 * libm::pow(0.5, libm::log(10.0) / libm::log(5.0));
        for (form, equilibrium) in [("plain", 4e6), ("deflated", deflated)] {
            let written = [("form", Value::text(form))];
            let senders = model(&written).sender(&one_loop(D));
            let seen = inputs(&*senders, D, |i| (i.marked[0], i.queueing[0]) = (0.5, 0.1));
            let (dx, rate) = flow(&*senders, &[0.5, equilibrium, 0.5], &seen);
            assert!(dx[1].abs() < 1e-6 * equilibrium && dx[0] == 0.0, "{form} {dx:?}");
            assert!(near(rate, equilibrium / 2.0));
            let paced = [("form", Value::text(form)), ("control", Value::text("rate"))];
            let model = model(&paced);
            let (_, rate) = flow(&*model.sender(&one_loop(D)), &[0.5, equilibrium, 0.5, 0.5], &seen);
            assert!(near(rate, equilibrium));
            let utility = marginal(model.allocation(&one_loop(D)));
            assert!((utility.demand(std::f64::consts::LN_2) / equilibrium - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn marks_are_counted_smoothed_and_held_before_a_pacing_rate_is_set() {
        let lossy = |i: &mut millpond_law::fluid::SenderInputs| (i.marked[0], i.lost[0]) = (0.5, 0.2);
        let windows = model(&[]).sender(&one_loop(D));
        let (dx, _) = flow(&*windows, &[0.04, 1e6, 0.1], &inputs(&*windows, D, lossy));
        assert!(near(dx[2], (0.6 - 0.1) * 2.0 / D) && near(dx[0], 0.05 * 0.06 / D), "{dx:?}");
        let paced = model(&[("control", Value::text("rate"))]).sender(&one_loop(D));
        let (dx, _) = flow(&*paced, &[0.04, 1e6, 0.1, 0.08], &inputs(&*paced, D, lossy));
        assert!(near(dx[2], (0.6 - 0.1) * 2.0 / D) && near(dx[3], (0.1 - 0.08) * 2.0 / D), "{dx:?}");
        assert!(near(dx[0], 0.05 * 0.04 / D), "{dx:?}");
    }

    #[test]
    fn a_weight_multiplies_the_capacity() {
        let facts = LoopFacts { weight: 0.25, ..one_loop(D) };
        let senders = model(&[]).sender(&facts);
        let (dx, _) = flow(&*senders, &[0.5, 1e6, 0.5], &inputs(&*senders, D, |_| {}));
        // A quarter of 8 Mbit/s, of which marks leave half.
        assert!(dx[1].abs() < 1e-6, "{dx:?}");
    }

    /// Ten packets in a base RTT of 100 ms are 800 kbit/s, and half of it with as much queueing. With almost every packet marked the
    /// law would shrink the window.
    #[test]
    fn a_window_at_its_least_value_does_not_shrink() {
        let senders = model(&[]).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| i.queueing[0] = D);
        let (_, rate) = flow(&*senders, &[0.99, 800e3, 0.99], &seen);
        assert!(near(rate, 400e3), "{rate}");
        let (_, above) = flow(&*senders, &[0.99, 1000e3, 0.99], &seen);
        assert!(above < 490e3, "{above}");
    }

    /// The derivative of the window is added to the acknowledged rate, which is the window of one base RTT ago over the
    /// RTT of that time.
    #[test]
    fn the_growth_of_a_window_is_sent_immediately() {
        let senders = model(&[]).sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| i.queueing[0] = 0.1);
        let (dx, rate) = flow(&*senders, &[0.3, 1e6, 0.3], &seen);
        assert!(near(rate, (1e6 - dx[1] * D) / 2.0 + dx[1] * D) && dx[1] > 0.0, "{rate} {dx:?}");
    }
}
