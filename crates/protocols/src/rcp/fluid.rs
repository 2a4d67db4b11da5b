//! RCP as differential equations: Eq. (2) of a router, in which the update interval cancels, and senders that adopt its
//! rate at once.

use super::params::{CONTROL, Control, RouterParams};
use crate::parts::capped_rate;
use crate::parts::mean_rtt::mean_rtt;
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, LawState, LinkEquilibrium, LinkInput, LinkLaws,
    LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, greatest, link_law,
    sender_law,
};
use millpond_law::{LinkFacts, SettingError, Settings};
use millpond_units::Span;

/// Smallest round-trip time used as a divisor.
const LEAST_RTT: Span = Span::from_micros(1);
const LONGEST_RTT: Span = Span::from_millis(1_000_000);

/// The fluid model of RCP.
pub(super) struct RcpFluid {
    control: Control,
    router: RouterParams,
}

impl RcpFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { control: settings.get(CONTROL), router: RouterParams::read(settings)? })
    }
}

impl FluidModel for RcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        sender_law(Source { control: self.control, packet: facts.packet })
    }

    fn link(&self, facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        let initial = self.router.initial_rate * facts.capacity.as_f64();
        Some(link_law(Router { params: self.router, initial, packet: facts.packet.bits() as f64 }))
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::MaxMin { weight: 1.0 }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "the update interval, also where it is the mean round-trip time",
            "the window of the first round trip",
        ]
    }
}

/// The advised rate, or a window of it times the smallest round-trip time; at least one packet.
struct Source {
    control: Control,
    /// In bits.
    packet: f64,
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "offered rate", unit: "bit/s", over_path: PathAggregation::Min }];
    const CARRIED: &'static [Quantity] = &[Quantity { name: "rate times round-trip time", unit: "bit" }];
    const GUARDS: &'static [&'static str] = &["window less a packet"];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

    fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
        let window = greatest(input.feedback[0] * input.base_rtt, T::from(self.packet));
        match self.control {
            Control::Rate => greatest(input.feedback[0], T::one()),
            Control::Window => window / input.rtt(),
        }
    }

    fn carried<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = self.rate(x, input) * input.rtt();
    }

    fn guards<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, guards: &mut [T]) {
        let bounds = self.control == Control::Window;
        guards[0] = if bounds { input.feedback[0] * input.base_rtt - self.packet } else { T::one() };
    }
}

/// Eq. (2): `R' = R / d (alpha (C - y) - beta q / d) / C`, and `d' = (mean rtt - d) / d`.
struct Router {
    params: RouterParams,
    /// In bit/s.
    initial: f64,
    /// In bits.
    packet: f64,
}

impl Router {
    /// In bit/s.
    fn floor<T: Number>(&self, mean_rtt: T) -> T {
        T::from(self.params.floor * self.packet) / mean_rtt
    }
}

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] = &[Quantity { name: "offered rate", unit: "bit/s" }];
    const GUARDS: &'static [&'static str] =
        &["offered rate less its floor", capped_rate::GUARDS[0], capped_rate::GUARDS[1]];

    fn states(&self) -> Vec<State> {
        vec![
            State::new("offered rate", "bit/s", self.initial).within(1e-3, f64::INFINITY),
            State::new("mean round-trip time", "s", self.params.initial_rtt.secs())
                .within(LEAST_RTT.secs(), LONGEST_RTT.secs()),
        ]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let (rate, d) = (x[0], x[1]);
        let spare =
            (-input.arriving + input.capacity) * self.params.alpha - input.queue * self.params.beta / d;
        let moves = rate / d * spare / input.capacity;
        let stays = rate <= self.floor(d) && moves < 0.0;
        dx[0] = if stays { T::zero() } else { capped_rate::derivative(rate, input.capacity, moves) };
        let known = input.own_arriving > 0.0;
        let sample = mean_rtt(input, self.params.initial_rtt, LEAST_RTT, LONGEST_RTT);
        dx[1] = if known { (sample - d) / d } else { T::zero() };
    }

    fn signals<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, signals: &mut [T]) {
        signals[0] = x[0];
    }

    fn equilibrium(&self) -> LinkEquilibrium {
        let drains = self.params.beta > 0.0;
        LinkEquilibrium { utilization: 1.0, queue: drains.then_some(0.0), ..LinkEquilibrium::default() }
    }

    fn guards<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        guards[0] = x[0] - self.floor(x[1]);
        [guards[1], guards[2]] = capped_rate::guards(x[0], input.capacity);
    }

    /// At most C, also after a change of C.
    fn crossed(&self, guard: usize, is_rising: bool, state: &mut LawState<'_>, input: &LinkInput<'_, f64>) {
        if guard == 2 && is_rising {
            state.x[0] = capped_rate::after_change(state.x[0], input.capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcp::params::PARAMETERS;
    use crate::testing::fluid::{PACKET, carried, flow, inputs, link, near, one_link, one_loop};
    use millpond_law::Value;

    const D: f64 = 0.08;

    fn model(written: &[(&'static str, Value)]) -> RcpFluid {
        RcpFluid::read(&Settings::check(PARAMETERS, written.iter().cloned()).unwrap()).unwrap()
    }

    #[test]
    fn a_sender_adopts_the_rate_or_the_corresponding_window() {
        let seen = |senders: &dyn SenderLaws, rate: f64| {
            inputs(senders, D, |i| (i.feedback[0], i.queueing[0]) = (rate, 0.02))
        };
        let paced = model(&[]).sender(&one_loop(D));
        assert!(near(flow(&*paced, &[], &seen(&*paced, 3e6)).1, 3e6));
        assert!(near(carried(&*paced, &[], &seen(&*paced, 3e6))[0], 3e5));
        let windows = model(&[("control", Value::text("window"))]).sender(&one_loop(D));
        assert!(near(flow(&*windows, &[], &seen(&*windows, 3e6)).1, 2.4e6));
        assert!(near(flow(&*windows, &[], &seen(&*windows, 1.0)).1, PACKET / 0.1));
    }

    #[test]
    fn the_advised_rate_follows_equation_2_with_equilibrium_at_a_full_link_without_a_queue() {
        let router = model(&[]).link(&one_link()).unwrap();
        let at = |rate: f64, y: f64, packets: f64| {
            link(&*router, &[rate, 0.1], &[y * D], |i| {
                (i.arriving[0], i.own_arriving[0], i.queue[0]) = (y, y, packets * PACKET);
            })
            .0
        };
        let dx = at(2e6, 6e6, 50.0);
        assert!(near(dx[0], 2e6 / 0.1 * (0.4 * 2e6 - 0.226 * 50.0 * PACKET / 0.1) / 8e6), "{dx:?}");
        assert!(near(dx[1], (0.08 - 0.1) / 0.1), "{dx:?}");
        assert_eq!(at(2e6, 8e6, 0.0)[0], 0.0);
        assert_eq!(at(8e6, 4e6, 0.0)[0], 0.0, "at most C");
        // A hundredth of a packet per round trip.
        assert_eq!(at(0.01 * PACKET / 0.1, 16e6, 0.0)[0], 0.0);
    }
}
