//! Laws as objects, many flows at a time: one virtual call for a whole class of flows, the loop inside is compiled
//! for its law.

use super::{
    Dual64, Feedback, FluidLink, FluidSender, Forwarded, Hears, LinkInput, NextLoop, Quantity, Rest,
    SenderInput, State,
};
use std::any::Any;

/// The inputs of consecutive flows of a class, an array for each quantity of [`SenderInput`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SenderInputs {
    /// See [`SenderInput::base_rtt`].
    pub base_rtt: Vec<f64>,
    /// See [`SenderInput::capacity`].
    pub capacity: Vec<f64>,
    /// See [`SenderInput::queueing`].
    pub queueing: Vec<f64>,
    /// See [`SenderInput::queueing_slope`].
    pub queueing_slope: Vec<f64>,
    /// See [`SenderInput::marked`].
    pub marked: Vec<f64>,
    /// See [`SenderInput::lost`].
    pub lost: Vec<f64>,
    /// See [`SenderInput::acked`].
    pub acked: Vec<f64>,
    /// See [`SenderInput::ahead`].
    pub ahead: Vec<f64>,
    /// Flow by flow, each as wide as the class's feedback.
    pub feedback: Vec<f64>,
    /// Empty if no flow of the class has a relay.
    pub next: Vec<Option<NextLoop<f64>>>,
    /// Empty if no flow of the class begins at a relay.
    pub forwarded: Vec<Option<Forwarded<f64>>>,
}

impl SenderInputs {
    /// Zeros for so many flows with so many feedbacks each.
    pub fn zeros(flows: usize, feedbacks: usize) -> Self {
        let zeros = || vec![0.0; flows];
        Self {
            base_rtt: zeros(),
            capacity: zeros(),
            queueing: zeros(),
            queueing_slope: zeros(),
            marked: zeros(),
            lost: zeros(),
            acked: zeros(),
            ahead: zeros(),
            feedback: vec![0.0; flows * feedbacks],
            next: Vec::new(),
            forwarded: Vec::new(),
        }
    }

    /// How many flows.
    pub fn count(&self) -> usize {
        self.base_rtt.len()
    }

    /// One flow's input.
    #[inline]
    pub fn at(&self, i: usize, feedbacks: usize) -> SenderInput<'_, f64> {
        SenderInput {
            base_rtt: self.base_rtt[i],
            capacity: self.capacity[i],
            queueing: self.queueing[i],
            queueing_slope: self.queueing_slope[i],
            marked: self.marked[i],
            lost: self.lost[i],
            acked: self.acked[i],
            ahead: self.ahead[i],
            feedback: &self.feedback[i * feedbacks..][..feedbacks],
            next: self.next.get(i).copied().flatten(),
            forwarded: self.forwarded.get(i).copied().flatten(),
        }
    }
}

impl SenderInputs {
    /// The inputs of all flows in order.
    #[inline]
    pub fn iter(&self, feedbacks: usize) -> impl Iterator<Item = SenderInput<'_, f64>> {
        let n = self.count();
        // Cut to one length, so that no access is checked again.
        let (base_rtt, capacity, acked) = (&self.base_rtt[..n], &self.capacity[..n], &self.acked[..n]);
        let (queueing, queueing_slope) = (&self.queueing[..n], &self.queueing_slope[..n]);
        let (marked, lost, ahead) = (&self.marked[..n], &self.lost[..n], &self.ahead[..n]);
        (0..n).map(move |i| SenderInput {
            base_rtt: base_rtt[i],
            capacity: capacity[i],
            queueing: queueing[i],
            queueing_slope: queueing_slope[i],
            marked: marked[i],
            lost: lost[i],
            acked: acked[i],
            ahead: ahead[i],
            feedback: &self.feedback[i * feedbacks..][..feedbacks],
            next: self.next.get(i).copied().flatten(),
            forwarded: self.forwarded.get(i).copied().flatten(),
        })
    }
}

/// The inputs of consecutive links under one law, an array for each quantity of [`LinkInput`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkInputs {
    /// See [`LinkInput::capacity`].
    pub capacity: Vec<f64>,
    /// See [`LinkInput::arriving`].
    pub arriving: Vec<f64>,
    /// See [`LinkInput::own`].
    pub own: Vec<f64>,
    /// See [`LinkInput::queue`].
    pub queue: Vec<f64>,
    /// Link by link, each as wide as what the protocol's senders carry.
    pub carried: Vec<f64>,
}

impl LinkInputs {
    /// Zeros for so many links with so many carried sums each.
    pub fn zeros(links: usize, carried: usize) -> Self {
        let zeros = || vec![0.0; links];
        Self {
            capacity: zeros(),
            arriving: zeros(),
            own: zeros(),
            queue: zeros(),
            carried: vec![0.0; links * carried],
        }
    }

    /// How many links.
    pub fn count(&self) -> usize {
        self.capacity.len()
    }

    /// One link's input.
    #[inline]
    pub fn at(&self, i: usize) -> LinkInput<'_, f64> {
        let carried = self.carried.len() / self.count().max(1);
        LinkInput {
            capacity: self.capacity[i],
            arriving: self.arriving[i],
            own: self.own[i],
            queue: self.queue[i],
            carried: &self.carried[i * carried..][..carried],
        }
    }
}

/// Where a class of flows puts what it does.
#[derive(Debug)]
pub struct Moves<'a> {
    /// Derivatives.
    pub dx: &'a mut [f64],
    /// In bit/s.
    pub rates: &'a mut [f64],
    /// [`FluidSender::CARRIED`].
    pub carried: &'a mut [f64],
}

/// A class of flows under one law. Arrays are flow by flow; `first` is the first flow that the arrays speak of.
pub trait Senders: Any + Send + Sync {
    /// How many flows.
    fn count(&self) -> usize;
    /// See [`FluidSender::FEEDBACK`].
    fn feedback(&self) -> &'static [Feedback];
    /// See [`FluidSender::CARRIED`].
    fn carried(&self) -> &'static [Quantity];
    /// See [`FluidSender::GUARDS`].
    fn guard_names(&self) -> &'static [&'static str];
    /// See [`FluidSender::MAPS_HOPS`].
    fn maps_hops(&self) -> bool;
    /// See [`FluidSender::HEARS`].
    fn hears(&self) -> Hears;
    /// See [`FluidSender::states`].
    fn states(&self, flow: usize) -> Vec<State>;
    /// Takes in the flows of another class of the same law with as many states, or gives it back.
    fn append(&mut self, other: Box<dyn Senders>) -> Result<(), Box<dyn Senders>>;

    /// See [`FluidSender::derivative`].
    fn derivatives(&self, first: usize, x: &[f64], inputs: &SenderInputs, dx: &mut [f64]);
    /// See [`FluidSender::rate`] and [`FluidSender::carried`].
    fn rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, rates: &mut [f64], carried: &mut [f64]);

    /// [`Self::rates`] and [`Self::derivatives`] in one pass.
    fn move_and_send(&self, first: usize, x: &[f64], inputs: &SenderInputs, out: Moves<'_>);

    /// See [`FluidSender::hop`].
    fn hop(
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
        x: &mut [f64],
        input: &SenderInput<'_, f64>,
    );
    /// See [`FluidSender::period`].
    fn period(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64>;
    /// See [`FluidSender::tick`].
    fn tick(&self, flow: usize, x: &mut [f64], input: &SenderInput<'_, f64>);

    /// [`FluidSender::derivative`], `rate` (returned) and `carried` of one flow in dual numbers.
    fn dual(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        dx: &mut [Dual64],
        carried: &mut [Dual64],
    ) -> Dual64;
    /// [`FluidSender::hop`] in dual numbers.
    fn dual_hop(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        signals: &[Dual64],
        feedback: &mut [Dual64],
    );
}

/// A set of links under one law. Arrays are link by link; `first` is the first link that the arrays speak of.
pub trait Links: Any + Send + Sync {
    /// How many links.
    fn count(&self) -> usize;
    /// See [`FluidLink::SIGNALS`].
    fn signal_names(&self) -> &'static [Quantity];
    /// See [`FluidLink::GUARDS`].
    fn guard_names(&self) -> &'static [&'static str];
    /// See [`FluidLink::states`].
    fn states(&self, link: usize) -> Vec<State>;
    /// See [`FluidLink::rest`].
    fn rest(&self, link: usize) -> Rest;
    /// Takes in the links of another set of the same law with as many states, or gives it back.
    fn append(&mut self, other: Box<dyn Links>) -> Result<(), Box<dyn Links>>;

    /// See [`FluidLink::derivative`].
    fn derivatives(&self, first: usize, x: &[f64], inputs: &LinkInputs, dx: &mut [f64]);
    /// See [`FluidLink::signals`].
    fn signals(&self, first: usize, x: &[f64], inputs: &LinkInputs, signals: &mut [f64]);

    /// See [`FluidLink::guards`].
    fn guards(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>, guards: &mut [f64]);
    /// See [`FluidLink::crossed`].
    fn crossed(&self, link: usize, guard: usize, is_rising: bool, x: &mut [f64], input: &LinkInput<'_, f64>);
    /// See [`FluidLink::period`].
    fn period(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>) -> Option<f64>;
    /// See [`FluidLink::tick`].
    fn tick(&self, link: usize, x: &mut [f64], input: &LinkInput<'_, f64>);

    /// [`FluidLink::derivative`] and `signals` of one link in dual numbers.
    fn dual(
        &self,
        link: usize,
        x: &[Dual64],
        input: &LinkInput<'_, Dual64>,
        dx: &mut [Dual64],
        signals: &mut [Dual64],
    );
}

/// Makes an object of the sender of one loop.
pub fn sender_piece(law: impl FluidSender) -> Box<dyn Senders> {
    let width = law.states().len();
    Box::new(Batch { laws: vec![law], width })
}

/// Makes an object of the law at one link.
pub fn link_piece(law: impl FluidLink) -> Box<dyn Links> {
    let width = law.states().len();
    Box::new(Batch { laws: vec![law], width })
}

/// Laws of one kind and the number of their states.
struct Batch<L> {
    laws: Vec<L>,
    width: usize,
}

impl<L: 'static> Batch<L> {
    fn is_alike(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Self>().is_some_and(|other| other.width == self.width)
    }

    fn take(&mut self, other: Box<dyn Any>) {
        if let Ok(other) = other.downcast::<Self>() {
            self.laws.extend(other.laws);
        }
    }
}

impl<L: FluidSender> Senders for Batch<L> {
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

    fn maps_hops(&self) -> bool {
        L::MAPS_HOPS
    }

    fn hears(&self) -> Hears {
        L::HEARS
    }

    fn states(&self, flow: usize) -> Vec<State> {
        self.laws[flow].states()
    }

    fn append(&mut self, other: Box<dyn Senders>) -> Result<(), Box<dyn Senders>> {
        if !self.is_alike(other.as_ref()) {
            return Err(other);
        }
        self.take(other);
        Ok(())
    }

    fn derivatives(&self, first: usize, x: &[f64], inputs: &SenderInputs, dx: &mut [f64]) {
        let w = self.width;
        for ((i, law), input) in self.laws[first..].iter().enumerate().zip(inputs.iter(L::FEEDBACK.len())) {
            law.derivative(&x[i * w..][..w], &input, &mut dx[i * w..][..w]);
        }
    }

    fn rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, rates: &mut [f64], carried: &mut [f64]) {
        let (w, c) = (self.width, L::CARRIED.len());
        for ((i, law), input) in self.laws[first..].iter().enumerate().zip(inputs.iter(L::FEEDBACK.len())) {
            let x = &x[i * w..][..w];
            rates[i] = law.rate(x, &input);
            law.carried(x, &input, &mut carried[i * c..][..c]);
        }
    }

    fn move_and_send(&self, first: usize, x: &[f64], inputs: &SenderInputs, out: Moves<'_>) {
        let (w, c) = (self.width, L::CARRIED.len());
        for ((i, law), input) in self.laws[first..].iter().enumerate().zip(inputs.iter(L::FEEDBACK.len())) {
            let x = &x[i * w..][..w];
            out.rates[i] = law.move_and_send(x, &input, &mut out.dx[i * w..][..w]);
            law.carried(x, &input, &mut out.carried[i * c..][..c]);
        }
    }

    fn hop(
        &self,
        flow: usize,
        x: &[f64],
        input: &SenderInput<'_, f64>,
        signals: &[f64],
        feedback: &mut [f64],
    ) {
        self.laws[flow].hop(x, input, signals, feedback);
    }

    fn guards(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>, guards: &mut [f64]) {
        self.laws[flow].guards(x, input, guards);
    }

    fn crossed(
        &self,
        flow: usize,
        guard: usize,
        is_rising: bool,
        x: &mut [f64],
        input: &SenderInput<'_, f64>,
    ) {
        self.laws[flow].crossed(guard, is_rising, x, input);
    }

    fn period(&self, flow: usize, x: &[f64], input: &SenderInput<'_, f64>) -> Option<f64> {
        self.laws[flow].period(x, input)
    }

    fn tick(&self, flow: usize, x: &mut [f64], input: &SenderInput<'_, f64>) {
        self.laws[flow].tick(x, input);
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

    fn dual_hop(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        signals: &[Dual64],
        feedback: &mut [Dual64],
    ) {
        self.laws[flow].hop(x, input, signals, feedback);
    }
}

impl<L: FluidLink> Links for Batch<L> {
    fn count(&self) -> usize {
        self.laws.len()
    }

    fn signal_names(&self) -> &'static [Quantity] {
        L::SIGNALS
    }

    fn guard_names(&self) -> &'static [&'static str] {
        L::GUARDS
    }

    fn states(&self, link: usize) -> Vec<State> {
        self.laws[link].states()
    }

    fn rest(&self, link: usize) -> Rest {
        self.laws[link].rest()
    }

    fn append(&mut self, other: Box<dyn Links>) -> Result<(), Box<dyn Links>> {
        if !self.is_alike(other.as_ref()) {
            return Err(other);
        }
        self.take(other);
        Ok(())
    }

    fn derivatives(&self, first: usize, x: &[f64], inputs: &LinkInputs, dx: &mut [f64]) {
        let w = self.width;
        for (i, law) in self.laws[first..][..inputs.count()].iter().enumerate() {
            law.derivative(&x[i * w..][..w], &inputs.at(i), &mut dx[i * w..][..w]);
        }
    }

    fn signals(&self, first: usize, x: &[f64], inputs: &LinkInputs, signals: &mut [f64]) {
        let (w, s) = (self.width, L::SIGNALS.len());
        for (i, law) in self.laws[first..][..inputs.count()].iter().enumerate() {
            law.signals(&x[i * w..][..w], &inputs.at(i), &mut signals[i * s..][..s]);
        }
    }

    fn guards(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>, guards: &mut [f64]) {
        self.laws[link].guards(x, input, guards);
    }

    fn crossed(&self, link: usize, guard: usize, is_rising: bool, x: &mut [f64], input: &LinkInput<'_, f64>) {
        self.laws[link].crossed(guard, is_rising, x, input);
    }

    fn period(&self, link: usize, x: &[f64], input: &LinkInput<'_, f64>) -> Option<f64> {
        self.laws[link].period(x, input)
    }

    fn tick(&self, link: usize, x: &mut [f64], input: &LinkInput<'_, f64>) {
        self.laws[link].tick(x, input);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::{Aggregate, Number};

    /// x' = gain (feedback - x), sends x.
    struct Lag(f64);

    impl FluidSender for Lag {
        const FEEDBACK: &'static [Feedback] =
            &[Feedback { name: "asked", unit: "bit/s", over_path: Aggregate::Min }];

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

    /// Sends what it is asked.
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
    fn a_class_computes_what_its_flows_would_one_by_one() {
        let mut class = sender_piece(Lag(1.0));
        assert!(class.append(sender_piece(Lag(2.0))).is_ok());
        let stranger = class.append(sender_piece(Static));
        assert!(stranger.is_err_and(|back| back.count() == 1 && back.feedback().is_empty()));
        assert_eq!(class.count(), 2);
        let mut inputs = SenderInputs::zeros(2, 1);
        inputs.feedback = vec![3.0, 7.0];
        let (mut dx, mut rates) = ([0.0; 2], [0.0; 2]);
        class.derivatives(0, &[1.0, 2.0], &inputs, &mut dx);
        class.rates(0, &[1.0, 2.0], &inputs, &mut rates, &mut []);
        assert_eq!((dx, rates), ([2.0, 10.0], [1.0, 2.0]));
    }

    #[test]
    fn dual_numbers_give_the_derivative_of_the_same_law() {
        let class = sender_piece(Lag(2.0));
        let one = Dual64::from(1.0);
        let input = SenderInput {
            base_rtt: 0.1,
            capacity: 1.0,
            queueing: one,
            queueing_slope: one,
            marked: one,
            lost: one,
            acked: one,
            ahead: one,
            feedback: &[Dual64::from(3.0)],
            next: None,
            forwarded: None,
        };
        let mut dx = [one];
        let rate = class.dual(0, &[one.derivative()], &input, &mut dx, &mut []);
        assert_eq!((rate.eps, dx[0].re, dx[0].eps), (1.0, 4.0, -2.0));
    }
}
