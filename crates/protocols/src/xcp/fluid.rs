//! XCP as differential equations: what its routers hand out in a control interval, as flows of it.

use super::params::RouterParams;
use super::sender::LEAST_PACKETS;
use millpond_law::fluid::{
    Aggregate, Allocation, Feedback, FluidLink, FluidModel, FluidSender, LinkInput, Links, LoopFacts, Number,
    Quantity, Rest, SenderInput, Senders, State, greatest, least, link_piece, positive, sender_piece,
};
use millpond_law::{LinkFacts, SettingError, Settings};

/// See the module.
pub(super) struct XcpFluid {
    /// In packets.
    initial_window: f64,
    router: RouterParams,
}

impl XcpFluid {
    pub(super) fn read(settings: &Settings) -> Result<Self, SettingError> {
        let initial_window = settings.number("initial_window");
        Ok(Self { initial_window, router: RouterParams::read(settings)? })
    }
}

impl FluidModel for XcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn Senders> {
        let (initial, least) = (self.initial_window * facts.packet, LEAST_PACKETS * facts.packet);
        sender_piece(Source { initial, least })
    }

    fn link(&self, _facts: &LinkFacts) -> Option<Box<dyn Links>> {
        Some(link_piece(Router(self.router)))
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "a hop's shuffled share goes unused where a flow is held back at another hop, \
                     so that rates are not quite max-min fair",
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "control intervals",
            "the persistence of the queue",
            "that a router counts what earlier ones have taken away (lines 26 and 27)",
            "the cut after a loss",
        ]
    }
}

/// A window that grows by what its throughput is told to grow by: `w' = rtt dx`, `x = w / rtt`.
struct Source {
    /// In bits.
    initial: f64,
    /// In bits.
    least: f64,
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "change of throughput", unit: "bit/s^2", over_path: Aggregate::Min }];
    const CARRIED: &'static [Quantity] =
        &[Quantity { name: "flows", unit: "1" }, Quantity { name: "round-trip time", unit: "s" }];
    const MAPS_HOPS: bool = true;

    fn states(&self) -> Vec<State> {
        vec![State::new("window", "bit", self.initial).within(self.least, f64::INFINITY)]
    }

    fn derivative<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = input.feedback[0] * input.rtt();
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        x[0] / input.rtt()
    }

    fn carried<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = T::one();
        carried[1] = input.rtt();
    }

    /// Lines 20 and 21: `xi_p s / x - xi_n s` of each packet, of which `x / s` come a second. `x` is what the header
    /// says that comes back now; before any has, nothing is told.
    fn hop<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, signals: &[T], feedback: &mut [T]) {
        let offer = signals[0] - input.acked * signals[1];
        feedback[0] = if input.acked > 0.0 { offer } else { T::zero() };
    }
}

/// Eqs. (1), (4), (7) and (8) of SIGCOMM 2002, per control interval d: `(h + phi^+) / (N d)` for each flow, and
/// `(h + phi^-) / (y d)` of each rate taken.
struct Router(RouterParams);

/// Eq. (1): by how many bit/s all traffic is to change in an interval.
fn aggregate<T: Number>(params: &RouterParams, input: &LinkInput<'_, T>, mean_rtt: T) -> T {
    (-input.arriving + input.capacity) * params.alpha - input.queue * params.beta / mean_rtt
}

impl Router {
    /// Over flows.
    fn mean_rtt<T: Number>(&self, input: &LinkInput<'_, T>) -> T {
        let RouterParams { initial_interval, min_interval, max_rtt, .. } = self.0;
        if input.carried[0] > 0.0 {
            let mean = least(input.carried[1] / input.carried[0], T::from(max_rtt.secs()));
            greatest(mean, T::from(min_interval.secs()))
        } else {
            T::from(initial_interval.secs())
        }
    }
}

impl FluidLink for Router {
    const SIGNALS: &'static [Quantity] = &[
        Quantity { name: "given to each flow", unit: "bit/s^2" },
        Quantity { name: "taken of each rate", unit: "1/s" },
    ];
    const GUARDS: &'static [&'static str] = &["aggregate feedback", "shuffled traffic"];

    fn states(&self) -> Vec<State> {
        Vec::new()
    }

    fn derivative<T: Number>(&self, _x: &[T], _input: &LinkInput<'_, T>, _dx: &mut [T]) {}

    fn signals<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let mean_rtt = self.mean_rtt(input);
        let aggregate = aggregate(&self.0, input, mean_rtt);
        let shuffled = positive(input.arriving * self.0.gamma - aggregate.abs());
        let given = shuffled + positive(aggregate);
        // Not each with its own positive part: where the aggregate is zero the two must change by it together.
        let taken = given - aggregate;
        let (flows, own) = (input.carried[0], input.own);
        signals[0] = if flows > 0.0 { given / (flows * mean_rtt) } else { T::zero() };
        signals[1] = if own > 0.0 { taken / (own * mean_rtt) } else { T::zero() };
    }

    fn rest(&self) -> Rest {
        let drains = self.0.beta > 0.0;
        Rest { utilization: 1.0, queue: drains.then_some(0.0), ..Rest::default() }
    }

    fn guards<T: Number>(&self, _x: &[T], input: &LinkInput<'_, T>, guards: &mut [T]) {
        let aggregate = aggregate(&self.0, input, self.mean_rtt(input));
        guards[0] = aggregate;
        guards[1] = input.arriving * self.0.gamma - aggregate.abs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fluid::{PACKET, carried, flow, inputs, link, near, one_link, one_loop};
    use crate::xcp::params::PARAMETERS;

    const D: f64 = 0.08;

    fn model() -> XcpFluid {
        XcpFluid::read(&Settings::check(PARAMETERS, []).unwrap()).unwrap()
    }

    /// What a router says whose flows send so much, four of them over 80 ms.
    fn signals(y: f64, packets: f64) -> Vec<f64> {
        let router = model().link(&one_link()).unwrap();
        let set = |i: &mut millpond_law::fluid::LinkInputs| {
            (i.arriving[0], i.own[0], i.queue[0]) = (y, y, packets * PACKET);
        };
        link(&*router, &[], &[4.0, 4.0 * D], set).1
    }

    /// What a flow of this rate makes of them.
    fn told(signals: &[f64], rate: f64) -> f64 {
        use millpond_law::fluid::SenderInput;
        let input = SenderInput {
            base_rtt: D,
            capacity: 8e6,
            queueing: 0.0,
            queueing_slope: 0.0,
            marked: 0.0,
            lost: 0.0,
            acked: rate,
            feedback: &[],
            next: None,
            forwarded: None,
        };
        let mut feedback = [f64::NAN];
        model().sender(&one_loop(D)).hop(0, &[1.0], &input, signals, &mut feedback);
        feedback[0]
    }

    #[test]
    fn what_all_flows_are_told_is_the_aggregate_and_shuffling_contracts_by_gamma() {
        for (y, packets) in [(4e6, 0.0), (8e6, 0.0), (7.9e6, 10.0), (8e6, 40.0), (12e6, 100.0)] {
            let signals = signals(y, packets);
            let rates = [0.1 * y, 0.2 * y, 0.3 * y, 0.4 * y];
            let sum: f64 = rates.iter().map(|&rate| told(&signals, rate)).sum();
            let aggregate = 0.4 * (8e6 - y) - 0.226 * packets * PACKET / D;
            assert!((sum - aggregate / D).abs() < 1e-6 * 8e6, "{y} {packets}: {sum} {}", aggregate / D);
        }
        // On a full link a flow moves by gamma of its distance from the mean per interval.
        assert!(near(told(&signals(8e6, 0.0), 0.8e6), 0.1 * (2e6 - 0.8e6) / D));
        assert!(told(&signals(8e6, 0.0), 2e6).abs() < 1e-6);
    }

    #[test]
    fn a_window_changes_by_what_its_throughput_is_told_and_waits_for_its_first_word() {
        let senders = model().sender(&one_loop(D));
        let seen = inputs(&*senders, D, |i| (i.feedback[0], i.queueing[0]) = (1e6, 0.02));
        let (dx, rate) = flow(&*senders, &[10.0 * PACKET], &seen);
        assert!(near(dx[0], 1e5) && near(rate, 8e5));
        assert_eq!(carried(&*senders, &[10.0 * PACKET], &seen), [1.0, 0.1]);
        assert_eq!(told(&signals(4e6, 0.0), 0.0), 0.0);
    }
}
