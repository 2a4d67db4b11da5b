//! XCP as differential equations: the feedback that routers allocate per control interval, as continuous flows.

use super::params::{INITIAL_WINDOW, RouterParams};
use super::sender::LEAST_PACKETS;
use crate::parts::ack_clock;
use millpond_law::fluid::{
    Allocation, Feedback, FluidLink, FluidModel, FluidSender, InputSet, LinkEquilibrium, LinkInput, LinkLaws,
    LoopFacts, Number, PathAggregation, Quantity, SenderInput, SenderLaws, State, greatest, least, link_law,
    positive, sender_law,
};
use millpond_law::{LinkFacts, Settings};

/// The fluid model of XCP.
pub(super) struct XcpFluid {
    /// In packets.
    initial_window: f64,
    router: RouterParams,
}

impl XcpFluid {
    pub(super) fn read(settings: &Settings) -> Self {
        let initial_window = settings.get(INITIAL_WINDOW);
        Self { initial_window, router: RouterParams::read(settings) }
    }
}

impl FluidModel for XcpFluid {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let (initial, least) = (self.initial_window * facts.packet, LEAST_PACKETS * facts.packet);
        sender_law(Source { initial, least, quoted: initial / facts.base_rtt })
    }

    fn link(&self, facts: &LinkFacts) -> Option<Box<dyn LinkLaws>> {
        Some(link_law(Router { params: self.router, capacity: facts.capacity.as_f64() }))
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric {
            reason: "a hop's shuffled share goes unused where a flow is held back at another hop, \
                     so that rates are not quite max-min fair",
        }
    }

    fn left_out(&self) -> &'static [&'static str] {
        &[
            "decisions at the ends of control intervals; the model has the mean lags of an interval",
            "the minimum of the queue over an interval",
            "the accounting of feedback withdrawn by upstream routers (lines 26 and 27)",
            "the reduction after a loss",
        ]
    }
}

/// The window grows with the feedback on its throughput: `w' = rtt dx`.
struct Source {
    /// Initial window, in bits.
    initial: f64,
    /// Smallest window, in bits.
    least: f64,
    /// Rate in the first header, in bit/s.
    quoted: f64,
}

impl FluidSender for Source {
    const FEEDBACK: &'static [Feedback] =
        &[Feedback { name: "change of throughput", unit: "bit/s^2", over_path: PathAggregation::Min }];
    const CARRIED: &'static [Quantity] =
        &[Quantity { name: "flows", unit: "1" }, Quantity { name: "round-trip time", unit: "s" }];
    const INPUTS: InputSet = InputSet { present_queueing: true, ..InputSet::ALL };
    const MAPS_SIGNALS: bool = true;

    fn states(&self) -> Vec<State> {
        let window = State::new("window", "bit", self.initial).within(self.least, f64::INFINITY);
        vec![window, State::new("quoted throughput", "bit/s", self.quoted)]
    }

    /// The rates in headers are delayed by half a round trip, like those that routers count.
    fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
        dx[0] = input.feedback[0] * input.rtt();
        dx[1] = (input.acked - x[1]) * 2.0 / input.rtt();
    }

    fn rate<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>) -> T {
        let grows = input.feedback[0] * input.rtt();
        let stays = x[0] <= T::from(self.least) && grows < T::zero();
        let grows = if stays { T::zero() } else { grows };
        ack_clock::rate(x[0], grows, input.present_queueing + input.base_rtt, 0.0)
    }

    fn carried<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>, carried: &mut [T]) {
        carried[0] = T::one();
        carried[1] = input.rtt();
    }

    /// Lines 20 and 21: `xi_p s / x - xi_n s` for each packet, of which there are `x / s` per second; zero before the
    /// first acknowledgement.
    fn map_signals<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, signals: &[T], feedback: &mut [T]) {
        let offer = signals[0] - x[1] * signals[1];
        feedback[0] = if input.acked > 0.0 { offer } else { T::zero() };
    }
}

/// Eqs. (1), (4), (7) and (8) of SIGCOMM 2002, per control interval d: `(h + phi^+) / (N d)` for each flow, and `(h +
/// phi^-) / (y d)` of each rate is withdrawn.
///
/// Traffic is measured over one interval, and the decision at its end is allocated over the next one: each has a mean
/// delay of half an interval. So does the persistent queue, which is the minimum over half an interval and is known for
/// another half.
struct Router {
    params: RouterParams,
    /// Initial capacity of the link in bit/s; states are relative to it.
    capacity: f64,
}

/// The places of the router's states.
const MEASURED: usize = 0;
const PERSISTENT: usize = 1;
const ALLOCATED: usize = 2;

/// Eq. (1): the desired change of all traffic in an interval.
fn aggregate<T: Number>(params: &RouterParams, spare: T, queue: T, mean_rtt: T) -> T {
    spare * params.alpha - queue * params.beta / mean_rtt
}

impl Router {
    /// Over flows.
    fn mean_rtt<T: Number>(&self, input: &LinkInput<'_, T>) -> T {
        let RouterParams { initial_interval, min_interval, max_rtt, .. } = self.params;
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
        let zero = |name, unit| State::new(name, unit, 0.0);
        vec![zero("load counted", "1"), zero("persistent delay", "s"), zero("aggregate feedback", "1")]
    }

    fn derivative<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, dx: &mut [T]) {
        let mean_rtt = self.mean_rtt(input);
        let spare = -x[MEASURED] + input.capacity / self.capacity;
        let decided = aggregate(&self.params, spare, x[PERSISTENT], mean_rtt);
        dx[MEASURED] = (input.arriving / self.capacity - x[MEASURED]) * 2.0 / mean_rtt;
        dx[PERSISTENT] = (input.queue / self.capacity - x[PERSISTENT]) * 2.0 / mean_rtt;
        dx[ALLOCATED] = (decided - x[ALLOCATED]) * 2.0 / mean_rtt;
    }

    fn signals<T: Number>(&self, x: &[T], input: &LinkInput<'_, T>, signals: &mut [T]) {
        let mean_rtt = self.mean_rtt(input);
        let (measured, aggregate) = (x[MEASURED] * self.capacity, x[ALLOCATED] * self.capacity);
        let shuffled = positive(measured * self.params.gamma - aggregate.abs());
        let given = shuffled + positive(aggregate);
        // Without separate positive parts: at an aggregate of zero, both must change together with it.
        let taken = given - aggregate;
        let (flows, arriving) = (input.carried[0], input.arriving);
        let own = if arriving > 0.0 { measured * input.own_arriving / arriving } else { T::zero() };
        signals[0] = if flows > 0.0 { given / (flows * mean_rtt) } else { T::zero() };
        signals[1] = if own > 0.0 { taken / (own * mean_rtt) } else { T::zero() };
    }

    /// An empty queue with balanced arrivals is drained whenever it is not empty and touches zero repeatedly: its
    /// persistent part is zero.
    fn equilibrium(&self) -> LinkEquilibrium {
        let drains = self.params.beta > 0.0;
        LinkEquilibrium {
            queue: drains.then_some(0.0),
            linearized_as_empty: drains,
            ..LinkEquilibrium::default()
        }
    }

    fn guards<T: Number>(&self, x: &[T], _input: &LinkInput<'_, T>, guards: &mut [T]) {
        guards[0] = x[ALLOCATED];
        guards[1] = x[MEASURED] * self.params.gamma - x[ALLOCATED].abs();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fluid::{PACKET, carried, flow, inputs, link, near, one_link, one_loop};
    use crate::xcp::params::PARAMETERS;

    const D: f64 = 0.08;

    fn model() -> XcpFluid {
        XcpFluid::read(&Settings::check(PARAMETERS, []).unwrap())
    }

    /// Derivatives and signals of a router at these states, with four flows over 80 ms and a total rate of `y`.
    fn router(y: f64, packets: f64, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let router = model().link(&one_link()).unwrap();
        let set = |i: &mut millpond_law::fluid::LinkInputs| {
            (i.arriving[0], i.own_arriving[0], i.queue[0]) = (y, y, packets * PACKET);
        };
        link(&*router, x, &[4.0, 4.0 * D], set)
    }

    fn aggregate_of(y: f64, packets: f64) -> f64 {
        0.4 * (8e6 - y) - 0.226 * packets * PACKET / D
    }

    /// The signals after the router has measured the flows.
    fn signals(y: f64, packets: f64) -> Vec<f64> {
        router(y, packets, &[y / 8e6, packets * PACKET / 8e6, aggregate_of(y, packets) / 8e6]).1
    }

    /// The feedback for a flow of this rate.
    fn feedback_for(signals: &[f64], rate: f64) -> f64 {
        use millpond_law::fluid::SenderInput;
        let input = SenderInput {
            base_rtt: D,
            capacity: 8e6,
            queueing: 0.0,
            queueing_slope: 0.0,
            marked: 0.0,
            lost: 0.0,
            acked: rate,
            present_queueing: 0.0,
            earlier_queueing: 0.0,
            feedback: &[],
            discrete: &[],
            growth: 1.0,
            downstream: None,
            upstream: None,
        };
        let mut feedback = [f64::NAN];
        model().sender(&one_loop(D)).map_signals(0, &[1.0, rate], &input, signals, &mut feedback);
        feedback[0]
    }

    #[test]
    fn the_feedback_of_all_flows_adds_up_to_the_aggregate_and_shuffling_contracts_by_gamma() {
        for (y, packets) in [(4e6, 0.0), (8e6, 0.0), (7.9e6, 10.0), (8e6, 40.0), (12e6, 100.0)] {
            let signals = signals(y, packets);
            let rates = [0.1 * y, 0.2 * y, 0.3 * y, 0.4 * y];
            let sum: f64 = rates.iter().map(|&rate| feedback_for(&signals, rate)).sum();
            let aggregate = aggregate_of(y, packets) / D;
            assert!((sum - aggregate).abs() < 1e-6 * 8e6, "{y} {packets}: {sum} {aggregate}");
        }
        // On a full link a flow moves by gamma of its distance from the mean per interval.
        assert!(near(feedback_for(&signals(8e6, 0.0), 0.8e6), 0.1 * (2e6 - 0.8e6) / D));
        assert!(feedback_for(&signals(8e6, 0.0), 2e6).abs() < 1e-6);
    }

    #[test]
    fn a_router_measures_for_an_interval_and_allocates_over_the_next() {
        let (dx, _) = router(6e6, 30.0, &[0.5, 0.02, 0.0]);
        let expected = [0.25, 0.01, aggregate_of(4e6, 20.0) / 8e6].map(|distance| 2.0 * distance / D);
        assert!(dx.iter().zip(expected).all(|(dx, expected)| near(*dx, expected)), "{dx:?} {expected:?}");
    }

    #[test]
    fn a_window_changes_with_the_feedback_on_its_throughput_and_not_before_the_first_feedback() {
        let senders = model().sender(&one_loop(D));
        let seen = |feedback: f64| {
            inputs(&*senders, D, |i| {
                (i.feedback[0], i.queueing[0], i.present_queueing[0], i.acked[0]) =
                    (feedback, 0.02, 0.045, 6e5);
            })
        };
        // Ten packets, .125 s each; the growth is sent immediately. The header follows the acknowledged rate.
        let (dx, rate) = flow(&*senders, &[10.0 * PACKET, 5e5], &seen(1e6));
        assert!(near(dx[0], 1e5) && near(rate, 6.4e5 + 1e5) && near(dx[1], 2e6), "{dx:?} {rate}");
        assert_eq!(carried(&*senders, &[10.0 * PACKET, 5e5], &seen(1e6)), [1.0, 0.1]);
        // The smallest window is not reduced further.
        assert!(near(flow(&*senders, &[PACKET, 0.0], &seen(-1e6)).1, 6.4e4));
        assert_eq!(feedback_for(&signals(4e6, 0.0), 0.0), 0.0);
    }
}
