//! The equations of a sender in Python.
//!
//! The engine evaluates them on numbers, and on dual numbers for their linearization. `millpond._fluid` does both: with dual
//! numbers that are objects of Python, or with the Jacobian that the guest has written.

use super::CallbackOrigin;
use millpond_guest::intern;
use millpond_law::fluid::{
    Allocation, Dual64, Feedback, FluidModel, InputSet, LawState, LoopFacts, Quantity, SenderInput,
    SenderInputs, SenderLaws, SenderOutputs, State,
};
use millpond_units::Time;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};

/// The fluid model of a law with its parameters.
pub(super) struct PythonModel {
    pub(super) origin: CallbackOrigin,
    /// The class of the equations.
    pub(super) class: Py<PyAny>,
    /// The law.
    pub(super) law: Py<PyAny>,
    pub(super) left_out: &'static [&'static str],
}

impl PythonModel {
    fn equations(&self, facts: &LoopFacts) -> PyResult<Equations> {
        let LoopFacts { packet, base_rtt, capacity, hops, weight, .. } = *facts;
        Python::attach(|py| {
            let facts = (packet, base_rtt, capacity, hops, weight);
            let object = self.class.bind(py).call_method1("_of", (&self.law, facts))?;
            let declared: Vec<(String, String, f64, f64, f64)> = object.call_method0("_states")?.extract()?;
            let state = |(name, unit, initial, lower, upper): &(String, String, f64, f64, f64)| {
                State::new(intern(name), intern(unit), *initial).within(*lower, *upper)
            };
            let states = declared.iter().map(state).collect();
            Ok(Equations { object: Some(object.unbind()), states, origin: self.origin.clone() })
        })
    }
}

impl FluidModel for PythonModel {
    fn sender(&self, facts: &LoopFacts) -> Box<dyn SenderLaws> {
        let equations = self.equations(facts).unwrap_or_else(|error| {
            self.origin.fail("states", Time::ZERO, error);
            Equations { object: None, states: Vec::new(), origin: self.origin.clone() }
        });
        Box::new(PythonSenders {
            width: equations.states.len(),
            laws: vec![equations],
            has_failed: AtomicBool::new(false),
        })
    }

    fn allocation(&self, _facts: &LoopFacts) -> Allocation {
        Allocation::Numeric { reason: "a law in Python has no closed form of its rates" }
    }

    fn left_out(&self) -> &'static [&'static str] {
        self.left_out
    }
}

/// The equations of one flow.
struct Equations {
    /// None if it could not be made.
    object: Option<Py<PyAny>>,
    states: Vec<State>,
    origin: CallbackOrigin,
}

/// The equations of several flows, all with the same number of states.
struct PythonSenders {
    laws: Vec<Equations>,
    width: usize,
    /// After the first failure nothing is evaluated any more.
    has_failed: AtomicBool,
}

/// The method that evaluates the equations on dual numbers.
const LINEARIZATION: &str = "_dual";

/// Base RTT, capacity, queueing delay, its slope, marks, losses, acknowledged rate.
type Inputs = (f64, f64, f64, f64, f64, f64, f64);

fn inputs(input: &SenderInput<'_, f64>) -> Inputs {
    let SenderInput { base_rtt, capacity, queueing, queueing_slope, marked, lost, acked, .. } = *input;
    (base_rtt, capacity, queueing, queueing_slope, marked, lost, acked)
}

impl PythonSenders {
    /// Calls a method of the equations of a flow, which returns this many numbers; zeros after a failure.
    fn call<A>(&self, flow: usize, method: &'static str, numbers: usize, arguments: A) -> Vec<f64>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let zeros = || vec![0.0; numbers];
        let Equations { object, origin, .. } = &self.laws[flow];
        let Some(object) = object.as_ref().filter(|_| !self.has_failed.load(Ordering::Relaxed)) else {
            return zeros();
        };
        let called = Python::attach(|py| -> PyResult<Vec<f64>> {
            object.bind(py).getattr(method)?.call1(arguments)?.extract()
        });
        called.unwrap_or_else(|error| {
            self.has_failed.store(true, Ordering::Relaxed);
            let event =
                if method == LINEARIZATION { "linearization" } else { method.trim_start_matches('_') };
            origin.fail(event, Time::ZERO, error);
            zeros()
        })
    }
}

impl SenderLaws for PythonSenders {
    fn count(&self) -> usize {
        self.laws.len()
    }

    fn feedback(&self) -> &'static [Feedback] {
        &[]
    }

    fn carried(&self) -> &'static [Quantity] {
        &[]
    }

    fn guard_names(&self) -> &'static [&'static str] {
        &[]
    }

    fn discrete(&self) -> &'static [Quantity] {
        &[]
    }

    fn initial_discrete(&self, _flow: usize, _discrete: &mut [u64]) {}

    fn maps_signals(&self) -> bool {
        false
    }

    fn grows_unused(&self) -> bool {
        false
    }

    fn inputs_used(&self) -> InputSet {
        InputSet::ALL
    }

    fn states(&self, flow: usize) -> Vec<State> {
        self.laws[flow].states.clone()
    }

    fn lag(&self, _flow: usize, _x: &[f64], _base_rtt: f64) -> f64 {
        0.0
    }

    fn longest_lag(&self, _flow: usize, _base_rtt: f64) -> f64 {
        0.0
    }

    fn append(&mut self, other: Box<dyn SenderLaws>) -> Result<(), Box<dyn SenderLaws>> {
        let is_alike = (other.as_ref() as &dyn Any)
            .downcast_ref::<Self>()
            .is_some_and(|other| other.width == self.width);
        if !is_alike {
            return Err(other);
        }
        if let Ok(other) = (other as Box<dyn Any>).downcast::<Self>() {
            self.laws.extend(other.laws);
        }
        Ok(())
    }

    fn derivatives(&self, first: usize, x: &[f64], all: &SenderInputs, dx: &mut [f64]) {
        let w = self.width;
        for i in 0..all.count() {
            let input = inputs(&all.flow(i));
            let values = self.call(first + i, "_derivative", w, (x[i * w..][..w].to_vec(), input));
            dx[i * w..][..w].copy_from_slice(&values);
        }
    }

    fn rates(&self, first: usize, x: &[f64], all: &SenderInputs, rates: &mut [f64], _carried: &mut [f64]) {
        let w = self.width;
        for i in 0..all.count() {
            let input = inputs(&all.flow(i));
            rates[i] = self.call(first + i, "_rate", 1, (x[i * w..][..w].to_vec(), input))[0];
        }
    }

    fn derivatives_and_rates(&self, first: usize, x: &[f64], inputs: &SenderInputs, out: SenderOutputs<'_>) {
        self.derivatives(first, x, inputs, out.dx);
        self.rates(first, x, inputs, out.rates, out.carried);
    }

    fn map_signals(
        &self,
        _flow: usize,
        _x: &[f64],
        _input: &SenderInput<'_, f64>,
        _signals: &[f64],
        _feedback: &mut [f64],
    ) {
    }

    fn guards(&self, _flow: usize, _x: &[f64], _input: &SenderInput<'_, f64>, _guards: &mut [f64]) {}

    fn crossed(
        &self,
        _flow: usize,
        _guard: usize,
        _is_rising: bool,
        _state: &mut LawState<'_>,
        _input: &SenderInput<'_, f64>,
    ) {
    }

    fn ticks(&self, _flow: usize) -> bool {
        false
    }

    fn period(&self, _flow: usize, _x: &[f64], _input: &SenderInput<'_, f64>) -> Option<f64> {
        None
    }

    fn tick(&self, _flow: usize, _state: &mut LawState<'_>, _input: &SenderInput<'_, f64>) {}

    fn dual(
        &self,
        flow: usize,
        x: &[Dual64],
        input: &SenderInput<'_, Dual64>,
        dx: &mut [Dual64],
        _carried: &mut [Dual64],
    ) -> Dual64 {
        let SenderInput { base_rtt, capacity, queueing, queueing_slope, marked, lost, acked, .. } = *input;
        let varying = [queueing, queueing_slope, marked, lost, acked];
        let values: Inputs =
            (base_rtt, capacity, queueing.re, queueing_slope.re, marked.re, lost.re, acked.re);
        let arguments = (
            x.iter().map(|x| x.re).collect::<Vec<f64>>(),
            x.iter().map(|x| x.eps).collect::<Vec<f64>>(),
            values,
            varying.map(|input| input.eps),
        );
        // The derivatives of the states and the rate, each with its derivative.
        let found = self.call(flow, LINEARIZATION, 2 * (self.width + 1), arguments);
        let mut pairs = found.chunks_exact(2).map(|pair| Dual64::new(pair[0], pair[1]));
        dx.iter_mut().zip(&mut pairs).for_each(|(dx, pair)| *dx = pair);
        pairs.next().unwrap_or(Dual64::new(0.0, 0.0))
    }

    fn guards_dual(
        &self,
        _flow: usize,
        _x: &[Dual64],
        _input: &SenderInput<'_, Dual64>,
        _guards: &mut [Dual64],
    ) {
    }

    fn map_signals_dual(
        &self,
        _flow: usize,
        _x: &[Dual64],
        _input: &SenderInput<'_, Dual64>,
        _signals: &[Dual64],
        _feedback: &mut [Dual64],
    ) {
    }
}
