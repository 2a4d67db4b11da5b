//! Laws as trait objects: all laws of one type behind one virtual call per block of flows or links.
//!
//! [`FluidSender`] and [`FluidLink`] have generic functions, so they cannot be trait objects. The loops over flows must be
//! compiled where the type of the law is known, which is a protocol's crate; therefore they are part of this interface and
//! not of the engine. The engine decides which laws are evaluated together, when, and on which inputs.

use super::{
    Dual64, Feedback, FluidLink, FluidSender, InputSet, LawState, LinkEquilibrium, LinkInput, LinkInputs,
    Quantity, SenderInput, SenderInputs, SenderOutputs, State, blocks,
};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;
use core::ops::Range;

impl SenderInputs {
    /// Zeros for these flows, with the initial discrete states of their laws.
    pub fn of(laws: &dyn SenderLaws, flows: Range<usize>) -> Self {
        let width = laws.discrete().len();
        let mut inputs = Self::zeros(flows.len(), laws.feedback().len());
        inputs.discrete = vec![0; flows.len() * width];
        for (i, flow) in flows.enumerate() {
            laws.initial_discrete(flow, &mut inputs.discrete[i * width..][..width]);
        }
        inputs
    }
}

impl LinkInputs {
    /// Zeros for these links with `carried` carried quantities each, and the initial discrete states of their laws.
    pub fn of(laws: &dyn LinkLaws, links: Range<usize>, carried: usize) -> Self {
        let width = laws.discrete().len();
        let mut inputs = Self::zeros(links.len(), carried);
        inputs.discrete = vec![0; links.len() * width];
        for (i, link) in links.enumerate() {
            laws.initial_discrete(link, &mut inputs.discrete[i * width..][..width]);
        }
        inputs
    }
}

/// The sender laws of several flows, all of one type. Arrays contain one entry or block of entries per flow; `first` is the
/// flow of the first entry.
pub trait SenderLaws: Any + Send + Sync {
    /// The number of flows.
    fn count(&self) -> usize;
    /// See [`FluidSender::FEEDBACK`].
    fn feedback(&self) -> &'static [Feedback];
    /// See [`FluidSender::CARRIED`].
    fn carried(&self) -> &'static [Quantity];
    /// See [`FluidSender::GUARDS`].
    fn guard_names(&self) -> &'static [&'static str];
    /// See [`FluidSender::DISCRETE`].
    fn discrete(&self) -> &'static [Quantity];
    /// See [`FluidSender::initial_discrete`].
    fn initial_discrete(&self, flow: usize, discrete: &mut [u64]);
    /// See [`FluidSender::MAPS_SIGNALS`].
    fn maps_signals(&self) -> bool;
    /// See [`FluidSender::GROWS_UNUSED`].
    fn grows_unused(&self) -> bool;
    /// See [`FluidSender::INPUTS`].
    fn inputs_used(&self) -> InputSet;
    /// See [`FluidSender::states`].
    fn states(&self, flow: usize) -> Vec<State>;
    /// See [`FluidSender::lag`].
    fn lag(&self, flow: usize, x: &[f64], base_rtt: f64) -> f64;
    /// See [`FluidSender::longest_lag`].
    fn longest_lag(&self, flow: usize, base_rtt: f64) -> f64;
    /// Appends the flows of `other` if its laws have the same type and number of states; otherwise returns it.
    fn append(&mut self, other: Box<dyn SenderLaws>) -> Result<(), Box<dyn SenderLaws>>;

    /// See [`FluidSender::derivative`].
    fn derivatives(&self, first: usize, x: &[f64], inputs: &SenderInputs, dx: &mut [f64]);
    /// See [`FluidSender::rate`] and [`FluidSender::carried`].
    fn rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, rates: &mut [f64], carried: &mut [f64]);

    /// [`Self::rates`] and [`Self::derivatives`] in one pass.
    fn derivatives_and_rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, out: SenderOutputs<'_>);

    /// See [`FluidSender::map_signals`].
    fn map_signals(
        &self,
        flow: usize,
        x: &[f64],
        input: &SenderInput<'_, f64>,
        signals: &[f64],
        feedback: &mut [f64],
    );
    /// See [`FluidSender::guards`].
    fn guards(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>, guards: &mut [f64]);
    /// See [`FluidSender::crossed`].
    fn crossed(
        &self,
        flow: usize,
        guard: usize,
        is_rising: bool,
        state: &mut LawState<'_>,
        input: &SenderInput<'_, f64>,
    );
    /// See [`FluidSender::ticks`].
    fn ticks(&self, flow: usize) -> bool;
    /// See [`FluidSender::period`].
    fn period(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64>;
    /// See [`FluidSender::tick`].
    fn tick(&self, flow: usize, state: &mut LawState<'_>, input: &SenderInput<'_, f64>);

    /// [`FluidSender::derivative`], `carried` and (returned) `rate` of one flow in dual numbers.
    fn dual(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        dx: &mut [Dual64],
        carried: &mut [Dual64],
    ) -> Dual64;
    /// [`FluidSender::guards`] in dual numbers.
    fn guards_dual(&self, flow: usize, x: &[Dual64], input: &SenderInput<'_, Dual64>, guards: &mut [Dual64]);
    /// [`FluidSender::map_signals`] in dual numbers.
    fn map_signals_dual(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        signals: &[Dual64],
        feedback: &mut [Dual64],
    );
}

/// The laws of several links, all of one type. Arrays contain one entry or block of entries per link; `first` is the link of
/// the first entry.
pub trait LinkLaws: Any + Send + Sync {
    /// The number of links.
    fn count(&self) -> usize;
    /// See [`FluidLink::SIGNALS`].
    fn signal_names(&self) -> &'static [Quantity];
    /// See [`FluidLink::GUARDS`].
    fn guard_names(&self) -> &'static [&'static str];
    /// See [`FluidLink::DISCRETE`].
    fn discrete(&self) -> &'static [Quantity];
    /// See [`FluidLink::initial_discrete`].
    fn initial_discrete(&self, link: usize, discrete: &mut [u64]);
    /// See [`FluidLink::states`].
    fn states(&self, link: usize) -> Vec<State>;
    /// See [`FluidLink::equilibrium`].
    fn equilibrium(&self, link: usize) -> LinkEquilibrium;
    /// Appends the links of `other` if its laws have the same type and number of states; otherwise returns it.
    fn append(&mut self, other: Box<dyn LinkLaws>) -> Result<(), Box<dyn LinkLaws>>;

    /// See [`FluidLink::derivative`].
    fn derivatives(&self, first: usize, x: &[f64], inputs: &LinkInputs, dx: &mut [f64]);
    /// See [`FluidLink::signals`].
    fn signals(&self, first: usize, x: &[f64], inputs: &LinkInputs, signals: &mut [f64]);

    /// See [`FluidLink::guards`].
    fn guards(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>, guards: &mut [f64]);
    /// See [`FluidLink::crossed`].
    fn crossed(
        &self,
        link: usize,
        guard: usize,
        is_rising: bool,
        state: &mut LawState<'_>,
        input: &LinkInput<'_, f64>,
    );
    /// See [`FluidLink::ticks`].
    fn ticks(&self, link: usize) -> bool;
    /// See [`FluidLink::period`].
    fn period(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>) -> Option<f64>;
    /// See [`FluidLink::tick`].
    fn tick(&self, link: usize, state: &mut LawState<'_>, input: &LinkInput<'_, f64>);

    /// [`FluidLink::derivative`] and `signals` of one link in dual numbers.
    fn dual(
        &self,
        link: usize,
        x: &[Dual64],
        input: &LinkInput<'_, Dual64>,
        dx: &mut [Dual64],
        signals: &mut [Dual64],
    );
    /// [`FluidLink::guards`] in dual numbers.
    fn guards_dual(&self, link: usize, x: &[Dual64], input: &LinkInput<'_, Dual64>, guards: &mut [Dual64]);
}

/// The sender law of one flow as a trait object.
pub fn sender_law(law: impl FluidSender) -> Box<dyn SenderLaws> {
    let width = law.states().len();
    Box::new(Batch { laws: vec![law], width })
}

/// The law of one link as a trait object.
pub fn link_law(law: impl FluidLink) -> Box<dyn LinkLaws> {
    let width = law.states().len();
    Box::new(Batch { laws: vec![law], width })
}

/// Laws of one type, each with `width` states.
struct Batch<L> {
    laws: Vec<L>,
    width: usize,
}

impl<L: 'static> Batch<L> {
    fn matches(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| other.width == self.width)
    }

    fn extend(&mut self, other: Box<dyn Any>) {
        if let Ok(other) = other.downcast::<Self>() {
            self.laws.extend(other.laws);
        }
    }
}

impl<L: FluidSender> SenderLaws for Batch<L> {
    fn count(&self) -> usize {
        self.laws.len()
    }

    fn feedback(&self) -> &'static [Feedback] {
        L::FEEDBACK
    }

    fn carried(&self) -> &'static [Quantity] {
        L::CARRIED
    }

    fn guard_names(&self) -> &'static [&'static str] {
        L::GUARDS
    }

    fn discrete(&self) -> &'static [Quantity] {
        L::DISCRETE
    }

    fn initial_discrete(&self, flow: usize, discrete: &mut [u64]) {
        self.laws[flow].initial_discrete(discrete);
    }

    fn maps_signals(&self) -> bool {
        L::MAPS_SIGNALS
    }

    fn grows_unused(&self) -> bool {
        L::GROWS_UNUSED
    }

    fn inputs_used(&self) -> InputSet {
        L::INPUTS
    }

    fn states(&self, flow: usize) -> Vec<State> {
        self.laws[flow].states()
    }

    fn lag(&self, flow: usize, x: &[f64], base_rtt: f64) -> f64 {
        self.laws[flow].lag(x, base_rtt)
    }

    fn longest_lag(&self, flow: usize, base_rtt: f64) -> f64 {
        self.laws[flow].longest_lag(base_rtt)
    }

    fn append(&mut self, other: Box<dyn SenderLaws>) -> Result<(), Box<dyn SenderLaws>> {
        if !self.matches(other.as_ref()) {
            return Err(other);
        }
        self.extend(other);
        Ok(())
    }

    fn derivatives(&self, first: usize, x: &[f64], inputs: &SenderInputs, dx: &mut [f64]) {
        blocks::derivatives(&self.laws[first..], self.width, x, inputs, dx);
    }

    fn rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, rates: &mut [f64], carried: &mut [f64]) {
        let laws = &self.laws[first..];
        blocks::rates(laws, self.width, x, inputs, rates);
        blocks::carried(laws, self.width, x, inputs, carried);
    }

    fn derivatives_and_rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, out: SenderOutputs<'_>) {
        blocks::derivatives_and_rates(&self.laws[first..], self.width, x, inputs, out);
    }

    fn map_signals(
        &self,
        flow: usize,
        x: &[f64],
        input: &SenderInput<'_, f64>,
        signals: &[f64],
        feedback: &mut [f64],
    ) {
        self.laws[flow].map_signals(x, input, signals, feedback);
    }

    fn guards(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>, guards: &mut [f64]) {
        self.laws[flow].guards(x, input, guards);
    }

    fn crossed(
        &self,
        flow: usize,
        guard: usize,
        is_rising: bool,
        state: &mut LawState<'_>,
        input: &SenderInput<'_, f64>,
    ) {
        self.laws[flow].crossed(guard, is_rising, state, input);
    }

    fn ticks(&self, flow: usize) -> bool {
        self.laws[flow].ticks()
    }

    fn period(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64> {
        self.laws[flow].period(x, input)
    }

    fn tick(&self, flow: usize, state: &mut LawState<'_>, input: &SenderInput<'_, f64>) {
        self.laws[flow].tick(state, input);
    }

    fn dual(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        dx: &mut [Dual64],
        carried: &mut [Dual64],
    ) -> Dual64 {
        let law = &self.laws[flow];
        law.derivative(x, input, dx);
        law.carried(x, input, carried);
        law.rate(x, input)
    }

    fn guards_dual(&self, flow: usize, x: &[Dual64], input: &SenderInput<'_, Dual64>, guards: &mut [Dual64]) {
        self.laws[flow].guards(x, input, guards);
    }

    fn map_signals_dual(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        signals: &[Dual64],
        feedback: &mut [Dual64],
    ) {
        self.laws[flow].map_signals(x, input, signals, feedback);
    }
}

impl<L: FluidLink> LinkLaws for Batch<L> {
    fn count(&self) -> usize {
        self.laws.len()
    }

    fn signal_names(&self) -> &'static [Quantity] {
        L::SIGNALS
    }

    fn guard_names(&self) -> &'static [&'static str] {
        L::GUARDS
    }

    fn discrete(&self) -> &'static [Quantity] {
        L::DISCRETE
    }

    fn initial_discrete(&self, link: usize, discrete: &mut [u64]) {
        self.laws[link].initial_discrete(discrete);
    }

    fn states(&self, link: usize) -> Vec<State> {
        self.laws[link].states()
    }

    fn equilibrium(&self, link: usize) -> LinkEquilibrium {
        self.laws[link].equilibrium()
    }

    fn append(&mut self, other: Box<dyn LinkLaws>) -> Result<(), Box<dyn LinkLaws>> {
        if !self.matches(other.as_ref()) {
            return Err(other);
        }
        self.extend(other);
        Ok(())
    }

    fn derivatives(&self, first: usize, x: &[f64], inputs: &LinkInputs, dx: &mut [f64]) {
        blocks::link_derivatives(&self.laws[first..], self.width, x, inputs, dx);
    }

    fn signals(&self, first: usize, x: &[f64], inputs: &LinkInputs, signals: &mut [f64]) {
        blocks::link_signals(&self.laws[first..], self.width, x, inputs, signals);
    }

    fn guards(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>, guards: &mut [f64]) {
        self.laws[link].guards(x, input, guards);
    }

    fn crossed(
        &self,
        link: usize,
        guard: usize,
        is_rising: bool,
        state: &mut LawState<'_>,
        input: &LinkInput<'_, f64>,
    ) {
        self.laws[link].crossed(guard, is_rising, state, input);
    }

    fn ticks(&self, link: usize) -> bool {
        self.laws[link].ticks()
    }

    fn period(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>) -> Option<f64> {
        self.laws[link].period(x, input)
    }

    fn tick(&self, link: usize, state: &mut LawState<'_>, input: &LinkInput<'_, f64>) {
        self.laws[link].tick(state, input);
    }

    fn dual(
        &self,
        link: usize,
        x: &[Dual64],
        input: &LinkInput<'_, Dual64>,
        dx: &mut [Dual64],
        signals: &mut [Dual64],
    ) {
        self.laws[link].derivative(x, input, dx);
        self.laws[link].signals(x, input, signals);
    }

    fn guards_dual(&self, link: usize, x: &[Dual64], input: &LinkInput<'_, Dual64>, guards: &mut [Dual64]) {
        self.laws[link].guards(x, input, guards);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Number, PathAggregation};

    /// x' = gain (feedback - x), sends x.
    struct Lag(f64);

    impl FluidSender for Lag {
        const FEEDBACK: &'static [Feedback] =
            &[Feedback { name: "offered rate", unit: "bit/s", over_path: PathAggregation::Min }];

        fn states(&self) -> Vec<State> {
            vec![State::new("rate", "bit/s", 1.0)]
        }

        fn derivative<T: Number>(&self, x: &[T], input: &SenderInput<'_, T>, dx: &mut [T]) {
            dx[0] = (input.feedback[0] - x[0]) * self.0;
        }

        fn rate<T: Number>(&self, x: &[T], _input: &SenderInput<'_, T>) -> T {
            x[0]
        }
    }

    /// A static law: its rate is the round-trip time.
    struct Static;

    impl FluidSender for Static {
        fn states(&self) -> Vec<State> {
            Vec::new()
        }

        fn derivative<T: Number>(&self, _x: &[T], _input: &SenderInput<'_, T>, _dx: &mut [T]) {}

        fn rate<T: Number>(&self, _x: &[T], input: &SenderInput<'_, T>) -> T {
            input.rtt()
        }
    }

    #[test]
    fn a_block_of_flows_has_the_derivatives_and_rates_of_its_single_flows() {
        let mut laws = sender_law(Lag(1.0));
        assert!(laws.append(sender_law(Lag(2.0))).is_ok());
        let other_type = laws.append(sender_law(Static));
        assert!(other_type.is_err_and(|back| back.count() == 1 && back.feedback().is_empty()));
        assert_eq!(laws.count(), 2);
        let mut inputs = SenderInputs::zeros(2, 1);
        inputs.feedback = vec![3.0, 7.0];
        let (mut dx, mut rates) = ([0.0; 2], [0.0; 2]);
        laws.derivatives(0, &[1.0, 2.0], &inputs, &mut dx);
        laws.rates(0, &[1.0, 2.0], &inputs, &mut rates, &mut []);
        assert_eq!((dx, rates), ([2.0, 10.0], [1.0, 2.0]));
    }

    #[test]
    fn dual_numbers_give_the_derivative_of_the_same_law() {
        let laws = sender_law(Lag(2.0));
        let one = Dual64::from(1.0);
        let input = SenderInput {
            base_rtt: 0.1,
            capacity: 1.0,
            queueing: one,
            queueing_slope: one,
            marked: one,
            lost: one,
            acked: one,
            present_queueing: one,
            earlier_queueing: one,
            feedback: &[Dual64::from(3.0)],
            discrete: &[],
            growth: 1.0,
            downstream: None,
            upstream: None,
        };
        let mut dx = [one];
        let rate = laws.dual(0, &[one.derivative()], &input, &mut dx, &mut []);
        assert_eq!((rate.eps, dx[0].re, dx[0].eps), (1.0, 4.0, -2.0));
    }
}
